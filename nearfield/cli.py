"""The command line: reads arguments, calls one command, turns what happened into an exit code.

Exit codes: 0 done; 1 done, but a check of the result failed; 2 refused (missing, unreadable or wrong input or usage);
3 diverged; 4 failed under way, results so far kept; 75 checkpointed on SIGTERM; 130 interrupted.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TextIO

import typer
from typer import Argument, Option

from nearfield.commands import options
from nearfield.commands.bench_cli import bench
from nearfield.commands.disk_errors import disk_message
from nearfield.commands.machine_cli import machine, place, predict, probe, tune
from nearfield.commands.media_cli import fit_medium, list_media, list_resonances
from nearfield.commands.output_cli import advise_output
from nearfield.commands.ring_cli import ring
from nearfield.commands.streams import open_closed_streams, silence, write
from nearfield.commands.study_cli import converge, elements, optimize, sensitivities, sweep
from nearfield.entry.errors import FIRST_STEPS, DivergedError, ModelError, NearfieldError
from nearfield.entry.settings import settings_of
from nearfield.machine.interruption import terminable

# typer brings its own click or uses click's: this is the base of usage errors in both
CLICK_ERROR: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
app = typer.Typer(
    name="nearfield",
    help="Maxwell's equations in 3-D by FDTD, from a model file to S-parameters and pattern.",
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings=options.SETTINGS,
)
app.add_typer(bench, name="bench")
app.add_typer(ring, name="ring")
app.command()(advise_output)
app.command("fit-medium")(fit_medium)
app.command("media")(list_media)
app.command("resonances")(list_resonances)
app.command()(converge)
app.command()(sweep)
app.command()(sensitivities)
app.command()(optimize)
app.command()(elements)


@app.command()
def run(
    model: options.ModelOrNone = None,
    output: options.Output = None,
    force: options.Force = False,
    threads: options.Threads = None,
    tiles: options.Tiles = "auto",
    report: Annotated[bool, Option(help="Draw the plots and the report.")] = True,
    ranks: options.Ranks = None,
    domains: options.Domains = None,
    bind: options.Bind = None,
    memory: options.Memory = None,
    halo_depth: options.HaloDepth = None,
    overlap: options.Overlap = "auto",
    patience: options.Patience = options.LIMIT,
    speeds: options.Speeds = None,
    trace: Annotated[Path | None, Option("--trace", help="File for what each rank did in a block of steps.")] = None,
    engine: options.Engine = None,
    checkpoint: options.Checkpoint = None,
    resume: options.Resume = None,
    space_check: Annotated[bool, Option(help="Refuse field files that the disk has no room for.")] = True,
    long: Annotated[bool, Option("--long", help="Run even if more than a day is predicted.")] = False,
    given: options.Set = None,
    as_json: options.Json = False,
) -> int:
    """Run a model; write result.h5, Touchstone, plots and report."""
    from nearfield.commands.run import Options, resume_run, run_model
    from nearfield.run.options import RunOptions

    spread = options.on_ranks(ranks, domains, bind, memory, halo_depth, overlap, patience, speeds)
    own = RunOptions(threads, tiling=tiles, space_check=space_check, engine=engine, long=long)
    own = replace(own, parallel=replace(spread, timeline=trace is not None), trace=trace)
    chosen = Options(own, report, as_json, checkpoint, settings_of(given))
    if resume is not None:
        return resume_run(resume, model, output, chosen)
    if model is None:
        raise ModelError("a model is missing; give a model file, or --resume with the folder of a run to go on with")
    return run_model(model, output, force, chosen)


@app.command()
def check(
    model: options.Model,
    ranks: Annotated[int | None, Option("--ranks", min=1, help="Say the memory of each of so many ranks too.")] = None,
    given: options.Set = None,
    as_json: options.Json = False,
) -> int:
    """Say what a model costs and what looks wrong, without running it."""
    from nearfield.commands.console import console
    from nearfield.model_file import load

    with console(as_json) as out:
        found = load(model, settings_of(given)).check(ranks)
        out.answer({"model": str(model), **found.as_dict()}, str(found))
    return 0


SHOWN_IN = "Of a result the folder, left out, its own; of a model the page's file, left out, ./out/<model>/model.html."
EXPORTED = "File, or a folder for several; left out, ./out/<model>/."
BAND = 'Of a result: also the resonances there, such as: tip 2e9 "3 GHz".'


@app.command()
def show(
    what: options.Shown,
    output: Annotated[Path | None, Option("--output", help=SHOWN_IN)] = None,
    resonances: Annotated[tuple[str, str, str] | None, Option(metavar="PROBE LOW HIGH", help=BAND)] = None,
    given: options.Set = None,
    as_json: options.Json = False,
) -> int:
    """Show a model in three dimensions before its run, or draw the plots and the report of a result again."""
    from nearfield.commands.show import show_either

    return show_either(what, output, resonances, settings_of(given), as_json)


@app.command()
def export(
    model: options.Model,
    gltf: Annotated[bool, Option("--gltf", help="glTF 2.0 (.glb), in m, with media as materials.")] = False,
    stl: Annotated[bool, Option("--stl", help="STL, in mm, all bodies in one.")] = False,
    vtk: Annotated[bool, Option("--vtk", help="VTK polydata, in m, with numbers of bodies and media.")] = False,
    output: Annotated[Path | None, Option("--output", help=EXPORTED)] = None,
    given: options.Set = None,
    as_json: options.Json = False,
) -> int:
    """Write the bodies of a model as triangles for other programs."""
    from nearfield.commands.export import export_model

    kinds = [kind for kind, asked in (("gltf", gltf), ("stl", stl), ("vtk", vtk)) if asked]
    return export_model(model, kinds, output, settings_of(given), as_json)


@app.command()
def demo(output: options.Output = None, threads: options.Threads = None, as_json: options.Json = False) -> int:
    """Run the line-fed patch antenna of Sheen et al. 1990 and compare with what was published."""
    from nearfield.commands.demo import run_demo

    return run_demo(output, threads, as_json)


@app.command()
def new(
    template: Annotated[options.Template | None, Argument(help="What to start from; left out, all are listed.")] = None,
    output: Annotated[Path | None, Option("--output", help="File; left out, ./<template>.toml.")] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> int:
    """Write a commented model file to start from, or list those there are."""
    from nearfield.commands.new import list_templates, write_template

    if template is None:
        return list_templates(as_json)
    return write_template(template.value, output, force, as_json)


@app.command()
def doctor(as_json: options.Json = False) -> int:
    """Describe this machine and what is missing, with the line that installs it."""
    from nearfield.commands.doctor import examine_machine

    return examine_machine(as_json)


for command in (machine, place, tune, predict, probe):
    app.command()(command)


@app.command()
def version(as_json: options.Json = False) -> int:
    """Say which version this is."""
    from nearfield import __version__
    from nearfield.commands.console import print_answer

    return print_answer(as_json, {"version": __version__}, f"nearfield {__version__}")


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; every error is one message on stderr, never a traceback."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:
        arguments = ["version"]
    message, code = "", 0
    open_closed_streams()
    speak = sys.stderr
    try:
        speak = join_ranks()
        with terminable():
            code = invoke(arguments)
    except typer.Exit as error:
        code = error.exit_code
    except CLICK_ERROR as error:
        message, code = usage_message(error), 2
    except NearfieldError as error:
        message, code = str(error), error.exit_code
    except KeyboardInterrupt:
        message, code = "interrupted", 130
    except BrokenPipeError:
        silence(sys.stdout)
    except MemoryError:
        message, code = "not enough memory; use fewer cells, frequencies or snapshots (see `nearfield check`)", 4
    except OSError as error:
        message, code = disk_message(error, arguments, typer.main.get_command(app)), 4
    except Exception as error:
        if os.environ.get("NEARFIELD_TRACEBACK"):
            raise
        where = "Please report it with the model file; NEARFIELD_TRACEBACK=1 shows where it happened"
        message, code = f"internal error, {type(error).__name__}: {error}. {where}", 4
    if message:
        fail(message, code, "--json" in arguments, speak)
    return code


def join_ranks() -> TextIO:
    """The stream for this rank's errors; where a launcher started several ranks, rank 0 alone keeps its output."""
    from nearfield.machine.transport import started, world

    if started() == 1 or world().rank == 0:
        return sys.stderr
    speak = open(os.dup(sys.stderr.fileno()), "w", encoding="utf-8")
    silence(sys.stdout)
    silence(sys.stderr)
    return speak


