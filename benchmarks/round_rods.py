"""Two round rods of metal, their gap a few cells or less, wherever they lie in the cells: impedance of the line.

    python benchmarks/round_rods.py

From the update coefficients of one plane across them, as `coplanar_lines.py` does, over those on cells a sixth as long.
Each pair is drawn at six places in a cell; printed are the least and the largest error.
"""

from __future__ import annotations

import numpy as np
from coplanar_lines import _energy

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients

HALF = 20  # cells from the middle to the walls
FINE = 6
RADII = (3.3, 5.2)
GAPS = (0.2, 0.5, 0.9, 1.5, 2.5)
PLACES = (0.0, 0.15, 0.3, 0.45, 0.6, 0.8)


def impedance(radius: float, gap: float, finer: int, place: float) -> float:
    """That of the line over 1/(eps0 c); the rods are moved by `place`, and by 0.7 of it in the other direction."""
    line = np.arange(-HALF * finer, HALF * finer + 1) / finer
    grid = nf.Grid(line, np.arange(4.0) / finer, line).resolve()
    middle, up = 0.5 * gap + radius, 0.7 * place
    rods = [
        nf.Cylinder((way * middle + place, 0, up), (way * middle + place, 3 / finer, up), radius) for way in (-1, 1)
    ]
    bodies, step = filled_shapes([nf.Structure(rod, nf.PEC) for rod in rods]), grid.maximum_time_step()
    found = Coefficients(grid, bodies, nf.Medium(), nf.Boundaries(nf.PEC), step, (), "conformal")
    fixed = np.ones((line.size, line.size), dtype=bool)
    fixed[1:-1, 1:-1] = found.dense(1)[1][1 : line.size - 1, 1, 1 : line.size - 1] == 0.0
    x, z = np.meshgrid(line, line, indexing="ij")
    away = [np.hypot(x - way * middle - place, z - up) for way in (-1, 1)]
    driven = fixed & (away[1] < away[0]) & (away[1] < radius + 0.3 / finer)
    electric, magnetic = (_energy(found, (line, line), fixed, driven, kind) for kind in (False, True))
    return float((magnetic * electric) ** -0.5)


def main() -> None:
    """Print the errors."""
    for radius in RADII:
        for gap in GAPS:
            fine = impedance(radius, gap, FINE, 0.0)
            found = [100.0 * (impedance(radius, gap, 1, place) / fine - 1.0) for place in PLACES]
            print(f"radius {radius:g}, gap {gap:g} cells: {min(found):.1f} to {max(found):.1f} %", flush=True)


if __name__ == "__main__":
    main()
