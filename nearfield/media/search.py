"""Sums of passive poles that come near a tabulated permittivity.

Strengths, conductivity and what is left at infinity are least squares with no coefficient below zero, so that each
term, and with it the sum, is passive at every frequency; where the poles lie is searched: the best of a grid is added,
then all are moved together (Levenberg and Marquardt over the logarithms), then each is taken out and sought again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nearfield.entry.constants import VACUUM_PERMITTIVITY

PER_DECADE = 8  # relaxation times and resonances of the grid
DAMPINGS = (1e-4, 0.02, 0.1, 0.4, 1.5)  # over the angular resonance frequency
BEYOND = 1.5  # decades outside the table in which poles are sought
ROWS_SEARCHED = 120
MOST_SOUGHT_AGAIN = 8  # poles: of more, each has its neighbours to lean on
TRIED = 4  # candidates of the grid that are moved before one is chosen
DIFFERENCE = 1e-6  # of a logarithm
RAREST = 1e-6  # collisions, over the lowest frequency: none
SMALLEST_DAMPING, LARGEST_DAMPING = 1e-9, 30.0


@dataclass(frozen=True)
class Place:
    """Where a pole lies: "debye" (relaxation rate), "drude" (collision rate) or "lorentz" (resonance, damping).

    Rates are in rad/s or 1/s; the damping is relative to the resonance and 0 for the other two.
    """

    kind: str
    rate: float
    damping: float = 0.0

    def response(self, omega: np.ndarray) -> np.ndarray:
        """Permittivity of unit strength; of "drude" the strength is the plasma frequency squared over the rate's."""
        s = 1j * omega / self.rate
        if self.kind == "debye":
            return 1 / (1 + s)
        if self.kind == "drude":
            return 1 / (s * (s + 1))
        return 1 / (1 + s * s + self.damping * s)

    @property
    def logarithms(self) -> list[float]:
        """What the search moves."""
        return [np.log(self.rate)] + ([np.log(self.damping)] if self.kind == "lorentz" else [])


@dataclass(frozen=True)
class Problem:
    """A table to come near, and what may be used for it."""

    omega: np.ndarray  # rad/s, increasing
    permittivity: np.ndarray  # complex, exp(+j w t)
    real_scale: np.ndarray  # deviations count relative to these
    imaginary_scale: np.ndarray
    infinity: tuple[float, float]  # allowed range of the permittivity above all poles
    conductivity: bool
    kinds: tuple[str, ...]

    def split(self, values: np.ndarray) -> np.ndarray:
        """Real and imaginary parts below each other, weighted: (..., m) -> (..., 2 m)."""
        return np.concatenate((values.real / self.real_scale, values.imag / self.imaginary_scale), axis=-1)

    def thinned(self, rows: int) -> Problem:
        """The same with at most so many rows, both ends among them."""
        if self.omega.size <= rows:
            return self
        kept = np.unique(np.linspace(0, self.omega.size - 1, rows).round().astype(int))
        parts = {name: getattr(self, name)[kept] for name in ("omega", "permittivity", "real_scale", "imaginary_scale")}
        return replace(self, **parts)

    def constant_columns(self) -> np.ndarray:
        """The permittivity at infinity, and the conductivity where it is allowed."""
        columns = [np.ones_like(self.omega, dtype=complex)]
        if self.conductivity:
            columns.append(1 / (1j * self.omega * VACUUM_PERMITTIVITY))
        return np.array([self.split(column) for column in columns])

    def clipped(self, kind: str, rate: float) -> float:
        """The rate, moved into the decades in which poles are sought; free charges may collide ever so rarely."""
        room = 10**BEYOND
        lowest = self.omega[0] * (RAREST if kind == "drude" else 1 / room)
        return float(np.clip(rate, lowest, self.omega[-1] * room))

    def narrowest(self, rate: float) -> float:
        """Least damping of a resonance: among the rows of the table none narrower than they are apart, which they could
        not deny."""
        at = int(np.searchsorted(self.omega, rate))
        if not 0 < at < self.omega.size:
            return SMALLEST_DAMPING
        return float(self.omega[at] - self.omega[at - 1]) / rate

    def grid(self) -> list[Place]:
        """All candidates."""
        low, high = np.log10(self.omega.min()) - BEYOND, np.log10(self.omega.max()) + BEYOND
        rates = np.logspace(low, high, int(np.ceil((high - low) * PER_DECADE)) + 1)
        found = [Place(kind, rate) for kind in ("debye", "drude") if kind in self.kinds for rate in rates]
        if "drude" in self.kinds:
            found.append(Place("drude", RAREST * self.omega[0]))
        if "lorentz" in self.kinds:
            found += [Place("lorentz", rate, max(d, self.narrowest(rate))) for rate in rates for d in DAMPINGS]
        return found


