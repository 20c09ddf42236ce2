"""The example of a coaxial line into a waveguide at its small size: matched as theory says, with all of its power."""

from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from examples import coax_to_guide
from examples.coax_to_guide import BAND, designed, line_impedance, lost, probe_impedance, transition

MODEL = Path(nf.__file__).parents[1] / "examples" / "coax_to_guide.toml"


def test_the_dimensions_are_those_that_the_theory_asks_for():
    """To a cell, half of it either way; the series has converged to 2 %."""
    probe, short = designed()
    assert abs(probe - coax_to_guide.INNER - coax_to_guide.PROBE) < 0.27e-3 > abs(short - coax_to_guide.SHORT)
    found, finer = (probe_impedance(10e9, probe, short, modes) for modes in (120, 240))
    assert abs(finer - found) < 0.02 * abs(found)
    assert found == pytest.approx(line_impedance(), rel=1e-6)


def test_the_probe_matches_the_line_to_the_guide_and_no_power_is_lost():
    """The theory says -14 dB or less over the band, and leaves out the line's mouth: 2 dB are left to that."""
    model = transition().model_copy(update={"decay": 1e-8})
    s = model.run(threads=2).sparameters.sel(frequency=slice(*BAND))
    assert np.abs(s.sel(to="line", source="line")).max() < 10 ** (-12 / 20)
    assert lost(s) < 1e-3
    assert np.abs(s.values - s.values.transpose(0, 2, 1)).max() < 1e-3


def test_the_model_file_is_that_of_the_script():
    loaded, made = nf.load(MODEL), transition()
    assert loaded.check().warnings == ()
    assert loaded.grid.cells == made.grid.cells
    assert np.allclose(loaded.grid.spacing, made.grid.spacing)
    for one, other in zip(loaded.structures, made.structures):
        assert np.allclose(one.shape.bounds(), other.shape.bounds(), atol=1e-9)
    for one, other in zip(loaded.ports, made.ports):
        assert np.allclose([one.lower, one.upper], [other.lower, other.upper], atol=1e-9)
        for name in ("name", "direction", "modes", "shape", "inner_radius"):
            assert getattr(one, name) == getattr(other, name)
        assert one.reference_plane == pytest.approx(other.reference_plane)
    assert (loaded.waveform, loaded.symmetry, loaded.boundaries) == (made.waveform, made.symmetry, made.boundaries)
