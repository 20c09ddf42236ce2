"""The plane wave in its total-field box: the engine's bits are the oracle's, whatever the wave and the medium."""

import numpy as np
import plans
import pytest
from agreement import assert_agrees, assert_equal
from test_domains import arrangement
from test_restart import assert_goes_on

import nearfield as nf
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.tiling import STEPWISE, Tiling
from nearfield.engines.reference.engine import ReferenceEngine
from nearfield.plan.terms import CurrentTerm, IncidentTerm

CELLS = (12, 11, 40)
CASES = {
    "up": ("+z", "x"),
    "down, layers": ("-z", (1.0, 0.5, 0.0)),
    "along x": ("+x", "z"),
    "along -y": ("-y", (0.3, 0.0, -2.0)),
}


def simulation(direction, polarisation, precision, layers=(), steps=40):
    rng = np.random.default_rng(1)
    lines = [np.concatenate(([0.0], np.cumsum(rng.uniform(0.7e-3, 1.4e-3, n)))) for n in CELLS]
    low, high = ([line[n] for line in lines] for n in (4, -5))
    return nf.Simulation(
        grid=nf.Grid(*lines),
        boundaries=nf.Boundaries(all=nf.CPML(2)),
        structures=layers,
        precision=precision,
        sources=[nf.PlaneWave(low, high, direction, polarisation, nf.Gaussian(40e9))],
        steps=steps,
    )


def at_an_angle(direction, polarisation):
    """In an even grid."""
    wave = nf.PlaneWave((4e-3,) * 3, (8e-3, 7e-3, 35e-3), direction, polarisation, nf.Gaussian(40e9))
    even = {"grid": nf.Grid.uniform(1e-3, CELLS), "sources": (wave,)}
    return simulation(direction, polarisation, "single").model_copy(update=even)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("case", CASES)
def test_a_plane_wave_along_an_axis_has_the_oracles_bits(engine_name, case, precision):
    slab = nf.Structure(nf.Box((-1, -1, 15e-3), (1, 1, 20e-3)), nf.Medium(3.0, conductivity=0.2))
    model = simulation(*CASES[case], precision, layers=[slab] if "layers" in case else [])
    engine, _ = assert_agrees(engine_name, model._setup().plan, blocks=(23, 17), start=False)
    assert max(np.abs(engine.state(component)).max() for component in range(6)) > 0.1


DISPERSIVE = [
    nf.Structure(nf.Box((-1, -1, 15.3e-3), (1, 1, 20e-3)), nf.Medium(poles=[nf.Debye(0.8, 2e-11), nf.Drude(9e9)])),
    nf.Structure(
        nf.Box((-1, -1, 20e-3), (1, 1, 1)),
        nf.Medium(conductivity=0.1, poles=nf.Lorentz(0.2, 2e10, 3e9), magnetic_poles=nf.Debye(0.3, 1e-11)),
    ),
]


@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_plane_wave_onto_dispersive_layers_has_the_oracles_bits(engine_name, precision):
    plan = simulation("+z", (1.0, 0.5, 0.0), precision, layers=DISPERSIVE)._setup().plan
    assert [len(plan.waves[0].profile.poles), len(plan.pole_media)] == [3, 3]
    engine, _ = assert_agrees(engine_name, plan, blocks=(23, 17), start=False)
    assert max(np.abs(engine.state(component)).max() for component in range(6)) > 0.1


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_poles_on_the_line_follow_the_formulas_of_their_medium(precision):
    """One step of the line, spelled out: what poles leave of a random field where nothing else acts."""
    wave = simulation("+z", "x", "double", layers=DISPERSIVE)._setup().plan.waves[0]
    march, rng = wave.march(precision), np.random.default_rng(3)
    march._states[:, 1], march._numbers[:, 1:] = rng.uniform(-1, 1, march._states[:, 1].shape), 0.0
    march._numbers[:, 0] = 1.0
    fields = [march._states[0, 1, :-1].copy(), march._states[1, 1, 1:].copy()]
    for _, _, _, _, _, _, states in march._layers:
        states[...] = rng.uniform(-1, 1, states.shape)
    expected, old = [field.copy() for field in fields], fields
    for poles, (half, *_, kept) in zip(wave.profile.poles, march._layers):
        stay, weight = poles.cells.astype(precision)
        total, states = precision(0), kept.copy()
        for n in [*range(len(poles.medium.firsts)), *range(len(poles.medium.firsts), poles.medium.states, 2)]:
            total = total + states[n]
        expected[half][poles.at] = stay * expected[half][poles.at] - weight * total
    march.step = 0  # the steps that it runs ahead are behind it
    march.tables(1, 1)
    assert np.array_equal(march._states[0, 1, :-1], expected[0])
    assert np.array_equal(march._states[1, 1, 1:], expected[1]) and not np.array_equal(old[0], expected[0])


