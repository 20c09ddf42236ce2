"""The example of a microstrip low-pass filter: what its page says of it, on the published cells."""

from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from examples.low_pass_filter import edge, magnitudes, model, nulls

MODEL = Path(nf.__file__).parents[1] / "examples" / "low_pass_filter.toml"


def test_the_filter_passes_low_frequencies_stops_those_of_its_stubs_and_makes_no_power():
    f, s11, s21 = magnitudes(model().run().sparameters)
    assert abs(s21[0] - 1) < 1e-3  # at frequency 0 it is a wire
    assert 5.2e9 < edge(f, s21) < 5.8e9
    first, second = nulls(f, s21)
    assert 6.6e9 < first < 7.4e9 < 7.7e9 < second < 8.5e9  # about the quarter wave of the stubs
    assert s21[(f > 6.1e9) & (f < 9e9)].max() < 0.316  # -10 dB
    power = s11**2 + s21**2
    assert power.max() < 1.007  # what interpolation to the reference planes makes at 20 GHz
    assert power[f < 5e9].min() > 0.97  # the rest is radiated


@pytest.mark.slow
def test_the_filter_has_the_same_edge_on_two_meshes():
    edges = [edge(*magnitudes(model(fine).run().sparameters)[::2]) for fine in (1.0, 1.5)]
    assert edges[0] == pytest.approx(edges[1], rel=0.02)


def test_the_model_file_is_that_of_the_script():
    loaded, made = nf.load(MODEL), model()
    assert loaded.check().warnings == ()
    for one, other in zip(loaded._setup().grid.lines, made._setup().grid.lines):
        assert np.allclose(one, other, atol=1e-9)
    for one, other in zip(
        (*(s.shape for s in loaded.structures), *loaded.ports, *loaded.monitors),
        (*(s.shape for s in made.structures), *made.ports, *made.monitors),
    ):
        assert np.allclose([one.lower, one.upper], [other.lower, other.upper], atol=1e-9)
    for one, other in zip(loaded.ports, made.ports):
        assert (one.name, one.propagation, one.resistance) == (other.name, other.propagation, other.resistance)
        assert one.reference_plane == pytest.approx(other.reference_plane)
    assert (loaded.waveform, loaded.boundaries.z_low) == (made.waveform, made.boundaries.z_low)
    assert loaded.excitations == made.excitations
