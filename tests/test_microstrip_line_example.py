"""The example of a microstrip line: its mode is Hammerstad and Jensen's line, and the model file that of the script."""

from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from examples.microstrip_line import mode, model
from validation.microstrip.run import expected

MODEL = Path(nf.__file__).parents[1] / "examples" / "microstrip_line.toml"


def test_the_mode_on_the_grid_is_that_of_the_line_without_dispersion():
    """At 0.2 GHz the formulas hold to 0.2 %, six cells in the width to 1 %."""
    impedance, effective = mode(model(40), [0.2e9])
    assert (impedance[0], effective[0]) == pytest.approx(expected(), rel=0.012)


@pytest.mark.slow
def test_the_port_sees_the_line_s_own_wave_and_nothing_else():
    """S for 50 ohm is that of a piece of line of its impedance: S11 below its mismatch there and back, S21 near 1."""
    simulation = model(40)
    s = np.abs(simulation.run(threads=2).sparameters.sel(source="in", frequency=slice(1e9, 10e9)))
    impedance = mode(simulation, np.linspace(1e9, 10e9, 4).tolist())[0]
    mismatch = np.abs((impedance - 50) / (impedance + 50)).max()
    assert s.sel(to="in").max() < 2 * mismatch + 10 ** (-59 / 20)  # the ports' own reflection
    assert np.abs(s.sel(to="out") - 1).max() < 0.005


def test_the_model_file_is_that_of_the_script():
    loaded, made = nf.load(MODEL), model()
    assert loaded.check().warnings == ()
    assert loaded.grid.cells == made.grid.cells
    assert np.allclose(loaded.grid.spacing, made.grid.spacing) and np.allclose(loaded.grid.origin, made.grid.origin)
    for one, other in zip((*loaded.structures, *loaded.ports), (*made.structures, *made.ports), strict=True):
        ends = [
            (each.shape if hasattr(each, "shape") and not isinstance(each.shape, str) else each)
            for each in (one, other)
        ]
        assert np.allclose(ends[0].lower, ends[1].lower) and np.allclose(ends[0].upper, ends[1].upper)
        assert one.name == other.name
    for one, other in zip(loaded.ports, made.ports):
        for name in ("direction", "modes", "shape", "reference_impedance"):
            assert getattr(one, name) == getattr(other, name)
    assert (loaded.waveform, loaded.boundaries) == (made.waveform, made.boundaries)
    assert loaded.excitations == made.excitations
