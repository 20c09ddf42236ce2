"""Capacitive irises of solid metal and of sheets, few cells high, wherever their edges lie in the cells."""

import numpy as np
import pytest
from test_conformal import coefficients, largest_eigenvalue, metal

import nearfield as nf
from nearfield.metal import conformal

WIDTH, HEIGHT, LAYER = 22.86e-3, 10.16e-3, 10


def reflection(cells, opening, thickness=0.0, past=0.0, along=0.0):
    """abs(S11) at 10 GHz of an iris in a WR-90 guide so many cells high, its opening `past` the middle and its first
    face `along` a plane of the grid by parts of a cell."""
    cell, reach = HEIGHT / cells, 2 * cells
    first = (LAYER + 4 + reach + along) * cell
    count = int(np.ceil((first + thickness) / cell)) + reach + 4 + LAYER
    low, wide = 0.5 * (HEIGHT - opening) + past * cell, 2 * round(WIDTH / cell / 2)
    shape = nf.Box if thickness else nf.Sheet
    walls = [
        shape((0, low, first), (WIDTH, high, first + thickness)) for low, high in ((0, low), (low + opening, HEIGHT))
    ]
    ports = [
        nf.WaveguidePort(name, (0, 0, z), (WIDTH, HEIGHT, z), way, "TE10")
        for name, z, way in (("in", (LAYER + 4) * cell, "+z"), ("out", (count - LAYER - 4) * cell, "-z"))
    ]
    simulation = nf.Simulation(
        nf.Grid(np.linspace(0, WIDTH, wide + 1), np.linspace(0, HEIGHT, cells + 1), np.arange(count + 1) * cell),
        structures=[nf.Structure(wall, nf.PEC) for wall in walls], ports=ports, excitations=["in"], decay=1e-6,
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(LAYER), z_high=nf.CPML(LAYER)),
        waveform=nf.ModulatedGaussian("10 GHz", "2.5 GHz"), symmetry=nf.Symmetry(x="magnetic"), metal="conformal",
    )  # fmt: skip
    return float(np.abs(simulation.run(threads=1).sparameters.interp(frequency=10e9)).values.ravel()[0])


@pytest.mark.parametrize("opening, past, along", [(5.08e-3, 0.0, 0.0), (5.08e-3, 0.4, 0.3), (3e-3, 0.2, 0.6)])
def test_a_thick_iris_of_few_cells_reflects_as_one_of_many(opening, past, along):
    """2.5 mm thick, ten cells high, against 40. With corners bounded by faces up to 0.027 and 0.022 off."""
    wanted = {5.08e-3: 0.4290, 3e-3: 0.7083}[opening]
    assert reflection(10, opening, 2.5e-3, past, along) == pytest.approx(wanted, abs=0.006)


@pytest.mark.parametrize("past", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("gap, wanted", [(0.6, 0.7449), (1.0, 0.6492)])
def test_a_sheet_with_a_narrow_gap_reflects_as_on_fine_cells(gap, wanted, past):
    """Eight cells high, compared with 32; with gaps bounded by faces up to 0.086 and 0.054 off."""
    assert reflection(8, gap * HEIGHT / 8, past=past) == pytest.approx(wanted, abs=0.017)


@pytest.mark.parametrize("seed", range(4))
def test_the_longest_step_is_stable_where_sheets_run_into_boxes(seed):
    """Rims took cells that solid metal cuts for their own and asked 1000 of a face: eigenvalues up to 54."""
    random = np.random.default_rng(seed)
    grid = nf.Grid.uniform(1.0, (9, 8, 7)).resolve()
    low, high = np.array([3.05, 0.76, 0.36]), np.array([6.6, 3.7, 2.18])
    past = random.uniform(-0.3, 0.3, 4)
    box = metal(nf.Box(tuple(low + past[0]), tuple(high + past[0])))
    sheet = metal(nf.Sheet((2.49 + past[1], 2, 1.07 + past[2]), (6.39 + past[3], 2, 3.52)))
    step = conformal.maximum_time_step(grid, 1.0)
    assert largest_eigenvalue(coefficients(grid, [box, sheet], step=step), grid, step) < 4.0
