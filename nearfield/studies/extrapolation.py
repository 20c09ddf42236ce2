"""Values on grids of several cell sizes, extrapolated to cells of no size, with an uncertainty.

f(h) = f0 + C h^p (Richardson 1911). From three grids the order p is observed; where it is no order that a scheme of
first or second order can have, the spread of the values says more than the fit. Uncertainties are those of Roache,
J. Fluids Eng. 116, 405 (1994), with the factors and the treatment of odd orders of Eca and Hoekstra, J. Comput. Phys.
262, 104 (2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

SAFE = 1.25  # factor on the difference to the extrapolated value where the order was observed
UNSAFE = 3.0  # factor where it was not: two grids, or values that do not follow one power
ORDERS = 0.5, 2.1  # observed orders that are believed: edges of metal give 1, smooth fields 2
SECOND = 2.0  # order that values which seem to converge faster, by chance, are taken to have
SLOWEST = 1.0  # order that two grids are taken to converge with; slower is larger in the uncertainty


@dataclass(frozen=True)
class Extrapolation:
    """A value at cells of no size, its uncertainty (same unit), and the observed order; None where none was."""

    value: float
    uncertainty: float
    order: float | None


def extrapolated(sizes: Sequence[float], values: Sequence[float]) -> Extrapolation:
    """The value at size 0 from those at two or more cell sizes, any unit, from the coarsest to the finest.

    Of more than three the three finest count. The uncertainty is meant to hold the true value in 19 of 20 cases, as
    far as the error is that of the cells.

    >>> found = extrapolated([1.0, 0.5, 0.25], [10.0, 9.0, 8.75])
    >>> f"{found.value:.4f} +- {found.uncertainty:.4f}, order {found.order:.1f}"
    '8.6667 +- 0.1042, order 2.0'
    """
    size, value = np.asarray(sizes, dtype=float)[-3:], np.asarray(values, dtype=float)[-3:]
    if size.size < 2 or not np.all(np.diff(size) < 0):
        raise ValueError(f"two or more sizes, each smaller than the one before, are needed; given {list(sizes)}")
    rounding = 1e-12 * float(np.abs(value).max())
    if np.ptp(value) <= rounding:
        return Extrapolation(float(value[-1]), rounding, None)
    if size.size == 2:
        return _within(*_of_two(size, value))
    order = observed_order(size, value)
    finest, both = float(value[-1]), _both_orders(size, value)
    if not order >= ORDERS[0]:
        reach = UNSAFE * float(np.ptp(value))
        return _within(finest - reach, finest + reach, both)
    if order > ORDERS[1]:  # the two finest agree by chance, or errors of first and second order cancel
        limit = _limit(size[::2], value[::2], SECOND)
        reach = UNSAFE * abs(limit - finest)
        return _within(limit - reach, limit + reach, both, order=order)
    limit = _limit(size, value, order)
    return Extrapolation(limit, SAFE * abs(limit - finest), order)


def _within(*bounds: float, order: float | None = None) -> Extrapolation:
    """The middle of the least interval that holds these."""
    low, high = min(bounds), max(bounds)
    return Extrapolation(0.5 * (low + high), 0.5 * (high - low), order)


def _of_two(size: np.ndarray, value: np.ndarray) -> tuple[float, float]:
    """Bounds from two grids: the whole step of first order, and as much or Roache's of second order on the finest run's
    other side, where the true value lies when errors of both orders change the sign of their sum."""
    finest = float(value[-1])
    slow, fast = (_limit(size, value, order) - finest for order in (SLOWEST, SECOND))
    return finest + slow, finest - max(slow, UNSAFE * fast, key=abs)


def _both_orders(size: np.ndarray, value: np.ndarray) -> float:
    """The value at size 0 of a + b h + c h^2 through three values."""
    return float(np.polyfit(size, value, 2)[-1])


def _limit(size: np.ndarray, value: np.ndarray, order: float) -> float:
    """The value at size 0 on the power law through the last two."""
    return float(value[-1] + (value[-1] - value[-2]) / ((size[-2] / size[-1]) ** order - 1))


def observed_order(size: np.ndarray, value: np.ndarray) -> float:
    """The power p of the law through three values; NaN where they do not change in one direction, or too slowly."""
    first, second = np.diff(value)
    if second == 0 or first / second <= 0:
        return float("nan")

    def miss(order: float) -> float:
        powers = size**order
        return float((powers[0] - powers[1]) / (powers[1] - powers[2]) - first / second)

    low, high = 0.01, 50.0
    return float(brentq(miss, low, high)) if miss(low) < 0 < miss(high) else float("nan")
