"""Ports in guides of any cross-section: modes counted by cut-off, launched one way to rounding; TEM of strips."""

import numpy as np
import pytest
from cases import slow_after
from guides import MM, behind, guide
from scipy.optimize import brentq
from scipy.special import ellipk

import nearfield as nf
from nearfield.analysis.sparameters import port_waves
from nearfield.discretization.guide_table import port_modes
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED


def block(x0, y0, x1, y1, medium=nf.PEC):
    """From end to end, corners in mm."""
    return nf.Structure(nf.Box((x0 * MM, y0 * MM, 0), (x1 * MM, y1 * MM, 1)), medium)


def strip(x0, x1, y):
    return nf.Structure(nf.Sheet((x0 * MM, y * MM, 0), (x1 * MM, y * MM, 1)), nf.PEC)


def modes(model, count=None):
    context = model._setup().context
    return [channel._placed(context).mode for channel in model._channels[: count or len(model.ports[0].modes)]]


def test_counted_modes_of_a_rectangle_are_those_of_its_names():
    count = 8
    model = guide(count=count)
    numbers = [(m, n) for m in range(6) for n in range(6)]
    square = {
        (m, n): sum((2 / MM * np.sin(0.5 * np.pi * i / c)) ** 2 for i, c in ((m, 12), (n, 7))) for m, n in numbers
    }
    wanted = sorted(
        [
            *(("TE", np.sqrt(square[m, n])) for m, n in numbers if m or n),
            *(("TM", np.sqrt(square[m, n])) for m, n in numbers if m and n),
        ],
        key=lambda each: (round(each[1], 6), each[0]),
    )
    found = modes(model)
    assert [mode.family for mode in found] == [family for family, _ in wanted[:count]]
    assert np.allclose([mode.cutoff for mode in found], [cutoff for _, cutoff in wanted[:count]], rtol=1e-12)
    named = nf.WaveguidePort("in", model.ports[0].lower, model.ports[0].upper, "+z", "TE10")
    other = model.model_copy(update={"ports": (named,)})._setup()
    assert np.abs(named._placed(other.context).mode.electric[1] - found[0].electric[1]).max() < 1e-9  # both point to +y
    electric = [mode.values for mode in found]
    overlaps = np.einsum("is,js,s->ij", electric, electric, found[0].section.edges.area)
    assert np.abs(overlaps - np.eye(count)).max() < 1e-11


@pytest.mark.parametrize(
    "metal, allowed",
    [
        ("staircase", 0.1),
        pytest.param("conformal", 0.02, marks=pytest.mark.slow),
    ],
)
def test_modes_of_a_circle_have_the_zeros_of_bessel_functions(metal, allowed):
    """A staircase's radius is uncertain by a quarter of a cell in 6; (k d)^2/24 is 1.5 % for TM11."""
    hole = nf.Structure(nf.Cylinder((7 * MM, 7 * MM, 0), (7 * MM, 7 * MM, 1), 6 * MM), nf.Medium())
    found = modes(guide([block(0, 0, 14, 14), hole], (14, 14), 8, metal=metal))
    wanted = [1.8412, 1.8412, 2.4048, 3.0542, 3.0542, 3.8317, 3.8317, 3.8317]  # TE11, TM01, TE21, TE01, TM11
    assert np.allclose([mode.cutoff * 6 * MM for mode in found], wanted, rtol=allowed)
    assert [mode.family for mode in found[:5]] == ["TE", "TE", "TM", "TE", "TE"]
    along = [np.sum(mode.electric[0] ** 2) - np.sum(mode.electric[1] ** 2) for mode in found]
    assert along[0] > 0 > along[1] == pytest.approx(-along[0])  # of a pair the first points along x