@pytest.mark.parametrize("counts, threads", [((2, 1, 1), 2), ((1, 2, 2), 3), ((3, 2, 1), 1)])
def test_a_plane_wave_has_the_same_bits_in_any_domains(counts, threads):
    plan = simulation("+z", (1.0, 1.0, 0.0), "single", layers=DISPERSIVE)._setup().plan
    oracle = ReferenceEngine(plan)
    oracle.advance(25)
    for tiling in (STEPWISE, Tiling(4, 3), Tiling(5, 4, 2)):
        engine = CpuEngine(plan, threads, tiling=tiling, domains=arrangement(plan, counts))
        for steps in (11, 14):
            engine.advance(steps)
        assert_equal(engine, oracle)


def over_a_cell(direction, precision="single"):
    """The wave of a periodic cell: a ridge at its corner, lossy and dispersive layers behind up to the grid's end."""
    lines = simulation(direction, "x", precision)._setup().grid.lines
    low, high = ([*(line[end] for line in lines[:2]), lines[2][n]] for end, n in ((0, 6), (-1, -7)))
    ridge = nf.Structure(nf.Box((-1, -1, 12e-3), (4e-3, 1, 15e-3)), nf.Medium(3.0, conductivity=0.2))
    media = [DISPERSIVE[1].medium, nf.Medium(2.0)]
    spans = ((20e-3, 1), (9e-3, 15e-3)) if direction == "+z" else ((-1, 12e-3), (15e-3, 20e-3))
    layers = [nf.Structure(nf.Box((-1, -1, a), (1, 1, b)), medium) for (a, b), medium in zip(spans, media)]
    wave = nf.PlaneWave(low, high, direction, (1.0, 0.5, 0.0), nf.Gaussian(40e9))
    walls = nf.Boundaries(x="periodic", y="periodic", z=nf.CPML(3))
    changed = {"boundaries": walls, "sources": (wave,), "structures": (*layers, ridge)}
    return simulation(direction, "x", precision).model_copy(update=changed)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("direction", ["+z", "-z"])
def test_a_plane_wave_over_a_periodic_cell_has_the_oracles_bits(engine_name, direction, precision):
    plan = over_a_cell(direction, precision)._setup().plan
    engine, _ = assert_agrees(engine_name, plan, blocks=(23, 17), start=False)
    assert max(np.abs(engine.state(component)).max() for component in range(6)) > 0.1


def test_a_plane_wave_over_a_periodic_cell_has_the_same_bits_in_any_domains():
    plan = over_a_cell("-z")._setup().plan
    oracle = ReferenceEngine(plan)
    oracle.advance(25)
    engine = CpuEngine(plan, 3, tiling=Tiling(4, 3), domains=arrangement(plan, (1, 2, 2)))
    engine.advance(25)
    assert_equal(engine, oracle)


@pytest.mark.parametrize("direction", [("60 deg", "40 deg"), ("120 deg", "200 deg"), (1.0, 0.0, 1.0), (0.0, -1.0, 2.0)])
def test_a_wave_at_an_angle_has_the_same_bits_in_any_domains(direction):
    plan = at_an_angle(direction, (0.3, 1.0, 0.0))._setup().plan
    oracle = ReferenceEngine(plan)
    oracle.advance(25)
    for tiling, counts in ((STEPWISE, (1, 1, 1)), (Tiling(4, 3), (1, 2, 2)), (Tiling(5, 4, 2), (2, 1, 1))):
        engine = CpuEngine(plan, 2, tiling=tiling, domains=arrangement(plan, counts))
        for steps in (11, 14):
            engine.advance(steps)
        assert_equal(engine, oracle)


@pytest.mark.parametrize("other", [("120 deg", "200 deg"), "+z"])
def test_two_waves_about_boxes_wider_than_a_window_have_the_oracles_bits(other):
    """Rows' programs know the windows of one wave at an angle alone, and none where a wave along an axis is."""
    cells = (9, 26, 27)
    waves = tuple(
        nf.PlaneWave((low,) * 3, (6e-3, 23e-3, 23e-3), direction, (0.3, 1.0, 0.0), nf.Gaussian(40e9))
        for low, direction in ((4e-3, ("60 deg", "40 deg")), (3e-3, other))
    )
    grid, walls = nf.Grid.uniform(1e-3, cells), nf.Boundaries(all=nf.CPML(2))
    model = nf.Simulation(grid=grid, boundaries=walls, sources=waves, precision="single", steps=12)
    plan = model._setup().plan
    oracle = ReferenceEngine(plan)
    oracle.advance(12)
    for tiling, counts in ((STEPWISE, (1, 1, 1)), (Tiling(4, 16), (1, 2, 1)), (Tiling(3, 20), (1, 1, 2))):
        engine = CpuEngine(plan, 2, tiling=tiling, domains=arrangement(plan, counts))
        engine.advance(12)
        assert_equal(engine, oracle)


