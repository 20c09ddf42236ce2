"""Sums of passive poles that come near a tabulated permittivity.

Strengths, conductivity and what is left at infinity are least squares with no coefficient below zero (SciPy's `nnls`),
so that each term, and with it the sum, is passive at every frequency. Where the poles lie is searched: the best of a
grid is added, then all are moved together (SciPy's `least_squares`, over the logarithms of rates and dampings), then
each is taken out and sought again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nearfield.entry.constants import VACUUM_PERMITTIVITY

POLE = np.dtype([("kind", "U7"), ("rate", float), ("damping", float)])
PER_DECADE = 8  # relaxation times and resonances of the grid
DAMPINGS = (1e-4, 0.02, 0.1, 0.4, 1.5)  # over the angular resonance frequency
BEYOND = 10**1.5  # factor past the first and the last frequency of the table within which poles are sought
ROWS_SEARCHED = 120
MOST_SOUGHT_AGAIN = 8  # poles: of more, each has its neighbours to lean on
TRIED = 2  # candidates of the grid, besides the best of each kind, that are moved before one is chosen
RAREST = 1e-6  # collisions, over the lowest frequency: none
SMALLEST_DAMPING, LARGEST_DAMPING = 1e-9, 30.0
EXACT = 1e-20  # mean square deviation, relative, below which no further pole is sought


def responses(poles: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Permittivity of poles of unit strength, (poles, m); `poles` are rows of `POLE`.

    1/(1 + s) of "debye", 1/(s + s^2) of "drude", 1/(1 + damping s + s^2) of "lorentz", with s = j omega/rate. The rate
    (rad/s or 1/s) is that of relaxation, of collisions, of resonance; the damping of the first two is 1. The strength
    of "drude" is the square of the plasma frequency over the rate.
    """
    s = 1j * omega / poles["rate"][:, None]
    constant, square = (poles["kind"][:, None] != kind for kind in ("drude", "debye"))
    return 1 / (constant + s * (poles["damping"][:, None] + square * s))


