"""Loss of solid bars of a good conductor, whose current crowds at right-angled edges."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.discretization.discretization import Discretization
from nearfield.trust.model import model_trust

MM = 1e-3
PERIOD = 10 * MM
FREQUENCIES = [14e9, 19e9, 24e9]
# part of a wave along z that bars of 4 x 3 mm in each 10 mm of x absorb, E along them, 1e6 S/m: method of moments with
# 60 graded panels a side and Rs/2 of the squared current, converged to 0.2 %
ABSORBED = np.array([3.930e-3, 4.990e-3, 6.504e-3])


def bars(cells, shift=(0.0, 0.0), axis=0, metal="auto", medium=None):
    """Bars, their lower faces so many cells off the grid's lines; axis: of the array."""
    cell = PERIOD / cells
    x, z = 3 * MM + shift[0] * cell, 20 * MM + shift[1] * cell

    def turned(*along):
        return tuple(np.roll(np.array(along, dtype=object), axis))

    return nf.Simulation(
        nf.Grid.uniform(cell, turned(cells, 1, 4 * cells)),
        [nf.Structure(nf.Box(turned(x, -1, z), turned(x + 4 * MM, 1, z + 3 * MM)), medium or nf.Conductor(1e6), "bar")],
        nf.Boundaries(**dict(zip("xyz", turned("periodic", "periodic", nf.CPML(8))))),
        sources=[
            nf.CurrentSheet(
                turned(0, 0, 10 * MM), turned(PERIOD, cell, 10 * MM), "xyz"[(1 + axis) % 3],
                nf.ModulatedGaussian(19e9, 14e9),
            )
        ],
        monitors=[
            nf.Flux(name, turned(0, 0, at * MM), turned(PERIOD, cell, at * MM), FREQUENCIES)
            for name, at in (("before", 15), ("behind", 30))
        ],
        metal=metal,
        decay=1e-6,
    )  # fmt: skip


def absorbed(model):
    power = model.run(threads=1).per_source()
    cell = model.grid.resolve().primary(1).min()
    return (power["before"].values - power["behind"].values) / (PERIOD * cell * 376.73 / 8)


@pytest.mark.parametrize(
    ("cells", "shift", "within"),
    [(10, (0, 0), 0.03), (10, (0.3, 0.4), 0.04), (10, (0.5, 0.5), 0.05), (20, (0, 0), 0.02), (20, (0, 0.5), 0.05)],
)
def test_bars_lose_what_crowds_at_their_edges_wherever_these_lie_in_the_cells(cells, shift, within):
    """Of 4 x 3 and 8 x 6 cells; without the edges' field they lost 21 to 49 % too little."""
    assert np.abs(absorbed(bars(cells, shift)) / ABSORBED - 1).max() < within


def test_bars_along_all_axes_lose_alike():
    found = [absorbed(bars(10, (0.3, 0.4), axis)) for axis in range(3)]
    assert np.abs(np.array(found) / found[0] - 1).max() < 1e-4


@pytest.mark.parametrize(("metal", "said"), [("auto", ""), ("staircase", "3 cells thick loses some 53 %")])
def test_check_and_trust_say_what_bars_on_whole_cells_lose_too_little(metal, said):
    model = bars(10, metal=metal)
    told = [text for text in model.check().warnings if "too little" in text]
    assert bool(told) == bool(said) and all(said in text for text in told)
    entries = [entry for entry in model_trust(Discretization(model)) if entry.name == "loss at rims of conductors"]
    assert [entry.verdict for entry in entries] == (["bad"] if said else [])
    if said:
        missing = 1 - absorbed(model) / ABSORBED
        assert np.abs(100 * missing - entries[0].value).max() < 8


def test_check_says_of_edges_between_slanting_faces_that_they_lose_too_little():
    x, z = np.linspace(0, 10, 41) * MM, np.linspace(0, 12, 25) * MM
    diamond = nf.Polygon("z", [(2 * MM, 5 * MM), (5 * MM, 2 * MM), (8 * MM, 5 * MM), (5 * MM, 8 * MM)], 0, 12 * MM)
    model = nf.Simulation(
        nf.Grid(x, x, z), [nf.Structure(diamond, nf.Conductor(1e6), "post")], nf.Boundaries("pec"),
        sources=[nf.PointCurrent((1 * MM, 1 * MM, 6 * MM), "z", nf.Gaussian(10e9))], steps=1,
    )  # fmt: skip
    assert any("'post': a solid of" in text and "along no axis" in text for text in model.check().warnings)
