"""A model before its run: its page in a real browser, the triangles of its bodies, and their files."""

from __future__ import annotations

import base64
import io
import json
import re
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, chromium

import nearfield as nf
from nearfield.bodies.geometry import Shape
from nearfield.bodies.outlined import ears
from nearfield.cli import main
from nearfield.commands.new import TEMPLATES, template_text
from nearfield.model_file import loads
from nearfield.viewer.export import export, parts_of
from nearfield.viewer.media_map import media_map
from nearfield.viewer.page import page_of
from nearfield.viewer.scene import scene_of
from nearfield.viewer.triangles import MAKERS, surface_of, tubes

ROOT = Path(__file__).resolve().parents[1]
L_SHAPE = [(0, 0), (2e-3, 0), (2e-3, 1e-3), (1e-3, 1e-3), (1e-3, 2e-3), (0, 2e-3)]
CORNER = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
# a polygon of 64 sides in a circle has sin(2 pi/64)/(2 pi/64) of its area, 0.16 % less; a ball in both directions 0.4 %
SOLIDS = [
    (nf.Box((0, 0, 0), (1e-3, 2e-3, 3e-3)), 6e-9, 1e-12),
    (nf.Sphere((1e-3, 0, 0), 1e-3), 4 / 3 * np.pi * 1e-9, 0.0041),
    (nf.Cylinder((0, 0, 0), (1e-3, 1e-3, 1e-3), 1e-3), np.pi * 1e-9 * 3**0.5, 0.0017),
    (nf.Polygon("y", L_SHAPE, 0, 1e-3), 3e-9, 1e-12),
    (nf.Polygon("x", L_SHAPE[::-1], 0, 1e-3), 3e-9, 1e-12),
    (nf.Revolved("x", [(0, 0), (3e-3, 0), (0, 4e-3)]), np.pi * 12e-9, 0.0017),
    (nf.Revolved("z", [(1e-3, 0), (1e-3, 1e-3), (2e-3, 1e-3), (2e-3, 0)]), np.pi * 3e-9, 0.0017),
    (nf.Mesh(vertices=CORNER, triangles=FACES, unit="mm", offset=(1, 2, 3)), 1e-9 / 6, 1e-9),
    (nf.Voxels(array=[[[0, 3], [3, 3]]], spacing="2 mm"), 24e-9, 1e-12),
]


