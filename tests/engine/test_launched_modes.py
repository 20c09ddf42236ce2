"""Waveguide ports on the engine: what they launch and measure has the oracle's bits, however the run is spread."""

import numpy as np
import pytest
from agreement import assert_equal, assert_model_agrees
from cases import slow_after
from lines import line
from test_domains import arrangement
from test_restart import assert_goes_on

import nearfield as nf
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.tiling import STEPWISE, Tiling
from nearfield.engines.reference.engine import ReferenceEngine
from nearfield.guides.launch import FIRST

MM = 1e-3


def plan(precision: str, loaded: bool = False, **more):
    """A round guide along z in metal, two modes a port; with a rod in it, or hollow."""
    ends, names = {"in": (9, "+z"), "out": (31, "-z")}, (1, 2) if loaded else ("TE11", "TM01")
    shape = "any" if loaded else "circular"
    ports = [
        nf.WaveguidePort(name, (-5 * MM, -5 * MM, n * MM), (5 * MM, 5 * MM, n * MM), way, names, shape)
        for name, (n, way) in ends.items()
    ]
    pipe = [
        nf.Structure(nf.Box((-1, -1, -1), (1, 1, 1)), nf.PEC),
        nf.Structure(nf.Cylinder((0, 0, -1), (0, 0, 1), 5 * MM), nf.Medium()),
    ]
    pipe += [nf.Structure(nf.Cylinder((0, 0, -1), (0, 0, 1), 2 * MM), nf.Medium(4.0))] * loaded
    return (
        nf.Simulation(
            grid=nf.Grid.uniform(MM, (14, 14, 40), (-7 * MM, -7 * MM, 0)),
            structures=pipe,
            ports=ports,
            steps=40,
            boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(5), z_high=nf.CPML(5)),
            precision=precision,
            waveform=nf.ModulatedGaussian(*((24e9, 10e9, 1.0, 40e-12) if loaded else (35e9, 30e9))),
            **more,
        )
        ._setup()
        .plan
    )


def strip(precision: str):
    """A microstrip line between CPMLs."""
    return line(room=1.0, length=30, precision=precision, waveform=nf.Gaussian(30e9))._setup().plan


@pytest.mark.parametrize(
    "precision, case",
    [
        ("single", "whole"),
        ("double", "half"),
        pytest.param("single", "half", marks=pytest.mark.slow),
        pytest.param("double", "whole", marks=pytest.mark.slow),
        ("single", "loaded"),
        ("single", "open"),
        pytest.param("double", "loaded", marks=pytest.mark.slow),
    ],
)
def test_a_launched_mode_has_the_oracles_bits(engine_name, precision, case):
    if case == "open":
        engine = assert_model_agrees(engine_name, strip(precision), "in", (23, 17))
        assert all(np.abs(recording.values).max() > 1e-7 for recording in engine.recordings()[:2])
        return
    made = plan(precision, case == "loaded", **{"symmetry": nf.Symmetry(y="magnetic")} if case == "half" else {})
    engine = assert_model_agrees(engine_name, made, "in:1" if case == "loaded" else "in:TE11", (23, 17))
    voltage, current = (recording.values for recording in engine.recordings()[:2])
    assert np.abs(voltage).max() > 1e-4 and np.abs(current).max() > 1e-7


@pytest.mark.parametrize("excitation", ["out:TM01", "out:2"])
def test_a_launched_mode_has_the_same_bits_in_any_domains(excitation):
    made = plan("single", excitation == "out:2")
    oracle = ReferenceEngine(made)
    oracle.advance(25, excitation)
    for counts, threads, tiling in (
        ((2, 1, 1), 2, Tiling(4, 3)),
        ((1, 2, 2), 3, Tiling(5, 4, 2)),
        ((3, 2, 1), 1, STEPWISE),
        ((1, 2, 2), 3, Tiling(4, 3)),
    ):
        engine = CpuEngine(made, threads, tiling=tiling, domains=arrangement(made, counts))
        for steps in (11, 14):
            engine.advance(steps, excitation)
        assert_equal(engine, oracle)


@pytest.mark.parametrize("loaded", slow_after(1, [False, True]))
def test_a_launched_mode_goes_on_from_a_checkpoint_with_the_same_bits(engine_name, tmp_path, loaded):
    assert_goes_on(engine_name, plan("single", loaded), (9, 6), (8, 5), 3, tmp_path)


def test_blocks_of_any_length_and_a_new_start_give_the_same_tables():
    for wave in plan("double").waves[:1] + plan("double", True).waves[:1]:
        whole = wave.march(np.float64).tables(1, 3 * FIRST)
        march = wave.march(np.float64)
        for first, steps in ((1, 7), (8, FIRST - 5), (FIRST + 50, 2 * FIRST - 99), (3, 5)):
            found, wanted = march.tables(first, steps), whole[:, first - 1 : first - 1 + steps]
            assert np.array_equal(np.zeros_like(wanted) if found is None else found, wanted)
