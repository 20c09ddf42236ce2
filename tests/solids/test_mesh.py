"""Bodies of triangles: on the grid, from files, and which are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from solids_made import CUBE, CUBE_TRIANGLES, SEED, coefficients, icosphere, uniform, write

import nearfield as nf
from nearfield.bodies.closed_surface import volume
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients
from nearfield.coefficients.interfaces import narrowness
from nearfield.grid.boundaries import Boundaries
from nearfield.media.materials import Medium


def test_an_icosphere_fills_the_cells_of_the_sphere():
    corners, triangles = icosphere(4)
    mesh = nf.Mesh(vertices=corners, triangles=triangles, unit="mm", scale=5.2, offset=(0.006, 0.006, 0.006))
    sphere, grid = nf.Sphere((0.006, 0.006, 0.006), 5.2e-3), uniform(12, 1e-3)
    x, y, z = (grid.centres(axis).reshape([-1 if a == axis else 1 for a in range(3)]) for axis in range(3))
    sag = 5.2e-3 * (1.0 - np.linalg.norm(corners[triangles].mean(axis=1), axis=1).min())
    clear = np.abs(sphere._signed_distance(x, y, z)) > sag
    assert clear.mean() > 0.98
    assert np.array_equal(mesh.contains(x, y, z)[clear], sphere.contains(x, y, z)[clear])
    found, right = (coefficients([nf.Structure(shape, Medium(4.0))], grid) for shape in (mesh, sphere))
    # a share of a grid line's cell changes 1/eps_r by three times itself at most, where the layer of mixtures is narrow
    # by 1/narrowness more, and by twice what that of the cell does; the gap is as deep as the sag
    most = 3 / narrowness(np.array(0.5), np.array(4.0))
    gap = 4 / 3 * np.pi * 5.2e-3**3 - volume(mesh._surface.corners, mesh._surface.triangles)
    for one, other in zip(found, right):
        assert np.abs(one - other).max() < most * 2 * np.sqrt(3) * sag / 1e-3
        assert np.abs(one - other).mean() < most * gap / 0.012**3


@pytest.mark.parametrize("medium", ["pec", "pmc", Medium(3.0)])
def test_a_cube_of_triangles_on_grid_lines_is_the_box(medium):
    grid = uniform(10, 1e-3)
    mesh = nf.Mesh(vertices=CUBE, triangles=CUBE_TRIANGLES, unit="mm", scale=4.0, offset=("3 mm", "2 mm", "4 mm"))
    box = nf.Box(*mesh.bounds())
    found, right = (coefficients([nf.Structure(shape, medium)], grid) for shape in (mesh, box))
    for one, other in zip(found, right):
        unlike = ~np.isclose(one, other, rtol=1e-14, atol=0)
        edges = 4 * 4 if medium == Medium(3.0) else 0  # along the cube's own: surfaces of triangles have a normal there
        assert unlike.sum() in (0, edges)


def test_a_mesh_is_turned_about_x_then_y_then_z_and_then_moved():
    long, quarter = CUBE * (1, 2, 3), "90 deg"
    mesh = nf.Mesh(vertices=long, triangles=CUBE_TRIANGLES, rotation=(quarter, 0, quarter), offset=(1, 0, 0))
    assert mesh.bounds() == ((1.0, 0.0, 0.0), (4.0, 1.0, 2.0))  # (x, y, z) -> (x, -z, y) -> (z, x, y)
    assert mesh._levels(0) == [1.0, 4.0] and mesh._levels(2) == [0.0, 2.0]


def test_coefficients_of_a_mesh_are_those_of_its_place_alone():
    """What ranks ask for, each in a window of its own."""
    corners, triangles = icosphere(2)
    mesh = nf.Mesh(vertices=corners, triangles=triangles, scale=4.1e-3, offset=(6e-3, 5.5e-3, 6.2e-3))
    boundaries, grid = Boundaries(all="pec"), uniform(12, 1e-3)
    made = Coefficients(grid, filled_shapes([nf.Structure(mesh, Medium(4.0))]), Medium(), boundaries, 1e-13)
    whole = np.stack([np.stack(made.dense(component)) for component in range(3)])  # component, part, x, y, z
    for lower, upper in (((3, 4, 2), (9, 12, 11)), ((0, 5, 5), (12, 6, 12)), ((4, 0, 6), (5, 12, 7))):
        window = tuple(slice(low, high) for low, high in zip(lower, upper))
        for planes in made.planes(0, lower, upper):
            here = whole[:, :, *window][:, :, planes.start : planes.stop]
            assert np.array_equal(here, np.broadcast_to(planes.electric[:, :, None], here.shape))


@pytest.mark.parametrize("suffix", ["stl", "ply", "obj"])
def test_files_hold_the_solid_that_was_written(suffix, tmp_path):
    file = write(tmp_path / f"cube.{suffix}", CUBE * (12.45, 0.3, 7.0), CUBE_TRIANGLES)
    mesh = nf.Mesh(file, "mm")
    assert mesh.bounds() == ((0.0, 0.0, 0.0), (12.45 / 1000, 0.3 / 1000, 7.0 / 1000))  # single precision in STL
    assert len(mesh._surface.corners) == 8 and mesh._surface.triangles.shape == (12, 3)


BROKEN = {
    "without a triangle": (
        lambda: (CUBE, CUBE_TRIANGLES[1:]),
        "3 edges of one triangle alone, the first about (0, 0, 0.5) mm",
    ),
    "facing both ways": (
        lambda: (CUBE, np.concatenate((CUBE_TRIANGLES[:1, ::-1], CUBE_TRIANGLES[1:]))),
        "neighbours disagree at 3 edges",
    ),
    "a sheet twice": (lambda: (CUBE, np.concatenate((CUBE_TRIANGLES[:2], CUBE_TRIANGLES[:2, ::-1]))), "no volume"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_surfaces_that_enclose_nothing_are_refused_with_file_place_and_remedy(case, tmp_path):
    made, expected = BROKEN[case]
    file = write(tmp_path / "broken.stl", *made())
    with pytest.raises(nf.ModelError) as refused:
        nf.Mesh(file, "mm")
    assert file in str(refused.value) and expected in str(refused.value)
    assert "no volume" in expected or "trimesh.repair.fill_holes" in str(refused.value)


def test_the_remedy_that_the_message_names_mends_holes_and_triangles_that_are_double_or_turned(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("networkx")
    corners, triangles = icosphere(2)
    open_below = triangles[corners[triangles].mean(axis=1)[:, 2] > -0.8]
    cube, turned = CUBE_TRIANGLES.copy(), CUBE_TRIANGLES[3, ::-1]
    double, facing = np.concatenate((cube, cube[:1])), np.array([*cube[:3], turned, *cube[4:]])
    for body in ((corners, open_below), (CUBE, double), (CUBE, facing)):
        file = write(tmp_path / "broken.stl", *body)
        with pytest.raises(nf.ModelError) as refused:
            nf.Mesh(file, "mm")
        remedy = str(refused.value).partition("repair it: ")[2]
        exec(remedy, {"trimesh": trimesh, "file": file})
        assert nf.Mesh(file, "mm").contains(1e-4, 2e-4, 3e-4)


def test_a_file_may_be_named_by_a_path(tmp_path):
    file = write(tmp_path / "cube.stl", CUBE, CUBE_TRIANGLES)
    assert nf.Mesh(tmp_path / "cube.stl", "mm") == nf.Mesh(file, "mm")


def test_triangles_with_corners_that_do_not_exist_are_named():
    with pytest.raises(nf.ModelError, match=r"the corner 8 .* where only 0 to 7 exist"):
        nf.Mesh(vertices=CUBE, triangles=np.concatenate((CUBE_TRIANGLES, [[0, 1, 8]])))


@pytest.mark.parametrize("size", [-30, 5])
def test_a_binary_file_of_another_length_than_its_triangles_is_named_with_both(size, tmp_path):
    whole = Path(write(tmp_path / "cube.stl", CUBE, CUBE_TRIANGLES)).read_bytes()
    (tmp_path / "cube.stl").write_bytes(whole[:size] if size < 0 else whole + bytes(size))
    with pytest.raises(nf.ModelError, match=f"12 triangles, 684 bytes, but has {684 + size} bytes"):
        nf.Mesh(str(tmp_path / "cube.stl"), "mm")


def test_gaps_of_rounding_are_closed(tmp_path):
    corners = CUBE[CUBE_TRIANGLES].reshape(-1, 3) + np.random.default_rng(SEED).uniform(-1e-7, 1e-7, (36, 3))
    assert nf.Mesh(write(tmp_path / "gaps.obj", corners, np.arange(36).reshape(-1, 3)), "mm").contains(5e-4, 5e-4, 5e-4)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("none.stl", None, "does not exist"),
        ("a.step", b"ISO", ".stl, .ply, .obj"),
        ("a.stl", b"rubbish" * 40, "a.stl"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 3\n", "PLY"),
        ("a.obj", b"v 0 0 0\nf 1 2 3\n", "a.obj"),
        ("empty.stl", b"", "no triangles"),
    ],
)
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
