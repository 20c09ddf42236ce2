"""Sizes of tiles: a cost model of one step in one cell, and the tile that it predicts to be the fastest.

A tile keeps `depth` + 2 planes of `width` + 1 row records in the second-level cache while it makes `depth` steps. It
loads `width` rows and shares `depth` with its neighbour, so a step moves (1 + depth/width)/depth of the stepwise
traffic. Steps go in pairs, so that a row comes from the second-level cache once for two. What the model does not know,
a trial does: tuning.py.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from nearfield.engines.cpu import heuristics
from nearfield.engines.cpu.pole_sizes import fullest_rows
from nearfield.entry.errors import ModelError
from nearfield.machine.topology import topology
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import BYTES_OF, LANES, blocks, record_bytes


@dataclass(frozen=True, order=True)
class Tiling:
    """Steps and rows of a tile, and blocks of 16 cells its rows are cut into (0: whole rows).

    Depth 0 is the stepwise schedule.
    """

    depth: int
    width: int
    segment: int = 0

    @classmethod
    def of(cls, given: str | Tiling) -> Tiling:
        """Tiles as they are given, `DEPTHxWIDTH` or `DEPTHxWIDTHxSEGMENT`. Error: anything else."""
        if isinstance(given, Tiling):
            return given
        text = given if isinstance(given, str) else ""
        numbers = [int(number) for number in text.split("x")] if re.fullmatch(r"\d+x\d+(x\d+)?", text) else []
        if not numbers or min(numbers[:2]) < 1 or max(numbers) > heuristics.MOST or numbers[2:] == [1]:
            raise ModelError(
                f'tiles "{given}" are not steps by rows; give DEPTHxWIDTH, such as 8x16, or DEPTHxWIDTHxSEGMENT with '
                "the segment in blocks of 16 cells (2 or more; 0: whole rows), or auto"
            )
        return cls(*numbers)

    def __str__(self) -> str:
        if not self.depth:
            return "stepwise"
        return f"{self.depth}x{self.width}" + (f"x{self.segment}" if self.segment else "")

    @property
    def traffic(self) -> float:
        """Bytes moved a step, as a part of the stepwise schedule's, where rows lean by one a step."""
        return (1 + self.depth / self.width) / self.depth if self.depth else 1.0

    def footprint(self, rows: Rows) -> int:
        """Bytes of cache that the tile needs."""
        return (rows.reach * self.depth + 2) * (self.width + 1) * rows.record_bytes


STEPWISE = Tiling(0, 16)


