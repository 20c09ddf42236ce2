"""Impressed currents: the right total in the right place, on graded grids, and the work they do."""

import numpy as np
import pytest
from small_fdtd import SmallFDTD

import nearfield as nf
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED
from nearfield.sources.edges import dual_area, sample_length

SIGNAL = nf.GaussianDerivative(10e9)
WALLS = nf.Boundaries(all="pmc")


def graded(seed=3, cells=(6, 7, 8)):
    random = np.random.default_rng(seed)
    return nf.Grid(*(np.cumsum(random.uniform(0.5e-3, 1.5e-3, n + 1)) for n in cells)).resolve()


def currents(grid, term, time_step):
    """Current (A or V) in each sample's own face, per unit of the waveform."""
    scale = VACUUM_SPEED * time_step * (VACUUM_IMPEDANCE if term.component < 3 else 1.0)
    return -term.weight / scale * dual_area(grid, term.component, term.i, term.j, term.k)


def lowered(source, grid, time_step=1e-13):
    return source._terms(SmallFDTD(grid, WALLS, time_step).context)


@pytest.mark.parametrize("kind", [nf.PointCurrent, nf.MagneticPointCurrent])
@pytest.mark.parametrize("axis", "xyz")
def test_point_current_keeps_its_moment_and_its_place(kind, axis):
    grid = graded()
    position = tuple(0.4 * line[2] + 0.6 * line[4] for line in grid.lines)
    (term,) = lowered(kind(position, axis, SIGNAL, 2.5), grid)
    index = (term.i, term.j, term.k)
    moment = currents(grid, term, 1e-13) * sample_length(grid, term.component, *index)
    assert moment.sum() == pytest.approx(2.5, rel=1e-12)
    for a, samples in enumerate(grid.component_axes(term.component)):
        assert (moment * samples[index[a]]).sum() / 2.5 == pytest.approx(position[a], rel=1e-9)


def test_point_current_on_a_sample_is_in_that_sample_alone():
    grid = graded()
    x, y, z = grid.component_axes(2)
    (term,) = lowered(nf.PointCurrent((x[3], y[2], z[4]), "z", SIGNAL), grid)
    assert (term.i.tolist(), term.j.tolist(), term.k.tolist()) == ([3], [2], [4])


@pytest.mark.parametrize("axis", range(3))
def test_line_current_is_the_same_in_every_edge_and_has_a_sign(axis):
    grid = graded()
    start, end = ([line[2] for line in grid.lines] for _ in range(2))
    end[axis] = grid.lines[axis][5]
    for a, b, sign in ((start, end, 1.0), (end, start, -1.0)):
        (term,) = lowered(nf.LineCurrent(a, b, SIGNAL, current=0.3), grid)
        assert term.component == axis and len(term.i) == 3
        assert currents(grid, term, 1e-13) == pytest.approx(sign * 0.3, rel=1e-12)


@pytest.mark.parametrize("axis", "yz")
def test_current_sheet_carries_density_times_width(axis):
    grid = graded()
    lower = (grid.lines[0][3], grid.lines[1][1], grid.lines[2][2])
    upper = (grid.lines[0][3], grid.lines[1][5], grid.lines[2][7])
    (term,) = lowered(nf.CurrentSheet(lower, upper, axis, SIGNAL, density=2.0), grid)
    number = "xyz".index(axis)
    across = 3 - number
    for layer in np.unique((term.i, term.j, term.k)[number]):
        inside = (term.i, term.j, term.k)[number] == layer
        width = upper[across] - lower[across]
        assert currents(grid, term, 1e-13)[inside].sum() == pytest.approx(2.0 * width, rel=1e-12)


def test_current_sheet_radiates_half_eta_k_to_both_sides():
    d, cells = 1e-3, 240
    grid = nf.Grid.uniform(d, (1, cells, 1)).resolve()
    walls = nf.Boundaries(all="pmc", z_low="pec", z_high="pec")
    dt = 0.5 * d / VACUUM_SPEED
    box = SmallFDTD(grid, walls, dt)
    signal = nf.Gaussian(5e9)  # 60 cells a wavelength: delayed by dispersion less than 1e-3 of its width
    sheet = nf.CurrentSheet((0, 120e-3, 0), (d, 120e-3, d), "z", signal, density=2.0)
    steps = int((signal.centre + 50e-3 / VACUUM_SPEED) / dt)
    box.run(sheet._terms(box.context), steps, "sources")
    for node in (80, 160):
        wanted = -VACUUM_IMPEDANCE * signal.value(np.array([steps * dt - 40e-3 / VACUUM_SPEED]))[0]
        assert box.fields[2][0, node, 0] == pytest.approx(wanted, rel=2e-3)


def test_source_work_equals_field_energy_for_a_point_between_samples():
    grid = graded(cells=(3, 4, 3))
    dt = 0.9 * grid.maximum_time_step()
    box = SmallFDTD(grid, nf.Boundaries(all="pec"), dt)
    position = tuple(0.5 * (line[0] + line[-1]) * 1.01 for line in grid.lines)
    source = nf.PointCurrent(position, "y", nf.Ricker(60e9), moment=1e-3)
    terms = source._terms(box.context)
    entries = grid.interpolation(1, position)

    def field():
        return sum(weight * box.fields[1][i, j, k] for i, j, k, weight in entries)

    work, old = 0.0, 0.0
    for step in range(1, 121):
        before = [component.copy() for component in box.fields[3:]]
        signal = source.waveform.value(np.array([(step - 0.5) * dt]))[0]
        box.update_electric()
        for term in terms:
            box.fields[1][term.i, term.j, term.k] += term.weight * signal
        box.update_magnetic()
        work -= 1e-3 * signal * 0.5 * (old + field()) * dt
        old = field()
    assert work > 0.0 and box.energy(before) == pytest.approx(work, rel=1e-10)


def test_current_in_metal_is_left_out():
    grid = graded()
    box = SmallFDTD(grid, nf.Boundaries(all="pec"), 1e-13)
    on_wall = nf.LineCurrent(
        (grid.lines[0][0],) * 1 + (grid.lines[1][2], grid.lines[2][1]),
        (grid.lines[0][0], grid.lines[1][2], grid.lines[2][3]),
        SIGNAL,
    )
    assert on_wall._terms(box.context) == []


REFUSED = (
    (lambda: nf.LineCurrent((0, 0, 0), (1, 1, 0), SIGNAL), "differ in x and y"),
    (lambda: nf.LineCurrent((0, 0, 0), (0, 0, 0), SIGNAL), "no coordinate"),
    (lambda: nf.CurrentSheet((0, 0, 0), (1, 1, 1), "x", SIGNAL), "exactly one"),
    (lambda: nf.CurrentSheet((0, 0, 0), (1, 1, 0), "z", SIGNAL), "normal"),
    (lambda: nf.CurrentSheet((1, 0, 0), (0, 1, 0), "y", SIGNAL), "exceeds"),
    (lambda: nf.PointCurrent((0, 0, 0), "w", SIGNAL), "axis"),
    (lambda: lowered(nf.PointCurrent((9, 9, 9), "x", SIGNAL), graded()), "outside"),
    (lambda: lowered(nf.LineCurrent((2e-3, 2e-3, 2e-3), (2e-3, 2e-3, 2.01e-3), SIGNAL), graded()), "vanish"),
)


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_wrong_sources_are_refused_with_a_reason(make, message):
    with pytest.raises(nf.ModelError, match=message):
        make()
