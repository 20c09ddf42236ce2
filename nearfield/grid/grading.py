"""Cells of slowly changing size between given lines."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from nearfield.entry.errors import ModelError

Sizes = Sequence[float] | np.ndarray  # m
MOST_LINES = 10**6  # along one axis
ROUNDS = 10_000  # times that gaps are filled again
ADVICE = "lower maximum_frequency or cells_per_wavelength, or raise minimum_cell"
SLACK = 0.8  # exponent: cells grow by ratio**SLACK inside a gap, so that whole numbers of cells find room at its ends


def graded_cells(gaps: Sizes, wanted: Sizes, ratio: float, closed: bool = False) -> list[np.ndarray]:
    """Cell lengths that fill each gap, none above its wanted length, neighbours (across lines too) within `ratio`.

    `closed`: the last gap has the first beside it, over periodic faces.

    Gaps whose end cell is too large beside its neighbour are filled again with that end limited; sizes only
    shrink, so this ends. Error: too many cells.
    """
    ratio *= 1.0 - 1e-6  # coordinates are rounded later
    growth = ratio**SLACK
    count = len(gaps)
    ends = [[size, size] for size in wanted]
    cells = [np.empty(0)] * count
    stale = set(range(count))
    for _ in range(ROUNDS):
        for number in stale:
            cells[number] = fill(gaps[number], ends[number][0], ends[number][1], wanted[number], growth)
        if sum(sizes.size for sizes in cells) >= MOST_LINES:
            raise ModelError(f"the automatic grid would have {MOST_LINES:,} cells or more along one axis; {ADVICE}")
        stale = set()
        for left in range(count if closed else count - 1):
            right = (left + 1) % count
            last, first = cells[left][-1], cells[right][0]
            if last > ratio * first:
                ends[left][1] = min(growth * first, 0.999 * ends[left][1])
                stale.add(left)
            elif first > ratio * last:
                ends[right][0] = min(growth * last, 0.999 * ends[right][0])
                stale.add(right)
        if not stale:
            return cells
    raise ModelError(
        f"no grid with neighbours within a ratio of {ratio:.6g} was found; raise maximum_ratio or minimum_cell"
    )


def fill(gap: float, first: float, last: float, wanted: float, growth: float) -> np.ndarray:
    """Cells that fill one gap: at most `first` and `last` at its ends, `wanted` between, growing by `growth`."""
    up, down = ramp(first, wanted, growth), ramp(last, wanted, growth)
    if up.sum() + down.sum() < gap:
        flat = (gap - up.sum() - down.sum()) / wanted
        if flat > MOST_LINES:
            raise ModelError(
                f"the automatic grid would have {flat:.3g} cells along one axis, "
                f"fewer than {MOST_LINES:,} are allowed; {ADVICE}"
            )
        sizes = np.concatenate((up, np.full(max(int(np.ceil(flat - 1e-9)), 0), wanted), down[::-1]))
    else:
        for count in itertools.count(1):
            rising = first * growth ** np.arange(count)
            falling = (last * growth ** np.arange(count))[::-1]
            sizes = np.minimum(np.minimum(rising, falling), wanted)
            if sizes.sum() >= gap * (1.0 - 1e-9):
                break
    return sizes * (gap / sizes.sum())


def ramp(start: float, wanted: float, growth: float) -> np.ndarray:
    """Sizes from `start` up to but below `wanted`."""
    count = max(int(np.ceil(np.log(wanted / start) / np.log(growth) - 1e-9)), 0) if start < wanted else 0
    return start * growth ** np.arange(count)
