"""Solids from files: inside by exact crossings, distances, what is refused, meshes and voxels on the grid."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from solids_made import CUBE, CUBE_TRIANGLES, icosphere, winding_number

import nearfield as nf
from nearfield.boundaries import Boundaries
from nearfield.checkpoint.contents import self_contained
from nearfield.coefficients import Coefficients
from nearfield.grid import Grid
from nearfield.materials import Medium
from nearfield.model_file import load, loads
from nearfield.report.sections import section
from nearfield.solids.closed_surface import ClosedSurface, volume

SEED = 31


def coefficients(structures, grid):
    made = Coefficients(grid, structures, {}, Medium(), Boundaries(all="pec"), 1e-13)
    return [part for component in range(6) for part in made.dense(component)]


def uniform(cells, size):
    return Grid.uniform(size, (cells,) * 3).resolve()


def nested():
    """A ball with a cavity, a second ball that overlaps it, and one ball twice in the same place."""
    points, triangles = icosphere(1)
    shells = [(1.0, (0, 0, 0), 1), (0.5, (0.1, 0, 0), -1), (0.8, (1.1, 0.2, 0.1), 1), (0.4, (-0.9, 1.2, 0), 1),
              (0.4, (-0.9, 1.2, 0), 1)]  # fmt: skip
    corners = np.concatenate([size * points + place for size, place, _ in shells])
    return corners, np.concatenate([triangles[:, ::way] + n * len(points) for n, (*_, way) in enumerate(shells)])


@pytest.mark.parametrize("made", [lambda: icosphere(2), nested, lambda: (CUBE, CUBE_TRIANGLES)])
def test_random_points_are_inside_where_the_solid_angle_says_so(made):
    corners, triangles = made()
    lower, upper = corners.min(axis=0) - 0.1, corners.max(axis=0) + 0.1
    points = np.random.default_rng(SEED).uniform(lower, upper, (4000, 3))
    winding = winding_number(corners, triangles, points)
    assert np.abs(winding - np.round(winding)).max() < 1e-9
    surface = ClosedSurface(corners, triangles)
    assert np.array_equal(surface.inside(*points.T), np.round(winding) != 0)
    assert np.array_equal(surface.distance(*points.T) < 0, np.round(winding) != 0)


def test_rays_along_all_axes_agree_at_corners_on_edges_and_on_faces():
    """Every point of these lattices lies on grid lines through corners and edges of the surface."""
    corners, triangles = nested()
    corners = np.round(corners * 8) / 8
    surface = ClosedSurface(corners, triangles)
    places = np.arange(-16, 17) / 8
    answers = []
    for longest in range(3):  # the longest list is the direction of the rays
        at = [np.concatenate((places, np.full(5 * (axis == longest), 1.9))) for axis in range(3)]
        x, y, z = (q.reshape([-1 if a == axis else 1 for a in range(3)]) for axis, q in enumerate(at))
        answers.append(surface.inside(x, y, z)[:33, :33, :33])
    assert np.array_equal(answers[0], answers[1]) and np.array_equal(answers[0], answers[2])
    x, y, z = np.broadcast_arrays(places[:, None, None], places[:, None], places)
    assert np.array_equal(surface.inside(x, y, z), answers[0])  # point by point
    assert np.array_equal(surface.inside(x, y, z), surface.inside(x.T, y.T, z.T).T)


def test_two_bodies_that_share_a_face_leave_no_point_out_and_share_none():
    left, right = ClosedSurface(CUBE, CUBE_TRIANGLES), ClosedSurface(np.add(CUBE, (1, 0, 0)), CUBE_TRIANGLES)
    places = np.linspace(0.0625, 0.9375, 15)
    assert np.array_equal(left.inside(1.0, places[:, None], places), ~right.inside(1.0, places[:, None], places))


def test_the_distance_is_that_of_the_nearest_facet_near_the_surface_and_never_more():
    corners, triangles = icosphere(2)
    surface, sphere = ClosedSurface(corners, triangles), nf.Sphere((0, 0, 0), 1.0)
    points = np.random.default_rng(SEED).uniform(-1.5, 1.5, (3, 20_000))
    found, true = np.abs(surface.distance(*points)), np.abs(sphere.signed_distance(*points))
    sag = 1.0 - np.linalg.norm(corners[triangles].mean(axis=1), axis=1).min()  # of the facets under the sphere
    assert (found <= true + sag).all()
    near = true < 0.02
    assert np.abs(found - true)[near].max() <= sag
    again = [surface.distance(*points[:, n : n + 1])[0] for n in range(50)]
    assert np.array_equal(again, surface.distance(*points)[:50])  # of the point alone


def test_an_icosphere_fills_the_cells_of_the_sphere():
    corners, triangles = icosphere(4)
    mesh = nf.Mesh(vertices=corners, triangles=triangles, unit="mm", scale=5.2, offset=(0.006, 0.006, 0.006))
    sphere, grid = nf.Sphere((0.006, 0.006, 0.006), 5.2e-3), uniform(12, 1e-3)
    x, y, z = (grid.centres(axis).reshape([-1 if a == axis else 1 for a in range(3)]) for axis in range(3))
    sag = 5.2e-3 * (1.0 - np.linalg.norm(corners[triangles].mean(axis=1), axis=1).min())
    clear = np.abs(sphere.signed_distance(x, y, z)) > sag
    assert clear.mean() > 0.98
    assert np.array_equal(mesh.contains(x, y, z)[clear], sphere.contains(x, y, z)[clear])
    found, right = (coefficients([nf.Structure(shape, Medium(4.0))], grid) for shape in (mesh, sphere))
    # a share of a cell changes 1/eps_r by three times itself at most; the gap is as deep as the sag
    gap = 4 / 3 * np.pi * 5.2e-3**3 - volume(mesh.surface.corners, mesh.surface.triangles)
    for one, other in zip(found, right):
        assert np.abs(one - other).max() < 3 * np.sqrt(3) * sag / 1e-3
        assert np.abs(one - other).mean() < 3 * gap / 0.012**3


@pytest.mark.parametrize("medium", ["pec", "pmc", Medium(3.0)])
def test_a_cube_of_triangles_on_grid_lines_is_the_box(medium):
    grid = uniform(10, 1e-3)
    mesh = nf.Mesh(vertices=CUBE, triangles=CUBE_TRIANGLES, unit="mm", scale=4.0, offset=("3 mm", "2 mm", "4 mm"))
    box = nf.Box(*mesh.bounds())
    found, right = (coefficients([nf.Structure(shape, medium)], grid) for shape in (mesh, box))
    for one, other in zip(found, right):
        assert np.allclose(one, other, rtol=1e-14, atol=0) if medium == Medium(3.0) else np.array_equal(one, other)


def test_a_mesh_is_turned_about_x_then_y_then_z_and_then_moved():
    long, quarter = CUBE * (1, 2, 3), "90 deg"
    mesh = nf.Mesh(vertices=long, triangles=CUBE_TRIANGLES, rotation=(quarter, 0, quarter), offset=(1, 0, 0))
    assert mesh.bounds() == ((1.0, 0.0, 0.0), (4.0, 1.0, 2.0))  # (x, y, z) -> (x, -z, y) -> (z, x, y)
    assert mesh.levels(0) == [1.0, 4.0] and mesh.levels(2) == [0.0, 2.0]


def test_coefficients_of_a_mesh_are_those_of_its_place_alone():
    """What ranks ask for, each in a window of its own."""
    corners, triangles = icosphere(2)
    mesh = nf.Mesh(vertices=corners, triangles=triangles, scale=4.1e-3, offset=(6e-3, 5.5e-3, 6.2e-3))
    boundaries, grid = Boundaries(all="pec"), uniform(12, 1e-3)
    made = Coefficients(grid, [nf.Structure(mesh, Medium(4.0))], {}, Medium(), boundaries, 1e-13)
    whole = np.stack([np.stack(made.dense(component)) for component in range(3)])  # component, part, x, y, z
    for lower, upper in (((3, 4, 2), (9, 12, 11)), ((0, 5, 5), (12, 6, 12)), ((4, 0, 6), (5, 12, 7))):
        window = tuple(slice(low, high) for low, high in zip(lower, upper))
        for planes in made.planes(0, lower, upper):
            here = whole[:, :, *window][:, :, planes.start : planes.stop]
            assert np.array_equal(here, np.broadcast_to(planes.electric[:, :, None], here.shape))


# --- files ---


def write(path, corners, triangles):
    import trimesh

    trimesh.Trimesh(corners, triangles, process=False).export(path)
    return str(path)


@pytest.mark.parametrize("suffix", ["stl", "ply", "obj"])
def test_files_hold_the_solid_that_was_written(suffix, tmp_path):
    file = write(tmp_path / f"cube.{suffix}", CUBE * (12.45, 0.3, 7.0), CUBE_TRIANGLES)
    mesh = nf.Mesh(file, "mm")
    assert mesh.bounds() == ((0.0, 0.0, 0.0), (12.45 / 1000, 0.3 / 1000, 7.0 / 1000))  # single precision in STL
    assert len(mesh.surface.corners) == 8 and mesh.surface.triangles.shape == (12, 3)


BROKEN = {
    "without a triangle": (lambda: (CUBE, CUBE_TRIANGLES[1:]), "3 edges of one triangle alone, the first about (0, "),
    "facing both ways": (lambda: (CUBE, np.concatenate((CUBE_TRIANGLES[:1, ::-1], CUBE_TRIANGLES[1:]))),
                         "neighbours disagree at 3 edges"),
    "a sheet twice": (lambda: (CUBE, np.concatenate((CUBE_TRIANGLES[:2], CUBE_TRIANGLES[:2, ::-1]))), "no volume"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_surfaces_that_enclose_nothing_are_refused_with_file_place_and_remedy(case, tmp_path):
    made, expected = BROKEN[case]
    file = write(tmp_path / "broken.stl", *made())
    with pytest.raises(nf.ModelError) as refused:
        nf.Mesh(file, "mm")
    assert file in str(refused.value) and expected in str(refused.value)
    assert "no volume" in expected or "trimesh.repair.fill_holes" in str(refused.value)


def test_gaps_of_rounding_are_closed(tmp_path):
    corners = CUBE[CUBE_TRIANGLES].reshape(-1, 3) + np.random.default_rng(SEED).uniform(-1e-7, 1e-7, (36, 3))
    assert nf.Mesh(write(tmp_path / "gaps.obj", corners, np.arange(36).reshape(-1, 3)), "mm").contains(5e-4, 5e-4, 5e-4)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [("none.stl", None, "does not exist"), ("a.step", b"ISO", ".stl, .ply, .obj"), ("a.stl", b"rubbish" * 40, "a.stl"),
     ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 3\n", "PLY"), ("a.obj", b"v 0 0 0\nf 1 2 3\n", "a.obj"),
     ("empty.stl", b"", "no triangles")],
)  # fmt: skip
def test_files_that_are_no_meshes_are_refused(name, content, expected, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(nf.ModelError, match=expected):
        nf.Mesh(str(tmp_path / name), "mm")


def test_a_file_without_a_unit_and_a_file_that_changed_are_refused(tmp_path):
    file = write(tmp_path / "cube.stl", CUBE, CUBE_TRIANGLES)
    with pytest.raises(nf.ModelError, match="`unit` is missing"):
        nf.Mesh(file)
    with pytest.raises(nf.ModelError, match="has changed"):
        nf.Mesh(file, "mm", checksum="0" * 64)


def test_a_missing_package_is_named_with_its_extra(tmp_path):
    for name in ("cube.stl", "a.gds"):
        (tmp_path / name).write_bytes(b"x")
    code = """
