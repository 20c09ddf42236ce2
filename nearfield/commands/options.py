"""The options and arguments that commands share, and the ranks that some of them start."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from nearfield.machine.watchdog import LIMIT as LIMIT

if TYPE_CHECKING:
    from nearfield.parallel.start import Parallel

SETTINGS = {"help_option_names": ["-h", "--help"]}


Template = StrEnum(  # models that `new` knows
    "Template",
    [
        ("PATCH", "patch"),
        ("INSET_PATCH", "inset-patch"),
        ("DIPOLE", "dipole"),
        ("YAGI", "yagi"),
        ("HORN", "horn"),
        ("MICROSTRIP_FILTER", "microstrip-filter"),
        ("WAVEGUIDE_FILTER", "waveguide-filter"),
        ("FSS_CELL", "fss-cell"),
        ("GPR", "gpr"),
        ("BOX", "box"),
    ],
)
Wall = StrEnum("Wall", ["pec", "cpml"])  # boundaries of the empty box
Precision = StrEnum("Precision", ["single", "double"])  # of the fields
Schedule = StrEnum("Schedule", ["tiled", "stepwise"])  # orders of the updates; all give the same bits

Json = Annotated[bool, Option("--json", help="One JSON object on stdout, all else on stderr.")]
Force = Annotated[bool, Option("--force", help="Replace what is there.")]
Output = Annotated[Path | None, Option("--output", help="Folder for the results; left out, ./out/<model>/.")]
Model = Annotated[Path, Argument(help="Model file (TOML).")]
SET = "Another value for a parameter of the model, such as length=15.9mm; may be given several times."
Set = Annotated[list[str] | None, Option("--set", metavar="NAME=VALUE", help=SET)]
Result = Annotated[Path, Argument(help="result.h5, or the folder that holds it.")]
Shown = Annotated[Path, Argument(help="Model file (TOML), or result.h5 or the folder that holds it.")]
PlotFolder = Annotated[Path | None, Option("--plot", help="Folder for the pictures.")]

# a run
ModelOrNone = Annotated[Path | None, Argument(help="Model file (TOML); with --resume the run's own.")]
EVERY = '"every 10 min" or "every 1000 steps": keep all that is needed to go on.'
Checkpoint = Annotated[str | None, Option("--checkpoint", help=EVERY)]
RESUME = "Go on with the run in this folder from its newest whole checkpoint."
Resume = Annotated[Path | None, Option("--resume", help=RESUME)]
Threads = Annotated[int | None, Option("--threads", min=1, max=4096, help="Threads; left out, one per physical core.")]
ENGINE = "auto, cpu, cuda (a card; NEARFIELD_DEVICE=host: a make-believe one), or reference: slow, in NumPy."
Engine = Annotated[str | None, Option("--engine", help=ENGINE)]
Tiles = Annotated[str, Option("--tiles", help="Steps x rows of a tile, such as 8x16; or auto.")]

# benchmarks
Cells = Annotated[int, Option("--cells", min=1, max=10000, help="Cells along each side of the cube.")]
Steps = Annotated[int, Option("--steps", min=1, max=10**9, help="Steps to take.")]
Rounds = Annotated[int, Option("--rounds", min=1, max=1000, help="How often all cases are measured in turn.")]
FieldPrecision = Annotated[Precision, Option("--precision", help="Precision of the fields.")]
Profile = Annotated[Path | None, Option("--profile", help="JSON file of `nearfield probe`; left out, this machine's.")]

# machines
TOPOLOGY = (
    'hwloc XML file, string such as "pack:2 [numa] core:4 pu:1", boards in a torus (JSON file, or numascale); '
    "left out, this machine."
)
Topology = Annotated[str | None, Option("--topology", help=TOPOLOGY)]
NODES = Option("--nodes", min=1, max=100000, help="How many of that machine.")
Nodes = Annotated[int, NODES]
NodesWished = Annotated[int | None, NODES]

# ranks and domains
Domains = Annotated[str | None, Option("--domains", help="Domains in all, such as 8, or along x, y, z: 2x1x4.")]
Ranks = Annotated[int | None, Option("--ranks", help="Processes; starts MPI's launcher by itself.")]
BIND = "node, socket, numa, l3, core or none; ! at its end overrides what the launcher bound."
Bind = Annotated[str | None, Option("--bind", help=BIND)]
Memory = Annotated[str | None, Option("--memory", help="first-touch, bind, interleave or off.")]
OVERLAP = "split: messages travel under the interior; host-buffer: under all; none; blocking; auto: split."
Overlap = Annotated[str, Option("--overlap", help=OVERLAP)]
PATIENCE = "Seconds without a sign of life after which a rank is lost, and the run ends."
Patience = Annotated[float, Option("--patience", help=PATIENCE)]
SPEEDS = "Speeds of the ranks, as 2,1, by which they share the run; or measure: each is timed before it."
Speeds = Annotated[str | None, Option("--speeds", help=SPEEDS)]
HaloDepth = Annotated[int | None, Option("--halo-depth", help="Layers, and steps, between two exchanges.")]


def on_ranks(
    ranks: int | None,
    domains: str | None,
    bind: str | None,
    memory: str | None,
    halo_depth: int | None,
    overlap: str,
    patience: float,
    speeds: str | None = None,
) -> Parallel:
    """The part of this process in a run; where `ranks` asks for a launcher, its exit code ends the command."""
    from nearfield.parallel.launch import relaunch
    from nearfield.parallel.start import Parallel

    ended = relaunch(ranks)
    if ended is not None:
        raise typer.Exit(ended)
    return Parallel(domains, bind, memory, halo_depth, overlap, patience, speeds=speeds)
