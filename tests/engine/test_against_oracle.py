"""The engine equals the oracle to the last bit: one test per feature, in both precisions."""

import itertools

import numpy as np
import plans
import pytest
from agreement import assert_agrees
from plans import make_plan

CPML = ((3, 2), (1, 4), (2, 2))
precisions = pytest.mark.parametrize("precision", ["single", "double"])


@precisions
def test_vacuum_in_a_pec_box(engine_name, precision):
    assert_agrees(engine_name, make_plan((6, 5, 7), precision=precision))


@precisions
@pytest.mark.parametrize("faces", range(1, 64))
def test_pmc_on_any_of_the_six_faces(engine_name, faces, precision):
    kinds = ["pmc" if faces >> face & 1 else "pec" for face in range(6)]
    assert_agrees(
        engine_name, make_plan((3, 4, 5), tuple(zip(kinds[::2], kinds[1::2])), precision=precision, graded=True)
    )


@precisions
@pytest.mark.parametrize("faces", range(1, 64))
def test_cpml_of_any_thickness_on_any_of_the_six_faces(engine_name, faces, precision):
    kinds = [(3, 1, 2, 4, 1, 2)[face] if faces >> face & 1 else "pec" for face in range(6)]
    walls = tuple(zip(kinds[::2], kinds[1::2]))
    assert_agrees(
        engine_name, make_plan((6, 7, 5), walls, precision=precision, graded=True, media="lossless", seed=faces)
    )


@precisions
@pytest.mark.parametrize("axis", range(3))
def test_cpml_facing_pmc(engine_name, axis, precision):
    walls = [(2, "pmc"), ("pmc", 3), ("pec", "pmc")]
    assert_agrees(
        engine_name, make_plan((6, 8, 7), tuple(np.roll(np.array(walls, object), axis, 0)), precision=precision)
    )


@precisions
@pytest.mark.parametrize("length", [31, 32, 33, 47, 48, 50])
@pytest.mark.parametrize("slab", [(1, 1), (16, 15), (17, 0), (0, 17), (10, 10)])
def test_cpml_along_the_row_at_every_place_in_its_blocks(engine_name, length, slab, precision):
    walls = (("pec", "pec"), ("pec", "pmc"), tuple(n or "pec" for n in slab))
    assert_agrees(engine_name, make_plan((3, 4, length), walls, precision=precision, media="layers"))


@precisions
def test_cpml_that_fills_the_whole_domain(engine_name, precision):
    assert_agrees(engine_name, make_plan((4, 5, 20), ((2, 2), (1, 4), (10, 10)), precision=precision, media="lossy"))


@precisions
@pytest.mark.parametrize("media", ["layers", "lossless", "lossy", "dispersive"])
@pytest.mark.parametrize("metal", [0.0, 0.3])
def test_random_media_electric_and_magnetic(engine_name, media, metal, precision):
    assert_agrees(engine_name, make_plan((7, 6, 21), CPML, precision=precision, media=media, metal=metal, graded=True))


@precisions
@pytest.mark.parametrize("cells", [(7, 6, 21), (21, 7, 6), (1, 16, 16), (5, 40, 1), (2, 2, 2)])
def test_electric_fields_that_take_magnetic_ones_from_all_about(engine_name, cells, precision):
    assert_agrees(
        engine_name, make_plan(cells, precision=precision, media="lossy", metal=0.1, graded=True, coupled=400)
    )


@precisions
def test_metal_in_vacuum_stays_without_field(engine_name, precision):
    plan = make_plan((7, 6, 21), precision=precision, metal=0.5)
    engine, _ = assert_agrees(engine_name, plan, blocks=(20,))
    for component in range(6):
        assert not engine.state(component)[plan.coefficients.dense(component)[1] == 0].any()


@precisions
@pytest.mark.parametrize("cells", list(itertools.permutations((4, 9, 17))))
def test_any_axis_may_be_the_longest(engine_name, cells, precision):
    walls = ((2, "pec"), ("pmc", 3), (1, 2))
    terms = plans.some_of_each
    assert_agrees(
        engine_name, make_plan(cells, walls, precision=precision, media="dispersive", graded=True, terms=terms)
    )


