"""Walls are mirrors, to rounding; a uniform field in a lossy medium fades as its discrete equation says."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.entry.constants import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY
from nearfield.grid.yee import COMPONENTS

HALF = 5  # cells between a wall and the end of the box


def mirrored(values: np.ndarray, axis: int, node: bool, sign: float) -> np.ndarray:
    """A field of the half box and its mirror image below it; on the mirror an odd field is zero."""
    values = values.copy()
    if node and sign < 0:
        values[(slice(None),) * axis + (0,)] = 0.0
    image = sign * np.flip(values, axis)
    return np.concatenate((image[(slice(None),) * axis + (slice(0, -1 if node else None),)], values), axis)


def parity(component: int, axis: int, wall: str) -> float:
    """PEC: tangential E and normal H are odd; PMC: the others."""
    tangential_electric = component < 3 and component != axis
    normal_magnetic = component == 3 + axis
    return -1.0 if (tangential_electric or normal_magnetic) == (wall == "pec") else 1.0


def solver(lines, walls: dict) -> nf.Solver:
    names = {"xyz"[axis] + "_" + side: wall for (axis, side), wall in walls.items()}
    sim = nf.Simulation(
        nf.Grid(*lines), boundaries=nf.Boundaries(nf.PEC, **names), precision="double", time_step=1e-12, steps=1
    )
    return nf.Solver(sim, threads=1)


@pytest.mark.parametrize("wall", ["pec", "pmc"])
@pytest.mark.parametrize("side", ["low", "high"])
@pytest.mark.parametrize("axis", range(3))
def test_half_a_box_behind_a_wall_is_half_of_the_mirrored_box(axis, side, wall):
    rng = np.random.default_rng(axis)
    others = [np.cumsum([0, *rng.uniform(0.9e-3, 1.3e-3, n)]) for n in (4, 6, 5)]
    upper = np.cumsum([0, *rng.uniform(0.9e-3, 1.3e-3, HALF)])
    whole_line = np.concatenate((-upper[:0:-1], upper))
    half_line = upper if side == "low" else -upper[::-1]
    whole = solver([whole_line if a == axis else line for a, line in enumerate(others)], {})
    half = solver([half_line if a == axis else line for a, line in enumerate(others)], {(axis, side): wall})
    for component, name in enumerate(COMPONENTS):
        shape = list(half.grid.component_shape(component))
        node = (component % 3 == axis) == (component >= 3)
        full = mirrored(rng.standard_normal(shape), axis, node, parity(component, axis, wall))
        whole.set_field(name, full)
        half.set_field(name, cut(full, axis, side, shape[axis]))
    for each in (whole, half):
        each.advance(40)
    for component, name in enumerate(COMPONENTS):
        expected = cut(whole.field(name), axis, side, half.grid.component_shape(component)[axis])
        # V/m or A/m; the random start has H of 377 V/m, so that 1e-11 is 40 steps of rounding
        np.testing.assert_allclose(half.field(name), expected, rtol=0, atol=1e-11)


def cut(values: np.ndarray, axis: int, side: str, length: int) -> np.ndarray:
    """The half of a mirrored field that the half box holds."""
    index = slice(-length, None) if side == "low" else slice(0, length)
    return values[(slice(None),) * axis + (index,)]


@pytest.mark.parametrize("axis", range(3))
def test_a_uniform_electric_field_fades_with_the_conductivity(axis):
    medium = nf.Medium(permittivity=2.0, conductivity=0.3)
    assert fading(axis, "E", medium) == pytest.approx(loss_factor(0.3, 2.0 * VACUUM_PERMITTIVITY), rel=1e-12)


@pytest.mark.parametrize("axis", range(3))
def test_a_uniform_magnetic_field_fades_with_the_magnetic_conductivity(axis):
    medium = nf.Medium(permeability=3.0, magnetic_conductivity=2e4)
    assert fading(axis, "H", medium) == pytest.approx(loss_factor(2e4, 3.0 * VACUUM_PERMEABILITY), rel=1e-12)


def loss_factor(conductivity: float, storage: float, time_step: float = 1e-12) -> float:
    """((1 - s)/(1 + s))^10 with s = sigma dt/(2 eps): ten steps of eps (F' - F)/dt = -sigma (F' + F)/2."""
    s = conductivity * time_step / (2 * storage)
    return ((1 - s) / (1 + s)) ** 10


def fading(axis: int, field: str, medium: nf.Medium) -> float:
    """Part of a uniform field along the axis that is left after ten steps; its walls leave it uniform."""
    ends, sides = (nf.PEC, nf.PMC) if field == "E" else (nf.PMC, nf.PEC)
    walls = {f"{'xyz'[a]}_{side}": ends if a == axis else sides for a in range(3) for side in ("low", "high")}
    sim = nf.Simulation(
        nf.Grid.uniform(1e-3, (4, 5, 6)),
        boundaries=nf.Boundaries(nf.PEC, **walls),
        background=medium,
        precision="double",
        time_step=1e-12,
        steps=1,
    )
    box, name = nf.Solver(sim, threads=1), field + "xyz"[axis]
    component = COMPONENTS.index(name)
    box.set_field(name, np.ones(box.grid.component_shape(component)))
    box.advance(10)
    left = box.field(name)
    assert np.ptp(left) <= 1e-15 * left.max()
    return float(left.mean())
