"""Bodies of "pmc", and what is cut out of thin metal, where they reach the ends of the grid."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients
from nearfield.grid.yee import is_half

WALLS = nf.Boundaries(x="pec", y="pmc", z=nf.CPML(6))


def found(grid, structures, boundaries):
    shapes = filled_shapes([nf.Structure(shape, medium) for shape, medium in structures])
    return Coefficients(grid, shapes, nf.Medium(), boundaries, 1e-13)


def zero_samples(grid, structures, boundaries, component):
    """Samples of a component that are kept at 0, as an array of the grid's shape of it."""
    index = np.indices(grid.component_shape(component))
    return found(grid, structures, boundaries).at(component, *index)[1] == 0.0


@pytest.mark.parametrize("cells", [1, 3])
def test_a_magnetic_plate_across_a_line_transmits_nothing(cells):
    d, width = 1e-3, cells * 1e-3

    def transmitted(structures):
        simulation = nf.Simulation(
            nf.Grid.uniform(d, (cells, cells, 50)),
            structures=structures,
            boundaries=WALLS,
            sources=[nf.CurrentSheet((0, 0, 10 * d), (width, width, 10 * d), "x", nf.GaussianDerivative("10 GHz"))],
            monitors=[nf.Flux("through", (0, 0, 40 * d), (width, width, 40 * d), ["3 GHz", "10 GHz"])],
            steps=800,
        )
        return simulation.run(threads=1)["through"].values

    plate = nf.Structure(nf.Box((-d, -d, 20.5 * d), (width + d, width + d, 26.5 * d)), "pmc")
    assert np.abs(transmitted([plate]) / transmitted([])).max() < 1e-6


@pytest.mark.parametrize("faces", ["pec", "pmc"])
@pytest.mark.parametrize("beyond", [0.0, 1.0])
def test_magnetic_bodies_go_up_to_the_walls_that_they_reach(faces, beyond):
    grid = nf.Grid.uniform(1.0, (4, 3, 5)).resolve()
    box = nf.Box((-beyond, -beyond, 1.5), (4 + beyond, 3 + beyond, 3.5))
    for component in range(3, 6):
        zero = zero_samples(grid, [(box, nf.PMC)], nf.Boundaries(all=faces), component)
        level = np.arange(zero.shape[2]) + 0.5 * is_half(component, 2)
        assert zero[:, :, (level >= 1.5) & (level <= 3.5)].all()
        assert not zero[1:-1, 1:-1, (level < 1.5) | (level > 3.5)].any()


@pytest.mark.parametrize("end", [2.0, 2.5, 0.0])
def test_magnetic_bodies_that_come_to_a_cpml_go_straight_on_in_it(end):
    grid = nf.Grid.uniform(1.0, (12, 6, 6)).resolve()
    box = nf.Box((end, 1.5, 1.5), (12 - end, 4.5, 4.5))
    for component in range(3, 6):
        zero = zero_samples(grid, [(box, nf.PMC)], nf.Boundaries(all="pec", x=nf.CPML(2)), component)
        assert zero[:, 2:4, 2:4].all()


def test_a_medium_that_goes_on_beyond_a_magnetic_wall_takes_the_thin_metal_on_it():
    grid = nf.Grid.uniform(1.0, (6, 6, 6)).resolve()
    sheet = nf.Sheet((1, -2, 3), (5, 4, 3)), nf.PEC
    for low, taken in ((-1.0, False), (0.0, True)):  # as strictly inside, or not, as in a plane of symmetry
        cut = nf.Box((2, low, 2), (5.5, 3, 4)), nf.Medium()
        zero = zero_samples(grid, [sheet, cut], nf.Boundaries(all="pmc"), 0)
        assert zero[3, 0, 3] == taken and not zero[3, 1, 3] and zero[1, 0, 3]
