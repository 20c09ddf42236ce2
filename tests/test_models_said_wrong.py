"""Models that run but are not what their author means: each is named before the run, and only then."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf
from nearfield.discretization.cautions import cautions
from nearfield.ports.moves import moved_entries

MM = 1e-3
PULSE = nf.GaussianDerivative(5e9)
GLASS = nf.Medium(4.0)


def model(**changes) -> nf.Simulation:
    entries = {
        "grid": nf.Grid.uniform(MM, (30, 30, 30), origin=(-15 * MM,) * 3),
        "boundaries": nf.Boundaries(nf.CPML(6)),
        "sources": [nf.PointCurrent((0, 0, 0), "z", PULSE)],
        "monitors": [nf.Probe("tip", (4 * MM, 0, 0))],
    }
    return nf.Simulation(**(entries | changes))


def said(**changes) -> str:
    return "\n".join(cautions(model(**changes)._setup()))


def box(low, high, medium=GLASS, **more) -> nf.Structure:
    return nf.Structure(nf.Box([MM * q for q in low], [MM * q for q in high]), medium, **more)


STRIP = nf.Structure(nf.Sheet((-4 * MM, -MM, 2 * MM), (4 * MM, MM, 2 * MM)), nf.PEC, name="strip")
WIRE = nf.Structure(nf.Wire([(-4 * MM, 3 * MM, 2 * MM), (4 * MM, 3 * MM, 2 * MM)]), nf.PEC, name="wire")
BOARD = box((-6, -6, 1), (6, 6, 4), name="board")


@pytest.mark.parametrize("hidden", [STRIP, WIRE, box((-2, -2, 2), (2, 2, 3), nf.PEC, name="strip")])
def test_a_body_inside_a_later_one_is_said_to_have_no_effect(hidden):
    name = hidden.name
    assert f"{name}' lies wholly inside structure 'board'" in said(structures=[hidden, BOARD])
    assert "wholly inside" not in said(structures=[BOARD, hidden])


def test_a_body_is_covered_by_several_later_ones_together():
    halves = [box((-6, -6, 1), (0.3, 6, 4)), box((0.3, -6, 1), (6, 6, 4))]
    assert "lies wholly inside" in said(structures=[STRIP, *halves])
    assert "lies wholly inside" not in said(structures=[STRIP, halves[0]])


def test_a_sheet_on_the_face_of_a_later_body_is_not_covered():
    assert "wholly inside" not in said(structures=[STRIP, box((-6, -6, 2), (6, 6, 4))])
    assert "wholly inside" not in said(structures=[STRIP, nf.Structure(STRIP.shape, nf.PEC), BOARD, STRIP][:2])


def test_a_body_that_a_hole_in_its_cover_lays_open_is_not_covered():
    wall, hole = (
        box((-6, -6, 1), (6, 6, 4), nf.PEC),
        nf.Structure(nf.Cylinder((0, 0, MM), (0, 0, 4 * MM), 2 * MM), GLASS),
    )
    assert "wholly inside" in said(structures=[BOARD, wall])
    assert "wholly inside" not in said(structures=[BOARD, wall, hole])


ACROSS_X = {"symmetry": nf.Symmetry(x="magnetic")}


@pytest.mark.parametrize(
    "body",
    [
        box((3, -2, -2), (7, 2, 2), name="block"),
        box((-7, -2, -2), (-3, 2, 2), name="block"),
        nf.Structure(nf.Sphere((MM, 0, 0), 3 * MM), GLASS, name="block"),
        nf.Structure(nf.Wire([(1 * MM, 0, 5 * MM), (4 * MM, 0, 5 * MM)]), nf.PEC, name="block"),
    ],
)
def test_a_body_without_its_image_is_named(body):
    assert "structure 'block': no image beyond the plane of symmetry across x" in said(structures=[body], **ACROSS_X)
    both = nf.Structure(body.shape, body.medium, transforms=[nf.Mirror("x", keep=True)])
    assert "no image" not in said(structures=[both], **ACROSS_X)


def test_wires_in_pieces_have_images():
    pieces = [[(-4, 0, 5), (2, 0, 5)], [(2, 0, 5), (4, 0, 5)]]
    wires = [nf.Structure(nf.Wire([tuple(MM * q for q in p) for p in piece]), nf.PEC) for piece in pieces]
    assert "no image" not in said(structures=wires, **ACROSS_X)


def test_a_body_inside_another_needs_its_image_of_the_same_medium():
    inner = box((2, -1, -1), (4, 1, 1), nf.Medium(2.0), name="inner")
    assert "'inner'" in said(structures=[box((-6, -3, -3), (6, 3, 3)), inner], **ACROSS_X)


def test_a_source_off_the_plane_needs_its_image():
    off = [nf.PointCurrent((side * 2 * MM, 0, 0), "z", PULSE) for side in (1, -1)]
    assert "no image" in said(sources=off[:1], **ACROSS_X)
    assert "no image" not in said(sources=off, **ACROSS_X)
    half, whole = (model(sources=off, steps=60, **more).run(threads=1)["tip"].values for more in (ACROSS_X, {}))
    assert np.allclose(half, whole, rtol=0, atol=1e-5 * np.abs(whole).max())


def test_a_port_off_the_plane_is_said_to_be_two():
    ground = {"boundaries": nf.Boundaries(nf.CPML(6), z_low=nf.PEC), "sources": [], "waveform": PULSE}
    sheet = nf.Structure(nf.Sheet((-4 * MM, -2 * MM, -13 * MM), (4 * MM, 2 * MM, -13 * MM)), nf.PEC)

    def fed(x):
        port = nf.LumpedPort("feed", (x, 0, -15 * MM), (x, 0, -13 * MM), "z")
        return said(structures=[sheet], ports=[port], **ground, **ACROSS_X)

    assert "S are those of both together" in fed(2 * MM)
    assert "no image" not in fed(0.0)


@pytest.mark.parametrize(
    "made",
    [
        lambda: nf.Rotate("z", 30),
        lambda: nf.PlaneWave((0, 0, 0), (MM, MM, MM), (45, 0), 0.0, PULSE),
        lambda: nf.PlaneWave((0, 0, 0), (MM, MM, MM), (0.5, 30), 0.0, PULSE),
        lambda: nf.PlaneWave((0, 0, 0), (MM, MM, MM), (0.5, 0.3), 90, PULSE),
        lambda: nf.Mesh(vertices=[(0, 0, 0), (1, 0, 0), (0, 1, 0)], triangles=[(0, 1, 2)], rotation=(0, 0, 90)),
    ],
)
def test_degrees_taken_for_radians_are_refused(made):
    with pytest.raises(nf.ModelError, match='angles are in rad, for degrees write "'):
        made()


def test_whole_turns_are_taken():
    assert nf.Rotate("z", "360 deg").angle == pytest.approx(2 * np.pi)
    assert nf.Rotate("z", -np.pi).angle == -np.pi


@pytest.mark.parametrize(
    "pulse", [nf.Gaussian(10e9, delay=0), nf.ModulatedGaussian(5e9, 3e9, delay="20 ps"), nf.Samples([0, 1e-9], [1, 0])]
)
def test_a_pulse_that_is_switched_on_is_named(pulse):
    source = nf.PointCurrent((0, 0, 0), "z", pulse)
    assert "of its peak: a step" in said(sources=[source])


@pytest.mark.parametrize("pulse", [nf.Ricker(4e9), nf.ModulatedGaussian(5e9, 3e9), nf.ContinuousWave(5e9)])
def test_other_pulses_are_not(pulse):
    assert ": a step" not in said(sources=[nf.PointCurrent((0, 0, 0), "z", pulse)], steps=10)


def test_probes_that_record_too_seldom_are_named_with_the_stride_that_does():
    text = said(monitors=[nf.Probe("tip", (4 * MM, 0, 0), stride=40)])
    assert "probe 'tip' takes a sample every 40 steps" in text
    most = int(text.split("give `stride` at most ")[1].split()[0])
    assert most > 1 and "folded" not in said(monitors=[nf.Probe("tip", (4 * MM, 0, 0), stride=most)])
    assert "folded" in said(monitors=[nf.Probe("tip", (4 * MM, 0, 0), stride=most + 1)])


def test_a_monitor_at_five_hertz_is_asked_for_its_unit():
    """The band of a Gaussian begins at 0, so nothing else tells."""
    source = nf.PointCurrent((0, 0, 0), "z", nf.Gaussian(10e9))
    ask = "GHz or MHz given as Hz?"
    assert ask in said(sources=[source], monitors=[nf.FieldDFT("cut", (0, 0, 0), (MM, MM, 0), [5.0])])
    assert ask not in said(sources=[source], monitors=[nf.FieldDFT("cut", (0, 0, 0), (MM, MM, 0), [5e6])])


def moved(**changes) -> dict[str, tuple[float, float]]:
    return {each["what"]: (each["from"], each["to"]) for each in model(**changes).check().moved}


def test_planes_of_flux_and_voltages_off_the_lines_are_listed():
    plane = nf.Flux("plane", (-2.4 * MM, -3 * MM, 5 * MM), (3.4 * MM, 3 * MM, 5 * MM), [5e9])
    around = nf.Flux("around", (-5.4 * MM,) * 3, (5.4 * MM,) * 3, [5e9])
    path = nf.Voltage("path", (0, 0, 1.4 * MM), (0, 0, 4 * MM))
    found = moved(monitors=[plane, around, path])
    places = [(-2.4 * MM, -2 * MM), (3.4 * MM, 3 * MM), (1.4 * MM, 1 * MM)]
    assert np.allclose(sorted(found.values()), sorted(places))
    assert not any("around" in what for what in found)


def test_curved_metal_on_whole_cells_is_listed():
    ball = nf.Structure(nf.Sphere((0, 5 * MM, 0), 3.3 * MM), nf.PEC, name="ball")
    listed = moved(structures=[ball], metal="staircase")
    assert any("'ball'" in what for what in listed)
    assert moved(structures=[ball]) == {}
    trust = {entry.name: entry for entry in model(structures=[ball], metal="staircase", steps=20).run(threads=1).trust}
    assert trust["moved to grid lines"].verdict == "warn"


def block(lower, upper, medium=nf.PEC) -> nf.Structure:
    return nf.Structure(nf.Box(tuple(MM * q for q in lower), tuple(MM * q for q in upper)), medium)


def test_gaps_to_the_grids_walls_and_within_an_enclosure_that_is_drawn_are_listed():
    """Not those that other metal fills, nor at faces that are no walls."""

    def gaps(*structures, high="pec"):
        inside = nf.Simulation(
            grid=nf.Grid.uniform(MM, (24, 24, 24)),
            structures=structures,
            boundaries=nf.Boundaries(nf.PEC, z_high=high),
            sources=[nf.PointCurrent((3 * MM,) * 3, "z", nf.GaussianDerivative(6e9))],
            steps=10,
        )
        return [one for one in inside.check().moved if one["what"].startswith("gap along")]

    near = block((8, 8, 8), (16, 16, 23.7))
    (found,) = gaps(near)
    assert "gap along z between" in found["what"] and "the wall at 24 mm" in found["what"]
    assert found["from"] == pytest.approx(0.3 * MM)
    assert not gaps(near, high="pmc")
    assert not gaps(near, block((7, 7, 23), (17, 17, 25)))
    pair = block((4, 7, 7), (12, 15, 15)), block((12.3, 7, 7), (20.3, 15, 15))
    enclosure = block((-1, -1, -1), (25, 25, 25)), block((1, 1, 1), (23, 23, 23), nf.Medium())
    for around in ((), enclosure):
        assert [one["from"] for one in gaps(*around, *pair)] == [pytest.approx(0.3 * MM)]


def strips(*extents, thick=0.0) -> list[nf.Structure]:
    """Strips of 6 mm along y between the given places along x (mm)."""
    ends = [((a, -3, 2), (b, 3, 2 + thick)) for a, b in extents]
    shape = nf.Box if thick else nf.Sheet
    return [nf.Structure(shape(*(tuple(MM * q for q in end) for end in both)), nf.PEC) for both in ends]


@pytest.mark.parametrize("thick", [0.0, 2.0])
@pytest.mark.parametrize(
    ("gap", "narrow"), [((-0.4, -0.1), True), ((0.3, 0.9), True), ((0, 1), False), ((0.2, 1.6), False)]
)
def test_gaps_narrower_than_a_cell_are_listed(gap, narrow, thick):
    """Those of sheets on whole edges; where rims are followed they act where they are drawn."""
    made, metal = strips((-6, gap[0]), (gap[1], 6), thick=thick), "auto" if thick else "staircase"
    gaps = [one for one in model(structures=made, metal=metal).check().moved if one["what"].startswith("gap along x")]
    if not thick:
        assert not any(what.startswith("gap along x") for what in moved(structures=made))
    assert len(gaps) == narrow
    if narrow:
        assert gaps[0]["from"] == pytest.approx((gap[1] - gap[0]) * MM) and gaps[0]["to"] == pytest.approx(MM)


def test_a_narrow_gap_that_holds_a_circuit_is_listed():
    """Its rims keep a field each, as in a wide one; beside it the same gap without a circuit acts where it is drawn."""
    port = nf.LumpedPort("feed", (0.0, 0.0, 2 * MM), (MM, 0.0, 2 * MM), "x", waveform=PULSE)
    made = strips((-6, 0.3), (0.9, 6))
    assert not any("gap along x" in what for what in moved(structures=made))
    assert any("gap along x" in what for what in moved(structures=made, ports=[port], sources=[]))


def test_a_gap_that_other_metal_fills_is_none():
    assert not any("gap" in what for what in moved(structures=strips((-6, 0.3), (0.7, 6), (0.1, 0.9))))


@pytest.mark.parametrize(("low", "high"), [(-0.1, 0.1), (-0.4, 0.4), (0.15, 0.4)])
def test_strips_narrower_than_a_cell_are_listed_with_the_width_that_they_act_with(low, high):
    """Bare edges act as a wire of 0.1985 cells, and that as a strip of four times this width."""
    listed = moved(structures=strips((low, high)), metal="staircase")
    found = {what: places for what, places in listed.items() if "narrower" in what}
    assert not any("narrower" in what for what in moved(structures=strips((low, high))))
    assert list(found.values()) == [pytest.approx(((high - low) * MM, 4 * 0.1985 * MM), rel=1e-2)]


@pytest.mark.parametrize(
    ("ends", "length"), [((20.5, 30), 20.5), ((20, 30), 20.5), ((19.8, 30), 19.5), ((0, 9.5), 20.5), ((0, 10.4), 19.5)]
)
def test_magnetic_bodies_act_in_the_middle_of_a_cell_nearest_to_their_faces(ends, length):
    """The lowest mode of a cavity with a magnetic wall at one end; Yee's own frequency of that length."""
    cells, wide = (30, 16, 2), 16 * MM
    made = nf.Simulation(
        grid=nf.Grid.uniform(MM, cells),
        boundaries=nf.Boundaries(nf.PEC),
        structures=[nf.Structure(nf.Box((ends[0] * MM, 0, 0), (ends[1] * MM, wide, 2 * MM)), "pmc", name="wall")],
        sources=[nf.PointCurrent((15 * MM, 8 * MM, MM), "z", nf.GaussianDerivative(9e9))],
        monitors=[nf.Probe("inside", (14 * MM, 7 * MM, MM))],
        steps=3000,
    )
    found = float(nf.resonances(made.run(threads=1), (9e9, 11e9), probe="inside").frequency[0])
    c, dt = 299792458.0, made._setup().time_step
    across = [np.sin(np.pi * q / 2) for q in (0.5 * MM / (length * MM), MM / wide)]
    assert found == pytest.approx(np.arcsin(c * dt * np.hypot(*across) / MM) / (np.pi * dt), rel=2e-4)
    listed = [one for one in made.check().moved if "'wall'" in one["what"]]
    off = ends[0] if ends[0] else ends[1]
    assert len(listed) == (off % 1 != 0.5)


def test_a_current_at_a_point_on_a_wall_along_its_normal_acts_half_a_cell_inside_and_is_listed():
    def listed(axis: str, z: float, wall="pec") -> list[tuple[float, float]]:
        source = nf.PointCurrent((5 * MM, 5 * MM, z), axis, nf.GaussianDerivative(6e9))
        faces = nf.Boundaries(nf.CPML(3), z=wall)
        inside = nf.Simulation(nf.Grid.uniform(MM, (10, 10, 10)), [], faces, sources=[source], steps=10)
        return [(one["from"], one["to"]) for one in moved_entries([("source", source)], inside._setup().grid)]

    assert listed("z", 0.0) == [(0.0, pytest.approx(0.5 * MM))]
    assert listed("z", 9.9 * MM) == [(9.9 * MM, pytest.approx(9.5 * MM))]
    assert listed("z", 0.6 * MM) == listed("x", 0.0) == listed("z", 0.0, "periodic") == []
