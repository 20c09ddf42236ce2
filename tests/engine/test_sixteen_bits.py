"""Fields in 16 bits on a device: what is rounded, how much that adds up to, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import plans
import pytest
from agreement import assert_equal
from plans import make_plan
from rich_plans import WALLS, rich_plan
from test_restart import assert_goes_on

import nearfield as nf
from nearfield.engines import ENGINES
from nearfield.engines.cuda.sizes import saved_bytes
from nearfield.entry.errors import ModelError, RunFailed
from nearfield.run.checkpoint.contents import fingerprint
from nearfield.run.storage_error import PEAK, StorageError

SCALE = (9, 8)  # exponents of E and H for random fields


def narrow(plan, exponents=SCALE):
    return replace(plan, storage="16-bit", exponents=exponents)


def rounded(values: np.ndarray, exponent: int) -> np.ndarray:
    """What a device holds of these values of Ez, before the first step."""
    plan = narrow(make_plan((3, 4, len(values)), precision="single"), (exponent, 0))
    engine = ENGINES["cuda"](plan)
    field = np.zeros(plan.active, np.float32)
    field[1, 2] = values
    engine.set_state(2, field)
    engine.begin(1, "sources", False)
    return engine.state(2)[1, 2].copy()


@pytest.mark.parametrize("exponent", [0, 102, -100])
def test_a_sample_is_the_nearest_of_binary16(exponent):
    """NumPy's conversion, ties to even, denormals too, times a power of two."""
    every = np.append(np.arange(0, 0x7C00, 9), 0x7BFF).astype(np.uint16).view(np.float16).astype(np.float32)
    between = (every[:-1] + every[1:]) / 2  # ties
    values = np.concatenate([every, between, np.nextafter(between, np.float32(0))])
    values = np.concatenate([values, -values])
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16).astype(np.float32)
    factor = np.float32(2.0) ** np.float32(-exponent)
    found = rounded(values * factor, exponent)
    assert np.array_equal(found.view(np.uint32) & 0x7FFFFFFF, (expected * factor).view(np.uint32) & 0x7FFFFFFF)
    assert np.array_equal(found < 0, expected < 0)


@pytest.mark.parametrize("steps", [20, 80])
def test_the_error_of_storage_is_that_of_independent_roundings(steps):
    """Each step adds the variance of one rounding, ulp^2 / 12, to every sample of E and of H, and the scheme keeps
    their sum of squares but for terms of the Courant number squared: error = eps sqrt(steps + 1), the start being
    rounded too. 24000 x 6 samples know it to 1 %, the Courant number 0.3 adds at most 4 %."""
    plan = make_plan((24, 25, 40), precision="single", courant=0.3)
    full, stored = ENGINES["cpu"](plan), ENGINES["cuda"](narrow(plan))
    plans.randomise((full, stored), plan)
    start = np.concatenate([full.state(n).ravel() for n in range(6)]).astype(float)
    ulp = np.exp2(np.floor(np.log2(np.abs(start[start != 0])))) * 2.0**-10
    eps = math.sqrt((ulp**2).sum() / 12 / (start**2).sum())
    full.advance(steps)
    stored.advance(steps)
    fields = [np.concatenate([each.state(n).ravel() for n in range(6)]).astype(float) for each in (full, stored)]
    error = np.linalg.norm(fields[0] - fields[1]) / np.linalg.norm(fields[0])
    assert error == pytest.approx(eps * math.sqrt(steps + 1), rel=0.06)


@pytest.mark.parametrize("device", ["host-backwards", pytest.param("card", marks=pytest.mark.slow)])
@pytest.mark.parametrize("walls", WALLS)
def test_bits_depend_neither_on_the_order_of_blocks_nor_on_where_steps_are_cut(walls, device, request, monkeypatch):
    plan = narrow(rich_plan("single", walls), (4, 4))  # they grow
    first = ENGINES["cuda"](plan, threads=3)
    if device == "card":
        request.getfixturevalue("card")
    else:
        monkeypatch.setenv("NEARFIELD_DEVICE", device)
    second = ENGINES["cuda"](plan)
    plans.randomise((first, second), plan)
    first.advance(9)
    energy = first.advance(11, weigh=True).energy
    for steps in (4, 15):
        second.advance(steps)
    assert second.advance(1, weigh=True).energy == energy
    assert_equal(first, second)


def test_powers_of_two_change_no_bit():
    """The scale moves fields within 16 bits and nothing else: nothing here comes near either end."""
    plan = make_plan((6, 7, 33), ((2, 2), (2, 2), (3, 3)), precision="single", graded=True, media="lossy")
    engines = [ENGINES["cuda"](narrow(plan, exponents)) for exponents in ((9, 9), (7, 10))]
    plans.randomise(engines, plan)
    for engine in engines:
        engine.advance(5)
    found = [np.stack([engine.state(n) for n in range(6)]) for engine in engines]
    large = np.abs(found[0]) > 2.0**-18  # above what is zero in either
    assert large.sum() > 5000
    assert np.array_equal(found[0][large], found[1][large])


