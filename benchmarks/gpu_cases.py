"""The models of a visit to a card (benchmarks/gpu.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield import FieldDFT, Simulation, Snapshot
from nearfield.measure.bench import CELL, box

PASSES_OF = {"one pass": "1", "two steps a pass": "0.5"}  # by the end of a case's name; two passes a step otherwise
RECORDED = ("DFT plane", "snapshots")  # of one plane: sums at 20 frequencies, copies every 50 steps
EVERY = 50  # steps between snapshots, of runs that have so many


def visited(side: int, steps: int, what: str = "", boundary: str = "pec", precision: str = "single") -> Simulation:
    """The empty box on the card, with a plane in its middle recorded where `what` says so."""
    middle = side // 2 * CELL
    lower, upper = (middle, 0.0, 0.0), (middle, side * CELL, side * CELL)
    monitors: dict[str, Any] = {
        "DFT plane": FieldDFT("d", lower, upper, tuple(np.linspace(1e9, 15e9, 20))),
        "snapshots": Snapshot("s", lower, upper, every=min(EVERY, steps)),
    }
    recorded = {"monitors": [monitors[what]]} if what else {}
    return box(side, steps, boundary, precision, engine="cuda", **recorded)


def cases(cells: int, steps: int) -> list[tuple[str, Simulation]]:
    """The target table by name: boxes, small ones, a plane of Fourier sums, snapshots of a plane, boxes in double."""
    largest, ways = f"{cells}^3", ("", *(f" {how}" for how in PASSES_OF))
    pairs = ("", " two steps a pass")
    return [
        *((f"PEC {largest}{how}", visited(cells, steps)) for how in ways),
        *((f"CPML {largest}{how}", visited(cells, steps, boundary="cpml")) for how in ways),
        *((f"PEC {side}^3", visited(side, steps)) for side in (32, 64, 128, 256) if side < cells),
        *((f"PEC 256^3{how}", visited(256, steps)) for how in ways[1:] if 256 < cells),
        *((f"PEC {largest} {what}{how}", visited(cells, steps, what)) for what in RECORDED for how in pairs),
        *((f"PEC {largest} double{how}", visited(cells, steps, precision="double")) for how in pairs),
    ]