import sys
sys.modules.update(trimesh=None, gdstk=None)
import nearfield as nf
for make in (lambda: nf.Mesh("cube.stl", "mm"), lambda: nf.gds("a.gds", 1, 0, 1e-6)):
    try:
        make()
    except nf.ModelError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    mesh, layout = done.stdout.splitlines()
    assert "trimesh" in mesh and "nearfield[cad]" in mesh and "gdstk" in layout and "nearfield[photonics]" in layout


# --- voxels ---


def test_voxels_on_any_grid_average_as_their_boxes_do():
    numbers = np.random.default_rng(SEED).integers(0, 3, (4, 3, 5))
    size, lower, media = (1.3e-3, 2.1e-3, 1.7e-3), (0.4e-3, 1e-3, 0.9e-3), {1: Medium(3.0), 2: Medium(5.0, 0.2)}
    voxels = nf.Voxels(array=numbers, spacing=size, lower=lower)
    parts = nf.Structure(voxels, {0: "none", **media}).parts()
    boxes = []
    for index in np.argwhere(numbers):
        ends = [np.add(lower, np.multiply(index + end, size)).tolist() for end in (0, 1)]
        boxes.append(nf.Structure(nf.Box(*ends), media[int(numbers[tuple(index)])]))
    for one, other in zip(*(coefficients(structures, uniform(11, 1e-3)) for structures in (parts, boxes))):
        assert np.allclose(one, other, rtol=1e-12, atol=0)


