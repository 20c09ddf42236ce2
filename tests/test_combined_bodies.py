"""Bodies united with others, and cut out of one another."""

import json

import numpy as np
import pytest

import nearfield as nf
from nearfield.bodies.closed_surface import volume
from nearfield.coefficients.media_means import PERMITTIVITY
from nearfield.viewer.triangles import surface_of

PLATE = nf.Box((0, 0, 0), (4, 4, 1))
HOLE = nf.Cylinder((2, 2, 0), (2, 2, 1), 1)


def model(*structures, grid=None, **entries):
    grid = grid or nf.Grid.uniform(0.25, (20, 20, 8))
    return nf.Simulation(grid, structures, **({"boundaries": nf.Boundaries(nf.PEC), "steps": 2} | entries))


def coefficients(simulation):
    found = simulation._setup().coefficients
    return [part for component in range(6) for part in found.dense(component)]


def same_bits(one, other):
    return all(np.array_equal(a, b) for a, b in zip(coefficients(one), coefficients(other)))


@pytest.mark.parametrize("medium", [nf.PEC, nf.Medium(4.0)])
@pytest.mark.parametrize("seam", [2.0, 1.9])
def test_two_boxes_that_are_one_have_its_bits(medium, seam):
    """Wherever their seam lies, and if they overlap."""
    united = nf.Box((0, 0, 0), (seam, 3.1, 1.3)) | nf.Box((1.5, 0, 0), (4.2, 3.1, 1.3))
    one = nf.Structure(nf.Box((0, 0, 0), (4.2, 3.1, 1.3)), medium)
    assert model(nf.Structure(united, medium)).structures == (one,)
    whole = {"metal": "staircase"}
    assert same_bits(model(nf.Structure(united, medium), **whole), model(one, **whole))


def test_a_union_is_its_parts_drawn_one_by_one():
    parts = [nf.Sphere((2, 2, 1), 0.9), nf.Cylinder((1, 1, 1), (4, 3, 1), 0.4)]
    united = model(nf.Structure(nf.Union(parts), nf.Medium(4.0), name="both"))
    assert [body.label for body in united._bodies] == ["structure 'both 1'", "structure 'both 2'"]
    assert same_bits(united, model(*(nf.Structure(part, nf.Medium(4.0)) for part in parts)))


def test_a_box_cut_out_of_a_box_or_a_sheet_leaves_boxes_or_sheets():
    frame = PLATE - nf.Box((1, 1, -1), (3, 3, 2))
    assert sum(np.prod(np.subtract(*part.bounds()[::-1])) for part in frame._simple) == pytest.approx(12.0)
    assert {part.kind for part in frame._simple} == {"box"} and len(frame._simple) == 4
    slotted = nf.Sheet((0, 0, 0.5), (4, 4, 0.5)) - nf.Sheet((1, 1.5, 0.5), (3, 2, 0.5))
    whole = model(nf.Structure(slotted, nf.PEC))._setup().coefficients
    assert {part.kind for part in slotted._simple} == {"sheet"}
    # Ey across the slot is free, E along the metal beside it is not
    assert not whole.is_metal(1, *(np.array([n]) for n in (8, 6, 2))).any()
    assert whole.is_metal(1, *(np.array([n]) for n in (2, 6, 2))).all()


def test_a_cut_holds_its_volume_in_every_mean():
    """A dielectric plate with a hole: eps of Ez, arithmetic about it, sums to the volume that is left within the 4 x 4
    points of a piece: some 80 crossed columns, each off by at most 1/16 of itself, at random signs below 0.5 %."""
    setup = model(nf.Structure(PLATE - HOLE, nf.Medium(3.0)))._setup()
    window = setup.coefficients.window(2, 1, ((0, 20), (0, 20)))
    area = (np.asarray(window._part(2, PERMITTIVITY)) - 1.0)[1:, 1:].sum() * 0.25**2 / 2.0
    half = 0.125 * (2 * 4.0 - 0.125)  # half a cell along the walls at x = 0 and y = 0, which the sum leaves out
    assert area == pytest.approx(16.0 - np.pi - half, rel=0.005)


def test_surfaces_for_pictures_enclose_what_is_left():
    """64 sides of a circle hold 0.16 % less than it: 0.005 of 3.14."""
    shape = (PLATE - HOLE)._simple[0]
    corners, triangles = surface_of(shape, 4.0)
    assert volume(corners, triangles) == pytest.approx(16.0 - np.pi, abs=0.01)
    assert len(triangles) < 10_000
    ball = nf.Sphere((0, 0, 0), 1.0) - nf.Box((0, -2, -2), (2, 2, 2))
    assert volume(*surface_of(ball, 2.0)) == pytest.approx(2 * np.pi / 3, rel=0.01)


