"""The CPU's engine: each feature in the tiles that it chooses, over more steps than two tiles: the oracle's bits."""

from itertools import pairwise

import numpy as np
import plans
import pytest
from agreement import assert_agrees, assert_tiled
from plans import make_plan

from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.heuristics import LEAST_DEPTH

CPML = ((3, 2), (2, 4), (2, 3))
CELLS = (7, 9, 18)
precisions = pytest.mark.parametrize("precision", ["single", "double"])


def depth_of(plan) -> int:
    """Steps of the tiles that the engine chooses for a plan."""
    engine = CpuEngine(plan, 2)
    assert_tiled(engine)
    return engine.facts()["tile_depth"]


def assert_agrees_in_deep_tiles(plan, start=True, **options):
    """Two whole tiles and a part of a third in one block, then a block that is longer than a tile by one step."""
    depth = depth_of(plan)
    return assert_agrees("cpu", plan, (2 * depth + 3, depth + 1), start=start, **options)


@precisions
@pytest.mark.parametrize("faces", ["x-", "x+", "y-", "y+", "z-", "z+", "x-y-z-", "x+y+z+", "x-x+", "z-z+", "all"])
def test_cpml_on_any_faces(faces, precision):
    walls = tuple(
        tuple(CPML[axis][side] if faces == "all" or "xyz"[axis] + "-+"[side] in faces else "pec" for side in (0, 1))
        for axis in range(3)
    )
    assert_agrees_in_deep_tiles(make_plan(CELLS, walls, precision=precision, graded=True, terms=plans.current))


@precisions
@pytest.mark.parametrize("wall", ["pec", "pmc"])
def test_walls(wall, precision):
    assert_agrees_in_deep_tiles(make_plan(CELLS, ((wall, wall),) * 3, precision=precision))


@precisions
@pytest.mark.parametrize("media", ["layers", "lossless", "lossy", "dispersive"])
def test_media_and_loss(media, precision):
    assert_agrees_in_deep_tiles(make_plan(CELLS, precision=precision, media=media, metal=0.1))


@precisions
def test_graded_grids(precision):
    assert_agrees_in_deep_tiles(make_plan(CELLS, precision=precision, graded=True))


@precisions
@pytest.mark.parametrize("component", range(6))
def test_sources(component, precision):
    plan = make_plan(CELLS, CPML, precision=precision, terms=lambda rng, p: plans.current(rng, p, [component]))
    engine, _ = assert_agrees_in_deep_tiles(plan, start=False)
    assert engine.state(component).any()


@precisions
@pytest.mark.parametrize("driven", [False, True])
def test_ports_and_elements(driven, precision):
    plan = make_plan(CELLS, precision=precision, terms=lambda rng, p: plans.circuit(rng, p, 6, driven))
    engine, _ = assert_agrees_in_deep_tiles(plan, start=not driven)
    edge = plans.circuit_edges(plan)[0]
    assert engine.state(edge[0])[edge[1:]] != 0


@precisions
@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("stride", [1, 3, LEAST_DEPTH, 7])
def test_probes_voltages_and_currents(half, stride, precision):
    plan = make_plan(CELLS, precision=precision, terms=lambda rng, p: plans.functional(rng, p, half, 20, stride))
    engine, _ = assert_agrees_in_deep_tiles(plan)
    assert len(engine.recordings()[0].values) == engine.step // stride


@precisions
@pytest.mark.parametrize("component", range(6))
@pytest.mark.parametrize("stride", [1, 5])
def test_running_spectra(component, stride, precision):
    plan = make_plan(CELLS, precision=precision, terms=lambda rng, p: plans.spectrum(rng, p, component, stride))
    engine, _ = assert_agrees_in_deep_tiles(plan)
    assert engine.recordings()[0].values.any()


@precisions
@pytest.mark.parametrize("component", range(6))
def test_snapshots_at_steps_amid_a_tile(component, precision):
    depth = depth_of(make_plan(CELLS, precision=precision))
    taken = np.unique([1, 2, depth // 2, depth - 1, depth, depth + 1, 2 * depth - 1, 2 * depth + 2, 3 * depth + 1])
    plan = make_plan(
        CELLS,
        precision=precision,
        terms=lambda rng, p: (plans.SnapshotBox(component, (0, 0, 0), p.active, taken),),
    )
    assert depth_of(plan) == depth  # the snapshots do not force it
    engine, _ = assert_agrees_in_deep_tiles(plan)
    copies = engine.recordings()[0].values
    assert len(copies) == len(taken) and all(copy.any() for copy in copies)
    assert not any(np.array_equal(one, other) for one, other in pairwise(copies))


@precisions
@pytest.mark.parametrize("walls", [plans.CLOSED, CPML])
def test_energy_after_steps_amid_a_tile(walls, precision):
    plan = make_plan(CELLS, walls, precision=precision, media="lossy")
    depth = depth_of(plan)
    assert_agrees("cpu", plan, (2 * depth + 3, 1, depth - 1, depth + depth // 2))  # the energy is compared after each


@precisions
def test_everything_together(precision):
    plan = make_plan(
        CELLS, CPML, precision=precision, graded=True, media="dispersive", metal=0.1, terms=plans.some_of_each, seed=5
    )
    assert_agrees_in_deep_tiles(plan, start=False, threads=3)


@precisions
@pytest.mark.parametrize("cells", [(1, 1, 1), (1, 1, 300), (2, 300, 1), (40, 3, 2), (2, 2, 17), (17, 18, 19)])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_no_domain_is_too_small_or_too_thin_for_tiles(cells, threads, precision):
    assert_agrees_in_deep_tiles(make_plan(cells, precision=precision, media="lossy"), threads=threads)
