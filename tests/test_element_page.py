"""The page of one element in three dimensions: its blocks, lines and extrema, and how a browser shows them."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from browser import chromium
from test_elements import PERIOD, graded, places, product, total
from test_viewer import is_closed, volume

import nearfield as nf
from nearfield.cli import main
from nearfield.report.element_page import element_scene


@pytest.fixture(scope="module")
def bipyramids():
    x = places(24, first=0.31)
    return nf.elements(product(x, x, x), PERIOD / 12, "xyz", threads=1)


def unpacked(packed: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed["data"]), "<" + packed["type"])


def bodies_of(scene: dict) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Corners in the field's own unit and triangles of each medium's body."""
    return {
        body["medium"]: (
            unpacked(body["corners"]).reshape(-1, 3) * scene["metres_a_unit"] + scene["origin"],
            unpacked(body["index"]).reshape(-1, 3),
        )
        for body in scene["bodies"]
    }


def test_blocks_enclose_the_volume_between_the_extrema_also_across_a_period(bipyramids):
    crossing = np.flatnonzero(bipyramids.bounding_boxes[..., 1].max(axis=1) > 2 * PERIOD)
    assert crossing.size > 3
    for element in (*crossing[:4], 0, len(bipyramids) - 1):
        bodies = bodies_of(element_scene(bipyramids, int(element)))
        corners, triangles = bodies["element"]
        assert volume(corners, triangles) == pytest.approx(bipyramids.volume[element], rel=1e-4)
        low, high = (bodies[name][0].mean(axis=0) for name in ("minimum", "maximum"))
        assert np.linalg.norm(high - low) == pytest.approx(bipyramids.length[element], rel=1e-4)
        # a bipyramid's middle lies half its length from both ends; its blocks are a quarter spacing out at most
        middle = corners.mean(axis=0)
        for end in (low, high):
            assert abs(np.linalg.norm(end - middle) - np.pi / 2) < 0.25 * PERIOD / 12
        lines = bodies["gradient lines"][0]
        for end in (low, high):  # lines end in a capture box of half a spacing a side
            assert np.linalg.norm(lines - end, axis=1).min() < PERIOD / 12


@pytest.mark.slow
def test_blocks_reach_halfway_to_the_next_points_of_open_and_graded_axes():
    x, y, z = graded(20, 1), graded(16, 1), graded(14, 1)
    found = nf.elements(total(x, y, z), (x, y, z), "", threads=1)
    for element in range(len(found)):
        corners, triangles = bodies_of(element_scene(found, element))["element"]
        assert volume(corners, triangles) == pytest.approx(found.volume[element], rel=1e-4)
        assert is_closed(corners, triangles)


def test_cuts_show_the_field(bipyramids):
    scene = element_scene(bipyramids, 5)
    levels = unpacked(scene["map"]["media"])
    assert levels.size == np.prod(scene["map"]["shape"]) and {0, 255} <= set(levels.tolist())
    assert len(scene["map"]["colours"]) == 256 and scene["map"]["colours"][0].startswith("#")


@pytest.mark.parametrize("which", ["largest", "longest", 3, "3"])
def test_elements_are_named_by_size_length_or_number(bipyramids, which, tmp_path):
    page = nf.show_element(bipyramids, which, tmp_path / "element.html")
    data = page.read_text().split('id="scene">', 1)[1].split("</script>", 1)[0]
    number = {"largest": np.argmax(bipyramids.points), "longest": np.argmax(bipyramids.length)}.get(which, 3)
    assert json.loads(data)["title"] == f"Element {number} of {len(bipyramids)}"


def test_what_has_no_page_is_refused(bipyramids, tmp_path, capsys):
    for which in (-1, len(bipyramids), "biggest", 1.5):
        with pytest.raises(nf.ModelError, match="largest, longest, or a number from 0 to"):
            nf.show_element(bipyramids, which, tmp_path / "element.html")
    np.save(tmp_path / "flat.npy", product(places(24), places(24)))
    command = ["elements", f"{tmp_path}/flat.npy", "--threads", "1", "--element", "largest"]
    assert main(command) == 2
    assert "--plots" in capsys.readouterr().err
    assert main([*command, "--plots", f"{tmp_path}/plots"]) == 2
    assert "2 axes" in capsys.readouterr().err


def test_an_element_that_is_not_there_is_refused_before_anything_is_written(tmp_path, capsys):
    x = places(12, first=0.31)
    np.save(tmp_path / "field.npy", product(x, x, x))
    command = ["elements", f"{tmp_path}/field.npy", "--threads", "1", "--plots", f"{tmp_path}/plots"]
    assert main([*command, "--output", f"{tmp_path}/e.h5", "--element", "99999"]) == 2
    assert "a number from 0 to" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["field.npy"]


def test_the_command_writes_a_page_that_a_browser_shows(tmp_path, capsys):
    x = places(16, first=0.31)
    np.save(tmp_path / "field.npy", product(x, x, x))
    command = ["elements", f"{tmp_path}/field.npy", "--threads", "1", "--json", "--plots", f"{tmp_path}/plots"]
    assert main([*command, "--element", "7"]) == 0
    page = tmp_path / "plots" / "element-7.html"
    assert str(page) in json.loads(capsys.readouterr().out)["plots"]
    with chromium() as browser:
        browser.go(page)
        assert browser.log() == []
        assert browser.run("return nearfield.bodies.map((body) => body.userData.medium)") == [
            "element",
            "gradient lines",
            "maximum",
            "minimum",
        ]
        assert browser.run("return document.getElementById('bodies-head').textContent") == "Element"
        shows = "return [...document.getElementById('cut-shows').options].map((option) => option.textContent)"
        assert browser.run(shows) == ["field", "nothing"]
        browser.run("nearfield.boxes['gradient lines'].click()")
        assert browser.run("return nearfield.bodies.map((body) => body.visible)") == [True, False, True, True]
        browser.run("document.getElementById('cut-x').click()")
        assert browser.run("return nearfield.groups.cuts.children.length") == 2  # the field, and lines of points
        middle = "const s = document.getElementById('stage'); return nearfield.point(s.clientWidth/2, s.clientHeight/2)"
        assert browser.run(middle).startswith("Element 7")
