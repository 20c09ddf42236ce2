"""Gradient lines place by place against exact ones, other fields along them, and simplification by persistence."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest
from test_elements import PERIOD, places, product, random_field

import nearfield as nf
from nearfield.cli import main


def distances_from_exact_lines(points: int) -> tuple[float, nf.Elements]:
    """Largest distance (in spacings) of lines of sin x sin y sin z from cos x : cos y : cos z = constant.

    Lines through some 40 points of a box of two periods, on a grid that meets neither extrema nor nodal planes. They
    stay away from saddles, beside which lines part and their errors grow.
    """
    x = places(points, first=0.31)
    found = nf.elements(product(x, x, x).astype(float), PERIOD / points * 2, "xyz", threads=1)
    some = np.random.default_rng(2).choice(points**3, 60, replace=False)
    sizes = np.sort(np.abs(np.cos(x[np.stack(np.unravel_index(some, (points,) * 3))])), axis=0)
    lines = found.trajectories(some[sizes[1] < 0.9 * sizes[2]], threads=1)
    assert lines.sizes["line"] > 30
    worst, end = 0.0, np.cumsum(lines.row_size.values)
    for first, last, start in zip(end - lines.row_size.values, end, lines.start.values):
        place = lines.position.values[first:last] + x[0]
        cosines = np.cos(place)
        leading = int(np.abs(cosines[start]).argmax())  # the axis along which the line crosses its face
        # exactly: cos of each axis is a fixed share of that along the leading one
        expected = np.arcsin(cosines[start] / cosines[start, leading] * cosines[:, [leading]])
        actual = np.arcsin(cosines)
        worst = max(worst, float(np.abs(actual - expected).max()) / (PERIOD / points * 2))
    assert lines.attrs["lines_that_end_elsewhere"] == 0
    return worst, found


def test_lines_are_those_of_products_of_sines():
    coarse, fine = (distances_from_exact_lines(points)[0] for points in (24, 48))
    # Newton's step leaves (1/6) (k h)^2 / 2 spacings at the ends, 0.006 at 12 points a half wave
    assert fine < 0.01
    assert fine < coarse / 3  # slopes of the interpolant are of second order, halves of a spacing count twice


def test_lines_carry_arcs_values_and_other_fields():
    x = places(48, first=0.31)
    field = product(x, x, x).astype(float)
    found = nf.elements(field, PERIOD / 24, "xyz", threads=1)
    other = np.cos(x)[:, None, None] * np.exp(1j * x)[:, None] * np.ones(48)
    chosen = [0, 1234, 48**3 - 1]
    lines = found.trajectories(chosen, {"wave": other, "again": field}, threads=1)
    assert lines.point.values.tolist() == chosen and lines.row_size.sum() == lines.sizes["sample"]
    begin = np.concatenate(([0], np.cumsum(lines.row_size.values)[:-1]))
    for line, (first, size) in enumerate(zip(begin, lines.row_size.values)):
        part = lines.isel(sample=slice(first, first + size))
        assert (np.diff(part.value) > 0).all() and part.arc_length[0] == 0
        steps = np.linalg.norm(np.diff(part.position, axis=0), axis=1)
        assert np.diff(part.arc_length) == pytest.approx(steps) and steps.max() < PERIOD / 24
        start = part.isel(sample=int(lines.start[line]))
        at = np.array(np.unravel_index(chosen[line], field.shape)) * (PERIOD / 24)
        assert start.position.values == pytest.approx(at) and start.value == pytest.approx(field.flat[chosen[line]])
        assert start.wave == pytest.approx(other.flat[chosen[line]]) and start.again == pytest.approx(start.value)
        # straight from extremum to extremum is pi; a line bends by less than the corner of its box
        assert np.pi * 0.997 < part.arc_length[-1] < np.pi * np.sqrt(3)
        place = part.position.values + x[0]
        exact = np.cos(place[:, 0]) * np.exp(1j * place[:, 1])
        assert np.abs(part.wave - exact).max() < 2 * (PERIOD / 24) ** 3  # of the interpolant, k^3 h^3 / 8 an axis
    element = lines.element.values
    assert (lines.maximum == found.maximum[element]).all()
    assert (lines.minimum - len(found.maxima) == found.minimum[element]).all()


def test_lines_do_not_depend_on_threads_or_company():
    found = nf.elements(random_field(24, 6, 5), 1.0, "xyz", "trace", threads=1)
    one, three = (found.trajectories(200, threads=threads) for threads in (1, 3))
    assert one.identical(three)
    alone = found.trajectories([int(one.point[77])], threads=1)
    first = int(one.row_size[:77].sum())
    assert np.array_equal(alone.position, one.position[first : first + int(one.row_size[77])])
    # so coarse a field has extrema between points, where lines rest; others end where `trace` says, but for one in a
    # hundred that passes a saddle within its longer steps
    assert one.attrs["unresolved_ends"] > 0 and one.attrs["lines_that_end_elsewhere"] < 0.05 * 200


@pytest.mark.parametrize(
    ("points", "along", "words"),
    [
        (0, {}, "give 1 to as many"),
        ([-1], {}, "allowed: 0 to 15"),
        ([[1, 2]], {}, "list of flat indices"),
        ([1], {"other": np.zeros(7)}, "holds 7 values"),
        ([1], {"value": np.zeros(16)}, "choose another"),
    ],
)
def test_lines_that_cannot_be_are_refused(points, along, words):
    found = nf.elements(np.sin(places(16)), 1.0, "x", threads=1)
    with pytest.raises(nf.ModelError) as refused:
        found.trajectories(points, along)
    assert words in str(refused.value)


def test_lines_that_memory_has_no_room_for_are_refused(monkeypatch):
    found = nf.elements(np.sin(places(16)), 1.0, "x", threads=1)
    monkeypatch.setattr("nearfield.dissipation.trajectories.free_memory", lambda: 1000)
    with pytest.raises(nf.ModelError, match="ask for fewer"):
        found.trajectories(3)


def test_the_command_writes_lines_with_fields_along_them(tmp_path, capsys):
    x = places(24, first=0.31)
    with h5py.File(tmp_path / "flow.h5", "w") as file:
        file["phi"], file["heat/rate"] = product(x, x), np.cos(x)[:, None] * np.ones(24)
    command = ["elements", f"{tmp_path}/flow.h5:phi", "--periodic", "xy", "--trajectories", "5", "--threads", "1"]
    assert main([*command, "--along", "heat/rate", "--output", f"{tmp_path}/out.h5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lines_that_end_elsewhere"] == 0
    with h5py.File(tmp_path / "out.h5") as file:
        lines = file["trajectories"]
        assert lines["row_size"].shape == (5,) and lines["heat/rate"].shape == lines["value"].shape
    assert main(command) == 2 and "name it" in capsys.readouterr().err
    assert main(["elements", f"{tmp_path}/flow.h5:phi", "--along", "heat/rate"]) == 2
    assert "say how many" in capsys.readouterr().err


def bumps(x: np.ndarray, height: float, number: int) -> np.ndarray:
    """So many small Gaussian hills and hollows, two points wide, at random places of a periodic box."""
    random = np.random.default_rng(3)
    total = np.zeros((len(x),) * 3)
    for sign in random.choice([-1.0, 1.0], number):
        far = [(np.arange(len(x)) - at + len(x) / 2) % len(x) - len(x) / 2 for at in random.uniform(0, len(x), 3)]
        square = far[0][:, None, None] ** 2 + far[1][:, None] ** 2 + far[2] ** 2
        total += sign * height * np.exp(-square / 4)
    return total


@pytest.mark.parametrize("method", ["discrete", "hybrid", pytest.param("trace", marks=pytest.mark.slow)])
def test_persistence_brings_exact_fields_back(method):
    x = places(48, first=0.31)
    rough_part = bumps(x, 0.22, 40)
    field, largest = product(x, x, x) + rough_part, np.abs(rough_part).max()
    rough = nf.elements(field, PERIOD / 24, "xyz", method, threads=1)
    assert len(rough.maxima) + len(rough.minima) > 66 and rough.simplified == 0
    # bumps change persistence by twice their size at most (Cohen-Steiner, Edelsbrunner, Harer); the field's own is 1
    assert 4 * largest < 1
    least = 2.001 * largest
    found = nf.elements(field, PERIOD / 24, "xyz", method, threads=1, persistence=least)
    assert (len(found.maxima), len(found.minima)) == (32, 32)
    assert found.simplified == len(rough.maxima) + len(rough.minima) - 64
    assert found.points.sum() == 48**3 and (found.difference > 0).all()
    assert nf.elements(field, PERIOD / 24, "xyz", method, threads=3, persistence=least).labels.tobytes() == (
        found.labels.tobytes()
    )


def test_persistence_removes_noise_and_nothing_else():
    x = places(32, first=0.31)
    noise = np.random.default_rng(1).uniform(-0.1, 0.1, (32, 32, 32))
    field = product(x, x, x) + noise
    assert len(nf.elements(field, 1.0, "xyz", "discrete", threads=1).maxima) > 32
    found = nf.elements(field, 1.0, "xyz", "discrete", threads=1, persistence=0.201)
    assert (len(found.maxima), len(found.minima)) == (32, 32)
    share = 100 * 0.201 / (field.max() - field.min())
    again = nf.elements(field, 1.0, "xyz", "discrete", threads=1, persistence=f"{share}%")
    assert np.array_equal(again.labels, found.labels) and again.persistence == pytest.approx(0.201)


def test_images_stay_apart_when_hills_between_them_are_left_out():
    line = np.cos(places(48, 1, 0.31)) + 0.2 * np.cos(5 * places(48, 1, 0.31) + 1.0)
    assert len(nf.elements(line, 1.0, "x", threads=1)) > 2
    found = nf.elements(line, 1.0, "x", threads=1, persistence=1.0)
    assert (len(found), found.pairs) == (2, 1) and sorted(found.shift[:, 0]) in ([-1, 0], [0, 1])
    assert np.abs(found.difference_vector).sum() == pytest.approx(48)


def test_persistence_of_a_line_is_exact():
    # summits 5, 4, 3 with passes at 1 and 2: 3 ends at the pass 2 (persistence 1), 4 at the pass 1 (persistence 3)
    line = np.interp(np.arange(48), [0, 8, 16, 24, 32, 40, 47], [0, 5, 1, 4, 2, 3, 0.5])
    counts = [
        len(nf.elements(line, 1.0, "", "discrete", threads=1, persistence=least).maxima)
        for least in (0.9, 1.1, 2.9, 3.1)
    ]
    assert counts == [3, 2, 2, 1]


@pytest.mark.parametrize("given", [-1, 0, "0%", "100%", "much", float("nan"), "nan%", [1]])
def test_persistence_that_is_no_positive_number_is_refused(given):
    with pytest.raises(nf.ModelError, match="persistence"):
        nf.elements(np.sin(places(16)), persistence=given)
