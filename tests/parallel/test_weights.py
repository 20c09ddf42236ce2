"""What a plan's samples cost: sums over boxes are exact, and the features cost what was measured."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf
from nearfield.bodies.geometry import Structure
from nearfield.measure.bench import CELL, box
from nearfield.measure.bench_features import cpml, dft_box, dft_plane, vacuum
from nearfield.parallel.plan_weights import CPML, PRICES
from nearfield.parallel.weights import Weights
from nearfield.plan.excitations import Waveform
from nearfield.plan.recorders import DFTBox, SnapshotBox
from nearfield.plan.terms import CurrentTerm
from tests.plans import make_plan

WHOLE = ([0.0],) * 3


def total(weights: Weights, lower=WHOLE, upper=None) -> float:
    """Work in one box without the beginnings of rows."""
    upper = upper or [[n] for n in weights.shape]
    rows = weights.row
    for axis in weights.storage_axes[:2]:
        rows *= upper[axis][0] - lower[axis][0]
    return float(weights.work(lower, upper)[0, 0, 0]) - rows


def mean(plan) -> float:
    """Mean cost of a sample."""
    return Weights.of(plan).total / np.prod(plan.active)


@pytest.mark.parametrize("axes", [(0, 1, 2), (1, 2, 0)])
def test_the_work_of_any_box_is_the_sum_of_its_samples_and_rows(axes):
    rng = np.random.default_rng(1)
    edges = tuple(np.array([0.0, 2, 5, 9]) for _ in range(3))
    weights = Weights((9, 9, 9), axes, edges, rng.random((3, 3, 3)))
    samples = weights.values.repeat([2, 3, 4], 0).repeat([2, 3, 4], 1).repeat([2, 3, 4], 2)
    cuts = [np.array([0, 1, 4, 9]), np.array([0, 9]), np.array([0, 5, 6, 9])]
    found = weights.work([c[:-1] for c in cuts], [c[1:] for c in cuts])
    for index in np.ndindex(found.shape):
        part = samples[tuple(slice(c[n], c[n + 1]) for c, n in zip(cuts, index))]
        rows = part.size / part.shape[axes[2]]
        assert found[index] == pytest.approx(part.sum() + weights.row * rows, rel=1e-12)


def test_a_vacuum_costs_one_a_sample():
    assert mean(make_plan((32, 20, 24))) == 1.0


def test_slabs_cost_more_and_along_the_rows_in_whole_blocks():
    plan = make_plan((20, 24, 64), ((4, 4), (3, 0), (5, 10)))
    assert plan.storage_axes == (0, 1, 2)
    weights = Weights.of(plan)
    inside = total(weights, ([8.0], [8.0], [20.0]), ([9.0], [9.0], [21.0]))
    corner = total(weights, ([0.0], [0.0], [15.0]), ([1.0], [1.0], [16.0]))
    assert inside == pytest.approx(1.0) and corner == pytest.approx(1 + sum(CPML))  # sample 15 is of the first block
    share = (8 / 20, 3 / 24, 32 / 64)
    assert mean(plan) == pytest.approx(1 + sum(part * cost for part, cost in zip(share, CPML)))


def test_turning_a_plan_turns_its_weights():
    plain = make_plan((20, 24, 64), ((4, 4), (3, 0), (5, 10)))
    turned = make_plan((64, 20, 24), ((5, 10), (4, 4), (3, 0)))
    assert turned.storage_axes == (1, 2, 0)
    first, second = Weights.of(plain), Weights.of(turned)
    assert np.array_equal(first.values, second.values.transpose(1, 2, 0))


def test_what_is_recorded_weighs_where_it_is_recorded():
    frequencies = np.array([1e9, 2e9, 3e9])
    terms = (DFTBox(2, (4, 5, 6), (8, 9, 22), frequencies, 2), SnapshotBox(0, (0, 0, 0), (2, 2, 2), np.array([10, 20])))
    plan = make_plan((20, 20, 40), terms=lambda rng, plan: terms)
    weights = Weights.of(plan)
    each = (PRICES.frequency * 3 + PRICES.visit / 16) / 2
    assert total(weights, ([5.0], [6.0], [7.0]), ([6.0], [7.0], [8.0])) == pytest.approx(1 + each)
    assert total(weights, ([9.0], [9.0], [7.0]), ([20.0], [20.0], [40.0])) == pytest.approx(11 * 11 * 33)
    assert total(weights, WHOLE, ([2.0], [2.0], [2.0])) > 8


def test_currents_weigh_what_their_edges_cost_wherever_they_lie():
    pulse, n = Waveform(np.cos, "sources", 1.0), np.arange(3)
    term = CurrentTerm(2, n, n, n, np.ones(3), pulse)
    plan = make_plan((20, 20, 40), terms=lambda rng, plan: (term,))
    assert Weights.of(plan).total == pytest.approx(20 * 20 * 40 + 3 * PRICES.edge)


def test_hundreds_of_recorders_need_no_large_table_and_keep_their_cost():
    boxes = tuple(DFTBox(0, (n % 97, n % 89, 0), (n % 97 + 3, n % 89 + 2, 200), np.ones(4), 1) for n in range(300))
    plan = make_plan((100, 100, 200), ((10, 10),) * 3, terms=lambda rng, plan: boxes)
    bare = make_plan((100, 100, 200), ((10, 10),) * 3)
    weights = Weights.of(plan)
    assert weights.values.size <= 100**3
    added = sum((PRICES.frequency * 4 + PRICES.visit / 200) * 3 * 2 * 200 for _ in boxes)
    assert weights.total - Weights.of(bare).total == pytest.approx(added, rel=1e-9)
    assert {10.0, 90.0} <= set(weights.edges[0])  # no line of the CPML is lost


def test_lossy_media_and_curved_surfaces_weigh_more_than_plain_ones():
    side = 48 * CELL

    def of(*structures, **entries):
        return mean(vacuum(48, 10, "single", structures=structures, sources=(), **entries)._setup().plan)

    ball = nf.Sphere((side / 2,) * 3, 0.4 * side)
    plain, lossy = (of(Structure(ball, nf.Medium(3.0, conductivity=loss))) for loss in (0.0, 0.1))
    assert 1.0 < plain < lossy
    alike = of(background=nf.Medium(2.0))
    assert alike == 1.0 < of(background=nf.Medium(2.0, conductivity=0.1)) < plain


def test_metal_costs_nothing_more():
    block = Structure(nf.Box((0, 0, 0), (48 * CELL,) * 3), "pec")
    assert mean(box(48, 1, structures=[block], sources=())._setup().plan) == 1.0


@pytest.mark.parametrize(
    ("model", "measured", "lowest", "highest"),
    [
        # share of the empty box's rate: benchmarks/results/features.json and dft_plane.json, 200^3
        (cpml, 0.675, 0.636, 0.709),
        (dft_box, 0.914, 0.873, 0.925),
        (dft_plane(0), 0.937, 0.897, 0.961),
        (dft_plane(2), 0.859, 0.764, 0.866),
    ],
)
def test_the_weights_give_the_rates_that_were_measured(model, measured, lowest, highest):
    weights = Weights.of(model(200, 200, "single")._setup().plan)
    rows = weights.row * 200**2
    share = (200**3 + rows) / (weights.total + rows)
    # runs of those files spread so far among themselves; weights were measured apart, on another day
    assert abs(share - measured) <= 1.1 * (highest - lowest)


def test_a_large_model_is_weighed_without_an_array_of_its_size():
    plan = box(700, 1, "cpml", sources=())._setup().plan
    weights = Weights.of(plan)
    assert weights.values.size < 30**3 and weights.total > 700**3
