"""Near to far field: closed forms sampled on the Yee positions of a surface.

Tolerances: closed-form fields are no waves of the grid. Their amplitudes differ by up to (kh)^2/16 (samples half a
cell off), their phases by (kh)^2/24 k R over the way R from the middle to a corner of the surface, 17 cells at most
here. At 40 cells per wavelength: 0.0042 of the amplitude, and twice that of a ratio of intensities.
"""

from dataclasses import replace

import numpy as np
import pytest
from dipoles import Dipole, cube

import nearfield as nf
from nearfield.analysis.farfield import Wall, allowed_directions, sphere_power
from nearfield.analysis.pattern import FarFieldResult
from nearfield.discretization.discretization import Discretization
from nearfield.records.records import ExcitationRecord, Variable
from nearfield.results import ExcitationResult
from nearfield.trust.model import model_trust

FREQUENCY = 1e9
WAVELENGTH = 299792458.0 / FREQUENCY
CELL = WAVELENGTH / 40
KH = 2 * np.pi / 40
AMPLITUDE = KH**2 * (1 / 16 + 17 * KH / 24)
RATIO = 2 * AMPLITUDE


def far_field(space, dipoles, **options):
    monitor = nf.FarField("p", [FREQUENCY], **options)
    variables = monitor.complete(space.collect(monitor, dipoles))
    return FarFieldResult(variables, ExcitationResult("sources", ExcitationRecord(), {}))


def assert_fields_equal(result, dipoles):
    theta, phi = (angle.ravel() for angle in np.meshgrid(result.theta, result.phi, indexing="ij"))
    expected = [sum(parts) for parts in zip(*(dipole.far(theta, phi, FREQUENCY) for dipole in dipoles))]
    largest = max(np.abs(part).max() for part in expected)
    for found, wanted in zip((result.e_theta, result.e_phi), expected):
        # a quarter over the bound of one plane wave: the rims of the faces
        assert np.abs(found.values.ravel() - wanted).max() < 1.25 * AMPLITUDE * largest


@pytest.mark.parametrize("magnetic", [False, True])
@pytest.mark.parametrize("permittivity", [1.0, 2.25])
def test_a_dipole_anywhere_in_any_direction_has_its_closed_form_and_directivity_three_halves(magnetic, permittivity):
    space = cube(34, CELL / permittivity**0.5, permittivity=permittivity, shift=(0.2, -0.1, 0.05))
    dipole = Dipole(np.array([0.21, -0.12, 0.04]), np.array([1.0, -2.0, 0.5]) * 1e-3, magnetic, permittivity)
    result = far_field(space, [dipole])
    assert_fields_equal(result, [dipole])
    assert result.exterior.permittivity == pytest.approx(permittivity)
    assert result.directivity.max().item() == pytest.approx(1.5, rel=RATIO)
    assert result.radiated_power.item() == pytest.approx(result.surface_power.item(), rel=AMPLITUDE)
    assert result.radiated_power.item() == pytest.approx(dipole.power(FREQUENCY), rel=RATIO)
    assert np.isinf(result.axial_ratio.values).any() or result.axial_ratio.max() > 1e3  # linear


def test_a_vertical_dipole_has_a_sine_squared_pattern_and_a_beamwidth_of_90_degrees():
    dipole = Dipole(np.array([1e-3, 0.0, 0.0]), np.array([0.0, 0.0, 1e-3]))
    result = far_field(cube(34, CELL), [dipole], theta=np.radians([0, 30, 60, 90]), phi=[0.0, 1.0])
    expected = 1.5 * np.sin(result.theta)[:, None] ** 2 * np.ones(2)
    assert result.directivity.values[0] == pytest.approx(expected, abs=1.5 * RATIO)
    assert result.directivity_dbi.sel(theta=np.pi / 2, phi=0).item() == pytest.approx(1.761, abs=0.04)
    assert np.degrees(result.beamwidth().item()) == pytest.approx(90.0, abs=0.5)
    assert result.directivity.dims == ("frequency", "theta", "phi")


@pytest.mark.parametrize("turn, hand", [(-1j, "right"), (1j, "left")])
def test_a_turnstile_is_circular_along_its_axis(turn, hand):
    crossed = Dipole(np.zeros(3), np.array([1.0, turn, 0.0]) * 1e-3)
    result = far_field(cube(30, CELL), [crossed], theta=[0.0, np.pi / 2, np.pi], phi=[0.0])
    assert result.axial_ratio.values[0, [0, 2], 0] == pytest.approx([1.0, 1.0], abs=1e-3)
    assert result.axial_ratio.values[0, 1, 0] > 1e2
    up = {"right": result.e_right, "left": result.e_left}[hand].sel(theta=0, phi=0)
    total = abs(result.e_theta.sel(theta=0, phi=0)) ** 2 + abs(result.e_phi.sel(theta=0, phi=0)) ** 2
    assert abs(up.item()) ** 2 == pytest.approx(total.item(), rel=1e-5)
    assert result.directivity.max().item() == pytest.approx(1.5, rel=RATIO)


