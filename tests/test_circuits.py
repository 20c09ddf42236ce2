"""Lumped circuits: their discrete impedance, their passivity, alone and in a field."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_fdtd import SmallFDTD

import nearfield as nf
from nearfield.entry.constants import VACUUM_PERMITTIVITY
from nearfield.lowering.context import Site
from nearfield.plan.excitations import Waveform
from nearfield.plan.terms import CircuitTerm
from nearfield.ports.circuits import SeriesBranch, two_pole
from nearfield.ports.lumped import PlacedCircuit


def decades(low, high):
    return st.floats(low, high).map(lambda exponent: 10.0**exponent)


RESISTANCE = st.one_of(st.just(0.0), decades(-3, 6))
INDUCTANCE = st.one_of(st.just(0.0), decades(-14, -3))
CAPACITANCE = st.one_of(st.none(), decades(-18, -6))
TIME_STEP = decades(-16, -9)
BRANCHES = st.builds(SeriesBranch, RESISTANCE, INDUCTANCE, CAPACITANCE).filter(
    lambda branch: branch.resistance or branch.inductance or branch.capacitance
)
OPTIONAL = tuple(st.one_of(st.none(), values) for values in (decades(-1, 4), decades(-12, -6), decades(-15, -9)))


@given(BRANCHES, TIME_STEP, st.floats(0.01, 3.1))
@settings(max_examples=200, deadline=None)
def test_branch_is_the_impedance_at_the_trapezoidal_rules_frequency(branch, time_step, angle):
    """Replacing w dt by 2 tan(w dt/2) is all that the discretisation does; z = exp(j w dt)."""
    step = branch.discretised(time_step)
    state = np.linalg.solve(np.exp(1j * angle) * np.eye(2) - step.transition, step.input)
    admittance = step.admittance + step.output @ state * np.exp(0.5j * angle) * np.exp(-0.5j * angle)
    s = 2j * np.tan(angle / 2) / time_step
    terms = [branch.resistance, s * branch.inductance]
    terms += [] if branch.capacitance is None else [1 / (s * branch.capacitance)]
    # near a resonance the sum of reactances, and near angle 0 or pi the matrix, lose digits in proportion to
    # the largest term over the sum
    lost = max(map(abs, terms)) / abs(sum(terms)) / min(abs(np.exp(1j * angle) - 1), abs(np.exp(1j * angle) + 1)) ** 2
    assert abs(admittance * sum(terms) - 1) < 1e-12 * (1 + lost)


@given(BRANCHES, TIME_STEP)
@settings(max_examples=200, deadline=None)
def test_no_eigenvalue_of_a_branch_exceeds_one(branch, time_step):
    assert np.abs(np.linalg.eigvals(branch.discretised(time_step).transition)).max() <= 1 + 1e-7


@given(BRANCHES, TIME_STEP, st.lists(st.floats(-1, 1), min_size=5, max_size=60))
@settings(max_examples=200, deadline=None)
def test_energy_put_into_a_branch_is_stored_or_lost_in_its_resistance(branch, time_step, voltages):
    step, state, stored, moved = branch.discretised(time_step), np.zeros(2), 0.0, 0.0
    elastance = 0.0 if branch.capacitance is None else 1 / branch.capacitance
    for u in voltages:
        current = step.admittance * u + step.output @ state
        state = step.transition @ state + step.input * u
        energy = 0.5 * branch.inductance * state[0] ** 2 + 0.5 * elastance * state[1] ** 2
        work, heat = u * current * time_step, branch.resistance * current**2 * time_step
        moved = max(moved, energy, abs(work), heat)
        assert energy - stored == pytest.approx(work - heat, abs=1e-10 * moved + 1e-290)
        stored = energy


def test_replay_gives_the_current_of_the_recursion():
    step = SeriesBranch(10.0, 1e-9, 1e-12).discretised(1e-12)
    u = np.random.default_rng(0).normal(size=50)
    state, wanted = np.zeros(2), []
    for value in u:
        wanted.append(step.admittance * value + step.output @ state)
        state = step.transition @ state + step.input * value
    assert step.replay(u) == pytest.approx(np.array(wanted), rel=1e-12)


CASES = [(r, l, c) for r in (30.0, None) for l in (1e-9, None) for c in (2e-13, None) if r or l or c]


@pytest.mark.parametrize("connection", ["series", "parallel"])
@pytest.mark.parametrize("elements", CASES)
def test_only_inductors_and_series_capacitors_keep_states(elements, connection):
    resistance, inductance, capacitance = elements
    circuit = two_pole(*elements, connection)
    alone = sum(value is not None for value in elements) == 1
    if connection == "parallel" or alone:
        assert (circuit.branch is not None) == (inductance is not None)
        assert circuit.capacitance == (capacitance or 0.0)
        assert circuit.conductance == (1 / resistance if resistance else 0.0)
    else:
        assert (circuit.conductance, circuit.capacitance) == (0.0, 0.0)
        assert circuit.branch == SeriesBranch(resistance or 0.0, inductance or 0.0, capacitance)


def in_a_box(elements, connection, courant, seed, steps):
    """Energies of the field and of the circuit in one edge of a random box, from random fields, step by step."""
    random = np.random.default_rng(seed)
    grid = nf.Grid(*(np.cumsum(random.uniform(0.2e-3, 2e-3, 4)) for _ in range(3))).resolve()
    dt = courant * grid.maximum_time_step()
    corner = [line[1] for line in grid.lines]
    element = nf.LumpedElement(corner, (*corner[:2], grid.lines[2][2]), "z", *elements, connection)
    box = SmallFDTD(grid, nf.Boundaries(all="pec"), dt, element._loads(Site(grid)))
    terms = element._terms(box.context)
    for component in range(3):
        free = box.coefficients.electric[component][1] != 0.0
        box.fields[component][free] = random.normal(size=free.sum())
    old = float(grid.primary(2)[1] * box.fields[2][1, 1, 1])
    if element._circuit().capacitance:
        box.fields[2][1, 1, 1] *= 1e-3  # else the lumped capacitor holds nearly all there is
        old *= 1e-3
    state, energies = np.zeros((1, 2)), []
    branch = element._circuit().branch
    for step in range(steps):
        magnetic = [component.copy() for component in box.fields[3:]]
        if step:
            electric = [component.copy() for component in box.fields[:3]]
            box.update_electric()
            for term in terms:
                assert isinstance(term, CircuitTerm)
                box.apply_circuit(term, electric, state, 0.0, "none")
        box.update_magnetic()
        stored = box.energy(magnetic)
        if branch is not None:
            charge = 0.0 if branch.capacitance is None else 0.5 * state[0, 1] ** 2 / branch.capacitance
            stored += 0.5 * branch.inductance * state[0, 0] ** 2 + charge
        energies.append(stored)
    return np.array(energies)


@given(*OPTIONAL, st.sampled_from(["series", "parallel"]), st.floats(0.1, 1.0), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_field_and_circuit_together_never_gain_energy(resistance, inductance, capacitance, connection, courant, seed):
    if resistance is None and inductance is None and capacitance is None:
        return
    energies = in_a_box((resistance, inductance, capacitance), connection, courant, seed, 60)
    assert (np.diff(energies) <= 1e-11 * energies[0]).all()
    if resistance is None:
        assert np.ptp(energies) <= 1e-9 * energies[0]
    assert energies.min() >= -1e-11 * energies[0]


def plates(d=1e-3):
    """One cell between two plates with magnetic walls: a capacitor of eps0 d, exactly."""
    grid = nf.Grid.uniform(d, (1, 1, 1)).resolve()
    return grid, nf.Boundaries(all="pmc", z_low="pec", z_high="pec"), VACUUM_PERMITTIVITY * d


def charge(elements, connection, dt, steps, source=None):
    """Voltage at dt, 2 dt, ... of the plates with a circuit across, driven by a source in it."""
    grid, walls, _ = plates()
    circuit = two_pole(*elements, connection)
    block = nf.LumpedElement((0, 0, 0), (1e-3, 1e-3, 1e-3), "z", 1.0)._block(Site(grid))
    placed = PlacedCircuit(circuit, block)
    box = SmallFDTD(grid, walls, dt, placed.loads())
    waveform = None if source is None else Waveform(source, "port", np.inf)
    terms = [*placed.terms(box.context, waveform), placed.voltage(box.context)]
    (voltage,) = box.run(terms, steps, "port")
    return voltage.values, circuit


@pytest.mark.parametrize("lumped", [None, 3e-14])
def test_a_capacitor_charges_through_a_resistor(lumped):
    _, _, plate = plates()
    total = plate + (lumped or 0.0)
    dt, resistance = 1e-13, 200.0
    voltage, _ = charge((resistance, None, lumped), "parallel", dt, 400, lambda t: np.full(t.shape, 2.0))
    ratio = dt / (2 * resistance * total)  # exact for the trapezoidal rule
    wanted = 2.0 * (1 - ((1 - ratio) / (1 + ratio)) ** np.arange(1, 401))
    assert voltage == pytest.approx(wanted, rel=1e-11)
    t = dt * np.arange(1, 401)
    assert voltage == pytest.approx(2.0 * (1 - np.exp(-t / (resistance * total))), abs=1e-3)


DAMPED = (
    ((300.0, 1e-9, None), "parallel"),
    ((100.0, 1e-9, 3e-14), "parallel"),
    ((300.0, None, 3e-14), "parallel"),
    ((200.0, 1e-9, None), "series"),
    ((200.0, 1e-9, 3e-14), "series"),
    ((200.0, None, 3e-14), "series"),
)


@pytest.mark.parametrize(("elements", "connection"), DAMPED)
def test_the_plates_answer_a_circuit_as_its_impedance_says(elements, connection):
    """The response to one impulse of source voltage: its spectrum is the divider's at s = 2j tan(w dt/2)/dt."""
    _, _, plate = plates()
    dt, steps = 2e-13, 2000
    voltage, circuit = charge(elements, connection, dt, steps, lambda t: (t < dt) * 1.0)
    assert np.abs(voltage[-100:]).max() < 1e-12
    w = np.linspace(2e9, 4e11, 40)
    s = 2j * np.tan(w * dt / 2) / dt
    resistance, inductance, capacitance = elements
    if circuit.sourced == "conductance":
        shunt = s * (plate + circuit.capacitance) + (1 / (s * inductance) if inductance else 0.0)
        wanted = 1 / resistance / (1 / resistance + shunt)
    else:
        series = resistance + s * (inductance or 0.0) + (1 / (s * capacitance) if capacitance else 0.0)
        wanted = 1 / (1 + series * s * plate)
    time = dt * np.arange(1, steps + 1)
    mean = 0.5 * (voltage + np.append(0.0, voltage[:-1]))
    found = np.exp(-1j * np.outer(w, time - dt)) @ mean  # impulse at the first half step
    assert found == pytest.approx(wanted, abs=1e-9)


def test_a_bare_inductor_and_the_plates_ring_at_the_warped_resonance():
    _, _, plate = plates()
    inductance, dt = 5e-9, 2e-13
    w = 2 / dt * np.arctan(dt / 2 / np.sqrt(inductance * plate))
    voltage, _ = charge((1e30, inductance, None), "parallel", dt, 3000, lambda t: (t < dt) * 1e30)
    middle = voltage[1:-1]
    assert voltage[2:] + voltage[:-2] == pytest.approx(2 * np.cos(w * dt) * middle, abs=1e-9 * np.abs(voltage).max())
