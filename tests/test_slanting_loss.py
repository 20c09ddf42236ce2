"""Good conductors with faces along no axis lose what they should wherever these lie, through nodes of the grid too.

A field along the surface loses as much a unit of it as on a wall along an axis: of H across the extrusion the faces
about the surface count with l/A by the square of their part of it, of H along it with all of it. Before, walls along
(1, 1) through nodes had 0.354 of the loss, along (2, 1) 0.624, and 1.414 for H along the extrusion; round ones where
their surface passes through nodes between the axes (10 cells a radius: (6, 8)) lost 12 % too little."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.metal.patches import Patch

SIZE = 36  # cells along x and y


def counted(hole):
    """By component of H, places (m) of the faces in a plane and l of their metal (m) in single cells."""
    block = nf.Structure(nf.Box((0, 0, 0), (SIZE, SIZE, 4)), nf.Conductor(1e5))
    sim = nf.Simulation(
        nf.Grid.uniform(1.0, (SIZE, SIZE, 4)), [block, nf.Structure(hole, nf.Medium())], nf.Boundaries(all=nf.PEC),
        metal="conformal", steps=1, check_every=1,
    )  # fmt: skip
    metal = sim._setup().coefficients.metal
    (surface,) = metal.surfaces((1e6, 2e6))
    for component in (3, 4, 5):
        patch = Patch(component, 2, 1, ((0, SIZE), (0, SIZE)))
        opened = metal.fraction(patch)
        length = surface.part(patch) * (1.0 if opened is None else opened)
        at = np.nonzero(length > 0.0)
        yield at[0] + 0.5 * (component != 3), at[1] + 0.5 * (component != 4), length[at]


@pytest.mark.parametrize("way", [(1, 1), (1, -1), (2, 1), (1, 3), (3, 2), (5, 2)])
@pytest.mark.parametrize("off", [0.0, 0.37])
def test_a_slanting_wall_counts_with_its_length(way, off):
    """To rounding, over whole periods of its pattern on the grid."""
    along = np.array(way) / np.hypot(*way)
    across, at = np.array((-along[1], along[0])), np.array((18.0, 18.0 + off))
    corners = [at - 13 * along, at + 13 * along, at + 13 * along + 8 * across, at - 13 * along + 8 * across]
    found = []
    for x, y, length in counted(nf.Polygon("z", [tuple(corner) for corner in corners], 0, 4)):
        place = np.stack((x, y)) - at[:, None]
        reach = int(7 / np.hypot(*way)) * np.hypot(*way)
        near = (-reach - 1e-9 <= along @ place) & (along @ place < reach - 1e-9) & (np.abs(across @ place) < 3)
        found.append(length[near].sum() / (2 * reach))
    assert found[0] * along[0] ** 2 + found[1] * along[1] ** 2 == pytest.approx(1.0, abs=1e-3)
    assert found[2] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(("radius", "most"), [(5, 0.1), (10, 0.03), (13, 0.03)])
@pytest.mark.parametrize("off", [0.0, 0.01])
def test_a_round_wall_counts_with_its_length(radius, off, most):
    """The faces lie up to a cell beside the surface, so to first order in the cell; 13 has (5, 12)."""
    middle, total = SIZE / 2 + off, 0.0
    for component, (x, y, length) in enumerate(counted(nf.Cylinder((middle, middle, 0), (middle, middle, 4), radius))):
        if component < 2:
            u, v = x - middle, y - middle
            total += (length * (v, u)[component] ** 2 / (u**2 + v**2)).sum()
    assert total / (2 * np.pi * radius) == pytest.approx(1.0, abs=most)