@dataclass(frozen=True)
class Rows:
    """Properties of a domain that its tiles depend on: how many rows in how many planes, and their records."""

    planes: int
    rows: int
    cells: int  # of a row
    record_bytes: int  # with what dispersive media keep in a row on the average
    precision: str = "single"
    cpml: float = 0.0  # part of the cells in slabs, counted once an axis; of rows' own axis it is in the record
    deepest: int = 10**6  # steps of a tile, where the planes or the rows of a plane close on themselves
    kept_bytes: float = 0.0  # what dispersive media keep in the fullest row
    full: float = 1.0  # part of the rows that keep as much, the others being taken for empty
    reach: int = 1  # rows by which tiles lean a step

    @classmethod
    def of(cls, plan: Plan) -> Rows:
        """The rows of a plan."""
        a, b, c = plan.storage_axes
        slabs = sum(sum(plan.cpml[axis]) / plan.active[axis] for axis in (a, b))
        record = record_bytes(plan.active, plan.cpml, plan.precision) * (1 + plan.complex_fields)
        kept, full = fullest_rows(plan)
        closed = [plan.active[axis] for axis in (a, b) if plan.phases[axis] is not None and plan.gaps[axis] is None]
        rings = [(n + plan.reach) // (2 * plan.reach) for n in closed if n > 1]
        deepest, record = min(rings, default=cls.deepest), record + round(kept * full)
        shape = plan.active[a], plan.active[b], plan.active[c]
        return cls(*shape, record, plan.precision, slabs, deepest, kept, full, plan.reach)

    def kinds(self) -> list[tuple[float, Rows]]:
        """The full rows and the empty ones, each as if all were like them, and their parts."""
        if not self.kept_bytes:
            return [(1.0, self)]
        empty = round(self.record_bytes - self.full * self.kept_bytes)
        full = replace(self, record_bytes=round(empty + self.kept_bytes), full=1.0)
        return [(self.full, full), (1 - self.full, replace(self, record_bytes=empty, kept_bytes=0.0, full=1.0))]

    def segment_bytes(self, segment: int) -> int:
        """Bytes of a record's part in a segment of so many blocks; 0: of the whole record."""
        whole = blocks(self.cells)
        return self.record_bytes if not segment else self.record_bytes * min(segment, whole) // whole

    @property
    def count(self) -> int:
        """Rows of all planes."""
        return self.planes * self.rows

    @property
    def bytes(self) -> int:
        """Bytes of the whole domain, rough: records and psi of the slabs."""
        psi = 4 * LANES * blocks(self.cells) * BYTES_OF[self.precision]
        return int(self.count * (self.record_bytes + self.cpml * psi))

    @property
    def moved_bytes(self) -> float:
        """Bytes that a stepwise step moves a cell: six fields read and written, four states in each slab, poles."""
        return BYTES_OF[self.precision] * (12 + 8 * self.cpml) + 2 * self.full * self.kept_bytes / self.cells


@dataclass(frozen=True)
class Machine:
    """Properties of a machine that tiles depend on: threads, the share of caches of each, and the memory's rate."""

    threads: int
    l1: int  # bytes a thread
    l2: int
    l3: int  # bytes, of all threads together
    memory_rate: float  # bytes a second that really move, all threads together
    isa: str = "avx512"

    @classmethod
    def here(cls, threads: int, isa: str, triad: float | None = None) -> Machine:
        """This machine with so many threads; `triad` (bytes a second, all threads) where it was measured."""
        found = topology()
        l1, l2 = (found.per_thread(size, threads) for size in (found.l1, found.l2))
        rate = triad or min(heuristics.MEMORY_RATE * min(threads, found.cores), heuristics.MOST_MEMORY_RATE)
        return cls(threads, l1, l2, found.l3, rate / heuristics.TRIAD_COUNTS, isa)


def seconds_per_cell(tiling: Tiling, rows: Rows, machine: Machine) -> float:
    """Time of one thread for one step of one cell: arithmetic, and what each level of the memory adds."""
    scale = BYTES_OF[rows.precision] / BYTES_OF["single"]
    arithmetic = heuristics.ARITHMETIC.get(machine.isa, heuristics.ARITHMETIC["avx2"]) * scale * (1 + rows.cpml)
    inside, rate = arithmetic + overhead(tiling, rows, machine), rate_beyond_l2(tiling, rows, machine)
    return sum(part * with_memory(inside, tiling, kind, machine, rate) for part, kind in rows.kinds())


def with_memory(inside: float, tiling: Tiling, rows: Rows, machine: Machine, rate: float) -> float:
    """`seconds_per_cell` in rows all alike, where arithmetic takes `inside`; `rate`: bytes a second beyond L2."""
    in_pairs = tiling.depth > 1 and heuristics.LIVE_ROWS * rows.segment_bytes(tiling.segment) <= machine.l1
    from_l2 = rows.moved_bytes / heuristics.L2_RATE * (0.5 if in_pairs else 1.0)
    room = heuristics.SHARE_OF_CACHE * machine.l2
    spilt = min(1.0, max(0.0, tiling.footprint(rows) / room - 1)) ** heuristics.SPILLING if tiling.depth else 0.0
    shared = rows.reach / tiling.width  # of its rows that a tile shares with its neighbour, a step
    traffic = 1 / tiling.depth + heuristics.EDGE * shared if tiling.depth else 1.0
    kept = 1 - 1 / tiling.depth - shared if tiling.depth else 0.0
    inside, beyond = inside + from_l2, rows.moved_bytes * (traffic + kept * spilt) / rate
    return max(inside + heuristics.SHOWN * beyond, beyond) if tiling.depth else inside + beyond


def rate_beyond_l2(tiling: Tiling, rows: Rows, machine: Machine) -> float:
    """Bytes a second and thread from where the domain lies.

    Rows that stay in L2 come for nothing, unless tiles hand them from core to core.
    """
    together = heuristics.RESIDENT * machine.l2 * machine.threads
    if rows.bytes <= together:
        return heuristics.HANDED_RATE if machine.threads > 1 and tiling.depth else float("inf")
    shared = float("inf") if rows.bytes <= machine.l3 else machine.memory_rate / machine.threads
    return min(heuristics.L3_RATE, shared)


def stays_in_l2(rows: Rows, machine: Machine) -> bool:
    """Whether no row ever leaves the second-level cache of the one core that works on it."""
    return machine.threads == 1 and rows.bytes <= heuristics.RESIDENT * machine.l2


def overhead(tiling: Tiling, rows: Rows, machine: Machine) -> float:
    """Time of one thread beside arithmetic, for a step and cell: beginning rows, leaning out, waiting."""
    count, lean = rows.count, rows.reach * tiling.depth
    if lean:
        bands = -(-(rows.rows + lean) // tiling.width)
        visits = (rows.planes + lean) * bands * tiling.width
        waits = bands * -(-(rows.planes + lean) // chunk(rows.planes)) / tiling.depth
    else:
        visits, waits = count, 2 * machine.threads
    waiting = heuristics.WAIT * waits if machine.threads > 1 else 0.0
    return (heuristics.ROW * count + heuristics.VISIT * (visits - count) + waiting) / (count * rows.cells)


def balance(tiling: Tiling, rows: Rows, threads: int) -> float:
    """Part of the time that the threads work."""
    if not tiling.depth:
        return rows.planes / (threads * -(-rows.planes // threads))
    bands = -(-(rows.rows + rows.reach * tiling.depth) // tiling.width)
    time_blocks = max(4, -(-4 * threads // bands))  # enough that the start weighs little
    return replay(rows.planes, rows.rows, tiling, time_blocks * tiling.depth, threads, rows.reach)


def predicted_rate(tiling: Tiling, rows: Rows, machine: Machine) -> float:
    """Cells a second of all threads together, by the model."""
    return machine.threads * balance(tiling, rows, machine.threads) / seconds_per_cell(tiling, rows, machine)


def predicted_gain(tiling: Tiling, rows: Rows, machine: Machine) -> float:
    """Rate over that of the stepwise schedule, by the model."""
    return predicted_rate(tiling, rows, machine) / predicted_rate(STEPWISE, rows, machine)


@functools.lru_cache(1024)
def choose_tiling(rows: Rows, machine: Machine, share: float = heuristics.SHARE_OF_CACHE) -> Tiling:
    """The fastest tile by the model among those that fill at most `share` of L2; at least four steps deep.

    On rings of two to six rows tiles gain nothing: stepwise. Rows too long for any tile get a small one: some steps a
    pass are still better than one.
    """
    if rows.deepest < heuristics.LEAST_DEPTH:
        return STEPWISE
    depths = [depth for depth in heuristics.DEPTHS if depth <= rows.deepest]
    every = [Tiling(depth, width) for depth in depths for width in widths(rows.rows + depth, machine.threads)]
    fitting = [tiling for tiling in every if tiling.footprint(rows) <= share * machine.l2]
    return fastest(fitting or [Tiling(heuristics.LEAST_DEPTH, width) for width in heuristics.WIDTHS[:2]], rows, machine)


def widths(rows: int, threads: int) -> list[int]:
    """Widths to weigh: the usual ones, and those that cut so many rows into as many bands as threads, or a few times.

    A band then stays with one thread, and in its cache where the domain is small.
    """
    even = {-(-rows // (threads * times)) for times in (1, 2, 3, 4)}
    return sorted({width for width in (*heuristics.WIDTHS, *even) if heuristics.WIDTHS[0] <= width <= rows})


def fastest(tilings: Iterable[Tiling], rows: Rows, machine: Machine) -> Tiling:
    """The fastest of some tiles by the model. Only those are replayed that could still win were they in balance."""
    best, least = STEPWISE, float("inf")
    for seconds, _, tiling in sorted((seconds_per_cell(t, rows, machine), t.footprint(rows), t) for t in tilings):
        if seconds >= least:
            break
        balanced = seconds / balance(tiling, rows, machine.threads)
        if balanced < least:
            best, least = tiling, balanced
    return best


def chunk(planes: int) -> int:
    """Positions between looks at the neighbours' progress, as in core/cpu/tiled.cpp."""
    return max(1, min(8, planes // 8))


def replay(planes: int, rows: int, tiling: Tiling, steps: int, threads: int, reach: int = 1) -> float:
    """Efficiency of the tiled schedule on a make-believe machine: work over threads times the longest thread.

    A row and step takes a unit of time; thread t takes bands t, t + threads, ... of all time blocks, and waits as
    core/cpu/tiled.cpp does: for the band below, and for the time block before as far as the tile leans.
    """
    lean, time_blocks = reach * tiling.depth, -(-steps // tiling.depth)
    work = tile_costs(planes, rows, tiling, reach)
    bands, chunks = work.shape
    costs = work.tolist()
    size = chunk(planes)
    needed = [-(-(min(planes, (number + 1) * size) + lean) // size) - 1 for number in range(chunks)]
    clock, done = [0] * threads, list[list[int]]()
    for number in range(bands * time_blocks):
        block, band = divmod(number, bands)
        below = done[number - 1] if band else None
        before = done[number - band - bands + min(bands - 1, band - (-lean // tiling.width))] if block else None
        now, own = clock[number % threads], []
        for part, cost in enumerate(costs[band]):
            if below:
                now = max(now, below[part])
            if before:
                now = max(now, before[needed[part]])
            now += cost
            own.append(now)
        done.append(own)
        clock[number % threads] = now
    return int(work.sum()) * time_blocks / (threads * max(clock))


def tile_costs(planes: int, rows: int, tiling: Tiling, reach: int = 1) -> np.ndarray:
    """Rows and steps that each band of a time block makes in each chunk of positions, (bands, chunks)."""
    width, lean, leans = tiling.width, reach * tiling.depth, reach * np.arange(tiling.depth)[:, None]

    def inside(size: int, count: int, end: int) -> np.ndarray:
        """The share of `count` in each part of `size` of [0, end), leaning back step by step: (steps, parts)."""
        first = np.arange(0, end, size) - leans
        last = np.minimum(np.arange(size, end + size, size), end) - leans
        counts: np.ndarray = np.clip(last, 0, count) - np.clip(first, 0, count)
        return counts

    bands = -(-(rows + lean) // width)
    costs: np.ndarray = inside(width, rows, bands * width).T @ inside(chunk(planes), planes, planes + lean)
    return costs
