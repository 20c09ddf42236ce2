"""Hybrid modes of a guide with a mixed filling: eigenvectors of the grid's own equations at a frequency.

With e the tangential E in a plane, h = (H_v, -H_u) of eta0 H half a cell on, at the same places across, D = z^(1/2) -
z^(-1/2) = j k tau, tau = c dt, and a wave that is multiplied by q in a cell, P = q^(1/2) - q^(-1/2) = -j beta d, Yee's
equations without E and H along the guide are

    beta h = A e / k        A = k^2/Cb - C db R         C, R: from H along the guide to e, and its curl; db of that H
    beta e = B h / k        B = k^2/Db - G cb S         G, S: minus gradient of E along the guide, divergence; its cb

Since S C = 0 the waves obey T e = beta^2 e with T = k^2/(Db Cb) - C db R/Db - G cb S/Cb, linear in k^2. e is real up
to a factor, and with the areas of edges A is symmetric: sum of e h area = 0 for any two modes, the orthogonality of
powers, to rounding. e, beta^2 and e A e are analytic in k^2, through the cut-off too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.guides.counted import along_first, clusters, conductors, leading, pointed, static_fields
from nearfield.guides.largest import Solve, largest_space, shifted, spanned
from nearfield.guides.modes import differences, flat_edges, on_edges
from nearfield.guides.section import Section

LIKENESS = 0.8  # least overlap between the profiles of a mode at two frequencies
CONVERGED = 1e-12
ROUNDED = 1e-8  # below this a change that no longer halves is rounding
MOST_ITERATIONS = 12
FAST = 0.01  # change of a mode over that of the solutions before, above which the shift moves to its new square
DISTINCT = 1e-6  # relative: squares of charges over power that tell waves of one wave number apart
EXACT = 1e-14  # T e - beta^2 e over what its largest terms can be: rounding
REAL = 1e-7  # largest imaginary part over k^2 of the square of a wave number that is real


@dataclass(frozen=True)
class Wave:
    """A mode at one k: `square` beta^2, `drive` e A e (1/m^2), `electric` e and `magnetic` h on the live edges.

    The sum of e^2 area/f is 1, f what metal leaves of an edge (e holds f E), and so is that of e h area: h is
    A e / (e A e).
    """

    square: float
    drive: float
    electric: np.ndarray
    magnetic: np.ndarray


class Equations:
    """A and T of a cross-section on its live edges, split by powers of k^2."""

    def __init__(self, section: Section) -> None:
        from scipy.sparse import diags

        self.section, filling = section, section.filling
        area, live, free = flat_edges(section)
        self.live, nodes = np.flatnonzero(live), np.flatnonzero(section.live_n.ravel())
        self.area = area[self.live]
        self.unit = self.area / free[self.live]
        inside = np.flatnonzero(section.cells.ravel())
        c, g = (differences(section, te)[0][self.live][:, part] for te, part in ((True, inside), (False, nodes)))
        cells, duals = np.outer(*section.primary).ravel()[inside], np.outer(*section.dual).ravel()[nodes]
        cb, db = (
            np.concatenate([part.ravel() for part in both[:2]])[self.live]
            for both in (filling.electric, filling.magnetic)
        )
        weight = diags(self.area)
        curl = c @ diags(filling.magnetic[2].ravel()[inside] / cells) @ c.T @ weight
        slope = g @ diags(filling.electric[2].ravel()[nodes] / duals) @ g.T @ weight
        self._drive = diags(1 / cb).tocsr(), curl.tocsr()
        self._waves = diags(1 / (db * cb)).tocsc(), (diags(1 / db) @ curl + slope @ diags(1 / cb)).tocsc()

    @cached_property
    def largest(self) -> float:
        """Above every beta^2/k^2 of a wave."""
        filling = self.section.filling
        cells = filling.magnetic[2][self.section.cells]
        nodes = filling.electric[2][self.section.live_n]
        return max(filling.index[1], (1 / nodes).max(initial=0.0) * (1 / cells).max()) * 1.001

    def drive(self, k2: float, e: np.ndarray) -> np.ndarray:
        """A e."""
        return k2 * (self._drive[0] @ e) - self._drive[1] @ e

    def waves(self, k2: float):
        """T."""
        return k2 * self._waves[0] - self._waves[1]

    def rounding(self, k2: float) -> float:
        """An error that beta^2 has by rounding."""
        return EXACT * float(np.abs(self.waves(k2).diagonal()).max())

    def wave(self, k2: float, e: np.ndarray) -> Wave:
        """The mode with the profile e."""
        e = e / np.sqrt(np.sum(self.unit * e**2))
        left = self.drive(k2, e)
        drive = float(np.sum(self.area * e * left))
        square = float(np.sum(self.area * left * (self.waves(k2) @ e)) / drive)
        return Wave(square, drive, e, left / drive)


def first_waves(equations: Equations, k2: float, count: int, who: str, alone: bool = False) -> list[Wave]:
    """The modes with the largest beta^2, in order; `alone`: as that of turned_apart. Errors: too few, complex waves
    among them."""
    area, waves = equations.area[:, None], equations.waves(k2)
    space = largest_space(waves, k2 * equations.largest, count, k2, equations.rounding(k2), who)
    left = area * np.stack([equations.drive(k2, e) for e in space.T], axis=1)
    squares, turned = np.linalg.eig(np.linalg.solve(left.T @ space, left.T @ (waves @ space)))
    order = np.argsort(-squares.real)[:count]
    if order.size < count:
        raise ModelError(
            f"{who}: the grid has {order.size} modes in this guide, and number {count} was asked for; take smaller "
            "cells or a lower number"
        )
    if np.abs(squares[order].imag).max() > REAL * k2:
        raise ModelError(
            f"{who}: among the first {count} modes of this filled guide there are complex waves in the middle of the "
            "band; ports know modes with a real or imaginary wave number. Ask for a lower number, or another band"
        )
    fields = space @ turned[:, np.argsort(-squares.real)]
    found: list[np.ndarray] = []
    for group in clusters(np.sort(-squares.real)):
        if len(found) < count:  # rounding may make waves of one beta a complex pair
            found += list(turned_apart(equations, k2, spanned(fields[:, group])[:, : group.size], alone).T)
    return [equations.wave(k2, pointing(equations, e)) for e in found[:count]]


def static_first(equations: Equations, k2: float, number: int, who: str) -> list[Wave]:
    """The first waves of a guide that one medium fills: those like static fields between its conductors lead, in the
    order of their capacitances, as TEM waves do (counted.py).

    Bounds of the time step about rims of metal give each a wave number a little of its own, that says nothing.
    """
    from scipy.optimize import linear_sum_assignment

    static = np.array(static_fields(equations.section))
    waves = first_waves(equations, k2, max(number, len(static)), who)
    if not len(static):
        return waves
    profiles = np.array([wave.magnetic / np.sqrt(np.sum(equations.area * wave.magnetic**2)) for wave in waves])
    likeness = np.abs((equations.area * static[:, equations.live]) @ profiles.T)
    likeness /= np.linalg.norm(likeness, axis=1, keepdims=True)
    leading_ones = linear_sum_assignment(likeness, maximize=True)[1].tolist()
    return [waves[n] for n in leading_ones] + [wave for n, wave in enumerate(waves) if n not in leading_ones]


def turned_apart(equations: Equations, k2: float, fields: np.ndarray, alone: bool) -> np.ndarray:
    """Modes of one wave number without common power, that with most E along the first axis leading.

    Of waves on conductors in one medium any mixture is one: taken are those whose charges are eigenvectors of the
    matrix of capacitances, the even and the odd one of a pair wherever it lies in its cells. Conductors `alone` in an
    endless plane, of which the section's border is a part far away, carry no charge together; the wave that they all
    make with that border is no wave of the line, and comes last.
    """
    if fields.shape[1] == 1:
        return fields
    area = equations.area[:, None]
    driven = area * np.stack([equations.drive(k2, e) for e in fields.T], axis=1)
    power = fields.T @ driven
    along = along_first(equations.section)[equations.live, None]
    if np.ptp(np.sign(np.linalg.eigvalsh(power + power.T))):  # some of TE and some of TM kind below their cut-off
        return fields
    power = 0.5 * (power + power.T)
    charges = _charges(equations, driven)
    squares = np.linalg.eigvals(np.linalg.solve(power, charges.T @ charges)).real
    together = charges.sum(axis=0)
    charged = np.linalg.solve(power, together)  # has no power in common with fields without charge
    if alone and together @ charged > DISTINCT * np.abs(squares).max():
        neutral = fields @ np.linalg.svd(together[None])[2][1:].T
        return np.column_stack((turned_apart(equations, k2, neutral, False), fields @ charged))
    if np.diff(np.sort(squares)).min() > DISTINCT * np.abs(squares).max():
        turn = leading(charges.T @ charges, power)
        along_first_axis = np.sum(area * along * (fields @ turn) ** 2, axis=0) / np.diag(turn.T @ power @ turn)
        return fields @ turn[:, np.argsort(-along_first_axis, kind="stable")]
    return fields @ leading(fields.T @ (area * along * fields), power)


def _charges(equations: Equations, driven: np.ndarray) -> np.ndarray:
    """Charges, in one medium, of the conductors that do not reach the section's border, (conductors, fields), of
    fluxes through the edges' areas."""
    label, count = conductors(equations.section)
    at = label.reshape(equations.section.live_n.shape)
    border = np.unique(np.concatenate((at[0], at[-1], at[:, 0], at[:, -1])))
    flows = differences(equations.section, te=False)[0][equations.live].T @ driven
    inner = [flows[label == n].sum(axis=0) for n in range(count) if n not in border]
    return np.stack(inner or [np.zeros(driven.shape[1])])


