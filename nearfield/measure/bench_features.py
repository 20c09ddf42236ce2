"""Cost of each feature: models that have it, timed in turn with the empty box of the same size."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nearfield import (
    Bloch,
    Boundaries,
    Box,
    ContinuousWave,
    Debye,
    FieldDFT,
    Flux,
    Gaussian,
    Grid,
    LumpedElement,
    LumpedPort,
    Medium,
    MicrostripPort,
    PlaneWave,
    PointCurrent,
    Sheet,
    Simulation,
    Snapshot,
    Sphere,
    Structure,
)
from nearfield.machine.facts import measured_by
from nearfield.machine.memory_rate import triad
from nearfield.measure.bench import CELL, Timed, box
from nearfield.plan.sizes import BYTES_OF
from nearfield.run.roofline import recorded_bytes

ROUNDS = 5  # each: the empty box, then the case
HIGHEST = 15e9  # Hz; 20 cells a wavelength in vacuum
FIELD_VALUES = 12  # a cell and step of a fused sweep: six read, six written

Case = Callable[[int, int, str], Simulation]  # arguments: cells a side, steps, precision


def vacuum(cells: int, steps: int, precision: str, boundary: str = "pec", **entries: Any) -> Simulation:
    """The empty box with a pulse up to the highest frequency; `entries` add or replace."""
    middle = cells // 2 * CELL
    pulse = PointCurrent((middle, middle, middle + CELL / 2), "z", Gaussian(HIGHEST, delay=0.0))
    return box(cells, steps, boundary, precision, **{"sources": [pulse]} | entries)


def with_entries(entries: Callable[[int], dict[str, Any]]) -> Case:
    """The case of the empty box with further entries, which are made of its cells a side."""

    @functools.wraps(entries)
    def case(cells: int, steps: int, precision: str) -> Simulation:
        return vacuum(cells, steps, precision, **entries(cells))

    return case


@with_entries
def lossy_palette(cells: int) -> dict[str, Any]:
    """Four lossy layers and a lossy ball in three shells: most rows differ."""
    side, layers, shells = cells * CELL, [], []
    for number in range(4):
        medium = Medium(1.2 + 0.2 * number, conductivity=0.01 + 0.01 * number)
        layers.append(Structure(Box((0, 0, 0.25 * number * side), (side, side, 0.25 * (number + 1) * side)), medium))
        ball = Sphere((side / 2,) * 3, (0.4 - 0.1 * number) * side)
        shells.append(Structure(ball, Medium(2.0, conductivity=0.02 * (number + 1))))
    return {"structures": [*layers, *shells[:3]]}


@with_entries
def debye(cells: int) -> dict[str, Any]:
    """Two Debye poles in a tenth of the cells: a cube."""
    low = cells // 4 * CELL
    high = low + round(cells / 10 ** (1 / 3)) * CELL
    soil = Medium(4.0, poles=[Debye(3.0, 10e-12), Debye(8.0, 100e-12)])
    return {"structures": [Structure(Box((low,) * 3, (high,) * 3), soil)]}


def sphere(medium: Medium | str, **entries: str) -> Case:
    """A sphere of six tenths of the side in the middle."""
    pulse = PointCurrent((CELL, CELL, 1.5 * CELL), "z", Gaussian(HIGHEST, delay=0.0))

    def bodies(cells: int) -> dict[str, Any]:
        body = Structure(Sphere((cells / 2 * CELL,) * 3, 0.3 * cells * CELL), medium)
        return {"sources": [pulse], "structures": [body], **entries}

    return with_entries(bodies)


@with_entries
def graded(cells: int) -> dict[str, Any]:
    """Cells that vary by 30 % along every axis."""
    lines = np.cumsum([0.0, *(CELL * (1 - 0.3 * np.sin(np.arange(cells) / 7)))])
    return {"grid": Grid(lines, lines, lines)}


def frequencies(count: int) -> list[float]:
    """So many frequencies up to the highest."""
    return [HIGHEST * (n + 1) / count for n in range(count)]


def dft_plane(normal: int, components: tuple[str, ...] | None = None) -> Case:
    """All six components, or those named, in the middle plane across an axis, at 20 frequencies."""

    def plane(cells: int) -> dict[str, Any]:
        lower, upper = [0.0] * 3, [cells * CELL] * 3
        lower[normal] = upper[normal] = cells // 2 * CELL
        return {"monitors": [FieldDFT("plane", lower, upper, frequencies(20), components)]}

    return with_entries(plane)


def in_cube(monitor: type[FieldDFT] | type[Flux], eighths: int) -> Case:
    """A monitor of a cube in the middle, so many eighths of the side from the walls, at ten frequencies."""

    def recorded(cells: int) -> dict[str, Any]:
        low, high = cells * eighths // 8 * CELL, cells * (8 - eighths) // 8 * CELL
        return {"monitors": [monitor("cube", (low,) * 3, (high,) * 3, frequencies(10))]}

    return with_entries(recorded)


def snapshots(cells: int, steps: int, precision: str) -> Simulation:
    """All six components in the middle plane along the rows, every 20 steps, or once in a run of fewer."""
    middle, side = cells // 2 * CELL, cells * CELL
    monitor = Snapshot("plane", (middle, 0, 0), (middle, side, side), every=min(20, steps))
    return vacuum(cells, steps, precision, monitors=[monitor])


def plane_wave(direction: Any, polarisation: str) -> Case:
    """A plane wave, on all the time, in a box a tenth of the side from the walls."""

    def wave(cells: int) -> dict[str, Any]:
        edge = max(1, cells // 10)
        corners = (edge * CELL,) * 3, ((cells - edge) * CELL,) * 3
        return {"sources": [PlaneWave(*corners, direction, polarisation, ContinuousWave(HIGHEST))]}

    return with_entries(wave)


@with_entries
def ports(cells: int) -> dict[str, Any]:
    """Three lumped ports, a microstrip port on a strip over a wall, and an R-L-C element."""

    def at(x: int, y: int, z: int) -> tuple[float, float, float]:
        return x * CELL, y * CELL, z * CELL

    part = cells // 8
    strip = Sheet(at(part, part, 3), at(part + 4, 7 * part, 3))
    first, second, third, fourth = (at(number * part, part, part) for number in (3, 4, 5, 6))
    in_parallel: dict[str, Any] = {"capacitance": 1e-13, "connection": "parallel"}
    line = at(part, part, 0), at(part + 4, part, 3)
    return {
        "sources": (),
        "structures": [Structure(strip, "pec")],
        "waveform": Gaussian(HIGHEST),
        "ports": [
            LumpedPort("r", first, at(3 * part, part, part + 2), "z"),
            LumpedPort("rl", second, at(4 * part, part + 2, part), "y", inductance=1e-9),
            LumpedPort("rc", third, at(5 * part + 2, part, part), "x", **in_parallel),
            MicrostripPort("line", *line, "z", "+y", reference_plane=3 * part * CELL),
        ],
        "elements": [LumpedElement(fourth, at(6 * part, part, part + 2), "z", 20.0, 1e-9, 1e-13)],
    }


cpml = with_entries(lambda cells: {"boundary": "cpml"})  # ten cells inside each face
dft_box = in_cube(FieldDFT, 3)
CASES: dict[str, Case] = {
    "vacuum": vacuum,
    "lossy palette": lossy_palette,
    "two Debye poles in a tenth": debye,
    "CPML": cpml,
    "metal sphere, staircase": sphere("pec", metal="staircase"),
    "metal sphere, conformal": sphere("pec", metal="conformal"),
    "dielectric sphere": sphere(Medium(4.0)),
    "dielectric sphere, tensor": sphere(Medium(4.0), averaging="tensor"),
    "graded grid": graded,
    "periodic faces": with_entries(lambda cells: {"boundaries": Boundaries(all="periodic")}),
    "Bloch faces": with_entries(lambda cells: {"boundaries": Boundaries(all=Bloch(phase=1.0))}),
    "DFT plane along rows": dft_plane(0),
    "DFT plane across rows": dft_plane(2),
    "DFT box": dft_box,
    "flux box": in_cube(Flux, 2),
    "snapshots": snapshots,
    "ports": ports,
    "plane wave along rows": plane_wave("+z", "x"),
    "plane wave across rows": plane_wave("+x", "y"),
    "plane wave at an angle": plane_wave(("60 deg", "40 deg"), "30 deg"),
}


def row(name: str, timed: Timed, reference: Timed, steps: int, rounds: int) -> dict[str, Any]:
    """One line of the table: the case and the empty box, timed in turn."""
    pairs = [(reference.rate(steps), timed.rate(steps)) for _ in range(rounds)]
    shares = [case / empty for empty, case in pairs]
    facts, plan = timed.facts(), timed.setup.plan
    facts["traffic_bytes_per_cell"] += recorded_bytes(plan, steps)
    strides = {box.stride for box in plan.dft_boxes}
    middle = {
        "mcells_per_second": statistics.median(case for _, case in pairs),
        "vacuum_mcells_per_second": statistics.median(empty for empty, _ in pairs),
        "share_of_vacuum": statistics.median(shares),
    }
    ends = {"lowest_share": min(shares), "highest_share": max(shares), "dft_stride": max(strides, default=None)}
    return {"name": name, **middle, **ends, **facts}


def bench_features(
    cells: int,
    steps: int,
    threads: int,
    precision: str = "single",
    rounds: int = ROUNDS,
    tell: Callable[[dict[str, Any]], None] = lambda row: None,
    names: Sequence[str] = tuple(CASES),
) -> dict[str, Any]:
    """The table as `nearfield bench features --json` prints it; `tell` hears of each row as it is made.

    The roofline is what a fused sweep of E and H could reach from memory: the triad's rate over 48 bytes a cell in
    single precision, 96 in double.
    """
    triads = [triad(threads)]
    reference = Timed(vacuum(cells, steps, precision), threads)
    cases = []
    for name in names:
        cases.append(row(name, Timed(CASES[name](cells, steps, precision), threads), reference, steps, rounds))
        tell(cases[-1])
    triads.append(triad(threads))
    rate = max((found for found in triads if found), default=None)
    roofline = rate * 1e3 / (FIELD_VALUES * BYTES_OF[precision]) if rate else None
    for found in cases:
        found["roofline_multiple"] = found["mcells_per_second"] / roofline if roofline else None
    given = {"cells": cells**3, "steps": steps, "threads": reference.facts()["threads"], "precision": precision}
    memory = {"triad_gb_per_second": rate, "roofline_mcells_per_second": roofline}
    return {**measured_by(), **given, "rounds": rounds, **memory, "cases": cases}
