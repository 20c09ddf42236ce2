"""Examples at small size: the model files are what their pages say, and what they compare agrees."""

from functools import lru_cache
from pathlib import Path

import pytest

import nearfield as nf
from examples import uwb_pulse

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@lru_cache(maxsize=2)
def pulse_deviations(cell: float) -> dict[str, float]:
    return uwb_pulse.deviations(uwb_pulse.model(cell).run(threads=1))


def test_the_model_file_of_the_uwb_pulse_is_the_model_of_its_script():
    assert nf.load(EXAMPLES / "uwb_pulse.toml") == uwb_pulse.model()


def test_the_uwb_pulse_keeps_within_what_is_known_of_its_media():
    assert not [warning for warning in uwb_pulse.model().check().warnings if "is known from" in warning]


@pytest.mark.parametrize(
    "place, most",
    [("before the wall", 0.002), ("behind the wall", 0.005), ("in the soil", 0.008), ("in the water", 0.06)],
)
def test_the_distorted_uwb_pulse_is_the_closed_forms(place, most):
    # 11 cells of 1 mm a wavelength in water at 3 GHz lag by (pi/11)^2/6 of the phase, 0.15 rad in 2 cm; that grows with
    # the cube of the frequency, and is 0.05 rad at the middle of the band, 2 GHz
    assert pulse_deviations(1e-3)[place] < most


@pytest.mark.parametrize("place", uwb_pulse.PROBES)
def test_the_difference_from_the_closed_form_is_of_second_order_in_the_cells(place):
    assert pulse_deviations(1e-3)[place] / pulse_deviations(0.5e-3)[place] == pytest.approx(4.0, rel=0.05)
