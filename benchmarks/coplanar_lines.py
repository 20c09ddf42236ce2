"""Coplanar lines with narrow strips and gaps, wherever these lie in the cells, against the closed form.

    python benchmarks/coplanar_lines.py

A strip between two grounds, in the plane midway between two walls, from the update coefficients of one plane across it:
static fields, so that nothing but the metal counts. Each line is drawn at ten places in a cell; printed are the least
and the largest error of its impedance, and of its wave's index.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve
from scipy.special import ellipk

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients

HIGH = 16.0  # cells between the walls
PLACES = np.arange(10) / 10.0
EVEN = np.arange(-24.0, 25.0)
SMALLER = np.cumsum(np.repeat((1.0, 0.9, 0.8, 0.7, 0.6), (17, 1, 1, 1, 6))) - 23.0
CELLS = {  # lines across the strip, and from wall to wall
    "cubes": (EVEN, np.arange(-8.0, 9.0)),
    "half as high": (EVEN, np.arange(-8.0, 8.1, 0.5)),
    "twice as high": (EVEN, np.arange(-8.0, 9.0, 2.0)),
    "graded": (np.append(SMALLER, 2.0 * SMALLER[-1] - SMALLER[-2::-1]), np.arange(-8.0, 9.0)),
}
STRIPS = [(width, 3.0) for width in (0.3, 0.6, 0.9, 1.4, 3.0)]
GAPS = [(3.0, gap) for gap in (0.3, 0.6, 0.9, 1.3, 2.4)]
BOTH = [
    (0.5, 0.5),
    (0.5, 0.7),
    (0.5, 0.9),
    (0.9, 0.3),
    (0.9, 0.7),
    (0.9, 0.9),
    (0.5, 1.6),
    (0.9, 1.2),
    (1.2, 0.5),
    (2.0, 0.5),
]


def exact(width: float, gap: float) -> float:
    """Capacitance over eps0: 4 K(k)/K(k'), k = tanh(pi w/(2 h))/tanh(pi (w + 2 g)/(2 h)), h between the walls."""
    inner, outer = (np.tanh(0.5 * np.pi * part / HIGH) for part in (width, width + 2.0 * gap))
    square = (inner / outer) ** 2
    return float(4.0 * ellipk(square) / ellipk(1.0 - square))


def coefficients(x: np.ndarray, z: np.ndarray, width: float, gap: float, place: float) -> Coefficients:
    """Of a line along y whose strip has its middle at `place`."""
    grid, outer = nf.Grid(x, np.arange(4.0), z).resolve(), 0.5 * width + gap
    spans = (x[0], place - outer), (place - 0.5 * width, place + 0.5 * width), (place + outer, x[-1])
    sheets = [nf.Structure(nf.Sheet((low, 0, 0), (high, 3, 0)), nf.PEC) for low, high in spans]
    step = grid.maximum_time_step()
    return Coefficients(grid, filled_shapes(sheets), nf.Medium(), nf.Boundaries(nf.PEC), step, (), "conformal")


def line(x: np.ndarray, z: np.ndarray, width: float, gap: float, place: float) -> tuple[float, float]:
    """(capacitance over eps0, inductance over mu0); NaN where the strip is joined to a ground."""
    found = coefficients(x, z, width, gap, place)
    fixed = np.ones((x.size, z.size), dtype=bool)
    fixed[1:-1, 1:-1] = found.dense(1)[1][1 : x.size - 1, 1, 1 : z.size - 1] == 0.0
    strip = np.zeros_like(fixed)
    level = int(np.argmin(np.abs(z)))
    strip[:, level] = fixed[:, level] & (np.abs(x - place) < 0.5 * width + 0.999 * gap)
    if not strip.any():
        return np.nan, np.nan
    sums = [_energy(found, (x, z), fixed, strip, magnetic) for magnetic in (False, True)]
    return sums[0], 1.0 / sums[1]


def _energy(found: Coefficients, lines, fixed: np.ndarray, strip: np.ndarray, magnetic: bool) -> float:
    """Twice the energy of the static field of a potential 1 on the strip, or of a vector potential."""
    nodes, total = np.arange(fixed.size).reshape(fixed.shape), []
    for axis, component in ((0, 0), (1, 2)):
        drive = found.dense(5 - component if magnetic else component)[1][:, 1]
        weight = np.ones([n - (a == axis) for a, n in enumerate(fixed.shape)])
        weight[: drive.shape[0], : drive.shape[1]] = drive[: weight.shape[0], : weight.shape[1]]
        if not magnetic:
            weight = np.where(weight == 0.0, 0.0, 1.0 / np.where(weight == 0.0, 1.0, weight))
        cell, beside = np.diff(lines[axis]), np.diff(lines[1 - axis])
        dual = 0.5 * (np.append(beside, 0.0) + np.append(0.0, beside))
        weight *= dual / cell[:, None] if axis == 0 else dual[:, None] / cell
        ends = (nodes[:-1], nodes[1:]) if axis == 0 else (nodes[:, :-1], nodes[:, 1:])
        total.append((ends[0].ravel(), ends[1].ravel(), weight.ravel()))
    first, second, weight = (np.concatenate(part) for part in zip(*total))
    rows, columns = np.r_[first, second, first, second], np.r_[first, second, second, first]
    matrix = coo_matrix((np.r_[weight, weight, -weight, -weight], (rows, columns))).tocsc()
    potential, free = strip.ravel().astype(float), ~fixed.ravel()
    potential[free] = spsolve(matrix[free][:, free], -matrix[free][:, ~free] @ potential[~free])
    return float(potential @ (matrix @ potential))


def errors(cells: str, width: float, gap: float, places: np.ndarray = PLACES) -> np.ndarray:
    """(places, 2): impedance and index over those of the closed form, less one."""
    wanted, found = exact(width, gap), []
    for place in places:
        capacitance, inductance = line(*CELLS[cells], width, gap, place)
        found.append((np.sqrt(inductance / capacitance) * wanted - 1.0, np.sqrt(inductance * capacitance) - 1.0))
    return np.array(found)


def main() -> None:
    """Print the errors."""
    for cells in CELLS:
        for width, gap in STRIPS + GAPS + (BOTH if cells == "cubes" else []):
            found = 100.0 * errors(cells, width, gap)
            (low, slow), (high, fast) = np.nanmin(found, axis=0), np.nanmax(found, axis=0)
            joined = f"; joined at {np.isnan(found[:, 0]).sum()} places" if np.isnan(found).any() else ""
            print(
                f"{cells}: strip {width:g}, gap {gap:g} cells: impedance {low:.2f} to {high:.2f} %, "
                f"index {slow:.2f} to {fast:.2f} %{joined}",
                flush=True,
            )


if __name__ == "__main__":
    main()