@pytest.mark.parametrize("kind", ["pec", "pmc"])
@pytest.mark.parametrize("face", ["x_low", "x_high", "y_low", "y_high", "z_low", "z_high"])
def test_a_wall_of_the_domain_acts_by_its_image(face, kind):
    axis, side = "xyz".index(face[0]), -1 if face.endswith("low") else 1
    space = cube(26, CELL, nf.Boundaries(all=nf.CPML(4), **{face: kind}), shift=(0.01, 0.02, -0.03))
    wall = space.grid.lines[axis][0 if side < 0 else -1]
    position = np.array([0.012, 0.015, -0.02])
    position[axis] = wall - side * 0.21 * WAVELENGTH
    dipole = Dipole(position, np.array([1.0, 0.5, -0.7]) * 1e-3)
    both = [dipole, dipole.image(axis, wall, kind)]
    result = far_field(space, both)
    assert len(result.surface.faces) == 5
    assert_fields_equal(result, both)
    assert result.radiated_power.item() == pytest.approx(result.surface_power.item(), rel=AMPLITUDE)


def test_two_walls_make_a_corner():
    space = cube(26, CELL, nf.Boundaries(all=nf.CPML(4), x_low="pec", z_low="pmc"))
    low = space.grid.lines[0][0]
    dipole = Dipole(np.array([low + 0.1, 0.0, low + 0.08]), np.array([1.0, 0.5, -0.7]) * 1e-3)
    first = dipole.image(0, low, "pec")
    all_four = [dipole, first, dipole.image(2, low, "pmc"), first.image(2, low, "pmc")]
    result = far_field(space, all_four)
    assert_fields_equal(result, all_four)
    assert result.radiated_power.item() == pytest.approx(result.surface_power.item(), rel=AMPLITUDE)


@pytest.mark.parametrize("height", [0.1, 0.25, 0.4])
def test_directivity_of_dipoles_over_a_ground(height):
    space = cube(30, CELL, nf.Boundaries(all=nf.CPML(4), z_low="pec"))
    ground = space.grid.lines[2][0]
    x = 4 * np.pi * height
    for moment, directivity in (
        ([0, 0, 1e-3], 2 / (1 / 3 - np.cos(x) / x**2 + np.sin(x) / x**3)),  # Balanis (4-104), at the horizon
        ([1e-3, 0, 0], 4 * np.sin(x / 2) ** 2 / (2 / 3 - np.sin(x) / x - np.cos(x) / x**2 + np.sin(x) / x**3)),
    ):
        dipole = Dipole(np.array([0.0, 0.0, ground + height * WAVELENGTH]), np.array(moment, dtype=float))
        result = far_field(space, [dipole, dipole.image(2, ground, "pec")])
        vertical = moment[2] > 0
        found = result.directivity.sel(theta=np.pi / 2 if vertical else 0.0).values[0, 0]
        assert found == pytest.approx(directivity, rel=1.5 * RATIO)


def test_angles_and_frequencies_are_taken_as_text_and_what_is_none_is_refused_in_words():
    dipole = Dipole(np.zeros(3), np.array([0.0, 0.0, 1e-3]))
    result = far_field(cube(26, CELL, nf.Boundaries(all=nf.CPML(4), z_low="pec")), [dipole])
    up = result.at("30 deg", ["0 deg", 1.0])
    assert np.array_equal(up.e_theta, result.at(np.radians(30), [0.0, 1.0]).e_theta)
    assert result.beamwidth("90 deg", -1).equals(result.beamwidth(np.pi / 2, -1.0))
    for level in (3, 0, np.nan, "a"):
        with pytest.raises(nf.ModelError, match=r"level_db: .*given"):
            result.beamwidth(level_db=level)
    for theta in (np.nan, "30 mm", [[0.1, 0.2]], 30):
        with pytest.raises(nf.ModelError, match=r"^theta"):
            result.at(theta, 0.0)
    with pytest.raises(nf.ModelError, match=r"^phi"):
        result.beamwidth("x")


