"""How large the tiles are: a pure function of the rows, the cache and the threads.

A tile keeps `depth` + 2 planes of `width` + 1 row records in the second-level cache while it makes `depth` steps. It
loads `width` rows and shares `depth` with its neighbour, so a step moves (1 + depth/width)/depth of the stepwise
traffic.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SHARE_OF_CACHE = 0.55  # left for the tile; coefficients, psi of slabs and the prefetched plane take the rest
DEPTHS = (4, 5, 6, 8, 10, 12, 16, 20, 24)
WIDTHS = (4, 6, 8, 12, 16, 20, 24, 32, 48, 64)
CHUNK = 8  # positions between looks at the neighbours' progress, as in core/cpu/tiled.cpp
TYPICAL_CACHE = 512 * 1024  # bytes a core; the smallest second-level cache of servers in use


@dataclass(frozen=True)
class Tiling:
    """Steps and rows of a tile; depth 0 is the stepwise schedule."""

    depth: int
    width: int

    @property
    def traffic(self) -> float:
        """Bytes moved a step, as a part of the stepwise schedule's."""
        return (1 + self.depth / self.width) / self.depth if self.depth else 1.0

    def footprint(self, record_bytes: int) -> int:
        """Bytes of cache that the tile needs."""
        return (self.depth + 2) * (self.width + 1) * record_bytes


STEPWISE = Tiling(0, 16)


def second_level_cache() -> int:
    """Bytes of second-level cache that a core has, as the system tells; 512 KiB where it does not."""
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, size = (index / "level").read_text().strip(), (index / "size").read_text().strip()
        except OSError:
            continue
        if level == "2" and size.endswith("K"):
            return int(size[:-1]) * 1024
    return TYPICAL_CACHE


def choose_tiling(record_bytes: int, rows: int, threads: int, cache_bytes: int) -> Tiling:
    """The tile that moves least and fits, with at least two bands a thread where there are rows enough.

    Rows too long for any tile get the smallest one: two steps a pass are still better than one.
    """
    widest = max(WIDTHS[0], rows // (2 * threads))
    fitting = [
        Tiling(depth, width)
        for depth in DEPTHS
        for width in WIDTHS
        if Tiling(depth, width).footprint(record_bytes) <= SHARE_OF_CACHE * cache_bytes and width <= widest
    ]
    return min(fitting, key=lambda tiling: (tiling.traffic, tiling.footprint(record_bytes)), default=Tiling(4, 4))


def replay(planes: int, rows: int, tiling: Tiling, steps: int, threads: int) -> float:
    """Efficiency of the tiled schedule on a make-believe machine: work over threads times the longest thread.

    Every chunk of positions takes the same time; thread t takes bands t, t + threads, ... of all time blocks, and waits
    as core/cpu/tiled.cpp does: for the band below, and for the time block before as far as the tile leans.
    """
    depth, width = tiling.depth, tiling.width
    bands, blocks = -(-(rows + depth) // width), -(-steps // depth)
    end = planes + depth
    chunks = -(-end // CHUNK)
    clock, done = [0] * threads, list[list[int]]()
    for number in range(bands * blocks):
        block, band = divmod(number, bands)
        before = number - band - bands + min(bands - 1, band - (-depth // width))
        now, own = clock[number % threads], []
        for chunk in range(chunks):
            if band:
                now = max(now, done[number - 1][chunk])
            if block:
                needed = min(planes, (chunk + 1) * CHUNK) + depth
                now = max(now, done[before][-(-needed // CHUNK) - 1])
            now += 1
            own.append(now)
        done.append(own)
        clock[number % threads] = now
    return bands * blocks * chunks / (threads * max(clock))