@dataclass(frozen=True)
class Solution:
    """Places with the best strengths for them."""

    places: tuple[Place, ...]
    strengths: np.ndarray
    infinity: float
    conductivity: float
    residual: np.ndarray  # weighted

    @property
    def cost(self) -> float:
        """Mean square deviation."""
        return float(self.residual @ self.residual) / (self.residual.size // 2)


def nonnegative(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The x >= 0 with the least abs(matrix x - target): C. L. Lawson, R. J. Hanson, Solving Least Squares Problems."""
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0] = 1.0
    if matrix.shape[0] > matrix.shape[1]:
        orthogonal, matrix = np.linalg.qr(matrix / scale)
        target = orthogonal.T @ target
    else:
        matrix = matrix / scale
    gram, aim = matrix.T @ matrix, matrix.T @ target
    x, free = np.zeros(scale.size), np.zeros(scale.size, dtype=bool)
    tolerance = 1e-14 * max(np.abs(aim).max(initial=0.0), 1e-300)
    for _ in range(3 * scale.size):
        gradient = np.where(free, -np.inf, aim - gram @ x)
        if gradient.max(initial=-np.inf) <= tolerance:
            break
        free[np.argmax(gradient)] = True
        while free.any():
            trial = np.zeros_like(x)
            trial[free] = np.linalg.lstsq(matrix[:, free], target, rcond=1e-13)[0]
            if (trial[free] > 0).all():
                x = trial
                break
            below = free & (trial <= 0)
            step = (x[below] / (x[below] - trial[below] + 1e-300)).min()
            x = x + step * (trial - x)
            free &= x > 1e-15 * np.abs(x).max(initial=0.0)
            x[~free] = 0.0
    return x / scale


def solved(problem: Problem, places: Sequence[Place]) -> Solution:
    """The strengths that fit best where the poles lie."""
    low, high = problem.infinity
    columns = problem.constant_columns()
    if places:
        poles = problem.split(np.array([place.response(problem.omega) for place in places]))
        columns = np.concatenate((columns, poles))
    one, target = columns[0], problem.split(problem.permittivity)
    x = nonnegative(columns.T, target - low * one)
    if low + x[0] > high:
        x = np.append(high - low, nonnegative(columns[1:].T, target - high * one) if len(columns) > 1 else [])
    first = 2 if problem.conductivity else 1
    residual = target - low * one - x @ columns
    return Solution(tuple(places), x[first:], low + x[0], float(x[1]) if first == 2 else 0.0, residual)


def moved(problem: Problem, start: Solution, rounds: int) -> Solution:
    """The same poles, moved downhill together."""
    best, trust = start, 1e-2
    values = np.array([each for place in start.places for each in place.logarithms])
    for _ in range(rounds if values.size else 0):
        jacobian = slopes(problem, best, values)
        gram, slope = jacobian.T @ jacobian, jacobian.T @ best.residual
        for _ in range(6):
            damped = gram + trust * np.diag(np.diag(gram) + 1e-12 * np.trace(gram) + 1e-300)
            change = np.clip(-np.linalg.lstsq(damped, slope, rcond=None)[0], -1.0, 1.0)
            tried = solved(problem, placed(problem, best.places, values + change))
            if tried.cost < best.cost:
                break
            trust *= 10
        else:
            return best
        gain = 1 - tried.cost / best.cost
        values, best, trust = values + change, tried, max(trust / 10, 1e-9)
        if gain < 1e-7 or best.cost < 1e-26:
            break
    return best


def slopes(problem: Problem, at: Solution, values: np.ndarray) -> np.ndarray:
    """How the residual moves with each logarithm while the strengths follow, after L. Kaufman 1975."""
    moves = np.empty((at.residual.size, values.size))
    poles = [place.response(problem.omega) for place in at.places]
    owners = [n for n, place in enumerate(at.places) for _ in place.logarithms]
    for m, owner in enumerate(owners):
        shifted = values.copy()
        shifted[m] += DIFFERENCE
        place = placed(problem, at.places, shifted)[owner]
        change = (place.response(problem.omega) - poles[owner]) / DIFFERENCE
        moves[:, m] = -at.strengths[owner] * problem.split(change)
    free = [problem.infinity[0] < at.infinity < problem.infinity[1], at.conductivity > 0]
    columns = [column for column, follows in zip(problem.constant_columns(), free) if follows]
    columns += [problem.split(pole) for pole, strength in zip(poles, at.strengths) if strength > 0]
    if not columns:
        return moves
    basis = np.linalg.qr(np.array([column / np.linalg.norm(column) for column in columns]).T)[0]
    return moves - basis @ (basis.T @ moves)


def placed(problem: Problem, places: Sequence[Place], values: np.ndarray) -> list[Place]:
    """Poles of the same kinds at other logarithms."""
    found, at = [], 0
    for place in places:
        rate = problem.clipped(place.kind, float(np.exp(values[at])))
        if place.kind == "lorentz":
            damping = min(max(float(np.exp(values[at + 1])), problem.narrowest(rate)), LARGEST_DAMPING)
            found.append(Place("lorentz", rate, damping))
            at += 2
        else:
            found.append(Place(place.kind, rate))
            at += 1
    return found


def with_one_more(problem: Problem, start: Solution, rounds: int) -> Solution:
    """The solution with the pole of the grid that helps most."""
    grid = problem.grid()
    columns = problem.split(np.array([place.response(problem.omega) for place in grid])).T
    used = problem.constant_columns().T
    if start.places:
        used = np.concatenate(
            (used, problem.split(np.array([place.response(problem.omega) for place in start.places])).T), axis=1
        )
    basis = np.linalg.qr(used / np.linalg.norm(used, axis=0))[0]
    rest = columns - basis @ (basis.T @ columns)
    size = np.maximum(np.linalg.norm(rest, axis=0), 1e-9 * np.linalg.norm(columns, axis=0))
    gains = start.residual @ rest / size
    tried = [moved(problem, solved(problem, [*start.places, grid[n]]), rounds) for n in np.argsort(-gains)[:TRIED]]
    return min([*tried, solved(problem, [*start.places, grid[int(np.argmax(gains))]])], key=lambda each: each.cost)


def search(problem: Problem, poles: int, error: float | None) -> Solution:
    """Poles one by one, up to a number, or until the root mean square deviation is below `error`.

    Of a long table every n-th row is searched in; all count for the last moves.
    """
    part = problem.thinned(ROWS_SEARCHED)
    best = solved(part, [])
    for _ in range(poles):
        if best.cost < 1e-24 or (error is not None and solved(problem, best.places).cost <= error**2):
            break
        best = moved(part, with_one_more(part, best, 6), 40)
        for n in range(len(best.places) if 1 < len(best.places) <= MOST_SOUGHT_AGAIN else 0):
            fewer = solved(part, best.places[:n] + best.places[n + 1 :])
            again = moved(part, with_one_more(part, fewer, 4), 15)
            best = min(best, again, key=lambda each: each.cost)
    return moved(problem, solved(problem, best.places), 20)