def test_a_beam_is_as_wide_below_a_ground_as_above_one():
    """Below one the cut begins and ends at the beam itself."""
    widths = []
    for wall, way, cut in (("z_low", 1, 0.0), ("z_high", -1, 0.0), ("z_low", 1, 1.0), ("z_high", -1, 1.0)):
        space = cube(30, CELL, nf.Boundaries(all=nf.CPML(4), **{wall: "pec"}))
        ground = space.grid.lines[2][0 if way > 0 else -1]
        dipole = Dipole(np.array([0.0, 0.0, ground + way * 0.25 * WAVELENGTH]), np.array([1e-3, 0.0, 0.0]))
        result = far_field(space, [dipole, dipole.image(2, ground, "pec")])
        widths.append(result.beamwidth(cut).item())
    assert widths[1] == pytest.approx(widths[0], rel=1e-6) and widths[3] == pytest.approx(widths[2], rel=1e-6)
    assert 60 < np.degrees(widths[0]) < 100  # half power where cos(t) sin(90 cos(t)) has fallen so far


def test_a_floating_surface_over_a_ground_takes_all_six_faces_and_the_image():
    space = cube(30, CELL, nf.Boundaries(all=nf.CPML(4), z_low="pec"))
    ground = space.grid.lines[2][0]
    dipole = Dipole(np.array([0.0, 0.0, ground + 0.12]), np.array([1.0, 0.5, -0.7]) * 1e-3)
    both = [dipole, dipole.image(2, ground, "pec")]
    corners = {"lower": (-0.075, -0.075, ground + 0.045), "upper": (0.075, 0.075, ground + 0.195)}
    result = far_field(space, both, **corners)
    assert len(result.surface.faces) == 6
    assert_fields_equal(result, both)


def test_angles_asked_for_later_equal_those_asked_for_at_first():
    dipole = Dipole(np.array([0.05, 0.0, 0.0]), np.array([1.0, 2.0, 3.0]) * 1e-3)
    space = cube(26, CELL)
    at_first = far_field(space, [dipole], theta=[0.3, 1.0], phi=[0.1])
    later = far_field(space, [dipole]).at([0.3, 1.0], [0.1])
    assert np.array_equal(at_first.e_theta.values, later.e_theta.values)
    assert later.directivity.max() == at_first.directivity.max()


def test_directions_behind_a_ground_are_refused_and_left_out_by_default():
    space = cube(26, CELL, nf.Boundaries(all=nf.CPML(4), z_low="pec"))
    with pytest.raises(nf.ModelError, match=r"theta = 91.* points behind the infinite PEC wall"):
        nf.FarField("p", [FREQUENCY], theta=["80 deg", "91 deg"], phi=[0])._terms(space.context)
    walls = nf.FarField("p", [FREQUENCY])._walls(space.context)
    theta, phi = nf.FarField("p", [FREQUENCY])._angles(walls)
    assert theta.max() == pytest.approx(np.pi / 2) and phi.size == 72


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("side", [-1, 1])
def test_default_angles_fill_the_open_half_space_only(axis, side):
    from nearfield.analysis.pattern_variables import default_angles

    walls = (Wall(axis, 0.0, "pec", side),)
    theta, phi = default_angles(walls)
    pairs = [angle.ravel() for angle in np.meshgrid(theta, phi, indexing="ij")]
    assert allowed_directions(*pairs, walls).all()
    full = default_angles(())
    assert theta.size * phi.size > 0.5 * full[0].size * full[1].size


@pytest.mark.parametrize(
    "boundaries, options, message",
    [
        ({"x_low": "pec", "x_high": "pmc"}, {}, "both x walls"),
        ({}, {"lower": (-0.19, -0.1, -0.1), "upper": (0.1, 0.1, 0.1)}, "reaches into the CPML"),
        ({}, {"lower": (0, 0, 0), "upper": (0, 0.1, 0.1)}, "no volume"),
        ({}, {"lower": (-9, 0, 0)}, "outside the grid"),
    ],
)
def test_surfaces_that_cannot_be_are_refused(boundaries, options, message):
    space = cube(26, 2 * CELL, nf.Boundaries(all=nf.CPML(4), **boundaries))
    with pytest.raises(nf.ModelError, match=message):
        nf.FarField("p", [FREQUENCY], **options)._terms(space.context)


