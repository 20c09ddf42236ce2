"""Stability of dispersive media: what is refused, and that what is not refused does not grow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from amplification import amplification
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield.coefficients.coefficients import Coefficients
from nearfield.coefficients.stability import gain
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.entry.errors import ModelError
from nearfield.plan.planning import build_plan

MM = 1e-3
CELLS = (4, 3, 5)
GRID = nf.Grid.uniform(MM, CELLS)
LIMIT = GRID.resolve().maximum_time_step()
SHORTEST = 2 * math.sqrt(3) / MM  # the largest eigenvalue of the curl on an endless grid of cubes


def modes(cells=CELLS) -> np.ndarray:
    """Eigenvalues of the curl in a closed box of cubes: 2 sqrt(sum sin^2(pi m/(2 n)))/d of all modes with a field."""
    m = np.stack(np.meshgrid(*(np.arange(n) for n in cells), indexing="ij")).reshape(3, -1)
    m = m[:, (m > 0).sum(axis=0) >= 2]
    return 2 / MM * np.sqrt((np.sin(np.pi * m / (2 * np.array(cells)[:, None])) ** 2).sum(axis=0))


log = st.floats(-3.0, 1.5)  # decades about 1/dt
poles = st.lists(
    st.one_of(
        st.builds(lambda a, b: nf.Debye(10**a, 10**-b * LIMIT), st.floats(-2, 2), log),
        st.builds(lambda a, b: nf.Drude(10**a / LIMIT, 10**b / LIMIT), log, log),
        st.builds(lambda a: nf.Drude(10**a / LIMIT), log),
        st.builds(lambda a, b, c: nf.Lorentz(10**a, 10**b / LIMIT, 10**c / LIMIT), st.floats(-2, 2), log, log),
        st.builds(lambda a, b: nf.Lorentz(10**a, 10**b / LIMIT, 0.0), st.floats(-2, 2), log),
        st.builds(lambda a: nf.PoleResidue(0.0, 10**a / LIMIT), log),
    ),
    max_size=3,
)
media = st.builds(
    lambda eps, mu, e, h, sigma: nf.Medium(eps, mu, sigma, poles=tuple(e), magnetic_poles=tuple(h)),
    st.floats(0.3, 5.0),
    st.floats(0.3, 5.0),
    poles,
    poles,
    st.sampled_from([0.0, 0.1, 30.0]),
)


def largest_root(medium: nf.Medium, time_step: float, curls) -> float:
    return max(np.abs(amplification(medium, time_step, float(curl))).max(initial=0.0) for curl in curls)


@settings(max_examples=80, deadline=None)
@given(media, st.floats(0.2, 1.0))
def test_no_root_of_a_passive_medium_lies_outside_the_unit_circle_up_to_the_limit(medium, part):
    step = part * LIMIT * medium.index
    assert gain(medium.poles, medium.permittivity, 0.0) is None
    found = largest_root(medium, step, SHORTEST * np.linspace(0.0, 1.0, 9))
    # three equal poles beside the wave's own root: four together, good to the fourth root of the rounding
    assert found < 1 + 2 * np.finfo(float).eps ** 0.25


@settings(max_examples=80, deadline=None)
@given(media)
def test_just_above_the_limit_the_shortest_wave_grows(medium):
    assert largest_root(medium, 1.01 * LIMIT * medium.index, [SHORTEST]) > 1 + 1e-6


def cavity(medium: nf.Medium, time_step: float) -> CpuEngine:
    """A closed box of the medium with random fields, whatever the door would say of the time step."""
    walls = nf.Boundaries(all=nf.PEC)
    grid = GRID.resolve()
    coefficients = Coefficients(grid, [], medium, walls, time_step)
    engine = CpuEngine(
        build_plan(grid, walls, coefficients, time_step, "double", pole_media=coefficients.pole_media), 1
    )
    rng = np.random.default_rng(1)
    for component in range(6):
        field = engine.state(component)
        field[...] = rng.standard_normal(field.shape) * (coefficients.dense(component)[1] != 0)
    return engine


@settings(max_examples=25, deadline=None)
@given(media)
def test_a_cavity_is_stable_just_below_its_limit_and_grows_just_above(medium):
    """The limit of the cavity is that of its own shortest wave, a little above the endless grid's.

    Energy goes to and fro between fields and poles, slowly too, so that what the fields hold is compared with the most
    that they held in the first 2000 steps. Growth that a step multiplies by 1.0003 and more is found.
    """
    limit = 2 / (modes().max() * 299792458.0) * medium.index
    below = cavity(medium, 0.999 * limit)
    most = max(below.advance(100, weigh=True).energy for _ in range(20))
    assert below.advance(14000, weigh=True).energy < 100.0 * most
    assert largest_root(medium, 1.05 * limit, [modes().max()]) > 1.0
    rate = np.log(largest_root(medium, 1.05 * limit, [modes().max()]))
    steps = int(min(40.0 / rate, 20000))
    if rate * steps > 20:
        above = cavity(medium, 1.05 * limit).advance(steps, weigh=True).energy
        assert not above < math.exp(rate * steps)


@pytest.mark.parametrize(
    "poles",
    [
        nf.Debye(-0.5, 1e-11),
        nf.Lorentz(-1.0, 10e9, 1e9),
        [nf.Debye(2.0, 1e-11), nf.Lorentz(-0.1, 50e9, 1e9)],
        nf.PoleResidue([-1e9, 6e10], [5e9, 6e10]),
        nf.PoleResidue(-1e10, -1e10),
    ],
)
def test_a_medium_with_gain_is_refused_by_its_name(poles):
    medium = nf.Medium(2.0, poles=poles, name="laser")
    structure = nf.Structure(nf.Box((0, 0, 0), (MM, MM, MM)), medium)
    with pytest.raises(ModelError, match=r"medium laser: its permittivity is .* amplifies"):
        nf.Simulation(GRID, [structure], steps=5)._setup()


def lost(poles, w, loss=0.0) -> np.ndarray:
    """What two Lorentz poles lose at w (1/s), over w^2 eps0: S w0^2 2 g/((w0^2 - w^2)^2 + (2 g w)^2) each."""
    parts = ((p.strength, 2 * np.pi * p.resonance_frequency, p.damping) for p in poles)
    return loss / w**2 + sum(s * a**2 * 2 * g / ((a**2 - w**2) ** 2 + (2 * g * w) ** 2) for s, a, g in parts)


@pytest.mark.parametrize("seed", range(3))
def test_gain_in_a_band_far_narrower_than_any_pole_is_found(seed):
    # a broad pole that amplifies, less than its conductivity absorbs but for one part in 100 000 where it does most
    rng = np.random.default_rng(seed)
    absorbing, amplifying = rng.uniform(1, 3), -rng.uniform(0.1, 0.3)
    poles = (nf.Lorentz(absorbing, 10e9, 3e9), nf.Lorentz(amplifying, rng.uniform(30e9, 50e9), 4e10))
    w = 2 * np.pi * np.linspace(10e9, 100e9, 200001)
    need = -(lost(poles, w) * w**2)
    worst = w[np.argmax(need)]
    for part, amplifies in ((1 - 1e-5, True), (1 + 1e-5, False)):
        found = gain(poles, 2.0, part * need.max())
        assert (found is not None) == amplifies
        if found:
            assert 2 * np.pi * found[0] == pytest.approx(worst, rel=2e-2) and found[1].imag > 0.0


def test_a_resonance_without_damping_and_of_negative_strength_is_refused():
    assert gain((nf.Lorentz(-0.5, 10e9, 0.0),), 2.0, 0.0)[0] == pytest.approx(10e9)
    assert gain((nf.Lorentz(0.5, 10e9, 0.0),), 2.0, 0.0) is None


@pytest.mark.parametrize(
    "medium",
    [
        nf.Medium(conductivity=1.0, poles=nf.PoleResidue([-1e9, 6e10], [5e8, -5e8])),
        nf.Medium(poles=[nf.Drude(30e9, 0.0), nf.Lorentz(1.0, 10e9, 0.0)]),
        nf.Medium(poles=nf.PoleResidue(0.0, 1e9)),
    ],
)
def test_a_medium_without_gain_is_not_refused(medium):
    """That of the first one's pole is outweighed by its conductivity."""
    assert (gain(medium.poles, 1.0, 0.0) is not None) == bool(medium.conductivity)
    nf.Simulation(GRID, background=medium, boundaries=nf.Boundaries(all=nf.PEC), steps=5)._setup()


