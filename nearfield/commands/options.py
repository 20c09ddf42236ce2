"""The options and arguments that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

SETTINGS = {"help_option_names": ["-h", "--help"]}


class Template(StrEnum):
    """The models that `new` knows."""

    patch = "patch"
    dipole = "dipole"
    box = "box"


class Wall(StrEnum):
    """Boundaries of the empty box."""

    pec = "pec"
    cpml = "cpml"


class Precision(StrEnum):
    """Floating-point numbers of the fields."""

    single = "single"
    double = "double"


class Schedule(StrEnum):
    """Orders of the updates; all give the same bits."""

    tiled = "tiled"
    stepwise = "stepwise"


Model = Annotated[Path, typer.Argument(help="Model file (TOML).")]
ModelOrNone = Annotated[Path | None, typer.Argument(help="Model file (TOML); with --resume the run's own.")]
Checkpoint = Annotated[
    str | None,
    typer.Option("--checkpoint", help='"every 10 min" or "every 1000 steps": keep all that is needed to go on.'),
]
Resume = Annotated[
    Path | None, typer.Option("--resume", help="Go on with the run in this folder from its newest whole checkpoint.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, all else on stderr.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, max=4096, help="Threads; left out, one per physical core.")
]
Output = Annotated[Path | None, typer.Option("--output", help="Folder for the results; left out, ./out/<model>/.")]


TOPOLOGY = 'hwloc XML file, or string such as "pack:2 [numa] core:4 pu:1"; left out, this machine.'
Topology = Annotated[str | None, typer.Option("--topology", help=TOPOLOGY)]
Nodes = Annotated[int, typer.Option("--nodes", min=1, max=100000, help="How many of that machine.")]
Tiles = Annotated[str, typer.Option("--tiles", help="Steps x rows of a tile, such as 8x16; or auto.")]


Domains = Annotated[str | None, typer.Option("--domains", help="Domains in all, such as 8, or along x, y, z: 2x1x4.")]
Ranks = Annotated[int | None, typer.Option("--ranks", help="Processes; starts MPI's launcher by itself.")]
Bind = Annotated[
    str | None,
    typer.Option(
        "--bind", help="node, socket, numa, l3, core or none; ! at its end overrides what the launcher bound."
    ),
]
Memory = Annotated[str | None, typer.Option("--memory", help="first-touch, bind, interleave or off.")]
Overlap = Annotated[str, typer.Option("--overlap", help="split: messages travel under the interior; none; blocking.")]
HaloDepth = Annotated[int | None, typer.Option("--halo-depth", help="Layers, and steps, between two exchanges.")]