def crossing(rng, plan, weight):
    """A wave whose samples lie one by one in the rows: two in each; random weights where none is given."""
    i, j, k = (n.ravel() for n in np.meshgrid(*map(np.arange, plan.active[:2]), [3, 9], indexing="ij"))
    wave = plans.Noise(int(rng.integers(1 << 30)), 4)
    weights = rng.uniform(-1, 1, i.size) if weight is None else np.full(i.size, weight)
    weights[plan.coefficients.values[0, 1, i, j, k] == 0] = 0.0
    shares, columns = np.ones((i.size, 1)), np.full((i.size, 1), 2)
    return IncidentTerm(np.zeros(i.size, int), i, j, k, weights, columns, shares, wave)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("taps", [1, 2, 6, 7])
def test_any_samples_weights_and_shares(engine_name, taps, precision):
    walls = ((3, 2), (1, 4), (2, 2))
    plan = plans.make_plan(
        (7, 8, 40),
        walls,
        precision=precision,
        media="lossy",
        metal=0.2,
        seed=taps,
        terms=lambda rng, p: plans.incident(rng, p, taps),
    )
    assert len(plan.terms) == 2
    assert_agrees(engine_name, plan)


def test_what_several_waves_and_a_current_add_to_one_sample_keeps_its_order(engine_name):
    """In float32 a sum of three depends on it."""

    def terms(rng, plan):
        first, second = (crossing(rng, plan, weight) for weight in (0.3, 7.0))
        at = np.flatnonzero(first.weight)[::7]
        where = (first.i[at], first.j[at], first.k[at])
        current = CurrentTerm(0, *where, rng.uniform(-1, 1, at.size), plans.pulse(rng, plan))
        return (first, current, second, *plans.incident(rng, plan, 1))

    assert_agrees(engine_name, plans.make_plan((9, 10, 40), precision="single", seed=4, terms=terms))


def test_amounts_that_all_differ_may_be_too_many_for_a_table(engine_name):
    plan = plans.make_plan((47, 47, 49), precision="single", terms=lambda rng, p: (crossing(rng, p, None),))
    assert len(set(plan.terms[0].weight)) > 4096
    assert_agrees(engine_name, plan, blocks=(7,), start=False)


def test_blocks_of_any_length_and_a_new_start_give_the_same_tables():
    wave = simulation("+z", "x", "single", layers=DISPERSIVE)._setup().plan.waves[0]
    whole = wave.march(np.float32).tables(1, 40)
    march = wave.march(np.float32)
    for first, steps in ((1, 7), (8, 20), (30, 11), (3, 5)):  # one step is left out, and then it goes back
        assert np.array_equal(march.tables(first, steps), whole[:, first - 1 : first - 1 + steps])


@pytest.mark.parametrize("direction, polarisation", [("+z", "x"), (("60 deg", "40 deg"), "30 deg")])
def test_a_plane_wave_goes_on_from_a_checkpoint_with_the_same_bits(engine_name, direction, polarisation, tmp_path):
    layers = DISPERSIVE if direction == "+z" else ()
    plan = at_an_angle(direction, polarisation).model_copy(update={"structures": layers})._setup().plan
    assert_goes_on(engine_name, plan, (9, 6), (8, 5), 3, tmp_path)


def test_a_wave_of_another_excitation_is_silent(engine_name):
    engine, _ = assert_agrees(
        engine_name, simulation("+z", "x", "single")._setup().plan, start=False, excitation="another"
    )
    assert not any(engine.state(component).any() for component in range(6))


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize(
    "symmetry, direction, polarisation",
    [({"x": "electric", "y": "magnetic"}, "-z", "x"), ({"y": "electric"}, (0.6, 0, 0.8), "y")],
)
def test_a_mirrored_plane_wave_has_the_oracles_bits_in_every_schedule_and_domain(
    engine_name, symmetry, direction, polarisation, precision
):
    model = nf.Simulation(
        nf.Grid.uniform(1e-3, (20, 20, 40), (-10e-3, -10e-3, 0)),
        boundaries=nf.Boundaries(all=nf.CPML(2)),
        steps=30,
        sources=[nf.PlaneWave((-6e-3, -2e-3, 5e-3), (6e-3, 5e-3, 35e-3), direction, polarisation, nf.Gaussian(40e9))],
        structures=[nf.Structure(nf.Sphere((0, 0, 20e-3), 3e-3), nf.Medium(3.0, conductivity=0.1))],
        symmetry=nf.Symmetry(**symmetry),
        precision=precision,
    )
    plan = model._setup().plan
    _, oracle = assert_agrees(engine_name, plan, blocks=(13, 17), start=False)
    assert max(np.abs(oracle.state(component)).max() for component in range(6)) > 0.1
    engine = CpuEngine(plan, 2, tiling=Tiling(5, 4, 2), domains=arrangement(plan, (1, 1, 2)))
    for steps in (13, 17):
        engine.advance(steps)
    assert_equal(engine, oracle)