def test_a_time_step_over_the_limit_of_a_medium_is_refused_with_its_name_and_its_limit():
    thin = nf.Medium(0.25, poles=nf.Debye(3.0, 1e-11), name="thin")
    structure = nf.Structure(nf.Box((0, 0, 0), (MM, MM, MM)), thin)
    walls = nf.Boundaries(all=nf.PEC)
    limit = nf.Simulation(GRID, [structure], walls, steps=5)._setup().time_step_limit
    assert limit == pytest.approx(0.5 * LIMIT)
    nf.Simulation(GRID, [structure], walls, steps=5, time_step=limit)._setup()
    with pytest.raises(ModelError, match=rf"stable limit {limit:.6g} s .* in medium thin .*infinite frequency"):
        nf.Simulation(GRID, [structure], walls, steps=5, time_step=1.01 * limit)._setup()


def in_boxes(*media) -> nf.Simulation:
    """Media without names of their own but those given, each in a box of an empty cavity."""
    boxes = (nf.Box((0, 0, k * MM), (MM, MM, (k + 1) * MM)) for k in range(len(media)))
    bodies = [nf.Structure(box, medium) for box, medium in zip(boxes, media)]
    return nf.Simulation(GRID, bodies, nf.Boundaries(all=nf.PEC), steps=5)


@pytest.mark.parametrize("order", [1, -1])
def test_media_of_one_label_are_each_looked_at(order):
    active = nf.Medium(poles=[nf.Lorentz(-3, 1e10, 1e9)])
    passive = nf.Medium(poles=[nf.Drude(1e10, 1e9)])
    assert active.label() == passive.label()
    with pytest.raises(ModelError, match="amplifies"):
        in_boxes(*[active, passive][::order])._setup()
    thin, dense = nf.Medium(0.1, name="x"), nf.Medium(2.0, name="x")
    limit = in_boxes(*[thin, dense][::order])._setup().time_step_limit
    assert limit == pytest.approx(0.1**0.5 * LIMIT)