@pytest.mark.parametrize("metal", ["staircase", "conformal"])
def test_a_hole_in_metal_is_open(metal):
    """In a thick plate and in one that is thinner than a cell; not closed by a film at its ends."""
    for height in (1.0, 0.02):
        plate = nf.Box((0, 0, 0), (5, 5, height)) - nf.Cylinder((2, 2, 0), (2, 2, height), 1)
        found = model(nf.Structure(plate, nf.PEC), metal=metal, grid=nf.Grid.uniform(0.25, (20, 20, 8)))
        setup = found.model_copy(update={"boundaries": nf.Boundaries(nf.PMC)})._setup().coefficients
        at = [np.array([n]) for n in (8, 8, 0)]
        away = [np.array([n]) for n in (15, 15, 0)]
        assert not setup.is_metal(0, *at).any() and setup.is_metal(0, *away).all()
        if height == 1.0:
            assert not setup.is_metal(2, *(np.array([n]) for n in (8, 8, 3))).any()
            assert not setup.is_metal(0, *(np.array([n]) for n in (8, 8, 4))).any()


def test_a_blind_hole_is_open_at_the_face_it_begins_at():
    blind = PLATE - nf.Cylinder((2, 2, 0.5), (2, 2, 1), 1)
    assert blind.contains(2, 2, [0.25, 0.75, 1.0]).tolist() == [True, False, False]


def test_parts_are_moved_and_repeated_and_the_whole_too():
    holes = nf.Transformed(nf.Cylinder((0.5, 0.5, 0), (0.5, 0.5, 1), 0.2), nf.Array((3, 3, 1), (1.5, 1.5, 0)))
    plate = nf.Structure(PLATE - holes, nf.Medium(2.0), name="plate", transforms=[nf.Translate((0.5, 0.5, 0))])
    shape = plate.parts()[0].shape
    assert len(shape.minus) == 9 and plate.parts()[0].name == "plate"
    assert shape.contains([1.0, 1.5, 4.0], [1.0, 1.5, 4.0], 0.5).tolist() == [False, True, False]
    turned = nf.Structure(PLATE - holes, nf.PEC, transforms=[nf.Rotate("z", "45 deg")]).parts()[0].shape
    assert turned.body.kind == "polygon" and not turned.contains(0, np.sqrt(0.5), 0.5)
    assert turned.contains(0, 1.5, 0.5)


def test_a_difference_of_a_difference_keeps_what_both_hold():
    lens = nf.Sphere((0, 0, 0), 1.0) - (nf.Sphere((0, 0, 0), 1.0) - nf.Sphere((1, 0, 0), 1.0))
    assert lens.contains([0.5, -0.5, 1.5], 0, 0).tolist() == [True, False, False]


def test_a_saved_model_gives_the_same_bodies_back(tmp_path):
    first = model(nf.Structure((PLATE - HOLE) | nf.Box((1, 1, 1), (2, 2, 1.5)), nf.Medium(3.0), name="part"))
    file = tmp_path / "model.toml"
    file.write_text(first.to_toml())
    assert nf.load(file).structures == first.structures and same_bits(nf.load(file), first)
    written = {"kind": "difference", "body": {"kind": "box", "lower": [0, 0, 0], "upper": ["4 m", 4, 1]}}
    written["minus"] = [{"kind": "cylinder", "start": [2, 2, 0], "end": [2, 2, 1], "radius": 1}]
    given = nf.Structure(shape=json.loads(json.dumps(written)), medium="pec")
    assert given.parts() == nf.Structure(PLATE - HOLE, nf.PEC).parts()


def test_an_automatic_grid_has_lines_at_faces_of_the_parts():
    slab = nf.Box((0, 0, 0), (4e-3, 4e-3, 1e-3)) - nf.Cylinder((2e-3, 2e-3, 0.37e-3), (2e-3, 2e-3, 1e-3), 0.5e-3)
    structure = nf.Structure(slab, nf.Medium(3.0))
    entries = {"boundaries": nf.Boundaries(nf.PEC), "steps": 1}
    found = nf.Simulation(nf.AutoGrid(maximum_frequency=10e9), [structure], **entries)._setup()
    assert np.abs(found.grid.lines[2] - 0.37e-3).min() < 1e-9


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: PLATE - nf.Box((-1, -1, -1), (5, 5, 5)), "nothing is left"),
        (lambda: PLATE - nf.Sheet((1, 1, 0.5), (2, 2, 0.5)), "without thickness takes nothing out of a box"),
        (lambda: PLATE - nf.Wire(((1, 1, 0.5), (2, 1, 0.5))), "nothing is cut out of a wire, and a wire cuts nothing"),
        (
            lambda: nf.Structure(nf.Sheet((0, 0, 0), (4, 4, 0)) - HOLE, nf.ResistiveSheet(50.0)),
            "out of a Sheet rectangles alone can be cut",
        ),
        (lambda: nf.Union([]), "given no bodies"),
    ],
)
def test_what_cannot_be_combined_is_refused_in_words(make, words):
    with pytest.raises(nf.ModelError, match=words):
        make()