def ridge_cutoff(width, height, ridge, gap, modes=24):
    """The lowest cut-off (1/m) of a single-ridge guide: H along it, odd about the middle, matched where the ridge ends.

    Left of the step, under the ridge, cosines over the gap times sines from the middle; right of it cosines over the
    height times cosines from the side wall. E along the step exists in the gap alone.
    """
    m, n = np.arange(modes), np.arange(max(2, round(modes * gap / height)))
    km, kn = np.pi * m / height, np.pi * n / gap
    norms = np.sqrt(np.where(m == 0, 1, 2) / height), np.sqrt(np.where(n == 0, 1, 2) / gap)
    overlap = np.array(
        [[0.5 * gap * (np.sinc((a - b) * gap / np.pi) + np.sinc((a + b) * gap / np.pi)) for b in kn] for a in km]
    ) * np.outer(*norms)

    def determinant(k):
        gm, gn = (np.sqrt((each**2 - k**2).astype(complex)) for each in (km, kn))
        admittance = overlap.T @ ((1 / (gm * np.tanh(gm * 0.5 * (width - ridge))))[:, None] * overlap)
        matrix = admittance + np.diag(np.tanh(gn * 0.5 * ridge) / gn)
        return np.linalg.eigvalsh(matrix.real)[0]  # passes through 0

    k = np.linspace(0.2, 0.98, 60) * np.pi / width
    values = [determinant(each) for each in k]
    first = np.flatnonzero(np.diff(np.sign(values)))[0]
    return brentq(determinant, k[first], k[first + 1])


@pytest.mark.parametrize("corners", [(8, 4, 16, 12), (8.3, 4.4, 15.8, 12), (8.5, 3.7, 16.1, 12)])
def test_the_cutoff_of_a_ridge_guide_is_that_of_mode_matching(corners):
    """Wherever in a cell the ridge ends. Its edges' field is known to the next order, some (cell/gap)^2/30: 0.2 %; on
    whole cells they act as 0.1 cells in the gap, 1.1 % of the cut-off."""
    width, gap = (corners[2] - corners[0]) * MM, corners[1] * MM
    exact = ridge_cutoff(24 * MM, 12 * MM, width, gap)
    assert exact == pytest.approx(ridge_cutoff(24 * MM, 12 * MM, width, gap, 48), rel=1e-4)
    found = modes(guide([block(*corners)], (24, 12)))[0]
    assert found.family == "TE"
    assert found.cutoff == pytest.approx(exact, rel=0.002)


def test_strips_in_a_box_carry_as_many_tem_waves_even_before_odd():
    found = modes(guide([strip(4, 8, 6), strip(12, 16, 6)], (20, 12), 3))
    assert [mode.family for mode in found] == ["TEM", "TEM", "TE"]
    for mode, sign in zip(found, (-1.0, 1.0)):  # Ex of the even mode is odd about the middle
        along = mode.electric[0]
        assert np.abs(along - sign * np.flip(along, 0)).max() < 1e-9 * np.abs(along).max()


@pytest.mark.parametrize("gap", [(11, 13), (11.3, 13.2), (10.6, 13.4), (10.8, 13.2)])
def test_narrow_strips_off_the_lines_carry_the_even_wave_first_with_the_impedance_of_the_medium(gap):
    """Bounds of the time step about their rims let the two waves differ by some 1e-4 in their wave number."""
    low, high = gap
    model = guide([strip(low - 2, low, 3), strip(high, high + 2, 3)], (24, 6), 2, pulse=nf.Gaussian(6e9))
    even, odd = (abs(mode.pictured[0][9:15, 3].sum()) / np.abs(mode.pictured[0]).max() for mode in modes(model))
    assert even < (1e-6 if low + high == 24 else 0.7) * odd  # voltage across the gap, over the largest across a cell
    found = model.guide_modes([2e9])
    assert np.abs(found.impedance.values[:2].real / VACUUM_IMPEDANCE - 1.0).max() < 2e-3
    beta = found.propagation_constant.values[:2].imag
    assert np.abs(beta * VACUUM_SPEED / (2 * np.pi * 2e9) - 1.0).max() < 2e-3


@pytest.mark.parametrize("ends", [(12, 24), (12.3, 23.9), (12.5, 24.5)])
def test_the_impedance_of_a_stripline_is_its_closed_form(ends):
    """Z = eta0/4 K(sech)/K(tanh) (pi w/2b) of wide walls, wherever in a cell the strip ends: 0.2 %, as far as rims are
    known to the next order; the side walls, a wall's distance away, are 1e-4."""
    mode = modes(guide([strip(*ends, 6)], (36, 12)))[0]
    voltage = np.sum(mode.electric[1][18, :6]) * MM  # from wall to strip, of a field with V I = 1
    x = np.pi * (ends[1] - ends[0]) / (2 * 12)
    wanted = 0.25 * VACUUM_IMPEDANCE * ellipk(1 / np.cosh(x) ** 2) / ellipk(np.tanh(x) ** 2)
    assert VACUUM_IMPEDANCE * voltage**2 == pytest.approx(wanted, rel=0.002)


