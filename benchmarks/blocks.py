"""Resonances of closed boxes about a block of metal on the lines of the grid: how far off its eight corners leave them.

    python benchmarks/blocks.py

Each box is made with cells of 1, 1/2 and 1/3 mm, and a value for none follows from the last two by the second order
that all three show (the first error over the second is near 4). Printed are the errors of the lowest modes in percent.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import nearfield as nf

MM = 1e-3
FINER = (1, 2, 3)
MODES = 3
BLOCKS = [  # cells of the block, and from it to the walls
    ((2, 2, 24), (6, 6, 6)),
    ((2, 12, 12), (6, 6, 6)),
    ((4, 4, 20), (6, 6, 6)),
    ((4, 4, 4), (6, 6, 6)),
    ((6, 6, 6), (6, 6, 6)),
    ((6, 8, 12), (6, 6, 6)),
    ((10, 10, 10), (6, 6, 6)),
    ((16, 16, 16), (10, 10, 10)),
    ((6, 12, 20), (6, 6, 0)),  # from wall to wall: edges and no corners
]


def box(block: tuple[int, ...], room: tuple[int, ...], finer: int) -> nf.Simulation:
    """A block in its box, all modes driven near a corner."""
    cells = [own + 2 * free for own, free in zip(block, room)]
    lower, upper = ([(free + far * own) * MM for own, free in zip(block, room)] for far in (0, 1))
    middle = 299792458.0 / (2 * max(cells) * MM)
    place = tuple(min(2.5, 0.3 * count) * MM for count in cells)
    return nf.Simulation(
        grid=nf.Grid.uniform(MM / finer, [count * finer for count in cells]),
        boundaries=nf.Boundaries(nf.PEC),
        structures=[nf.Structure(nf.Box(lower, upper), nf.PEC)],
        sources=[nf.PointCurrent(place, way, nf.ModulatedGaussian(middle, 1.6 * middle)) for way in "xyz"],
        monitors=[nf.Probe(way, place, f"E{way}", resonances=(0.3 * middle, 2.2 * middle)) for way in "xyz"],
        duration=250 / middle,
        decay=None,
    )


def resonances(simulation: nf.Simulation) -> np.ndarray:
    """Frequencies (Hz) of the lowest modes, each once."""
    result, found = simulation.run(), []
    for probe in simulation.monitors:
        modes = nf.resonances(result, probe.resonances, probe=probe.name)
        heard = np.abs(modes.amplitude.values)
        found += modes.frequency.values[heard > 1e-3 * heard.max(initial=0.0)].tolist()
    found.sort()
    return np.array([each for before, each in pairwise([0.0, *found]) if each - before > 2e-4 * each][:MODES])


def errors(block: tuple[int, ...], room: tuple[int, ...]) -> np.ndarray:
    """(2, modes) errors (%) with whole and half cells."""
    whole, half, third = (resonances(box(block, room, finer)) for finer in FINER)
    count = min(each.size for each in (whole, half, third))
    none = third[:count] + 0.8 * (third[:count] - half[:count])
    return 100.0 * (np.stack((whole[:count], half[:count])) / none - 1.0)


def main() -> None:
    """Print the errors of every block."""
    for block, room in BLOCKS:
        whole, half = (", ".join(f"{value:.2f}" for value in row) for row in errors(block, room))
        print(f"{' x '.join(map(str, block))}, {room[0]} to the walls: {whole}; half the cell: {half}", flush=True)


if __name__ == "__main__":
    main()
