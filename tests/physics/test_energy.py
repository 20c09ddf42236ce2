"""A lossless closed box keeps its energy, up to the stability limit and not past it."""

import numpy as np
import plans
import pytest
from plans import make_plan

from nearfield.engines.cpu.engine import CpuEngine

WALLS = (("pec", "pmc"), ("pmc", "pmc"), ("pec", "pec"))


def volumes(plan, component: int) -> np.ndarray:
    """Volume of each sample over its Cb or Db: permittivity or permeability times volume, (c dt)^3 apart."""
    lengths = []
    for axis, profile in enumerate(plan.profiles):
        midway = (component % 3 == axis) == (component < 3)
        inverse = profile.inverse_primary if midway else profile.inverse_dual
        lengths.append(np.divide(1.0, inverse, out=np.zeros_like(inverse), where=inverse > 0))
    drive = plan.coefficients.dense(component)[1]
    volume = np.einsum("i,j,k->ijk", *lengths)
    return np.divide(volume, drive, out=np.zeros_like(volume), where=drive > 0)


def invariant(engine, weights) -> float:
    """U = 1/2 sum(eps E(n).E(n) + mu H(n+1/2).H(n-1/2)) about the step that this makes."""
    before = [engine.state(3 + c).astype(float) for c in range(3)]
    engine.advance(1)
    electric = sum(np.sum(weights[c] * engine.state(c).astype(float) ** 2) for c in range(3))
    magnetic = sum(np.sum(weights[3 + c] * before[c] * engine.state(3 + c).astype(float)) for c in range(3))
    return 0.5 * (electric + magnetic)


@pytest.mark.parametrize(("precision", "tolerance"), [("single", 1e-5), ("double", 1e-12)])
@pytest.mark.parametrize(
    "model",
    [{}, {"graded": True, "media": "lossless", "metal": 0.05, "walls": WALLS}],
    ids=["vacuum", "graded media"],
)
def test_the_leapfrog_energy_stays_for_20000_steps(model, precision, tolerance):
    plan = make_plan((8, 7, 9), precision=precision, courant=0.99, **model)
    engine = CpuEngine(plan, 1)
    plans.randomise([engine], plan)
    weights = [volumes(plan, component) for component in range(6)]
    first = invariant(engine, weights)
    energies = []
    for _ in range(20):
        engine.advance(999)
        energies.append(invariant(engine, weights))
    assert np.abs(np.array(energies) / first - 1).max() < tolerance


def closed_limit(cells: int) -> float:
    """Courant number at which the shortest wave of a closed cube of cubic cells becomes unstable."""
    return 1 / np.sin(0.5 * np.pi * (cells - 1) / cells)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize(("over_limit", "explodes"), [(0.999, False), (1.001, True)])
def test_a_time_step_explodes_just_above_the_limit_and_not_below(over_limit, explodes, precision):
    plan = make_plan((6, 6, 6), precision=precision, courant=over_limit * closed_limit(6))
    engine = CpuEngine(plan, 1)
    plans.randomise([engine], plan)
    start = engine.advance(1, weigh=True).energy
    # at 1.001 times the limit the fields grow by exp(2 sqrt(0.002)) = 1.09 a step
    end = engine.advance(600, weigh=True).energy
    assert (end > 1e20 * start) == explodes
    assert explodes or end < 100 * start


@pytest.mark.parametrize("precision", ["single", "double"])
def test_an_exploding_field_ends_in_an_energy_that_is_not_finite(precision):
    plan = make_plan((6, 6, 6), precision=precision, courant=1.05 * closed_limit(6))
    engine = CpuEngine(plan, 2)
    plans.randomise([engine], plan)
    engine.advance(3000)
    assert not np.isfinite(engine.advance(1, weigh=True).energy)
