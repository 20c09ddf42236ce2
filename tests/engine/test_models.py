"""Whole models, from structures to monitors: the engine equals the oracle, whichever way the model is turned."""

import numpy as np
import pytest
from agreement import assert_model_agrees
from cases import slow_after

import nearfield as nf
from nearfield.engines.reference.engine import ReferenceEngine
from nearfield.engines.reference.update import dense
from nearfield.entry.constants import VACUUM_IMPEDANCE
from nearfield.grid.yee import COMPONENTS
from nearfield.plan.plan import unit_stride_axis

MM = 1e-3
PULSE = nf.Gaussian(30e9)


def turned(triple, by: int) -> tuple:
    """A position or size with its axes exchanged cyclically: what lay along x lies along the axis `by`."""
    return tuple(np.roll(np.asarray(triple, object), by))


def axis(number: int, by: int) -> str:
    return "xyz"[(number + by) % 3]


def rich_model(by: int, precision: str, **options) -> nf.Simulation:
    """Every kind of structure, source, port and monitor in 14 x 11 x 9 mm, its axes turned."""

    def at(x: float, y: float, z: float) -> tuple:
        return turned((x * MM, y * MM, z * MM), by)

    lines = turned([np.cumsum([0, *(1 + 0.3 * np.sin(np.arange(n) + n))]) * MM for n in (14, 11, 9)], by)
    faces = {"x_low": nf.CPML(3), "x_high": nf.CPML(2), "y_low": nf.PMC, "y_high": nf.CPML(2), "z_high": nf.PMC}
    faces = {axis("xyz".index(name[0]), by) + name[1:]: face for name, face in faces.items()}
    dielectric, lossy = nf.Medium(4.0, 1.5), nf.Medium(2.2, 1.0, 0.5, 1000.0)
    water = nf.Medium(1.5, 1.0, 0.1, poles=[nf.Debye(3.0, 9.2e-12), nf.Debye(0.5, 1e-12)])
    charges = [nf.Drude(30e9, 2e10), nf.Lorentz(0.5, 20e9, 6e10)]
    plasma = nf.Medium(1.5, poles=charges, magnetic_poles=nf.Debye(1.0, 1e-11))
    return nf.Simulation(
        grid=nf.Grid(*(tuple(line) for line in lines)),
        boundaries=nf.Boundaries(nf.PEC, **faces),
        structures=[
            nf.Structure(nf.Box(at(0, 0, 0), at(20, 20, 2)), lossy),
            nf.Structure(nf.Sphere(at(9, 6, 6), 2.2 * MM), dielectric),
            nf.Structure(nf.Box(at(-1, 8, 3), at(6.3, 12, 7.4)), water),
            nf.Structure(nf.Sphere(at(5, 9, 5), 2.5 * MM), plasma),
            nf.Structure(nf.Cylinder(at(9, 6, 0), at(9, 6, 3), 1.1 * MM), nf.PEC),
            nf.Structure(nf.Box(at(5, 7, 5), at(7, 9, 7)), nf.PMC),
        ],
        sources=[
            nf.PointCurrent(at(4.3, 3.1, 4.2), axis(2, by), PULSE),
            nf.MagneticPointCurrent(at(6.2, 3.4, 4.7), axis(0, by), PULSE),
            nf.CurrentSheet(at(4, 2, 4), at(8, 5, 4), axis(1, by), PULSE),
        ],
        ports=[
            nf.LumpedPort("one", at(5, 3, 2), at(5, 3, 4), axis(2, by), inductance=1e-9, waveform=PULSE),
            nf.LumpedPort(
                "two",
                at(8, 2, 5),
                at(8, 3.5, 6.5),
                axis(1, by),
                capacitance=1e-12,
                connection="parallel",
                waveform=PULSE,
            ),
        ],
        elements=[nf.LumpedElement(at(10, 3, 4), at(10, 3, 5.5), axis(2, by), 20.0, 1e-9, 1e-13)],
        monitors=[
            nf.Probe("e", at(7.1, 4.3, 3.3), "Ez", 2),
            nf.Probe("h", at(7.1, 4.3, 3.3), "Hx"),
            nf.Voltage("u", at(5, 3, 2), at(5, 3, 6)),
            nf.Current("i", at(4, 2, 3), at(7, 4, 3)),
            nf.Snapshot("all", tuple(line[0] for line in lines), tuple(line[-1] for line in lines), every=7),
            nf.FieldDFT("cut", at(4, 1, 3), at(11, 8, 3), (5e9, 20e9)),
            nf.Flux("out", at(4, 1, 1), at(11, 8, 8), (5e9, 20e9)),
        ],
        precision=precision,
        steps=20,
        **options,
    )


EXCITED = (("sources", "single"), ("one", "double"), ("two", "single"))


@pytest.mark.parametrize(
    "by, excitation, precision",
    [
        pytest.param(by, *excited, marks=[pytest.mark.slow] * (number not in (0, by)))
        for by in range(3)
        for number, excited in enumerate(EXCITED)
    ],
)
def test_a_model_of_everything_agrees_with_the_oracle(engine_name, excitation, by, precision):
    plan = rich_model(by, precision, excitations=("sources", "one", "two"))._setup().plan
    assert plan.unit_axis == by
    assert_model_agrees(engine_name, plan, excitation)


@pytest.mark.parametrize("by", slow_after(1, range(3)))
def test_coefficients_are_the_same_by_planes_along_any_axis_and_dense(by):
    plan = rich_model(by, "double")._setup().plan
    update, poles = dense(plan)
    for component in range(6):
        for found, expected in zip(update[component], plan.coefficients.dense(component)):
            assert np.array_equal(found == 0, expected == 0)
            # a mean over at most 64 pieces, in another order
            np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)
    for medium, component in ((0, 1), (1, 2), (2, 4)):
        found, expected = poles[medium, :, component % 3], np.array(plan.coefficients.dense_poles(medium, component))
        assert found[1].any()
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


def test_the_solver_gives_the_fields_in_si_units_and_full_shapes():
    sim = rich_model(0, "double")
    solver, plan = nf.Solver(sim, threads=2), sim._setup().plan
    oracle = ReferenceEngine(plan)
    solver.advance(6)
    oracle.advance(6)
    for component, name in enumerate(COMPONENTS):
        field, expected = solver.field(name), oracle.state(component)
        assert field.shape == solver.grid.component_shape(component)
        inside = tuple(slice(0, min(n, m)) for n, m in zip(field.shape, expected.shape))
        scale = VACUUM_IMPEDANCE if component >= 3 else 1.0
        np.testing.assert_allclose(field[inside] * scale, expected[inside], rtol=1e-15)
        field[inside] = 0.0
        assert not field.any()  # tangential E on the upper PEC walls


@pytest.mark.parametrize(
    "active, unit",
    [
        ((8, 8, 8), 2),
        ((9, 8, 8), 0),
        ((200, 200, 200), 2),
        ((1000, 200, 150), 1),
        ((512, 512, 150), 2),
        ((2000, 4, 4), 0),
        ((100, 700, 600), 1),
        ((400, 128, 1000), 0),
    ],
)
def test_rows_run_along_the_longest_axis_that_suits_them(active, unit):
    assert unit_stride_axis(active) == unit