OFF_LINES = {
    "round coaxial": (
        [nf.Cylinder((7.3 * MM, 7.2 * MM, -1), (7.3 * MM, 7.2 * MM, 1), 6.37 * MM)],
        [nf.Cylinder((7.3 * MM, 7.2 * MM, -1), (7.3 * MM, 7.2 * MM, 1), 2.21 * MM)],
    ),
    "coaxial": (
        [nf.Box((1.3 * MM, 1.2 * MM, -1), (13.7 * MM, 12.1 * MM, 1))],
        [nf.Box((5.4 * MM, 5.3 * MM, -1), (9.1 * MM, 9.2 * MM, 1))],
    ),
    "ridged": (
        [nf.Box((1.3 * MM, 1.2 * MM, -1), (13.7 * MM, 8.1 * MM, 1))],
        [nf.Box((5.4 * MM, 0, -1), (9.1 * MM, 5.3 * MM, 1))],
    ),
}


@pytest.mark.parametrize(
    "kind",
    [pytest.param("round coaxial", marks=pytest.mark.slow), "coaxial", pytest.param("ridged", marks=pytest.mark.slow)],
)
def test_a_line_with_walls_off_the_lines_carries_what_its_ports_say(kind):
    """Modes are those of the coefficients that the time loop has, to what polynomials in frequency leave of them, 1e-4
    in the field at most; 60 dB of the pulse are left when the steps are over."""
    opening, inner = (
        [nf.Structure(shape, medium) for shape in shapes]
        for shapes, medium in zip(OFF_LINES[kind], (nf.Medium(), nf.PEC))
    )
    f = np.array([16e9, 18e9, 20e9]) if kind == "ridged" else np.array([2e9, 4e9, 6e9])
    pulse = nf.ModulatedGaussian(18e9, 8e9) if kind == "ridged" else nf.Gaussian(6e9)
    plane = nf.Flux("power", (0, 0, 20 * MM), (15 * MM, 15 * MM, 20 * MM), f)
    block = nf.Structure(nf.Box((-1, -1, -1), (1, 1, 1)), nf.PEC)
    model = guide(
        [block, *opening, *inner], (15, 15), length=40, pulse=pulse, monitors=[plane], steps=700, excitations=("in",)
    )
    assert model._setup().metal == "conformal"
    result = model.run(threads=1)
    ports = result.record.excitations["in"].ports
    (a, b), (c, d) = (port_waves(ports[name], f, np.nan, name == "in") for name in ("in", "out"))
    assert 20 * np.log10(np.abs(b / a)).max() < -50 and 20 * np.log10(np.abs(c / a)).max() < -50
    line = model._channels[0]._placed(model._setup().context).line
    assert np.abs(d / a / line.per_cell(f) ** 16 - 1).max() < 1e-3
    for power in (np.abs(a) ** 2 - np.abs(b) ** 2, np.abs(d) ** 2 - np.abs(c) ** 2):
        assert np.abs(0.5 * power / result["power"].values - 1).max() < 1e-3


@pytest.mark.parametrize("gap", slow_after(2, [9e-4, 1e-5, 3e-4, 2e-3]))
def test_metal_that_all_but_touches_a_node_leaves_a_coaxial_line_its_wave(gap):
    """The node at (1.3, 1.8) cells from the axis is so far outside. What is left of a face between it and the metal is
    taken to be metal, and S of 1.5e-3 more of gap moves with it: ln(b/a) by 6e-4, and what cut cells add to k^2."""
    middle = (8.3 * MM, 8.2 * MM)

    def line(gap):
        radius = (np.hypot(1.3, 1.8) - gap) * MM
        outer = nf.Revolved("z", [(r * MM, z) for r, z in ((6.37, -1), (20, -1), (20, 1), (6.37, 1))], (*middle, 0))
        inner = nf.Cylinder((*middle, -1), (*middle, 1), radius)
        metal = [nf.Structure(shape, nf.PEC) for shape in (outer, inner)]
        found = guide(metal, (17, 17), 1, 40, pulse=nf.Gaussian(3e9)).guide_modes([0.3e9])
        beta, impedance = found.propagation_constant.values[0].imag, found.characteristic_impedance.values[0].real
        return beta.item() * VACUUM_SPEED / (2 * np.pi * 0.3e9), impedance.item()

    (index, impedance), (touching, wanted) = line(gap), line(0.0)
    assert index == pytest.approx(1.0, abs=4e-4) and touching == pytest.approx(1.0, abs=4e-4)
    assert impedance == pytest.approx(wanted, rel=1.2e-3)