def test_metal_voxels_on_grid_lines_take_the_cells_of_their_boxes():
    numbers = np.zeros((6, 6, 6), int)
    numbers[1:4, 2:5, 1:3] = numbers[3:5, 1:3, 2:6] = 9
    parts = nf.Structure(nf.Voxels(array=numbers, spacing=1e-3), {0: "none", 9: "pec"}).parts()
    boxes = [nf.Structure(nf.Box((1e-3, 2e-3, 1e-3), (4e-3, 5e-3, 3e-3)), "pec"),
             nf.Structure(nf.Box((3e-3, 1e-3, 2e-3), (5e-3, 3e-3, 6e-3)), "pec")]  # fmt: skip
    for one, other in zip(*(coefficients(structures, uniform(8, 1e-3)) for structures in (parts, boxes))):
        assert np.array_equal(one, other)


def test_the_distance_of_voxels_is_that_of_the_nearest_box_of_the_other_kind():
    numbers = np.random.default_rng(SEED).integers(0, 2, (5, 5, 5))
    voxels = nf.Voxels(array=numbers, spacing=1.0)
    points = np.random.default_rng(SEED).uniform(-0.9, 5.9, (3, 3000))
    found, inside = voxels.signed_distance(*points), voxels.contains(*points)
    padded = np.pad(numbers, 1)
    true = np.full(points.shape[1], np.inf)
    for index in np.ndindex(padded.shape):
        low = np.array(index)[:, None] - 1.0
        gap = np.linalg.norm(np.maximum(np.maximum(low - points, points - low - 1), 0.0), axis=0)
        true = np.where(padded[index] != inside, np.minimum(true, gap), true)
    assert np.array_equal(found < 0, inside)
    assert np.allclose(np.abs(found), np.minimum(true, 1.0))


