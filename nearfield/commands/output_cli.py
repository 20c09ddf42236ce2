"""The command lines of `nearfield bench output` and `nearfield advise-output`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from nearfield.commands import options
from nearfield.commands.bench_cli import bench

WHERE = "Folder on the disk that is meant; left out, the current one."
CODECS = "Of hdf5: none, zlib, zstd, lz4, bitshuffle, with a level as zstd:3; left out, all that are installed."
MODES = "server (one file), file-per-domain; left out, both; whole: in memory until the end of the run."
SECONDS = "For all; larger sizes are left out where they would take longer. Left out, 240; with --full, no limit."
FIELDS = "filled: waves everywhere; early: the first ten steps, mostly zeros. Left out, filled; with --full, early."
HOSTS = "File with a host's name on each line: domains are spread over them, evenly; --output must be on a shared disk."
FULL = "The whole published sweep: 30 to 190, 1 to 8 domains."
Folder = Annotated[Path, Option("--output", help=WHERE)]


@bench.command("output")
def bench_output(
    sizes: Annotated[str | None, Option(help="Points of a domain along each axis; left out, 20,30,40.")] = None,
    domains: Annotated[str | None, Option(help="As 1,2,4,8, each a rank; left out, 1,2.")] = None,
    formats: Annotated[str | None, Option(help="Of ascii,binary,hdf5; left out, all.")] = None,
    codecs: Annotated[str | None, Option(help=CODECS)] = None,
    modes: Annotated[str | None, Option(help=MODES)] = None,
    rounds: options.Rounds = 3,
    seconds: Annotated[float | None, Option(min=1, help=SECONDS)] = None,
    fields: Annotated[str | None, Option(help=FIELDS)] = None,
    hosts: Annotated[Path | None, Option(help=HOSTS)] = None,
    full: Annotated[bool, Option("--full", help=FULL)] = False,
    output: Folder = Path("."),
    plot: Annotated[Path | None, Option(help="Draw the figures too, into this folder.")] = None,
    as_json: options.Json = False,
) -> int:
    """Time ten steps recorded at every point, in each format and mode; keep the fits for `advise-output`."""
    from nearfield.commands.output import Request, measure_output

    request = Request(sizes, domains, formats, codecs, modes, rounds, seconds, fields, full, hosts)
    return measure_output(request, output, plot, as_json)


def advise_output(
    ranks: Annotated[int, Option(min=1, max=10**7, help="Ranks that record, each with one domain.")],
    points: Annotated[float, Option(min=1, max=1e15, help="Points recorded in all, as 8e6.")],
    steps: Annotated[int, Option(min=1, max=10**12, help="Steps at which all points are recorded.")],
    output: Folder = Path("."),
    as_json: options.Json = False,
) -> int:
    """Name the best format, codec and mode for recorded fields, by what `bench output` measured here."""
    from nearfield.commands.advise import advise

    return advise(ranks, points, steps, output, as_json)
