"""What `check` says of a plane wave's box: bodies that it does not hold, far-field surfaces inside it."""

import numpy as np
import pytest

import nearfield as nf

MM = 1e-3
ENDS = ("lower", "upper")
HALF = 20  # cells from the middle of the grid to its ends


def about(lower, upper, medium="pec", name="thing", shape=nf.Box):
    return nf.Structure(shape(tuple(n * MM for n in lower), tuple(n * MM for n in upper)), medium, name=name)


BALL = nf.Structure(nf.Sphere((0, 0, 0), 3 * MM), "pec", name="ball")
BESIDE = about((10, -2, -2), (12, 2, 2))
BEHIND = about((-2, -2, 10), (2, 2, 12))


def model(*structures, direction="+z", polarisation="x", upper=(6,) * 3, lower=(-6,) * 3, **entries):
    """A box of 12 cells in the middle of 40, free space about it."""
    ends = (tuple(n * MM for n in corner) for corner in (lower, upper))
    wave = nf.PlaneWave(*ends, direction, polarisation, nf.GaussianDerivative(8e9), name="wave")
    entries = {"boundaries": nf.Boundaries(nf.CPML(5)), "monitors": [nf.Probe("tip", (0, 0, 5 * MM))]} | entries
    return nf.Simulation(
        grid=nf.Grid.uniform(MM, (2 * HALF,) * 3, (-HALF * MM,) * 3),
        structures=structures,
        metal="staircase",
        **{"sources": [wave]} | entries,
    )


def unlit(simulation) -> list[str]:
    return [text for text in simulation.check().warnings if "does not light" in text]


@pytest.mark.parametrize("direction", ["+z", (0.6, 0, 0.8)])
@pytest.mark.parametrize("body", [BESIDE, BEHIND])
def test_a_body_wholly_outside_the_box_is_named_with_the_wave(body, direction):
    (text,) = unlit(model(BALL, body, direction=direction))
    assert text.startswith("source 'wave': its wave does not light structure 'thing', wholly outside its total-field")


def test_several_bodies_outside_the_box_make_one_warning():
    (text,) = unlit(model(BALL, BESIDE, BEHIND))
    assert "structure 'thing' and 1 more" in text


def test_a_half_space_that_a_wave_at_an_angle_does_not_reach_is_named():
    ground = about((-30, -30, -30), (30, 30, -8))
    assert len(unlit(model(BALL, ground, direction=(0.6, 0, -0.8)))) == 1


@pytest.mark.parametrize(
    "body",
    [
        about((-30, -30, 8), (30, 30, 10)),  # a layer, which the wave knows
        about((-30, -30, 8), (30, 30, 8), shape=nf.Sheet),
        about((1, -2, -2), (4, 2, 2)),
        about((10, -2, -2), (13, 2, 2), nf.Medium()),
        about((50, 50, 50), (60, 60, 60)),  # outside the grid, which another warning says
        about((-30, -30, -30), (30, 30, 30), nf.Medium(2.0)),
    ],
)
def test_what_the_wave_passes_and_what_is_not_there_is_not_named(body):
    assert unlit(model(body, BALL)) == []


def test_a_body_in_one_of_two_boxes_and_halves_at_planes_of_symmetry_are_lit():
    first, second = (
        model(lower=low, upper=high).sources[0] for low, high in (((-6,) * 3, (6,) * 3), ((8, -6, -6), (14, 6, 6)))
    )
    assert unlit(model(BALL, BESIDE, sources=[first, second])) == []
    half = {"symmetry": nf.Symmetry(y="magnetic"), "lower": (-6, 0, -6)}
    layer = about((-30, 0, 8), (30, 30, 10))
    assert unlit(model(BALL, layer, about((-4, -4, -4), (-2, -2, -2)), **half)) == []
    assert len(unlit(model(BALL, about((-2, 10, -2), (2, 12, 2)), **half))) == 1


def test_other_sources_light_what_they_like():
    dipole = nf.PointCurrent((0, 0, 0), "z", nf.GaussianDerivative(8e9))
    assert unlit(model(BESIDE, sources=[dipole])) == []


def test_a_far_field_surface_inside_the_box_is_said_to_see_no_scattered_field():
    def said(half, **entries):
        ends = () if half is None else ((-half * MM,) * 3, (half * MM,) * 3)
        far = nf.FarField("far", 6e9, *ends, theta=[0], phi=[0])
        return [text for text in model(BALL, monitors=[far], **entries).check().warnings if "must enclose" in text]

    (text,) = said(5)
    assert text.startswith("monitor 'far': its surface lies inside the total-field box of source 'wave'")
    assert said(8) == said(None) == []
    assert said(5, sources=[nf.PointCurrent((0, 0, 4 * MM), "z", nf.GaussianDerivative(8e9))]) == []