def test_numbers_without_a_medium_and_media_without_a_box_are_named(tmp_path):
    numbers = np.zeros((2, 2, 3), np.uint8)
    numbers[0, 0] = 4, 7, 7
    np.save(tmp_path / "head.npy", numbers)
    voxels = nf.Voxels(str(tmp_path / "head.npy"), 1e-3)
    with pytest.raises(nf.ModelError, match=r"without a medium: 4 \(1 boxes\), 7 \(2 boxes\)"):
        nf.Structure(voxels, {0: "none"})
    with pytest.raises(nf.ModelError, match="no box carries 5; there are 0, 4, 7"):
        nf.Voxels(str(tmp_path / "head.npy"), 1e-3, ids=5)
    with pytest.raises(nf.ModelError, match="a table by numbers is for a shape of voxels"):
        nf.Structure(nf.Sphere((0, 0, 0), 1), {1: "pec"})


def test_hdf5_voxels_are_read_by_the_name_of_their_data_set(tmp_path):
    import h5py

    file = str(tmp_path / "head.h5")
    with h5py.File(file, "w") as made:
        made["tissue/ids"], made["tissue/doses"], made["names"] = np.eye(3, dtype=int)[None], np.ones((2, 2, 2)), [1]
    assert nf.Voxels(file, 1e-3, dataset="tissue/ids").counts == {0: 6, 1: 3}
    with pytest.raises(nf.ModelError, match="2 data sets over three axes"):
        nf.Voxels(file, 1e-3)
    with pytest.raises(nf.ModelError, match="no data set 'ids'"):
        nf.Voxels(file, 1e-3, dataset="ids")
    with pytest.raises(nf.ModelError, match="holds float64"):
        nf.Voxels(file, 1e-3, dataset="tissue/doses")