@pytest.mark.parametrize("walls", WALLS)
def test_a_checkpoint_goes_on_with_the_same_bits(walls, tmp_path):
    assert_goes_on("cuda", narrow(rich_plan("single", walls)), (3,), (4,), 5, tmp_path)


def test_a_checkpoint_of_other_storage_is_of_another_model():
    plan = make_plan(precision="single")
    assert fingerprint(plan) != fingerprint(narrow(plan))


def test_a_sample_that_does_not_fit_ends_the_run():
    plan = narrow(make_plan(precision="single"), (0, 0))
    engine = ENGINES["cuda"](plan)
    field = np.zeros(plan.active, np.float32)
    field[2, 2, 2] = 65519.9  # still the largest, 65504
    engine.set_state(2, field)
    engine.begin(1, "sources", False)
    engine.end()
    field[2, 2, 2] = 65520
    engine.set_state(2, field)
    with pytest.raises(RunFailed, match=r"at least 1 samples did not fit in 16 bits.*above 6.55e.04 and 6.55e.04 V/m"):
        engine.advance(1)


def test_memory_is_what_was_counted():
    plan = make_plan((9, 12, 37), ((3, 2), (0, 4), (2, 5)), precision="single")
    full, stored = (ENGINES["cuda"](each) for each in (plan, narrow(plan)))
    for engine in (full, stored):
        engine.begin(1, "sources", False)
    assert full.facts()["bytes"] - stored.facts()["bytes"] == saved_bytes(narrow(plan)) > 0


def model(**entries):
    return nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (12, 11, 9)),
        boundaries=nf.Boundaries(all=nf.PEC),
        monitors=[nf.Probe("tip", (3e-3, 4e-3, 2e-3), "Ez")],
        **{
            "sources": [nf.PointCurrent((6e-3, 5e-3, 4e-3), "z", nf.Gaussian(25e9))],
            "steps": 300,
            "storage": "16-bit",
            "engine": "cuda",
        }
        | entries,
    )


@pytest.mark.filterwarnings("ignore:16-bit storage")
def test_a_short_run_beside_full_storage_foretells_the_error():
    """The walk of rounding errors is one draw: within a factor of two of the root of steps."""
    result, full = model().run(threads=1), model(storage="full", engine="cpu").run(threads=1)
    facts = result.facts["storage"]
    error = np.linalg.norm(result["tip"].values - full["tip"].values) / np.linalg.norm(full["tip"].values)
    assert facts["steps"] == 100 and facts["signals"] / 2 < error < 2 * facts["expected"]
    entry = next(each for each in result.facts["trust"] if each["name"] == "16-bit storage")
    assert entry["value"] == pytest.approx(20 * math.log10(facts["expected"]))
    peak = max(abs(float(full["tip"].max())), 1.0)
    assert peak * 2.0 ** facts["exponents"][0] < 2.0 ** (PEAK + 1)


def test_the_error_is_said_in_words():
    found = StorageError("feed", 100, 1600, (0, 0), 1e-3, 2e-3, 1e-4)
    assert found.expected == pytest.approx(8e-3)
    assert str(found) == (
        "100 steps of excitation 'feed' beside full storage: fields -60 dB, recorded signals -54 dB, their spectra "
        "-80 dB at worst; by step 1600 -42 dB, as rounding grows like the root of steps"
    )
    assert found.trust().verdict == "good" and replace(found, fields=0.03).trust().verdict == "bad"


@pytest.mark.parametrize("engine", ["cpu", "reference"])
def test_other_engines_refuse_it_by_name(engine):
    for act in (model(engine=engine).run, model(engine=engine).check, lambda: nf.Solver(model(engine=engine))):
        with pytest.raises(ModelError, match=rf'"16-bit" cannot be had with engine "{engine}".*storage "full"'):
            act()


def test_what_cannot_be_done_is_refused(monkeypatch):
    with pytest.raises(ModelError, match='goes with precision="single"'):
        model(precision="double")
    with pytest.raises(ModelError, match="needs the scale of the fields"):
        nf.Solver(model())
    with pytest.raises(ModelError, match="nothing was excited"):
        model(sources=[]).run()
    with pytest.raises(ModelError, match="for one rank"):
        ENGINES["cuda"](narrow(make_plan(precision="single"))).message([])
    monkeypatch.setenv("NEARFIELD_PASSES", "1")
    with pytest.raises(ModelError, match="NEARFIELD_PASSES=1 cannot be had"):
        ENGINES["cuda"](narrow(make_plan(precision="single")))


def test_an_error_above_the_limit_refuses_the_run(monkeypatch):
    monkeypatch.setattr("nearfield.run.storage_error.LIMITS", (-90.0, -80.0))
    with pytest.raises(ModelError, match=r"too coarse for this model.*at most -80 dB"):
        model().run()
