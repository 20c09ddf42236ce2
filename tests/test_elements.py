"""Dissipation elements: fields whose elements are known, invariants, statistics of random fields, the command."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import nearfield as nf
from nearfield.dissipation.elements import METHODS

PERIOD = 2 * np.pi


def places(points: int, periods: int = 2, first: float = 0.0) -> np.ndarray:
    """So many points over periods of 2 pi; the first lies `first` spacings from 0."""
    return (np.arange(points) + first) * (periods * PERIOD / points)


def product(*axes: np.ndarray) -> np.ndarray:
    """sin(x) sin(y) ... over axes."""
    return np.prod(np.meshgrid(*(np.sin(axis) for axis in axes), indexing="ij"), axis=0).astype(np.float32)


def total(*axes: np.ndarray) -> np.ndarray:
    """cos(x) + cos(y) + ... over axes."""
    return np.sum(np.meshgrid(*(np.cos(axis) for axis in axes), indexing="ij"), axis=0).astype(np.float32)


def random_field(points: int, half_wave: float, seed: int, axes: int = 3) -> np.ndarray:
    """A periodic Gaussian field whose shortest half wave has so many points."""
    wave = np.fft.fftfreq(points, 1 / points)
    square = np.sum(np.meshgrid(*(wave**2,) * axes, indexing="ij"), axis=0)
    spectrum = np.fft.fftn(np.random.default_rng(seed).standard_normal((points,) * axes))
    spectrum[square > (points / (2 * half_wave)) ** 2] = 0
    return np.fft.ifftn(spectrum).real


def keys(found: nf.Elements) -> np.ndarray:
    """Of each point, the flat indices of its extrema and the shift between them."""
    ends = (found.maxima.index[found.maximum], found.minima.index[found.minimum])
    return np.column_stack((*ends, found.shift))[found.labels.ravel()]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("first", [0.0, 0.5, 0.31])  # points on the nodal planes, extrema between points, neither
def test_products_of_sines_have_bipyramids(method, first):
    x = places(48, first=first)
    found = nf.elements(product(x, x, x), PERIOD / 24, "xyz", method, threads=1)
    assert (len(found), found.pairs, len(found.maxima), len(found.minima)) == (192, 192, 32, 32)
    # Newton's step leaves (1/6) (pi/12)^2 d of an extremum's distance d <= 1/2 spacing, at both ends: 0.3 % of pi
    assert found.length == pytest.approx(np.pi, rel=0.003)
    assert found.difference == pytest.approx(2.0, rel=0.003)
    assert found.points.sum() == 48**3 and found.unresolved == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("first", [0.0, 0.5, 0.31])
def test_sums_of_cosines_have_boxes(method, first):
    x = places(48, first=first)
    found = nf.elements(total(x, x, x), PERIOD / 24, "xyz", method, threads=1)
    assert (len(found), found.pairs, len(found.maxima), len(found.minima)) == (64, 64, 8, 8)
    assert found.length == pytest.approx(np.pi * np.sqrt(3), rel=0.003)
    assert found.difference == pytest.approx(6.0, rel=0.003)
    if first == 0.31:  # no point lies between two elements: each has its (pi)^3, 12 points a side
        assert found.volume == pytest.approx(np.pi**3)


@pytest.mark.parametrize("method", METHODS)
def test_images_of_an_extremum_are_told_apart(method):
    x = places(24, periods=1, first=0.31)
    found = nf.elements(product(x, x, x), PERIOD / 24, "xyz", method, threads=1)
    assert (len(found), found.pairs) == (24, 12)
    assert found.length == pytest.approx(np.pi, rel=0.003)
    found = nf.elements(total(x, x, x), PERIOD / 24, "xyz", method, threads=1)
    assert (len(found), found.pairs) == (8, 1)


@pytest.mark.parametrize("method", ["trace", "hybrid"])
def test_traced_bipyramids_have_their_volume(method):
    x = places(48, first=0.31)
    found = nf.elements(product(x, x, x), PERIOD / 24, "xyz", method, threads=1)
    # pi^3 / 3 is 576 points; points within half a spacing of the 8 faces of (sqrt 2 / 4) pi^2 may lie on either side of
    # them, and of N such points sqrt(N) fall there by chance: sqrt(8 x 0.354 x 144) = 20
    assert found.points == pytest.approx(576, abs=3 * 20)


@pytest.mark.parametrize("method", METHODS)
def test_flat_and_straight_fields_have_diamonds_and_runs(method):
    x = places(48, first=0.31)
    diamonds = nf.elements(product(x, x), PERIOD / 24, True, method, threads=1)
    assert len(diamonds) == 32 and diamonds.length == pytest.approx(np.pi, rel=0.003)
    assert diamonds.volume.mean() == pytest.approx(np.pi**2 / 2)
    runs = nf.elements(np.sin(x), PERIOD / 24, "x", method, threads=1)
    assert len(runs) == 4 and runs.length == pytest.approx(np.pi, rel=0.003) and (runs.points == 12).all()


def test_extrema_of_a_random_line_are_those_of_rice():
    line = random_field(4096, 6, 1, axes=1)
    turns = np.sum(np.diff(np.sign(np.diff(np.append(line, line[:2])))) != 0)
    power, wave = np.abs(np.fft.fft(line)) ** 2, np.fft.fftfreq(4096, 1 / PERIOD)
    run = np.pi * np.sqrt((power * wave**2).sum() / (power * wave**4).sum())  # Rice: mean distance of extrema
    assert abs(turns - 4096 / run) < 4 * np.sqrt(turns)
    for method in METHODS:
        found = nf.elements(line, 1.0, "x", method, threads=1)
        assert len(found.maxima) + len(found.minima) == turns
        # a run without a point between its extrema may belong to none of them
        assert turns - 0.01 * turns <= len(found) <= turns
        assert (np.abs(found.difference_vector[:, 0]) < 4096).all()


@pytest.mark.parametrize("method", METHODS)
def test_graded_axes_and_lengths_scale(method):
    x, y, z = places(48, 2, 0.31), places(32, 1, 0.31), places(24, 1, 0.31)
    found = nf.elements(total(x, 1 * y, z), (0.5, 1.0, 2.0), "xyz", method, threads=1)
    assert len(found) == 16
    assert found.length == pytest.approx(np.sqrt(12**2 * 0.5**2 + 16**2 + 12**2 * 2.0**2), rel=0.003)


def graded(points: int, periods: int) -> np.ndarray:
    """Coordinates of points, and of the begin of the next period, whose widths change by a factor of two."""
    part = np.linspace(0, 1, points + 1)
    return (part + 0.05 * np.sin(PERIOD * (part + 0.1))) * periods * PERIOD


@pytest.mark.parametrize("method", METHODS)
def test_fields_on_graded_grids_have_their_elements(method):
    x, y, z = graded(60, 2), graded(32, 1), graded(48, 2)
    found = nf.elements(product(x[:-1], y[:-1], z[:-1]), (x, y, z), "xyz", method, threads=1)
    assert (len(found), found.unresolved) == (96, 0)
    # on widths h and h' a parabola misses an extremum's distance d by (h' - h) d / 2 at most: 3 % of pi / 12
    assert found.length == pytest.approx(np.pi, rel=0.02)
    assert found.volume.sum() == pytest.approx((2 * PERIOD) ** 2 * PERIOD)
    if method != "discrete":  # volumes are pi^3 / 3, of points up to 1.5 times as far apart as on an equal grid
        assert np.sqrt(np.mean((found.volume / (np.pi**3 / 3) - 1) ** 2)) < 0.05


def test_coordinates_of_equal_steps_change_nothing():
    field = random_field(24, 6, 5)
    one = nf.elements(field, 0.3, "xyz", threads=1)
    other = nf.elements(field, [np.arange(25) * 0.3 + 7.0] * 3, "xyz", threads=1)
    assert np.array_equal(one.labels, other.labels) and other.length == pytest.approx(one.length)
    assert other.maxima.position == pytest.approx(one.maxima.position + 7.0)


def test_short_periodic_axes_are_walked_around():
    # steps are longer than the period of four points: places fold back by whole periods
    wave = np.cos(places(4, 1, 0.3))[:, None] + 3 * np.cos(places(64, 1, 0.3))
    found = nf.elements(wave, 1.0, "xy", "trace", threads=1)
    assert (len(found.maxima), len(found.minima)) == (1, 1) and found.points.sum() == 256


@pytest.mark.parametrize("method", METHODS)
def test_open_boxes_end_elements_at_their_walls(method):
    x = np.linspace(0, 2, 41)
    ramp = np.broadcast_to(x[:, None, None] - 0.3 * x[:, None] + 0.1 * x, (41, 41, 41))
    found = nf.elements(ramp, 0.05, "", method, threads=1)  # one maximum and one minimum, in opposite corners
    assert len(found) == 1 and found.length == pytest.approx(np.sqrt(12))
    assert found.difference == pytest.approx(2 * 1.4)


def test_tm110_energy_of_a_cavity_is_four_quarter_boxes():
    x = (np.arange(40) + 0.5) * np.pi / 40  # cell centres of a square box of side pi
    energy = (np.sin(x)[:, None] ** 2 + np.sin(x) ** 2) / 2
    for method in METHODS:
        found = nf.elements(energy, np.pi / 40, "", method, threads=1)
        assert (len(found), len(found.maxima), len(found.minima)) == (4, 1, 4)
        assert found.points.sum() == 1600 and found.points == pytest.approx(400, abs=41)  # rows through the middle


def test_rotated_fields_are_labelled_as_their_originals():
    # 12 points a half wave; the element of a point is known by turning it back
    angle, h, n = np.radians(33.0), np.pi / 12, 72
    place = (np.arange(n) - n / 2 + 0.37) * h
    x, y = np.meshgrid(place, place, indexing="ij")
    u, v = np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x
    inside = np.hypot(x, y) < 2.0 * np.pi  # farther out lines may meet the walls
    truth = np.stack(
        (2 * np.round(u / PERIOD), 2 * np.round(v / PERIOD), 2 * np.floor(u / PERIOD), 2 * np.floor(v / PERIOD))
    )
    wrong = {}
    for method in METHODS:
        found = nf.elements(np.cos(u) + np.cos(v), h, "", method, threads=1)
        ends = []
        for extrema, chosen, half in ((found.maxima, found.maximum, 0.0), (found.minima, found.minimum, 0.5)):
            at = extrema.position[chosen] + place[0]
            turned = (
                np.cos(angle) * at[:, 0] + np.sin(angle) * at[:, 1],
                np.cos(angle) * at[:, 1] - np.sin(angle) * at[:, 0],
            )
            ends += [2 * np.round(part / PERIOD - half) for part in turned]
        wrong[method] = np.mean(np.any(np.stack(ends)[:, found.labels] != truth, axis=0)[inside])
    assert wrong["trace"] < 0.01 and wrong["hybrid"] < 0.01 < wrong["discrete"]


@pytest.mark.parametrize("method", METHODS)
def test_labels_do_not_depend_on_threads(method):
    field = random_field(40, 6, 3).astype(np.float32)
    one, three = (nf.elements(field, 1.0, "xyz", method, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.labels, three.labels) and np.array_equal(one.points, three.points)
    assert np.array_equal(one.maxima.position, three.maxima.position)


@pytest.mark.parametrize("method", METHODS)
def test_shifts_scales_signs_and_order_of_axes_change_nothing(method):
    field = random_field(24, 6, 5)
    first = nf.elements(field, (1.0, 1.1, 0.9), "xyz", method, threads=1)
    assert np.bincount(first.labels.ravel()).tolist() == first.points.tolist()  # every point in exactly one element
    assert (first.difference > 0).all()

    scaled = nf.elements(8 * field, (1.0, 1.1, 0.9), "xyz", method, threads=1)
    assert np.array_equal(scaled.labels, first.labels)

    turned = nf.elements(-field, (1.0, 1.1, 0.9), "xyz", method, threads=1)
    assert sorted(turned.points) == sorted(first.points)
    assert np.array_equal(keys(turned)[:, [1, 0]], keys(first)[:, :2])

    rolled = nf.elements(np.roll(field, (5, 11, 20), (0, 1, 2)), (1.0, 1.1, 0.9), "xyz", method, threads=1)
    assert sorted(rolled.points) == sorted(first.points)

    for order in permutations(range(3)):
        spacing = tuple((1.0, 1.1, 0.9)[axis] for axis in order)
        other = nf.elements(np.transpose(field, order), spacing, "xyz", method, threads=1)
        assert sorted(other.points) == sorted(first.points)


def test_numbers_of_extrema_of_random_fields_are_those_of_theory():
    # Bardeen, Bond, Kaiser and Szalay (1986), maxima per volume:
    # (29 - 6 sqrt 6) / (5^(3/2) 2 (2 pi)^2) (sigma2 / sqrt 3 sigma1)^3
    share = (29 - 6 * np.sqrt(6)) / (5**1.5 * 2 * (2 * np.pi) ** 2)
    counted, expected = 0, 0.0
    for seed in range(6):
        field = random_field(48, 6, seed)
        wave = np.fft.fftfreq(48, 1 / 48)
        square = np.sum(np.meshgrid(*(wave**2,) * 3, indexing="ij"), axis=0) * (PERIOD / 48) ** 2
        power = np.abs(np.fft.fftn(field)) ** 2
        radius = np.sqrt(3 * (power * square).sum() / (power * square**2).sum())
        found = nf.elements(field, 1.0, "xyz", "discrete", threads=1)
        counted += len(found.maxima) + len(found.minima)
        expected += 2 * share * 48**3 / radius**3
    # at most as scattered as independent events; 4 standard deviations
    assert abs(counted - expected) < 4 * np.sqrt(expected)


def test_hybrid_agrees_with_trace():
    field = random_field(32, 8, 7)
    trace, hybrid = (keys(nf.elements(field, 1.0, "xyz", method, threads=1)) for method in ("trace", "hybrid"))
    assert np.mean(np.any(trace != hybrid, axis=1)) < 0.001


def between_walls(points, half_wave, seed):
    """A part of a random field: smooth, and with slopes across its walls."""
    return random_field(2 * points, half_wave, seed)[:points, :points, :points]


@pytest.mark.parametrize("method", ["trace", "hybrid"])
def test_lines_that_come_to_a_wall_go_on_along_it(method):
    found = nf.elements(between_walls(40, 12, 12), 1.0, "", method, threads=1)
    assert found.unresolved < 1e-4 * found.traced  # 2 to 6 % where a step across the wall was refused until too short


def test_hybrid_agrees_with_trace_between_walls():
    field = between_walls(40, 6, 5)
    trace, hybrid = (keys(nf.elements(field, 1.0, "", method, threads=1)) for method in ("trace", "hybrid"))
    assert np.mean(np.any(trace != hybrid, axis=1)) < 0.001


def test_hybrid_finds_regions_between_the_points_of_coarse_levels():
    x = np.arange(48)
    wave = np.cos(x * PERIOD / 48)
    field = wave[:, None, None] + wave[:, None] + wave
    away = [(x - at) ** 2 for at in (29, 13, 19)]  # no multiples of two from the summit, at 0
    field += np.exp(-(away[0][:, None, None] + away[1][:, None] + away[2]) / (2 * 1.2**2))
    trace, hybrid = (nf.elements(field, 1.0, "xyz", method, threads=1) for method in ("trace", "hybrid"))
    region, same = (found.maximum[found.labels] == 1 for found in (trace, hybrid))
    assert 100 < region.sum() < 1000 and np.array_equal(region, same)
    assert hybrid.traced < 0.5 * trace.traced


def test_plateaus_and_noise_have_answers():
    steps = np.zeros((8, 8, 8))
    steps[2:5, 2:5, 2:5] = 1.0
    found = nf.elements(steps, 1.0, "xyz", "discrete", threads=1)
    # the summit of the block, and of the plain around it its last point
    assert found.maxima.index.tolist() == [4 * 64 + 4 * 8 + 4, 511] and found.points.sum() == 512
    noise = np.random.default_rng(0).standard_normal((16, 16, 16))
    for method in METHODS:
        found = nf.elements(noise, 1.0, "xyz", method, threads=2)
        assert found.points.sum() == 16**3 and (found.difference > 0).all()


GOOD = np.sin(places(16))


@pytest.mark.parametrize(
    ("field", "options", "words"),
    [
        (np.where(GOOD > 0.9, np.nan, GOOD), {}, "not finite"),
        (np.ones((8, 8)), {}, "1 everywhere"),
        (np.ones((8, 8, 1)), {}, "z has 1"),
        (np.exp(1j * GOOD), {}, "abs(array)"),
        (np.array(["a"] * 8), {}, "real numbers"),
        (np.zeros((4, 4, 4, 4)), {}, "4 axes"),
        (GOOD, {"spacing": -1.0}, "positive"),
        (GOOD, {"spacing": (1.0, 2.0)}, "give 16"),
        (GOOD, {"spacing": np.zeros(16)}, "coordinates rise"),
        (np.outer(GOOD, GOOD), {"spacing": (1.0, 2.0, 3.0)}, "or 2 for this field"),
        (GOOD, {"periodic": "xy"}, "has the axes x"),
        (GOOD, {"periodic": (True, False)}, "2 values"),
        (GOOD, {"method": "fast"}, "discrete, trace, hybrid"),
        (GOOD, {"threads": 0}, "1 or more"),
    ],
)
def test_fields_that_have_no_elements_are_refused(field, options, words):
    with pytest.raises(nf.ModelError) as refused:
        nf.elements(field, **options)
    assert words in str(refused.value)


def test_a_field_that_memory_has_no_room_for_is_refused(monkeypatch):
    monkeypatch.setattr("nearfield.dissipation.memory.free_memory", lambda: 1000)
    with pytest.raises(nf.ModelError, match="keep them in files with scratch=FOLDER"):
        nf.elements(product(places(16), places(16)))


def test_boxes_and_neighbours_of_known_elements():
    x = places(48, first=0.31)
    found = nf.elements(total(x, x), PERIOD / 24, True, threads=1)  # 16 squares of 12 points
    boxes = found.bounding_boxes
    assert np.ptp(boxes, axis=2) == pytest.approx(11 * PERIOD / 24)  # those across the end of the period too
    middle = boxes.mean(axis=2) % (2 * PERIOD)
    between = (found.minima.position[found.minimum] + 0.5 * found.difference_vector) % (2 * PERIOD)
    assert np.abs(middle - between) == pytest.approx(0, abs=PERIOD / 48)
    assert len(found.neighbours) == 32  # four each
    assert (found.neighbours[:, 0] < found.neighbours[:, 1]).all()


def test_statistics_of_a_random_field_add_up():
    field = random_field(48, 6, 2)
    found = nf.elements(field, 0.5, "xyz", "discrete", threads=1)
    told = found.statistics()
    wave = np.fft.fftfreq(48, 0.5 / PERIOD)
    power = np.abs(np.fft.fftn(field)) ** 2
    slopes = (power * wave[:, None, None] ** 2).sum() + (power * wave[:, None] ** 2).sum() + (power * wave**2).sum()
    exact = np.sqrt(3 * (power.sum() - power[0, 0, 0]) / slopes)
    # differences are too long by (k h)^2 / 24 at most, k h = pi / 6
    assert exact <= told.attrs["taylor_scale"] <= exact * (1 + (np.pi / 6) ** 2 / 24)
    inside = 1 - told.attrs["beyond_bins"]
    area = told.length.diff("length").mean() * told.difference.diff("difference").mean()
    assert float(told.joint_density.sum() * area) == pytest.approx(inside)
    mean = float((told.conditional_difference * told.elements_of_length).sum() / told.elements_of_length.sum())
    assert mean == pytest.approx(found.difference[found.length < 4 * found.length.mean()].mean())
