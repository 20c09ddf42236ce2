"""The modes of a guide's cross-section as the grid carries them: eigenvectors of its own difference operators.

With the potentials of `nearfield.guides.analytic` on the grid, TE on cells and TM on nodes, E on the live edges is
their difference G p, and

    G' A G p = cut-off^2 M p,        A: area that an edge stands for, M: area of a cell, or dual area of a node

Where metal leaves a part f of an edge open, A is A f and M that of the open part of a cell for TE modes. For TM and TEM
E is G p/f, since the potential falls to zero within f of the edge, and A is A/f. What the field about edges of metal
makes of eps across it counts in f too, as one over the factor; that along the guide counts in M of TM modes.

The analytic mode is where inverse iteration starts, so that it says which mode is found, and how it is polarised; on
even lines in a rectangle it is the solution already. E and n x E, half a cell on, obey the three-dimensional update
with an amplitude along the guide (guided_line.py), and modes are orthogonal under A, both to rounding. Round
guides have two modes of a name; where the lattice turns their polarisations, both together make the wanted one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.analysis.guided_line import GuideLine
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import triple
from nearfield.guides.analytic import Opening, potential
from nearfield.guides.launch import LaunchedMode
from nearfield.guides.names import ModeName
from nearfield.guides.section import Section, Traces
from nearfield.plan.excitations import Waveform

MOST_ITERATIONS = 30
CONVERGED = 1e-13
LIKENESS = 0.85  # least correlation between a mode on the grid and the analytic one
POLARISED = 0.9995  # below it a mode of a round guide is turned, by the lattice about an axis that is off its lines,
SPLIT = 0.01  # and is put together of the two whose squares of cut-offs differ by less than this part


@dataclass(frozen=True)
class Mode:
    """A mode: E_u (cells u, nodes v) and E_v (nodes u, cells v) in 1/m with the sum of their squares times areas 1.

    E = V (E_u, E_v) of modal voltage V, H = I (n x E) of modal current I, power V I; areas count as far as they are
    open. `cutoff` in 1/m.
    """

    family: str
    cutoff: float
    section: Section
    electric: tuple[np.ndarray, np.ndarray]

    def line(self, cell: float, time_step: float) -> GuideLine:
        """The line of the mode along a guide with cells of this length (m)."""
        filling = self.section.filling
        return GuideLine(self.family, self.cutoff, cell, time_step, filling.permittivity, filling.permeability)

    @property
    def pictured(self) -> tuple[np.ndarray, np.ndarray]:
        """E_u and E_v."""
        return self.electric

    @property
    def values(self) -> np.ndarray:
        """E on the live edges."""
        return np.concatenate([part[mask] for part, mask in zip(self.electric, self.section.live)])

    @property
    def traces(self) -> Traces:
        """Its samples in the plane, and their weights."""
        edges, filling, values = self.section.edges, self.section.filling, self.values
        beside, ones = values * edges.turn, np.ones((values.size, 1))  # n x E
        # by Db itself, which is 1/(mu_r f) but where steps are bounded: no flux stays in what is launched
        launched = 1 / filling.permittivity * edges.free * values, beside * edges.free * edges.db
        received = (values * edges.area)[None], (beside * edges.area / (filling.permeability * edges.db))[None]
        return Traces(launched, (ones, ones), received)

    def wave(self, line: Any, dual: float, signal: Waveform, steps: int) -> LaunchedMode:
        """The incident wave of the mode with modal voltage `signal`."""
        return LaunchedMode(line, dual, signal.value, signal.excitation, signal.end)


def guide_mode(section: Section, lines: tuple, opening: Opening, name: ModeName, angle: float, who: str) -> Mode:
    """The mode of that name; `lines`: coordinates of the window's nodes along u and v. Error: the guide has none."""
    if not section.filling.even:
        low, high = section.filling.index
        raise ModelError(
            f"{who}: the guide is filled unevenly at the port (eps_r mu_r {low:.4g} to {high:.4g}), and "
            f'{name.family}{name.m}{name.n} is a mode of one medium. Give shape = "any" and modes by their number, '
            '"1" the one with the largest wave number; or, where a body only fills the guide, make that medium the '
            "background or let it reach into the metal around"
        )
    area, _, free = flat_edges(section)
    if name.family == "TE":
        cutoff, electric = _eigenvector(section, lines, opening, name, angle, area * free, who)
    elif name.family == "TM":
        cutoff, electric = _eigenvector(section, lines, opening, name, angle, area / free, who)
    else:
        cutoff, electric = 0.0, _static(section, lines, opening, area / free, who)
    return mode_on(section, name.family, cutoff, electric)


def flat_edges(section: Section) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(area or 0, whether live, open part) of all edges, E_u first."""
    filling, areas = section.filling, [area * live for area, live in zip(section.areas, section.live)]
    parts = areas, section.live, (filling.open_u, filling.open_v)
    return triple(np.concatenate([part.ravel() for part in both]) for both in parts)


def on_edges(section: Section, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values of all edges as arrays of E_u and E_v."""
    along_u, along_v = np.split(values, [section.live_u.size])
    return along_u.reshape(section.live_u.shape), along_v.reshape(section.live_v.shape)