@precisions
@pytest.mark.parametrize(
    "cells", [(1, 1, 1), (1, 1, 40), (1, 8, 5), (6, 1, 5), (2, 2, 2), (5, 40, 1), (33, 1, 1), (1, 16, 16), (2, 3, 15)]
)
@pytest.mark.parametrize("wall", ["pec", "pmc"])
def test_thin_and_odd_shapes(engine_name, cells, wall, precision):
    assert_agrees(
        engine_name, make_plan(cells, ((wall, wall),) * 3, precision=precision, media="dispersive", graded=True)
    )


@precisions
@pytest.mark.parametrize("component", range(6))
def test_currents(engine_name, component, precision):
    plan = make_plan(terms=lambda rng, p: plans.current(rng, p, [component]), precision=precision, walls=CPML)
    assert len(plan.terms) == 1
    assert_agrees(engine_name, plan, start=False)


@precisions
@pytest.mark.parametrize("driven", [False, True])
def test_circuits(engine_name, driven, precision):
    plan = make_plan((6, 8, 7), terms=lambda rng, p: plans.circuit(rng, p, 5, driven), precision=precision)
    engine, _ = assert_agrees(engine_name, plan, start=not driven)
    edge = plans.circuit_edges(plan)[0]
    assert engine.state(edge[0])[edge[1:]] != 0


def test_only_the_chosen_excitation_is_heard(engine_name):
    plan = make_plan(terms=plans.current)
    engine, _ = assert_agrees(engine_name, plan, start=False, excitation="another")
    assert not any(engine.state(component).any() for component in range(6))


@precisions
@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("stride", [1, 3, 20])
def test_weighted_sums(engine_name, half, stride, precision):
    plan = make_plan(terms=lambda rng, p: plans.functional(rng, p, half, 40, stride), precision=precision, walls=CPML)
    engine, _ = assert_agrees(engine_name, plan, blocks=(2, 2, 11, 1))
    assert len(engine.recordings()[0].values) == 16 // stride


@precisions
@pytest.mark.parametrize("component", range(6))
@pytest.mark.parametrize("stride", [1, 3])
def test_running_spectra(engine_name, component, stride, precision):
    plan = make_plan(
        (5, 19, 6), terms=lambda rng, p: plans.spectrum(rng, p, component, stride), precision=precision, seed=component
    )
    engine, _ = assert_agrees(engine_name, plan, blocks=(2, 2, 11, 1))
    assert np.abs(engine.recordings()[0].values).max() > 0


@precisions
@pytest.mark.parametrize("component", range(6))
def test_snapshots(engine_name, component, precision):
    plan = make_plan((5, 19, 6), terms=lambda rng, p: plans.snapshots(rng, p, component), precision=precision)
    assert_agrees(engine_name, plan, blocks=(2, 2, 11, 1))


@precisions
@pytest.mark.parametrize("cells", [(4, 5, 16), (4, 5, 17), (40, 3, 2)])
def test_energy(engine_name, cells, precision):
    assert_agrees(
        engine_name, make_plan(cells, ((1, 1), ("pmc", "pmc"), ("pec", "pec")), precision=precision, media="dispersive")
    )


@precisions
def test_a_pulse_from_rest_reaches_the_walls(engine_name, precision):
    plan = make_plan((9, 8, 11), CPML, precision=precision, terms=plans.some_of_each, media="layers")
    assert_agrees(engine_name, plan, start=False, blocks=(25,))


@precisions
def test_a_forerunner_passes_through_the_denormals(engine_name, precision):
    walls = (("pec", "pec"), ("pmc", "pmc"), ("pec", "pec"))
    samples = [np.array([0]), np.array([0]), np.array([1])]

    def sheet(rng, plan):
        pulse = plans.Waveform(lambda t: np.exp(-((t / plan.time_step / 5 - 4) ** 2)), "sources", np.inf)
        return (plans.CurrentTerm(0, *samples, np.array([1e-270 if precision == "double" else 1.0]), pulse),)

    plan = make_plan((1, 1, 300), walls, precision=precision, terms=sheet, courant=0.5)
    engine, _ = assert_agrees(engine_name, plan, (40, 60, 70), start=False)
    fields = np.abs(np.concatenate([engine.state(component).ravel() for component in range(6)]))
    least = np.finfo(plan.dtype).tiny
    assert not ((fields > 0) & (fields < least)).any()
    assert ((fields > 0) & (fields < 1e8 * least)).any()