def test_gain_counts_what_the_port_accepted():
    dipole = Dipole(np.array([0.0, 0.0, 0.0]), np.array([0.0, 0.0, 1e-3]))
    monitor = nf.FarField("p", [FREQUENCY])
    variables = monitor.complete(cube(26, CELL).collect(monitor, [dipole]))
    time = np.arange(0, 20e-9, 10e-12)
    pulse = np.exp(-(((time - 5e-9) / 0.2e-9) ** 2))
    power = 0.5 * (np.abs(np.sum(pulse * np.exp(-2j * np.pi * FREQUENCY * time))) * 10e-12) ** 2  # of V = I = pulse
    port = {
        "time": Variable(("time",), time, {"units": "s"}),
        "voltage": Variable(("time",), pulse, {"units": "V"}),
        "current": Variable(("time",), pulse / 25.0, {"units": "A"}),
    }
    excitation = ExcitationResult("feed", ExcitationRecord(ports={"feed": port}), {"feed": 50.0})
    result = FarFieldResult(variables, excitation)
    scale = result.radiated_power.item() / (power / 25.0)
    assert result.radiation_efficiency.item() == pytest.approx(scale)
    assert result.gain.max().item() == pytest.approx(scale * result.directivity.max().item())
    mismatch = 1 - ((25.0 - 50.0) / (25.0 + 50.0)) ** 2
    assert result.realized_gain.max().item() == pytest.approx(mismatch * result.gain.max().item())
    with pytest.raises(nf.ModelError, match="need an excited port"):
        _ = FarFieldResult(variables, ExcitationResult("sources", ExcitationRecord(), {})).gain


def test_what_reaches_through_the_surface_is_warned_of():
    def warnings(upper, boundaries):
        simulation = nf.Simulation(
            grid=nf.Grid.uniform(1e-3, (40, 40, 30)),
            structures=[nf.Structure(nf.Box((0.015, 0.015, 0), upper), nf.Medium(2.2), name="board")],
            boundaries=boundaries,
            sources=[nf.PointCurrent((0.02, 0.02, 0.015), "z", nf.Gaussian(20e9))],
            monitors=[nf.FarField("pattern", [1e10])],
        )
        return [text for text in simulation.check().warnings if "missing from the pattern" in text]

    grounded = nf.Boundaries(all=nf.CPML(8), z_low=nf.PEC)
    assert warnings((0.02, 0.02, 0.005), grounded) == []
    (text,) = warnings((0.04, 0.02, 0.005), grounded)
    assert "structure 'board' reaches beyond the surface at x_high" in text
    (text,) = warnings((0.02, 0.02, 0.005), nf.Boundaries(all=nf.CPML(8)))
    assert "at z_low" in text


@pytest.mark.parametrize(
    ("wide", "low", "upper", "share", "verdict"),
    [
        (1.0, -1.0, 0.02, 50.0, "bad"),  # a half space: half of four faces, and the one below
        (1.0, 0.015, 0.020, 14.0, "bad"),  # 5 cells and the samples at its faces, so 5 to 6 of 26 of four of six faces
        (1.0, 0.018, 0.019, 4.0, "warn"),  # a cell: 1 to 2
        (0.01, 0.015, 0.020, 0.0, None),  # within the surface
    ],
)
def test_matter_that_fills_much_of_the_surface_is_named_as_the_cause_it_is(wide, low, upper, share, verdict):
    """To 3 %, as a face is looked at in 24 places a side."""
    lower, higher = (0.02 - wide, 0.02 - wide, low), (0.02 + wide, 0.02 + wide, upper)
    model = nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (40, 40, 40)),
        structures=[nf.Structure(nf.Box(lower, higher), nf.Medium(4.0), name="ground")],
        boundaries=nf.Boundaries(all=nf.CPML(4)),
        sources=[nf.PointCurrent((0.02, 0.02, 0.025), "x", nf.Gaussian(5e9))],
        monitors=[nf.FarField("far", [3e9])],
    )
    found = [each for each in model_trust(Discretization(model)) if each.name.startswith("matter through")]
    assert [(each.value, each.verdict) for each in found] == (verdict is not None) * [
        (pytest.approx(share, abs=3), verdict)
    ]
    said = [each for each in model.check().warnings if "'far'" in each]
    assert any("one medium all around" in each for each in said) == (verdict == "bad")
    assert any("enlarge the space" in each for each in said) == (verdict == "warn")