@pytest.mark.parametrize("gap", [1e-5, 3e-4])
def test_a_wall_that_all_but_touches_a_line_is_taken_to_lie_on_it(gap):
    """The walls of a guide of 12 x 6 cells; its cut-off is that on the line, of faces that are whole."""
    block = nf.Structure(nf.Box((-1, -1, -1), (1, 1, 1)), nf.PEC)

    def cutoff(gap):
        hole = nf.Box(((2 - gap) * MM, 2 * MM, -1), ((14 + gap) * MM, (8 + gap) * MM, 1))
        model = guide([block, nf.Structure(hole, nf.Medium())], (16, 10), 1, 40, metal="conformal")
        return modes(model)[0].cutoff

    assert cutoff(gap) == pytest.approx(cutoff(0.0), rel=1e-9)


SHAPES = {
    "L": lambda: guide([block(5, 4, 12, 7)], length=90),
    "odd TEM": lambda: guide([strip(2, 4, 3), strip(8, 10, 3)], length=90, number=2),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_but_rounding_leaks_out_behind_a_port_of_any_shape(shape):
    """5e-13 as in named guides."""
    assert behind(SHAPES[shape]()) < 5e-13


def test_a_step_in_an_l_shaped_guide_keeps_the_power():
    post = nf.Structure(nf.Box((0, 0, 24 * MM), (2 * MM, 7 * MM, 26 * MM)), nf.PEC)
    model = guide([block(5, 4, 12, 7), post], length=50, steps=None, decay=1e-8)
    s = model.run(threads=1).sparameters
    one, two = (mode.cutoff * VACUUM_SPEED / (2 * np.pi) for mode in modes(guide([block(5, 4, 12, 7)], count=2)))
    s = s.sel(frequency=slice(1.15 * one, 0.95 * two))
    assert np.abs(s.sel(to="in", source="in")).max() > 0.15
    assert np.abs((np.abs(s) ** 2).sum("to") - 1).max() < 1e-3


def test_a_number_beyond_the_grids_modes_is_refused():
    with pytest.raises(nf.ModelError, match="the grid has 4 modes in this guide, and number 7"):
        _ = guide(cells=(2, 2), number=7, pulse=nf.ModulatedGaussian(40e9, 9e9))._setup().plan


def test_a_line_whose_gap_lies_within_cells_is_refused_in_words():
    """7.7 mm in 8 mm, in cells of 1 mm: metal cuts each edge from one to the other."""
    outside = nf.Box((-1 * MM,) * 3, (25 * MM, 25 * MM, 40 * MM))
    inner, outer = (nf.Cylinder((12 * MM, 12 * MM, -1 * MM), (12 * MM, 12 * MM, 40 * MM), r * MM) for r in (7.7, 8.0))
    ends = (4 * MM, 4 * MM, 14 * MM), (20 * MM, 20 * MM, 14 * MM)
    line = nf.Simulation(
        grid=nf.Grid.uniform(MM, (24, 24, 38)),
        structures=[nf.Structure(outside, nf.PEC), nf.Structure(outer, nf.Medium()), nf.Structure(inner, nf.PEC)],
        ports=[nf.WaveguidePort("in", *ends, "+z", "TEM", "coaxial", inner_radius=7.7 * MM)],
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(10), z_high=nf.CPML(10)),
        waveform=nf.Gaussian(3e9),
        steps=10,
    )
    with pytest.raises(nf.ModelError, match="narrower than a cell there"):
        line.check()


def test_modes_of_a_port_that_is_not_excited_need_no_pulse_of_its_own():
    given = guide(cells=(6, 4))
    driven = given.ports[0].model_copy(update={"waveform": given.waveform})
    idle = given.model_copy(update={"waveform": None, "ports": (driven, given.ports[1]), "excitations": ("in",)})
    found, wanted = ([mode.described() for mode in port_modes(each._setup())] for each in (idle, given))
    assert found == wanted
    for frequencies in (None, [20e9]):
        assert idle.guide_modes(frequencies).equals(given.guide_modes(frequencies))
    with pytest.raises(nf.ModelError, match="has no waveform"):
        idle.model_copy(update={"excitations": ("out",)}).guide_modes()