@dataclass(frozen=True)
class Problem:
    """A table to come near, and what may be used for it."""

    omega: np.ndarray  # rad/s, increasing
    permittivity: np.ndarray  # complex, exp(+j w t); deviations count relative to its magnitude
    loss_weight: float  # factor of the deviations of the imaginary part
    infinity: tuple[float, float]  # allowed range of the permittivity above all poles
    conductivity: bool
    kinds: tuple[str, ...]

    def split(self, values: np.ndarray) -> np.ndarray:
        """Real and imaginary parts below each other, weighted: (..., m) -> (..., 2 m)."""
        relative = values / np.abs(self.permittivity)
        return np.concatenate((relative.real, self.loss_weight * relative.imag), axis=-1)

    def thinned(self, rows: int) -> Problem:
        """The problem with at most so many rows, both ends among them."""
        if self.omega.size <= rows:
            return self
        kept = np.unique(np.linspace(0, self.omega.size - 1, rows).round().astype(int))
        return replace(self, omega=self.omega[kept], permittivity=self.permittivity[kept])

    def columns(self, poles: np.ndarray) -> np.ndarray:
        """Columns of the coefficients, (1 or 2 + poles, 2 m): infinity, conductivity where allowed, strengths."""
        return np.concatenate((self.constant_columns, self.split(responses(poles, self.omega))))

    @cached_property
    def constant_columns(self) -> np.ndarray:
        """The columns of infinity and conductivity."""
        found = [np.ones_like(self.omega), 1 / (1j * self.omega * VACUUM_PERMITTIVITY)]
        return self.split(np.array(found[: 1 + self.conductivity]))

    def bounds(self, poles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest rates of poles, then dampings of resonances; free charges may collide ever so rarely."""
        damped = np.ones(np.count_nonzero(poles["kind"] == "lorentz"))
        lowest = self.omega[0] * np.where(poles["kind"] == "drude", RAREST, 1 / BEYOND)
        highest = np.full(poles.size, self.omega[-1] * BEYOND)
        return np.append(lowest, SMALLEST_DAMPING * damped), np.append(highest, LARGEST_DAMPING * damped)

    def narrowest(self, rate: np.ndarray) -> np.ndarray:
        """Least damping of resonances: the table's rows could not deny a line narrower than they are apart.

        Past an end a line is as wide as the last two rows are apart, less its distance from the end: farther out the
        table sees its smooth flank alone, and a background of no loss is allowed.
        """
        ends = self.omega[[0, -1]]
        at = np.clip(np.searchsorted(self.omega, rate), 1, self.omega.size - 1)
        width = np.diff(self.omega)[at - 1] - np.abs(rate - np.clip(rate, *ends))
        return np.clip(width / rate, SMALLEST_DAMPING, LARGEST_DAMPING)

    @cached_property
    def grid(self) -> np.ndarray:
        """All candidates."""
        low, high = np.log10(self.omega[0] / BEYOND), np.log10(self.omega[-1] * BEYOND)
        rates = np.logspace(low, high, int(np.ceil((high - low) * PER_DECADE)) + 1)
        rows = [(kind, rate, 1.0) for kind in sorted({*self.kinds} - {"lorentz"}) for rate in rates]
        if "drude" in self.kinds:
            rows.append(("drude", RAREST * self.omega[0], 1.0))
        if "lorentz" in self.kinds:
            least = self.narrowest(rates)
            rows += [("lorentz", rate, max(d, each)) for rate, each in zip(rates, least) for d in DAMPINGS]
        return np.array(rows, dtype=POLE)

    @cached_property
    def grid_columns(self) -> np.ndarray:
        """The candidates' columns."""
        return self.split(responses(self.grid, self.omega))


@dataclass(frozen=True)
class Solution:
    """Poles with the best strengths for them."""

    poles: np.ndarray  # rows of POLE
    strengths: np.ndarray
    infinity: float
    conductivity: float
    residual: np.ndarray  # weighted

    @property
    def cost(self) -> float:
        """Mean square deviation."""
        return float(self.residual @ self.residual) / (self.residual.size // 2)


def coefficients(problem: Problem, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best coefficients of columns, the first within the problem's limits and none below 0; what they leave."""
    low, high = problem.infinity
    target = problem.split(problem.permittivity)
    above, residual = nonnegative(columns, target - low * columns[0])
    if low + above[0] <= high:
        return np.append(low + above[0], above[1:]), residual
    others, residual = nonnegative(columns[1:], target - high * columns[0])
    return np.append(high, others), residual


def nonnegative(columns: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The x >= 0 with the least abs(target - x columns), and that difference."""
    from scipy.optimize import nnls

    if not columns.size:
        return np.zeros(0), target
    scale = np.linalg.norm(columns, axis=1)
    x = nnls((columns / scale[:, None]).T, target)[0] / scale
    return x, target - x @ columns


def solved(problem: Problem, poles: np.ndarray) -> Solution:
    """The strengths that fit best where the poles lie."""
    x, residual = coefficients(problem, problem.columns(poles))
    first = 1 + problem.conductivity
    return Solution(poles, x[first:], float(x[0]), float(x[1]) if problem.conductivity else 0.0, residual)


def moved(problem: Problem, poles: np.ndarray, rounds: int) -> Solution:
    """Poles of the same kinds, moved downhill together."""
    from scipy.optimize import least_squares

    start, damped = solved(problem, poles), poles["kind"] == "lorentz"
    if not poles.size:
        return start

    def at(logarithms: np.ndarray) -> Solution:
        places, (rates, dampings) = poles.copy(), np.split(np.exp(logarithms), [poles.size])
        places["rate"], places["damping"][damped] = rates, np.maximum(dampings, problem.narrowest(rates[damped]))
        return solved(problem, places)

    bounds = [np.log(each) for each in problem.bounds(poles)]
    values = np.clip(np.log(np.append(poles["rate"], poles["damping"][damped])), *bounds)
    options = {"x_scale": "jac", "xtol": 1e-12, "gtol": 1e-14, "max_nfev": rounds}
    found = at(least_squares(lambda each: at(each).residual, values, bounds=bounds, **options).x)
    return min(start, found, key=lambda each: each.cost)


def with_one_more(problem: Problem, poles: np.ndarray, rounds: int) -> Solution:
    """The poles and one of the grid: of the best few and the best of each kind, the one that helps most once moved."""
    columns = problem.columns(poles)
    left = [np.linalg.norm(coefficients(problem, np.vstack((columns, each)))[1]) for each in problem.grid_columns]
    order = np.argsort(left)
    _, best = np.unique(problem.grid["kind"][order], return_index=True)
    tried = [moved(problem, np.append(poles, problem.grid[n]), rounds) for n in np.union1d(order[:TRIED], order[best])]
    return min(tried, key=lambda each: each.cost)


def search(problem: Problem, count: int, error: float | None) -> Solution:
    """Poles one by one, up to a number, or until the root mean square deviation is below `error`.

    Of a long table every n-th row is searched in; all count for the last moves.
    """
    part = problem.thinned(ROWS_SEARCHED)
    best = solved(part, np.zeros(0, POLE))
    for _ in range(count):
        if best.cost < EXACT or (error is not None and solved(problem, best.poles).cost <= error**2):
            break
        best = moved(part, with_one_more(part, best.poles, 6).poles, 40)
        for n in range(best.poles.size if 1 < best.poles.size <= MOST_SOUGHT_AGAIN else 0):
            again = moved(part, with_one_more(part, np.delete(best.poles, n), 4).poles, 15)
            best = min(best, again, key=lambda each: each.cost)
    return moved(problem, best.poles, 20)
