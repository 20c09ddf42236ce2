"""The reference values of validation/wire_antennas are what NEC2 makes of the decks beside them."""

import shutil
import warnings

import pytest

from validation.wire_antennas.nec import ANSWERS, DECKS, answer


@pytest.mark.parametrize("name", DECKS)
def test_nec_answers_its_decks_with_the_reference_values(name):
    if not shutil.which("nec2c"):
        warnings.warn("nec2c is not installed (apt-get install nec2c): reference values go unchecked", stacklevel=1)
        pytest.skip("nec2c is not installed; apt-get install nec2c")
    found, expected = answer(DECKS[name]), ANSWERS[name]
    assert abs(found[0] - expected[0]) < 2e-4 * abs(expected[0])  # nec2c prints five digits
    assert found[1:] == pytest.approx(expected[1:], abs=0.011)  # and gains to 0.01 dB
