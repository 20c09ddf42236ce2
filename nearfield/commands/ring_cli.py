"""`nearfield ring`: the command lines of rings in shared memory."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument, Option

from nearfield.commands.options import SETTINGS, Json

ring = typer.Typer(help="Rings of blocks in shared memory.", no_args_is_help=True, context_settings=SETTINGS)
Name = Annotated[str, Argument(help="Name of the ring.")]


@ring.command()
def ls(as_json: Json = False) -> int:
    """List the rings of this user and who uses them."""
    from nearfield.commands.ring import list_rings

    return list_rings(as_json)


@ring.command()
def stat(name: Name, as_json: Json = False) -> int:
    """Show what passed through a ring, who waits for whom, and where its pages lie."""
    from nearfield.commands.ring import show_ring

    return show_ring(name, as_json)


@ring.command()
def rm(
    names: Annotated[list[str] | None, Argument(metavar="[NAME]...", help="Rings to remove.")] = None,
    stale: Annotated[bool, Option("--stale", help="All rings that nobody uses.")] = False,
    as_json: Json = False,
) -> int:
    """Remove rings that dead processes left; one in use is refused."""
    from nearfield.commands.ring import remove_rings

    return remove_rings(names or [], stale, as_json)


STREAMS = "At once, each NAME:MEMORY,WRITER,READER, such as 'A:0,0,0 B:1,1,1'."
SUITE = "single: all placements of one stream; dual: two streams on two nodes; gpu: four to devices and back."


@ring.command()
def bench(
    memory: Annotated[int, Option(min=0, help="NUMA node of the ring.")] = 0,
    writer: Annotated[int, Option(min=0, help="NUMA node of the writing process.")] = 0,
    reader: Annotated[int, Option(min=0, help="NUMA node of the reading process.")] = 0,
    bytes: Annotated[float, Option("--bytes", help="Through each ring, a pass.")] = 50e9,
    streams: Annotated[str | None, Option(help=STREAMS)] = None,
    suite: Annotated[str | None, Option(help=SUITE)] = None,
    blocks: Annotated[int, Option(min=2, max=1024, help="Of a ring.")] = 8,
    block_bytes: Annotated[int, Option(min=4096, help="Of a block; a multiple of 8.")] = 4 << 20,
    passes: Annotated[int, Option(min=1, max=1000, help="Timed; their median counts.")] = 1,
    as_json: Json = False,
) -> int:
    """Time bytes through rings: copied in and out by two processes, and written and read in place."""
    from nearfield.commands.ring_bench import bench_rings, cases, whole
    from nearfield.measure.ring_bench import Request

    request = Request(whole(bytes), blocks, block_bytes // 8 * 8, passes)
    return bench_rings(cases((memory, writer, reader), streams, suite), request, as_json)