# --- layouts ---


@pytest.fixture
def layout(tmp_path):
    import gdstk

    library = gdstk.Library(unit=1e-6, precision=1e-9)
    arm, top = library.new_cell("ARM"), library.new_cell("TOP")
    arm.add(gdstk.rectangle((0, 0), (4, 1), layer=2), gdstk.ellipse((8, 2), 1.5, layer=2, datatype=1))
    top.add(gdstk.Reference(arm, (1, 1)), gdstk.rectangle((3.5, 1.5), (6, 3.25), layer=2),
            gdstk.FlexPath([(0, 5), (5, 5), (5, 8)], 0.5, layer=3))  # fmt: skip
    library.write_gds(tmp_path / "chip.gds")
    return str(tmp_path / "chip.gds")


def test_a_layer_holds_what_its_boxes_hold(layout):
    shape = nf.Layout(layout, 2, 0, "0.22 um")
    boxes = nf.Box((1e-6, 1e-6, 0), (5e-6, 2e-6, 0.22e-6)), nf.Box((3.5e-6, 1.5e-6, 0), (6e-6, 3.25e-6, 0.22e-6))
    assert shape.bounds() == ((1e-6, 1e-6, 0.0), (6e-6, 3.25e-6, 2.2e-7))
    x, y = np.random.default_rng(SEED).uniform(0, 7e-6, (2, 5000))
    inside = boxes[0].contains(x, y, 1e-7) | boxes[1].contains(x, y, 1e-7)
    assert np.array_equal(shape.contains(x, y, 1e-7), inside) and not shape.contains(x, y, 3e-7).any()
    assert shape.levels(0) == [1e-6, 3.5e-6, 5e-6, 6e-6]
    first, second = nf.gds(layout, 2, 0, "0.22 um")
    assert {polygon.bounds() for polygon in (first, second)} == {box.bounds() for box in boxes}


def test_a_layer_is_extruded_along_any_axis_and_moved(layout):
    shape = nf.Layout(layout, 2, 0, 1e-6, datatype=1, cell="ARM", axis="x", offset=("1 um", 0), scale=2.0)
    assert np.allclose(shape.bounds(), ((0, 14e-6, 1e-6), (1e-6, 20e-6, 7e-6)), rtol=1e-3)
    assert shape.contains(5e-7, 17e-6, 4e-6) and not shape.contains(5e-7, 13.9e-6, 4e-6)


def test_a_flat_layer_of_metal_is_the_plate_of_its_polygons(layout):
    grid = Grid.uniform(0.25e-6, (32, 32, 4)).resolve()
    flat = [nf.Structure(nf.Layout(layout, 2, 0.5e-6, 0.5e-6), "pec")]
    single = [nf.Structure(polygon, "pec") for polygon in nf.gds(layout, 2, 0.5e-6, 0.5e-6)]
    for one, other in zip(coefficients(flat, grid), coefficients(single, grid)):
        assert np.array_equal(one, other)


def test_layers_and_cells_that_are_not_there_are_named(layout, tmp_path):
    with pytest.raises(nf.ModelError, match=r"no polygon on layer 9, datatype 0 .*\(2, 0\), \(2, 1\), \(3, 0\)"):
        nf.gds(layout, 9, 0, 1e-6)
    with pytest.raises(nf.ModelError, match="no cell 'LEG'; it has: ARM, TOP"):
        nf.gds(layout, 2, 0, 1e-6, cell="LEG")
    (tmp_path / "broken.gds").write_bytes(b"rubbish")
    with pytest.raises(nf.ModelError, match="cannot be read as GDSII"):
        nf.gds(str(tmp_path / "broken.gds"), 2, 0, 1e-6)


# --- models ---


