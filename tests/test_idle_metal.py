"""Metal between the lines of the grid, which has no edge of it: `check` says so, and not that it acts elsewhere."""

import pytest

import nearfield as nf

MM = 1e-3
SLENDER = [(4e-3, 9.8e-3), (13e-3, 9.9e-3), (7e-3, 10.2e-3)]
SMALL = {
    "400 um x 400 um x 0 m": nf.Sheet((9.8e-3, 9.8e-3, 10e-3), (10.2e-3, 10.2e-3, 10e-3)),
    "0 m x 0 m x 900 um": nf.Wire([(10e-3, 10e-3, 9.55e-3), (10e-3, 10e-3, 10.45e-3)], 5e-5),
    "9 mm x 400 um x 0 m": nf.Polygon("z", SLENDER, 10e-3, 10e-3),
}


def check(shape, faces=nf.PEC):
    structure = nf.Structure(shape, nf.PEC, name="bit")
    source = nf.PointCurrent((8e-3, 13e-3, 13e-3), "x", nf.Gaussian(9e9))
    grid = nf.Grid.uniform(MM, (20, 20, 20))
    return nf.Simulation(grid, [structure], nf.Boundaries(faces), sources=[source], steps=10, metal="staircase").check()


@pytest.mark.parametrize("size", list(SMALL))
def test_metal_without_an_edge_is_said_to_have_no_effect(size):
    """It was silent, or said as how wide a strip it acts."""
    found = check(SMALL[size])
    assert any(f"'bit': metal of {size} lies between the lines" in text for text in found.warnings)
    assert not any("it acts" in move["effect"] for move in found.moved)


@pytest.mark.parametrize(
    "shape",
    [
        nf.Wire([(10e-3, 10e-3, 9.55e-3), (10e-3, 10e-3, 10.55e-3)], 5e-5),
        nf.Sheet((4e-3, 9.8e-3, 10e-3), (9e-3, 10.2e-3, 10e-3)),
        nf.Box((9.6e-3, 4e-3, 9.6e-3), (10.4e-3, 9e-3, 10.4e-3)),
        nf.Sheet((30e-3, 9.8e-3, 10e-3), (39e-3, 10.2e-3, 10e-3)),  # outside, which is said by itself
    ],
)
def test_metal_with_an_edge_is_not(shape):
    assert not any("takes no edge" in text for text in check(shape).warnings)


@pytest.mark.parametrize(
    "shape",
    [nf.Sheet((1e-3, 4e-3, 10e-3), (4e-3, 8e-3, 10e-3)), nf.Wire([(1e-3, 10e-3, 10e-3), (4e-3, 10e-3, 10e-3)], 5e-5)],
)
def test_metal_within_the_cpml_is_not(shape):
    """It lies on lines of the grid, and its end in the layer is said by itself."""
    assert not any("takes no edge" in text for text in check(shape, nf.CPML(5)).warnings)