def fail(message: str, code: int, as_json: bool, speak: TextIO) -> None:
    """Say why; of several ranks that fail alike only the first speaks, and one that fails alone ends all others."""
    from nearfield.machine.transport import started, world

    if started() == 1:
        complain(message, code, as_json)
        return
    with contextlib.suppress(NearfieldError):  # the ranks never met
        ranks = world()
        if ranks.rank == 0:
            complain(message, code, as_json)
        if not ranks.all_give_up():
            if ranks.rank:
                write(speak, f"error: rank {ranks.rank}: {message}")
            ranks.abort(code)
        return
    complain(message, code, as_json)


def invoke(arguments: list[str]) -> int:
    """Run the command that the arguments name; every exception comes through as it is."""
    command = typer.main.get_command(app)
    with command.make_context("nearfield", list(arguments)) as context:
        return command.invoke(context) or 0


def complain(message: str, code: int, as_json: bool) -> None:
    """One message on stderr, and for somebody at a terminal where help is; for scripts also as the JSON object."""
    if as_json:
        with contextlib.suppress(OSError):
            write(sys.stdout, json.dumps({"error": message, "exit_code": code}))
    write(sys.stderr, message if code in (75, 130) else f"error: {message}")
    if code in (ModelError.exit_code, DivergedError.exit_code) and sys.stderr.isatty():
        write(sys.stderr, f"help: {FIRST_STEPS}")


def usage_message(error: Exception) -> str:
    """The error in the arguments, and the command that prints help."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "nearfield"
    text = error.format_message() if hasattr(error, "format_message") else str(error)  # type: ignore[attr-defined]
    if type(error).__name__ == "NoArgsIsHelpError":
        return f"a command is missing\n\n{text}"
    text = text.replace("Value error, ", "").rstrip(".")
    return f"{text}{'' if text.endswith('?') else '.'} `{command} --help` lists what is allowed"


if __name__ == "__main__":
    sys.exit(main())