def volume(corners: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = np.moveaxis((corners - corners.mean(axis=0))[triangles], 1, 0)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def is_closed(corners: np.ndarray, triangles: np.ndarray) -> bool:
    """Whether every edge is gone along as often in one direction as in the other."""
    number = np.unique(np.round(corners / 1e-12).astype(np.int64), axis=0, return_inverse=True)[1].reshape(-1)
    own = number[triangles]
    edges = Counter(map(tuple, np.concatenate([own[:, [0, 1]], own[:, [1, 2]], own[:, [2, 0]]]).tolist()))
    return all(edges[(b, a)] == count for (a, b), count in edges.items())


@pytest.mark.parametrize(("shape", "exact", "part"), SOLIDS, ids=lambda each: getattr(each, "kind", ""))
def test_the_triangles_of_a_solid_enclose_its_volume_outwards(shape, exact, part):
    corners, triangles = surface_of(shape, 1e-2)
    assert is_closed(corners, triangles)
    assert exact * (1 - part) <= volume(corners, triangles) <= exact * (1 + 1e-9)
    lower, upper = shape.bounds()
    assert np.all(corners >= np.subtract(lower, 1e-9)) and np.all(corners <= np.add(upper, 1e-9))


def test_every_shape_has_triangles():
    kinds = {member.model_fields["kind"].default for member in Shape.__origin__.__args__}
    assert kinds == {*MAKERS, "wire"}


def test_what_has_no_thickness_has_the_area_that_it_was_drawn_with():
    for shape, area in ((nf.Sheet((0, 0, 1), (2, 3, 1)), 6.0), (nf.Polygon("z", [(0, 0), (2, 0), (0, 2)], 1, 1), 2.0)):
        corners, triangles = surface_of(shape, 1.0)
        a, b, c = np.moveaxis(corners[triangles], 1, 0)
        assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == pytest.approx(area)
    corners, triangles = tubes([(0, 0, 0), (1, 0, 0), (1, 1, 0)], 0.1)
    assert is_closed(corners, triangles)
    assert volume(corners, triangles) == pytest.approx(2 * 12 * np.sin(np.pi / 6) / 2 * 0.01)  # two prisms of 12 sides


def test_ears_fill_a_comb_and_do_not_hang_on_an_outline_that_crosses_itself():
    comb = [(0, 0), *((x, y) for n in range(20) for x, y in ((n, 1), (n + 0.4, 5), (n + 0.8, 1))), (20, 1), (20, 0)]
    outline = np.array(comb[::-1], dtype=float)
    a, b, c = np.moveaxis(outline[ears(outline)], 1, 0)
    turns = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    u, v = outline.T
    assert turns.min() >= 0.0
    assert turns.sum() == pytest.approx(float(np.sum(u * np.roll(v, -1) - v * np.roll(u, -1))))
    assert len(ears(np.array([(0, 0), (1, 1), (1, 0), (0, 1)], dtype=float))) == 2


def patch() -> nf.Simulation:
    return nf.load(ROOT / "examples" / "patch_antenna.toml")


def test_the_map_of_media_is_what_the_model_holds_there():
    model = patch().replace("structures.patch.name", "p")
    found = media_map(model, model.grid.resolve(model))
    assert found.names == ["background", "substrate"] and found.every == [1, 2, 1]
    inside = np.broadcast_to(found.places[2] < 0.795e-3, found.media.shape)
    assert np.array_equal(found.media == 1, inside)


def packed(array: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(array["data"]), f"<{array['type']}")


def test_the_background_has_its_wavelength_whatever_media_are_called():
    medium, source = nf.Medium(4.0), nf.PointCurrent((5e-3,) * 3, "z", nf.Gaussian(1e9))
    model = nf.Simulation(
        nf.Grid.uniform(1e-3, (10, 10, 10)),
        [nf.Structure(nf.Box((0, 0, 0), (2e-3, 9e-3, 9e-3)), medium, name="background")],
        nf.Boundaries(all=nf.PEC),
        sources=[source],
        background=nf.Medium(2.0, name="oil"),
        steps=1,
    )
    unnamed = model.replace("background.name", None)
    for each, names in ((model, ["oil", "background"]), (unnamed, ["background", "background (2)"])):
        found = scene_of(each)["map"]
        assert found["names"] == names and found["colours"][0] == ""
        assert found["wavelengths"][0] / found["wavelengths"][1] == pytest.approx(2**0.5)


def test_cells_a_wavelength_leave_out_the_axis_that_carries_no_waves():
    model = nf.load(ROOT / "examples" / "line_source.toml")
    found, (medium, *_) = scene_of(model)["map"], model.check().media
    longest = max(packed(cells).max() for cells in found["cells"])
    assert found["wavelengths"][0] / longest == pytest.approx(medium.cells_per_wavelength, rel=1e-5)


def test_a_lens_of_more_media_than_a_byte_counts_is_shown():
    steps = [
        nf.Structure(nf.Box((0, 0, n * 1e-3), (1e-3, 1e-3, (n + 1) * 1e-3)), nf.Medium(1 + n / 100))
        for n in range(1, 301)
    ]
    model = nf.Simulation(nf.Grid.uniform(1e-3, (1, 1, 302)), steps, steps=1)
    found = media_map(model, model.grid.resolve(model))
    assert len(found.names) == 301 and found.media.max() > 255
    assert [found.names[number] for number in found.media[0, 0, :2]] == ["eps_r 1.02", "eps_r 1.06"]
    at = packed(scene_of(model)["map"]["media"])
    assert np.array_equal(at, found.media.ravel())


def test_coarse_voxels_hold_the_body_where_it_lies_and_exports_are_not_coarse():
    ball = nf.Voxels(array=np.ones((11, 11, 11), int).tolist(), spacing="1 mm")
    exact = surface_of(ball, 1.0)
    assert is_closed(*exact) and volume(*exact) == pytest.approx(11e-3**3)
    corners, triangles = surface_of(ball, 1.0, 500)
    assert len(triangles) <= 1000 and is_closed(corners, triangles)
    assert np.allclose(corners.min(axis=0), 0.0) and np.allclose(corners.max(axis=0), 12e-3)
    model = nf.Simulation(nf.Grid.uniform(1e-3, (12, 12, 12)), [nf.Structure(ball, nf.PEC)], steps=1)
    assert len(parts_of(model)[0].triangles) == len(exact[1])


@pytest.mark.parametrize("suffix", [".glb", ".stl", ".vtk"])
def test_bodies_of_which_nothing_is_left_are_not_exported(suffix, tmp_path):
    box = nf.Box((0, 0, 0), (1e-3, 1e-3, 1e-3))
    gone = nf.Structure(nf.Difference(nf.Sphere((5e-4,) * 3, 2e-4), [box]), nf.PEC)
    model = nf.Simulation(nf.Grid.uniform(1e-3, (9, 9, 9)), [gone], steps=1)
    with pytest.raises(nf.ModelError, match="nothing is left of its structures"):
        model.export(tmp_path / f"gone{suffix}")
    both = model.replace(structures=[gone, nf.Structure(box, nf.PEC, name="box")])
    assert both.export(tmp_path / f"box{suffix}").is_file()
    assert [part.name for part in parts_of(both)] == ["box"]


def test_the_scene_says_what_check_says_and_where_everything_is():
    scene = scene_of(patch())
    check = patch().check()
    assert scene["warnings"] == list(check.warnings)
    assert [body["name"] for body in scene["bodies"]] == ["substrate", "patch", "feed line"]
    (port,) = [each for each in scene["objects"] if each["group"] == "port"]
    along = {arrow["what"]: arrow["along"] for arrow in port["arrows"]}
    assert along == {"polarity": [0, 0, 1], "propagation": [0, 1, 0]}
    low, high = (next(s["at"][2] for s in port["signs"] if s["text"] == text) for text in "−+")
    assert (high - low) * scene["metres_a_unit"] == pytest.approx(0.795e-3)
    medium = next(each for each in check.media if each.name == "substrate")
    waves = scene["map"]["wavelengths"][scene["map"]["names"].index("substrate")] * scene["metres_a_unit"]
    assert waves / medium.largest_cell == pytest.approx(medium.cells_per_wavelength)
    assert {layer["kind"] for layer in scene["layers"]} == {"cpml", "pec"}


def test_a_model_that_run_would_refuse_is_shown_with_the_reason():
    outside = nf.PointCurrent((1, 1, 1), "z", nf.Gaussian(1e9))
    model = nf.Simulation(nf.Grid.uniform(1e-3, (30, 30, 30)), sources=[outside], steps=1)
    assert "outside the grid" in scene_of(model)["problem"]


def test_names_of_a_model_cannot_leave_the_data_of_the_page():
    model = patch().replace(title='</script><!-- <script>alert("x")</script>@three@')
    text = page_of(model)
    assert "</script><script>alert" not in text and text.count("</script>") == 3
    data = text.split('id="scene">', 1)[1].split("</script>", 1)[0]
    assert json.loads(data)["title"] == model.title and "<" not in data


def test_the_page_names_no_address_but_that_of_a_name_space():
    assert set(re.findall(r"https?://[\w./]+", page_of(patch()))) <= {"http://www.w3.org/1999/xhtml"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def picture(browser: Browser) -> np.ndarray:
    """What the stage shows, (rows, columns, 3)."""
    from PIL import Image

    data = browser.run("return nearfield.picture()").split(",", 1)[1]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"), dtype=int)


def changed(one: np.ndarray, other: np.ndarray) -> float:
    """Part of the points that differ visibly."""
    return float((np.abs(one - other).max(axis=2) > 24).mean())


def drawn(image: np.ndarray) -> float:
    """Part of the points that are not the empty stage."""
    return float((np.abs(image - image[2, -2]).max(axis=2) > 24).mean())


def test_the_page_opens_turns_hides_and_cuts_in_a_browser(browser, tmp_path):
    assert patch().show(tmp_path / "patch.html") == tmp_path / "patch.html"
    browser.go(tmp_path / "patch.html")
    assert browser.log() == []
    assert browser.run("return document.getElementById('title').textContent") == patch().title
    first = picture(browser)
    assert drawn(first) > 0.1 and len(browser.screenshot()) > 20_000
    turn = "const c = document.querySelector('#stage canvas'), p = (t, x) => c.dispatchEvent(new PointerEvent(t, "
    turn += "{clientX: x, clientY: 300, button: 0, buttons: 1, pointerId: 1, bubbles: true}));"
    turn += "c.setPointerCapture = c.releasePointerCapture = () => {}; p('pointerdown', 300); p('pointermove', 420);"
    before = browser.run("return nearfield.camera.position.toArray()")
    browser.run(turn + "p('pointerup', 420);")
    after = browser.run("return nearfield.camera.position.toArray()")
    assert np.linalg.norm(np.subtract(after, before)) > 1.0 and changed(first, picture(browser)) > 0.05
    browser.run("nearfield.look([0, -1e-4, 1])")
    above = picture(browser)
    browser.run("nearfield.boxes['patch'].click()")
    without = picture(browser)
    assert browser.run("return nearfield.bodies.map((body) => body.visible)") == [True, False, True]
    # seen from above, metal is copper: the patch has 32 x 40 of the grid's 88 x 136 cells, nothing else is that red
    copper = [(image[..., 0] - image[..., 2] > 60).sum() for image in (above, without)]
    substrate = drawn(above) * above[..., 0].size
    assert (copper[0] - copper[1]) / substrate == pytest.approx(32 * 40 / (88 * 136), rel=0.2)
    browser.run("nearfield.boxes['patch'].click(); document.getElementById('cut-y').click()")
    assert browser.run("return nearfield.groups.cuts.children.length") == 2  # media, and the grid's lines
    browser.run("nearfield.look([0, -1, 0.2])")
    media = picture(browser)
    shows = "const s = document.getElementById('cut-shows'); s.value = 'cells'; s.dispatchEvent(new Event('change'))"
    browser.run(shows)
    assert changed(media, picture(browser)) > 0.02
    assert "20 GHz" in browser.run("return document.getElementById('heat').textContent")
    browser.run("document.getElementById('cut-y').click(); nearfield.look([0, -1e-4, 1])")
    middle = "const s = document.getElementById('stage'); return nearfield.point(s.clientWidth/2, 0.42*s.clientHeight)"
    tip = browser.run(middle)
    assert tip.startswith("patch, pec\nsheet, 12.45 mm x 16 mm x 0 m")


@pytest.mark.slow
def test_a_million_triangles_and_a_hundred_million_cells_open(browser, tmp_path):
    count = 720
    u, v = np.meshgrid(2 * np.pi * np.arange(count) / count, np.pi * np.arange(1, count) / count, indexing="ij")
    ball = np.stack((np.sin(v) * np.cos(u), np.sin(v) * np.sin(u), np.cos(v)), axis=-1).reshape(-1, 3)
    number = np.arange(ball.shape[0]).reshape(count, count - 1)
    a, b = number, np.roll(number, -1, axis=0)
    quads = [(a[:, :-1], a[:, 1:], b[:, 1:]), (a[:, :-1], b[:, 1:], b[:, :-1])]
    sides = np.concatenate([np.stack(quad, axis=-1).reshape(-1, 3) for quad in quads])
    north, south = (np.full(count, len(ball) + n) for n in (0, 1))
    poles = [np.stack((north, a[:, 0], b[:, 0]), 1), np.stack((a[:, -1], south, b[:, -1]), 1)]
    corners = 0.2 * np.concatenate((ball, [(0, 0, 1), (0, 0, -1)])) + 0.25
    triangles = np.concatenate((sides, *poles))
    assert len(triangles) > 1_000_000
    write_stl(tmp_path / "ball.stl", corners, triangles)
    (tmp_path / "ball.toml").write_text(BALL)
    assert main(["show", str(tmp_path / "ball.toml"), "--output", str(tmp_path / "ball.html"), "--json"]) == 0
    browser.go(tmp_path / "ball.html")
    assert browser.log() == []
    assert browser.run("return nearfield.bodies[0].userData.triangles") == len(triangles)
    # the ball's radius is 0.4 of the box's side, which the first view shows over some half of the stage
    assert drawn(picture(browser)) > 0.05


BALL = """
steps = 10
[grid]
kind = "uniform"
spacing = "1 mm"
cells = [500, 500, 400]
[[structures]]
name = "ball"
medium = { permittivity = 2 }
shape = { kind = "mesh", file = "ball.stl", unit = "m" }
"""


def write_stl(path: Path, corners: np.ndarray, triangles: np.ndarray) -> None:
    table = np.zeros(len(triangles), np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")]))
    table["corners"] = corners[triangles]
    path.write_bytes(b"\0" * 80 + struct.pack("<I", len(triangles)) + table.tobytes())


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_are_shown_by_their_content(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    Path("model.anything").write_text(template_text(name))  # told apart by what is in it
    assert main(["show", "model.anything", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["files"] == ["out/model/model.html"] and answer["opened"] is False
    assert Path("out/model/model.html").stat().st_size > 500_000


def test_exports_hold_every_body_where_it_lies(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    model = patch()
    parts = parts_of(model)
    scene = trimesh.load(export(parts, "gltf", tmp_path / "p.glb"))
    assert {"substrate", "patch", "feed line"} == set(scene.graph.nodes_geometry)
    upright = scene.geometry["patch"].vertices
    assert np.allclose(upright[:, 1], 0.795e-3) and np.isclose(upright[:, 2].min(), -36e-3)
    stl = trimesh.load_mesh(export(parts, "stl", tmp_path / "p.stl"))
    assert np.allclose(stl.bounds, [[-10.892, -7.2, 0], [23.34, 47.2, 0.795]], atol=1e-5)  # mm
    again = loads(
        'grid = {kind = "uniform", spacing = "1 mm", cells = [9, 9, 9]}\n[[structures]]\nmedium = "pec"\n'
        f'shape = {{kind = "mesh", unit = "mm", file = "{exported_sphere(tmp_path)}"}}'
    )
    lower, upper = again.structures[0].shape.bounds()
    assert np.allclose(lower, 1e-3, atol=1e-8) and np.allclose(upper, 5e-3, atol=1e-8)


def exported_sphere(folder: Path) -> Path:
    ball = nf.Structure(nf.Sphere(("3 mm", "3 mm", "3 mm"), "2 mm"), nf.PEC)
    return nf.Simulation(nf.Grid.uniform(1e-3, (9, 9, 9)), structures=[ball], steps=1).export(folder / "ball.stl")


def test_vtk_names_the_body_and_medium_of_each_triangle(tmp_path):
    path = export(parts_of(patch()), "vtk", tmp_path / "p.vtk")
    content = path.read_bytes()
    assert b"media: substrate, pec" in content[:120]
    count = int(content.split(b"CELL_DATA ")[1].split(b"\n")[0])
    numbers = np.frombuffer(content.split(b"LOOKUP_TABLE default\n")[1][: 4 * count], ">i4")
    assert numbers.tolist() == [0] * 12 + [1] * 2 + [2] * 2