def test_a_guide_may_leave_through_the_surface_behind_its_port_alone():
    def warnings(place, way):
        simulation = nf.Simulation(
            grid=nf.Grid.uniform(1e-3, (40, 36, 40)),
            structures=[
                nf.Structure(nf.Box((0.01, 0.01, -1), (0.03, 0.026, 0.026)), nf.PEC, name="guide"),
                nf.Structure(nf.Box((0.014, 0.014, -1), (0.026, 0.022, 1)), nf.Medium()),
            ],
            boundaries=nf.Boundaries(all=nf.CPML(6)),
            ports=[nf.WaveguidePort("in", (0.014, 0.014, place), (0.026, 0.022, place), way, "TE10")],
            waveform=nf.ModulatedGaussian(16e9, 4e9),
            monitors=[nf.FarField("pattern", [16e9], lower=(8e-3, 8e-3, 10e-3), upper=(32e-3, 28e-3, 30e-3))],
        )
        return [text for text in simulation.check().warnings if "missing from the pattern" in text]

    assert not any("'guide'" in text for text in warnings(14e-3, "+z"))
    assert any("'guide'" in text and "z_low" in text for text in warnings(14e-3, "-z"))
    assert any("port 'in'" in text and "z_low" in text for text in warnings(8e-3, "+z"))


def test_a_surface_reaches_back_along_half_a_guide_as_along_the_whole():
    """The guide's middle lies on a wall of symmetry, and so does a face of the surface."""

    def backs(cells, middle, walls):
        simulation = nf.Simulation(
            grid=nf.Grid.uniform(1e-3, cells),
            structures=[nf.Structure(nf.Box((middle - 6e-3, 8e-3, -1), (middle + 6e-3, 16e-3, 12e-3)), nf.PEC)],
            boundaries=nf.Boundaries(all=nf.CPML(4), **walls),
            ports=[
                nf.WaveguidePort(
                    "in", (max(0.0, middle - 4e-3), 10e-3, 9e-3), (middle + 4e-3, 14e-3, 9e-3), "+z", "TE10"
                )
            ],
            monitors=[nf.FarField("far", [30e9], lower=(0 if walls else 6e-3, 7e-3, 8e-3))],
            waveform=nf.ModulatedGaussian(30e9, 5e9),
            steps=10,
        )
        setup = Discretization(simulation)
        return simulation.monitors[0]._box(setup.context)[0][2]

    whole = backs((28, 24, 24), 14e-3, {})
    assert whole == 7 and backs((14, 24, 24), 0.0, {"x_low": nf.PMC}) == whole


def test_a_surface_in_a_lossy_medium_is_refused_before_the_run():
    lossy = nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (40, 40, 40)),
        background=nf.Medium(2.0, conductivity=0.1),
        sources=[nf.PointCurrent((20e-3, 20e-3, 20e-3), "z", nf.GaussianDerivative(5e9))],
        monitors=[nf.FarField("p", [5e9])],
    )
    with pytest.raises(nf.ModelError, match="lossy medium"):
        lossy.run(threads=1)


def test_a_part_of_the_sphere_stands_for_all_where_planes_of_symmetry_make_it():
    far = nf.Simulation(
        grid=nf.Grid.uniform(5e-3, (32, 32, 32), (-80e-3,) * 3),
        sources=[nf.PointCurrent((0, 0, 10e-3), "x", nf.GaussianDerivative(3e9))],
        monitors=[nf.FarField("far", [3e9], theta=[0.0], phi=[0.0])],
        symmetry=nf.Symmetry(x="electric", y="magnetic"),
        steps=300,
    ).run(threads=1)["far"]
    assert far.exterior.mirrors == (0, 1)
    whole, _ = sphere_power(far.surface, replace(far.exterior, mirrors=()), far.frequencies)
    np.testing.assert_allclose(far.radiated_power, whole, rtol=1e-12)


def test_a_board_of_vacuum_over_ground_radiates_as_the_ground_alone_does():
    """The patch's page takes fields over a board without end by reciprocity, with the medium's wave number.

    The grid's waves, which the pattern takes, lag by 0.4 % at 25 cells a wavelength: 1.5 degrees over the surface.
    """
    from examples.grounded_board import GroundedBoard

    frequency, mm = 12e9, 1e-3
    result = nf.Simulation(
        grid=nf.Grid.uniform(mm, (32, 32, 20)),
        boundaries=nf.Boundaries(all=nf.CPML(8), z_low=nf.PEC),
        sources=[nf.PointCurrent((16 * mm, 16 * mm, 4 * mm), "x", nf.Gaussian(20e9))],
        monitors=[nf.FarField("pattern", (frequency,))],
    ).run(threads=1)
    pattern, theta, phi = result["pattern"], 0.7, np.array([0.3, 1.9])
    own = GroundedBoard(1.0, 2 * mm).far_field(pattern, theta, phi)
    wanted = np.abs(np.stack(pattern.towards(np.full(2, theta), phi)).reshape(2, 2))
    assert np.abs(np.abs(own) - wanted).max() < 0.03 * wanted.max()
