"""The command lines of `nearfield bench output` and `nearfield advise-output`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nearfield.commands.bench_cli import bench
from nearfield.commands.options import Json

WHERE = "Folder on the disk that is meant; left out, the current one."


@bench.command("output")
def bench_output(
    sizes: Annotated[str | None, typer.Option(help="Points of a domain along each axis; left out, 20,30,40.")] = None,
    domains: Annotated[str | None, typer.Option(help="As 1,2,4,8, each a rank; left out, 1,2.")] = None,
    formats: Annotated[str | None, typer.Option(help="Of ascii,binary,hdf5; left out, all.")] = None,
    codecs: Annotated[
        str | None,
        typer.Option(
            help="Of hdf5: none, zlib, zstd, lz4, bitshuffle, with a level as zstd:3; left out, all that are installed."
        ),
    ] = None,
    modes: Annotated[
        str | None,
        typer.Option(
            help="server (one file), file-per-domain; left out, both; whole: kept in memory and written at the end."
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=1000, help="How often all cases are taken in turn.")] = 3,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=1,
            help="For all; the largest sizes that would last longer are left out. Left out, 240; with --full, no end.",
        ),
    ] = None,
    fields: Annotated[
        str | None,
        typer.Option(
            help="filled: once waves are everywhere; early: the first ten steps, "
            "mostly zeros. Left out, filled; with --full, early."
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="The whole published sweep: 30 to 190, 1 to 8 domains.")] = False,
    output: Annotated[Path, typer.Option("--output", help=WHERE)] = Path("."),
    plot: Annotated[Path | None, typer.Option(help="Draw the figures too, into this folder.")] = None,
    as_json: Json = False,
) -> int:
    """Time ten steps recorded at every point, in each format and mode; keep the fits for `advise-output`."""
    from nearfield.commands.output import Request, measure_output

    request = Request(sizes, domains, formats, codecs, modes, rounds, seconds, fields, full)
    return measure_output(request, output, plot, as_json)


def advise_output(
    ranks: Annotated[int, typer.Option(min=1, max=10**7, help="That record, each a domain.")],
    points: Annotated[float, typer.Option(min=1, max=1e15, help="Recorded in all, as 8e6.")],
    steps: Annotated[int, typer.Option(min=1, max=10**12, help="At which all points are recorded.")],
    output: Annotated[Path, typer.Option("--output", help=WHERE)] = Path("."),
    as_json: Json = False,
) -> int:
    """Name the best format, codec and mode for recorded fields, by what `bench output` measured here."""
    from nearfield.commands.output import advise_output

    return advise_output(ranks, points, steps, output, as_json)