def test_bounds_are_those_of_what_boxes_leave_of_a_body():
    rod = nf.Cylinder((0, 0, 0), (0, 0, 12), 3)
    low, high = nf.Box((-4, -4, -1), (4, 4, 3)), nf.Box((-3, -3, 9), (3, 3, 13))
    assert (rod - low - high).bounds() == ((-3, -3, 3), (3, 3, 9))
    assert (rod - nf.Box((-4, -4, 3), (4, 4, 9))).bounds() == rod.bounds()  # a hole in the middle
    assert (rod - nf.Box((-4, -4, 9), (4, 2, 13))).bounds() == rod.bounds()  # a part of the end


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_many_alike_round_holes_are_asked_as_each_alone(axis):
    """Cylinders from either end, spheres, and others beside them; the nearest decides."""
    rng = np.random.default_rng(axis)
    centres = rng.uniform(0.0, 4.0, (12, 3))
    centres[:, axis] = -0.3
    way = 1.7 * np.eye(3)[axis]
    holes = [nf.Cylinder(c, c + way, 0.2) if n % 2 else nf.Cylinder(c + way, c, 0.2) for n, c in enumerate(centres)]
    holes += [nf.Cylinder(c, c + 2 * way, 0.2) for c in centres[:2]] + [nf.Cylinder(centres[3], centres[4] + way, 0.1)]
    holes += [nf.Sphere(c, 0.3) for c in rng.uniform(0.0, 4.0, (8, 3))] + [nf.Sphere(centres[5], 0.25)]
    whole = nf.Box((0, 0, 0), (4, 4, 4))
    at = [rng.uniform(-1.0, 5.0, (50, 7)) for _ in range(3)]
    for cut, expected in (
        (nf.Difference(whole, holes), [whole._signed_distance(*at), *(-hole._signed_distance(*at) for hole in holes)]),
        (nf.Union(holes), [-hole._signed_distance(*at) for hole in holes]),
    ):
        least = np.max(expected, axis=0) * (-1 if isinstance(cut, nf.Union) else 1)
        np.testing.assert_allclose(cut._signed_distance(*at), least, rtol=1e-12, atol=1e-12)
    cut = nf.Difference(whole, holes)
    assert cut._signed_distance(*(q[:0] for q in at)).shape == (0, 7)
    assert not cut.contains(np.nan, 1.0, 1.0)


def test_a_plate_with_many_holes_asks_for_the_nearest_alone(monkeypatch):
    """Each hole of its own made the set-up of a plate with 64 holes take minutes."""

    def never(*_):
        raise AssertionError("asked alone")

    holes = [nf.Cylinder((x, y, 0), (x, y, 1), 0.3) for x in range(1, 4) for y in range(1, 4)]
    monkeypatch.setattr(nf.Cylinder, "_signed_distance", never)
    monkeypatch.setattr(nf.Cylinder, "_lateral_distance", never)
    model(nf.Structure(PLATE - nf.Union(holes), nf.PEC), metal="conformal")._setup().coefficients.dense(0)


def test_bodies_made_of_others_move_as_one():
    parts = nf.Box((0, 0, 0), (2, 2, 2)), nf.Sphere((2, 1, 1), 0.5)
    far = nf.Transformed(nf.Cylinder((0, 0, 0), (0, 0, 1), 0.5), nf.Rotate("z", "90 deg"))
    for body in (parts[0] | parts[1], parts[0] - parts[1], far, far | parts[1]):
        beside = body.moved(("100 cm", 0, -2.0))
        np.testing.assert_allclose(beside.bounds(), np.add(body.bounds(), (1.0, 0.0, -2.0)), atol=1e-12)
        x, y, z = np.random.default_rng(1).uniform(-1, 3, (3, 200))
        assert (beside.contains(x + 1.0, y, z - 2.0) == body.contains(x, y, z)).all()


@pytest.mark.parametrize("by", [(1, 0), ("1 GHz", 0, 0), "1 mm", (1, 0, 0, 0), (np.nan, 0, 0)])
def test_a_move_that_is_no_three_lengths_is_refused_in_words(by):
    with pytest.raises(nf.ModelError, match="moved: "):
        nf.Box((0, 0, 0), (1, 1, 1)).moved(by)


def test_a_union_of_no_bodies_is_refused():
    with pytest.raises(nf.ModelError, match="given no bodies; give at least one"):
        nf.Union([])


def test_a_body_of_which_nothing_is_cut_is_the_body():
    box = nf.Box((0, 0, 0), (1, 1, 1))
    same = nf.Difference(box, minus=[])
    assert same.bounds() == box.bounds() and same._simple == [box]
    assert nf.Difference(box - nf.Sphere((0, 0, 0), 0.5), minus=[]).contains([0.1, 0.9], 0.1, 0.1).tolist() == [
        False,
        True,
    ]