@pytest.mark.parametrize(("lower", "upper"), [(-8, 6), (-6, 8), (-8, 8)])
def test_a_surface_that_touches_the_box_off_the_walls_is_refused(lower, upper):
    """One whose high faces lay on the box's ran, and saw the wave there: a cross-section 33 times too large."""
    far = nf.FarField("far", (8e9,), lower=(lower * MM,) * 3, upper=(upper * MM,) * 3)
    simulation = model(BALL, monitors=[far])
    if (lower, upper) == (-8, 8):
        simulation.check()
    else:
        with pytest.raises(nf.ModelError, match="crosses or touches the total-field box"):
            simulation.check()


@pytest.mark.parametrize("outwards", [-1, 0])
def test_flux_on_the_faces_of_the_box_is_that_of_a_lossless_body(outwards):
    # nothing is absorbed; half scattered H on the faces made 10 to 30 % of what falls on the body of it
    end = (6 + outwards) * MM
    ball = nf.Structure(nf.Sphere((0, 0, 0), 4 * MM), nf.Medium(2.4))
    flux = nf.Flux("out", (-end,) * 3, (end,) * 3, [8e9, 12e9])
    simulation = model(ball, monitors=[flux], decay=1e-5)
    falls = np.pi * (4 * MM) ** 2 / (2 * 376.73)
    assert np.abs(simulation.run(threads=1).per_source()["out"].values).max() < 2e-3 * falls
    moved = [each["what"] for each in simulation.check().moved if each["what"].startswith("monitor")]
    assert moved == ([] if outwards else [f"monitor 'out', its {end} end along x (and along y and z)" for end in ENDS])


def test_a_flux_plane_where_the_wave_enters_a_periodic_cell_has_its_whole_power():
    wave = nf.PlaneWave((0, 0, 12 * MM), (4 * MM, 4 * MM, 30 * MM), "+z", "x", nf.GaussianDerivative(8e9))
    planes = [nf.Flux(str(n), (0, 0, n * MM), (4 * MM, 4 * MM, n * MM), [5e9, 8e9]) for n in (12, 20)]
    simulation = nf.Simulation(
        nf.Grid.uniform(MM, (4, 4, 42)),
        boundaries=nf.Boundaries(x="periodic", y="periodic", z=nf.CPML(8)),
        sources=[wave],
        monitors=planes,
        precision="double",
    )
    run = simulation.run(threads=1)
    assert run["12"].values == pytest.approx(run["20"].values, rel=1e-6)  # half of it before
    (moved,) = simulation.check().moved
    assert (moved["what"], moved["from"], moved["to"]) == ("monitor '12', its place along z", 12 * MM, 13 * MM)


def test_flux_whose_faces_leave_no_room_in_the_box_is_refused():
    with pytest.raises(nf.NearfieldError, match="within two cells"):
        model(upper=(6, 6, -4), monitors=[nf.Flux("out", (-6 * MM,) * 3, (6 * MM, 6 * MM, -4 * MM), [1e9])]).check()


@pytest.mark.parametrize(
    "monitor, said",
    [
        (nf.Probe("m", (0, 0, 6 * MM), "Hy"), "reaches across the total-field box"),
        (nf.Probe("m", (0, 0, 6 * MM), "Ex"), ""),
        (nf.Probe("m", (0, 0, 5 * MM), "Hy"), ""),
        (nf.Voltage("m", (0, 0, 5 * MM), (0, 0, 7 * MM)), "reaches across the total-field box"),
        (nf.Flux("m", (-9 * MM, -9 * MM, 0), (9 * MM, 9 * MM, 0), [1e9]), "reaches across the total-field box"),
        (nf.Flux("m", (-9 * MM, -9 * MM, 8 * MM), (9 * MM, 9 * MM, 8 * MM), [1e9]), ""),
        (nf.FieldDFT("m", (-9 * MM, -9 * MM, -6 * MM), (9 * MM, 9 * MM, -6 * MM), [1e9]), "lies on a face"),
        (nf.FieldDFT("m", (-9 * MM, -9 * MM, -5 * MM), (9 * MM, 9 * MM, -5 * MM), [1e9]), ""),
        (nf.FieldDFT("m", (-9 * MM,) * 3, (9 * MM,) * 3, [1e9]), ""),
    ],
)
def test_monitors_that_mix_total_and_scattered_fields_are_named(monitor, said):
    found = [text for text in model(monitors=[monitor]).check().warnings if text.startswith("monitor 'm'")]
    assert len(found) == bool(said) and all(said in text for text in found)
