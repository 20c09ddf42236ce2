"""Arc lengths of dissipation elements: exact ones, and their way into files."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.dissipation.trajectories import OnGrid, spread_points
from nearfield.machine.compiled import core


def boxes(points: int) -> np.ndarray:
    """cos x + cos y over two periods each: elements are squares of pi a side."""
    x = np.arange(2 * points) * 2 * np.pi / points
    return np.cos(x)[:, None] + np.cos(x)


def exact_arc(points: int) -> float:
    """Mean length of the lines through the points of such a square, offset from its minimum: tan(x/2) = c tan(y/2)."""
    from scipy.integrate import quad

    half = np.arange(1, points // 2) * np.pi / points  # half of the offsets within a square
    lengths = []
    for c in (np.tan(half)[:, None] / np.tan(half)).ravel():
        # along x = 2 atan(c tan(t)), y = 2 t
        def speed(t: float, c: float = float(c)) -> float:
            return 2 * np.hypot(c / (np.cos(t) ** 2 + (c * np.sin(t)) ** 2), 1.0)

        lengths.append(quad(speed, 0, np.pi / 2)[0])
    return float(np.mean(lengths))


def test_arc_lengths_of_boxes_are_the_exact_ones():
    # steps end within 1 % of their length of the line, to whose length that adds half its square; the interpolant's own
    # slopes are off by (2 pi / 24)^2 / 24 = 0.3 %. Points on edges of squares, whose lines come to saddles, stay out.
    points = 24
    found = nf.elements(boxes(points), 2 * np.pi / points, periodic="xy", method="trace")
    x, y = np.divmod(np.arange(found.labels.size), 2 * points)
    inner = np.flatnonzero((x % (points // 2) != 0) & (y % (points // 2) != 0))
    grid = OnGrid(found.field, found.first, found.widths, found.periodic)
    values, *box = grid.with_three_axes()
    total, lines = core().arcs(values, *box, found.labels[None], inner.tolist(), len(found), 2).T
    assert lines.tolist() == [(points // 2 - 1) ** 2] * len(found)
    assert total / lines == pytest.approx(exact_arc(points), rel=0.003)


def test_a_line_in_one_dimension_is_as_long_as_its_element():
    x = np.arange(48) * 2 * np.pi / 24
    found = nf.elements(np.sin(x), x[1], periodic="x")
    # 1e-6 from sums in parts of 1e-6 of a width and single precision; the rest is the place of the refined extremum
    assert found.arc_length().arc_length.values == pytest.approx(found.length, rel=1e-5)


def test_arc_lengths_are_the_same_bits_for_any_number_of_threads_and_few_lines_estimate_all():
    field = boxes(24) + 0.3 * np.sin(np.arange(48) * 2 * np.pi / 16)
    found = nf.elements(field, 0.25, periodic="xy")
    one, three = found.arc_length(threads=1), found.arc_length(threads=3)
    assert one.equals(three)
    some = found.arc_length(20)
    assert some.arc_lines.values.max() <= 20
    assert some.attrs["mean_arc_length"] == pytest.approx(one.attrs["mean_arc_length"], rel=0.05)
    with pytest.raises(nf.ModelError, match="give 1 or more"):
        found.arc_length(0)


def test_drawn_points_belong_to_their_elements():
    labels = np.repeat(np.arange(3, dtype=np.uint32), [1, 5, 10])
    chosen = spread_points(labels, 3, 4)
    assert np.bincount(labels[chosen]).tolist() == [1, 4, 4]


def test_arc_lengths_are_written_beside_the_other_numbers(tmp_path, capsys):
    np.save(tmp_path / "boxes.npy", boxes(16))
    given = ["elements", f"{tmp_path}/boxes.npy", "--periodic", "xy", "--arc-length"]
    assert main([*given, "all", "--output", f"{tmp_path}/out.h5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    with h5py.File(tmp_path / "out.h5") as file:
        arcs = file["elements/arc_length"][()]
        assert file["statistics"].attrs["mean_arc_length"] == pytest.approx(arcs.mean()) == told["mean_arc_length"]
        density = file["statistics/arc_density"][()]
        assert np.sum(density) * 2 * file["statistics/arc"][0] == pytest.approx(1)
    assert nf.open_elements(tmp_path / "out.h5").summary()["elements"] == told["elements"]
    assert main([*given, "all"]) == 2 and "--output" in capsys.readouterr().err
    assert main([*given, "none", "--output", f"{tmp_path}/out.h5"]) == 2 and "or all" in capsys.readouterr().err
