"""Free ends of wires between grid lines act where they are drawn; ends that touch something meet it."""

import numpy as np
import pytest
from test_conformal import largest_eigenvalue
from test_thin_wires import MM, assert_stable, box, coefficients, wire

import nearfield as nf
from validation.half_wave_dipole.run import graded, input_impedance, resonance


def dipole_resonance(half: float, radius: float | None, cell: float = 6 * MM) -> float:
    """Resonance (Hz) of a dipole with arms of `half` cells from its middle; its port is a cell."""
    across = graded(cell * np.arange(-3, 4), cell, 14 * MM, 45 * MM)
    along = graded(cell * (np.arange(-15, 17) - 0.5), cell, 14 * MM, 45 * MM)
    arms = [wire([(0, 0, way * 0.5 * cell), (0, 0, way * half * cell)], radius) for way in (-1, 1)]
    model = nf.Simulation(
        nf.Grid(across, across, along),
        structures=arms,
        ports=[nf.LumpedPort("feed", (0, 0, -0.5 * cell), (0, 0, 0.5 * cell), "z", resistance=73.0)],
        symmetry=nf.Symmetry(x="magnetic", y="magnetic"),
        waveform=nf.Gaussian(1.6e9),
    )
    return resonance(*input_impedance(model.run(threads=1), (0.6e9, 1.3e9)))[0]


@pytest.mark.parametrize("radius", [None, 0.006 * MM, 0.6 * MM, 2.4 * MM])
def test_a_dipoles_resonance_falls_evenly_with_its_drawn_length(radius):
    """Between lengths of whole cells, 0.2 cells at a time; it went in one step of a cell, 1.0 at the half.

    0.03 cells: what `SEEN` (wire_ends.py), one number for all radii, leaves.
    """
    parts = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    found = np.array([dipole_resonance(12.5 + part, radius) for part in parts])
    assert (np.diff(found) < 0.0).all()
    np.testing.assert_allclose((found[0] - found) / (found[0] - found[-1]), parts, atol=0.03)


def test_an_end_between_lines_goes_on_to_what_it_touches():
    """At a port, a plate or another wire a wire ends on the line where these are, and not before it."""
    grid, middle = box(9, 9, 9), np.array([4])
    short = wire([(4 * MM, 4 * MM, 1.4 * MM), (4 * MM, 4 * MM, 6.6 * MM)], 0.1 * MM)
    whole = wire([(4 * MM, 4 * MM, 1 * MM), (4 * MM, 4 * MM, 7 * MM)], 0.1 * MM)
    plate = nf.Structure(nf.Sheet((0, 0, 7 * MM), (9 * MM, 9 * MM, 7 * MM)), nf.PEC)
    arm = wire([(4 * MM, 1 * MM, 7 * MM), (4 * MM, 8 * MM, 7 * MM)], 0.1 * MM)
    gaps = [(2, middle, middle, np.array([n])) for n in (0, 7)]
    for others, circuits in (([plate], gaps[:1]), ([arm], gaps[:1]), ([], gaps)):
        found, expected = (coefficients(grid, [one, *others], gaps=circuits) for one in (short, whole))
        for component in range(6):
            assert np.array_equal(found.dense(component), expected.dense(component)), component
    free, longer = coefficients(grid, [short]), coefficients(grid, [whole])
    assert free.dense(2)[1][4, 4, 1] > 0.0 and free.dense(2)[1][4, 4, 6] > 0.0
    assert longer.dense(2)[1][4, 4, 1] == longer.dense(2)[1][4, 4, 6] == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_ends_between_lines_leave_the_largest_stable_step_as_it_is(seed):
    """No face counts with more than the least of its live edges."""
    random = np.random.default_rng(seed)
    grid, places = box(9, 9, 12), np.arange(2, 8, 3) * MM
    bodies = [
        wire(
            [(x, y, (2 + random.random()) * MM), (x, y, (8 + random.random()) * MM)],
            10 ** random.uniform(-3, -0.3) * MM,
        )
        for x in places
        for y in places
    ]
    found = coefficients(grid, bodies)
    assert_stable(grid, found)
    assert largest_eigenvalue(found, grid, found.time_step, 60) < 4.0 * 0.99**2


@pytest.mark.parametrize("shape", ["wire", "strip", "rod"])
def test_ends_along_a_periodic_axis_act_where_they_are_drawn(shape):
    """As between open faces, over the seam too; they snapped to the nearest line, 10 cells for 10.8."""

    def drives(by: float, face) -> list[np.ndarray]:
        start, end = ((x * MM, 6 * MM, 6 * MM) for x in (4.6 + by, 15.4 + by))
        metal = {
            "wire": nf.Wire([start, end], 0.1 * MM),
            "strip": nf.Sheet((start[0], 5.8 * MM, 6 * MM), (end[0], 6.2 * MM, 6 * MM)),
            "rod": nf.Cylinder(start, end, 0.2 * MM),
        }[shape]
        setup = nf.Simulation(
            nf.Grid.uniform(MM, (20, 12, 12)),
            boundaries=nf.Boundaries(nf.PEC, x=face),
            structures=[nf.Structure(metal, nf.PEC)],
            sources=[nf.PointCurrent((9.5 * MM, 2 * MM, 2 * MM), "x", nf.Gaussian(9e9))],
            precision="double",
            steps=10,
        )._setup()
        return [setup.coefficients.dense(component)[1] for component in range(6)]

    middle = drives(0, "periodic")
    for open_, periodic in zip(drives(0, nf.PEC), middle):
        assert np.abs(open_[1:20] - periodic[1:20]).max() < 1e-12 * periodic.max()
    assert (middle[0][5:15, 6, 6] == 0.0).all() and middle[0][4, 6, 6] > 0.0 and middle[0][15, 6, 6] > 0.0
    for by in (10, -7):
        for found, expected in zip(drives(by, "periodic"), middle):
            assert np.abs(found[:20] - np.roll(expected[:20], by, axis=0)).max() < 1e-9 * expected.max(), by