def test_a_model_file_names_solids_from_its_own_folder_and_runs(layout, tmp_path, monkeypatch):
    write(tmp_path / "cube.stl", CUBE, CUBE_TRIANGLES)
    np.save(tmp_path / "head.npy", np.array([[[0, 3], [3, 5]]]))
    (tmp_path / "model.toml").write_text("""
steps = 20
grid = { kind = "uniform", spacing = "1 mm", cells = [12, 12, 12] }
boundaries = { all = "pec" }
monitors = [{ kind = "probe", name = "tip", position = ["9 mm", "9 mm", "9 mm"], component = "Ez" }]
media = { glass = { permittivity = 4.0 } }

[[sources]]
kind = "point-current"
position = ["5 mm", "5 mm", "5.5 mm"]
axis = "z"
waveform = { kind = "gaussian", maximum_frequency = "20 GHz" }

[[structures]]
shape = { kind = "mesh", file = "cube.stl", unit = "mm", scale = 3, offset = ["1 mm", "1 mm", "1 mm"] }
medium = "pec"

[[structures]]
shape = { kind = "layout", file = "chip.gds", layer = 2, lower = "2 mm", upper = "3 mm", scale = 1000 }
medium = "glass"

[[structures]]
shape = { kind = "voxels", file = "head.npy", spacing = "2 mm", lower = ["6 mm", "6 mm", "1 mm"] }
medium = { 0 = "none", 3 = "glass", 5 = "pec" }
name = "head"
""")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    simulation = load(tmp_path / "model.toml")
    assert [structure.name for structure in simulation.structures] == [None, None, "head: 3", "head: 5"]
    assert loads(simulation.to_toml()) == simulation
    runs = [simulation.model_copy(update={"schedule": s}).run(threads=1)["tip"].values for s in ("tiled", "stepwise")]
    assert np.abs(runs[0]).max() > 0 and np.array_equal(*runs)


def test_a_checkpoint_names_a_solid_by_its_whole_path_and_refuses_another(tmp_path, monkeypatch):
    write(tmp_path / "cube.stl", CUBE, CUBE_TRIANGLES)
    monkeypatch.chdir(tmp_path)
    structure = nf.Structure(nf.Mesh("cube.stl", "mm"), "pec")
    stored = self_contained(nf.Simulation(nf.Grid.uniform(1e-3, (8, 8, 8)), [structure], steps=1))
    monkeypatch.chdir("/")
    assert loads(stored).structures[0].shape.bounds() == structure.shape.bounds()
    write(tmp_path / "cube.stl", 2 * CUBE, CUBE_TRIANGLES)
    with pytest.raises(nf.ModelError, match="has changed"):
        loads(stored)


def test_the_report_draws_the_section_of_a_mesh():
    corners, triangles = icosphere(3)
    mesh = nf.Mesh(vertices=corners, triangles=triangles, unit="mm", scale=4.0, offset=(6e-3, 6e-3, 6e-3))
    simulation = nf.Simulation(nf.Grid.uniform(1e-3, (12, 12, 12)), [nf.Structure(mesh, "pec")], steps=1)
    cut = section(simulation, simulation.grid.resolve(), 2, 6e-3, 0, 1)
    assert (cut.index == 0).mean() == pytest.approx(np.pi * 4**2 / 12**2, rel=0.01)


def test_a_mesh_that_leaves_a_periodic_cell_comes_in_at_the_other_side():
    grid = nf.Grid.uniform(1e-3, (8, 8, 8))
    mesh = nf.Mesh(vertices=CUBE, triangles=CUBE_TRIANGLES, unit="mm", scale=2.0, offset=("7 mm", "3 mm", "3 mm"))
    boxes = nf.Box((7e-3, 3e-3, 3e-3), (9e-3, 5e-3, 5e-3))
    found, right = (
        nf.Simulation(grid, [nf.Structure(shape, "pec")], boundaries=nf.Boundaries(all="periodic"), steps=1)
        .setup().coefficients for shape in (mesh, boxes)
    )  # fmt: skip
    for component in range(6):
        assert np.array_equal(found.dense(component), right.dense(component))