def pointing(equations: Equations, e: np.ndarray) -> np.ndarray:
    """e with the sign that all counted modes have."""
    return e * pointed(equations.section, on_edges(equations.section, whole(equations.section, e)))


def whole(section: Section, values: np.ndarray) -> np.ndarray:
    """Values on the live edges as values on all."""
    live = np.concatenate([mask.ravel() for mask in section.live])
    found = np.zeros(live.size)
    found[live] = values
    return found


def followed(equations: Equations, known: Wave, known_k2: float, k2: float) -> Wave | None:
    """The mode that is `known` at one k^2, at another k^2; None where it is not to be told from others."""
    area, one, change = equations.area, known, np.inf
    square, waves = known.square + (k2 - known_k2) * slope(equations, known), equations.waves(k2)
    same = equations.wave(k2, known.electric)
    missed = np.abs(waves @ same.electric - same.square * same.electric).max()
    rounding = equations.rounding(k2)
    if missed <= rounding * np.abs(same.electric).max():
        return same  # TEM waves: of several the solver would make a mixture
    solve: Solve | None = None
    for _ in range(MOST_ITERATIONS):
        if solve is None:
            offset = max(1e-7 * (abs(square) + k2), rounding)  # no matrix of rank one less
            solve = shifted(waves, square + offset)
        last, before = one.electric, change
        e = solve(solve(last))
        one = equations.wave(k2, e * np.sign(np.sum(area * e * last)))
        square = one.square
        change = float(np.sqrt(np.sum(area * (one.electric - last) ** 2)))
        if change < CONVERGED or (change < ROUNDED and 2 * change > before):
            break
        if change > FAST * before:  # else the shift of the steps before does
            solve = None
    alike = np.sum(area * one.electric * known.magnetic) * np.sum(area * known.electric * one.magnetic)
    return one if alike > LIKENESS else None


def slope(equations: Equations, one: Wave) -> float:
    """d beta^2 / d k^2, by the mode's left vector h."""
    return float(np.sum(equations.area * one.magnetic * ((equations.waves(1.0) - equations.waves(0.0)) @ one.electric)))