def mode_on(section: Section, family: str, cutoff: float, electric: np.ndarray) -> Mode:
    """The mode with the differences of a potential on all edges, of unit size."""
    area, live, free = flat_edges(section)
    electric = electric * live if family == "TE" else electric * live / free
    electric = electric / np.sqrt(np.sum(area * free * electric**2))
    return Mode(family, cutoff, section, on_edges(section, electric))


def differences(section: Section, te: bool):
    """G from all cells (TE) or nodes (TM) to all edges, E_u first, and the areas that those stand for."""
    from scipy.sparse import diags, identity, kron, vstack

    (pu, pv), (du, dv) = section.primary, section.dual
    steps = [diags([1.0, -1.0], [0, -1], shape=(p.size + 1, p.size)) for p in (pu, pv)]  # value above - value below
    if te:
        along_v, along_u = diags(1 / dv) @ steps[1], diags(1 / du) @ steps[0]
        parts = kron(identity(pu.size), along_v), -kron(along_u, identity(pv.size))
        return vstack(parts).tocsc(), (np.outer(pu, pv) * section.filling.open_cells).ravel()
    along_u, along_v = diags(1 / pu) @ steps[0].T, diags(1 / pv) @ steps[1].T  # minus the slope
    parts = kron(along_u, identity(dv.size)), kron(identity(du.size), along_v)
    return vstack(parts).tocsc(), (np.outer(du, dv) * section.filling.open_nodes).ravel()


def _places(lines: tuple, te: bool) -> list[np.ndarray]:
    """(u, v) of cells or nodes, flat."""
    at = [0.5 * (line[1:] + line[:-1]) if te else line for line in lines]
    return [part.ravel() for part in np.meshgrid(*at, indexing="ij")]


def _eigenvector(
    section: Section, lines: tuple, opening: Opening, name: ModeName, angle: float, weight: np.ndarray, who: str
) -> tuple[float, np.ndarray]:
    """(cut-off, E on all edges) of the mode next to the analytic one."""
    from scipy.sparse import diags

    te = name.family == "TE"
    operator, mass = differences(section, te)
    alive = np.flatnonzero((section.cells if te else section.live_n).ravel())
    g, mass, places = operator[:, alive], mass[alive], [part[alive] for part in _places(lines, te)]
    stiffness = (g.T @ diags(weight) @ g).tocsc()

    def sized(values: np.ndarray) -> np.ndarray:
        return values / np.sqrt(np.sum(mass * values**2)) if np.any(values) else values

    analytic, value = potential(opening, name, angle)
    start = sized(value(*places))
    found = _nearest(stiffness, mass, start)
    square, alike = float(found @ (stiffness @ found)), abs(np.sum(mass * found * start))
    if name.m and opening.shape != "rectangular" and alike < POLARISED:
        turned = sized(potential(opening, name, angle + np.pi / (2 * name.m))[1](*places))
        other = _nearest(stiffness, mass, turned, found)
        if abs(other @ (stiffness @ other) / square - 1.0) < SPLIT:
            pair = np.stack((found, other))
            found = sized((pair @ (mass * start)) @ pair)
            square, alike = float(found @ (stiffness @ found)), abs(np.sum(mass * found * start))
    cutoff = float(np.sqrt(square))
    if not alike > LIKENESS:
        raise ModelError(
            f"{who}: no mode of the guide on this grid is like {name.family}{name.m}{name.n}, whose cut-off is "
            f"{analytic:.4g} 1/m (nearest {cutoff:.4g} 1/m); check the corners of the opening and its shape, or take "
            "smaller cells"
        )
    return cutoff, g @ found


def _nearest(stiffness, mass: np.ndarray, start: np.ndarray, apart: np.ndarray | None = None) -> np.ndarray:
    """The eigenvector next to a vector, both of unit size, by inverse iteration; `apart`: orthogonal to this one."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import splu

    found, change = start, np.inf
    for _ in range(MOST_ITERATIONS):
        square = float(found @ (stiffness @ found))
        solver = splu(stiffness - 0.9999 * square * diags(mass).tocsc())
        before, last = found, change
        found = solver.solve(mass * before)
        if apart is not None:
            found -= np.sum(mass * apart * found) * apart
        found /= np.sqrt(np.sum(mass * found**2)) * np.sign(np.sum(mass * found * before))
        change = float(np.sqrt(np.sum(mass * (found - before) ** 2)))
        if change < CONVERGED or (change < 1e-9 and change >= last):
            break
    return found


def _static(section: Section, lines: tuple, opening: Opening, weight: np.ndarray, who: str) -> np.ndarray:
    """E of a potential of 1 on the inner conductor and 0 on the outer one. Error: there is no inner one."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import spsolve

    operator, _ = differences(section, te=False)
    distance, _ = opening.polar(*_places(lines, te=False))
    free = section.live_n.ravel()
    held = (~free & (distance < np.sqrt(opening.inner * opening.radius))).astype(float)
    if not held.any():
        raise ModelError(
            f"{who}: no node of the grid within {np.sqrt(opening.inner * opening.radius):.4g} m of the middle of its "
            f"opening lies in metal, so there is no inner conductor of inner_radius {opening.inner:.4g} m to carry a "
            "TEM wave; draw it through the port's plane, or take smaller cells"
        )
    stiffness = (operator.T @ diags(weight) @ operator).tocsc()
    held[free] = spsolve(stiffness[free][:, free], -(stiffness @ held)[free])
    return operator @ held
