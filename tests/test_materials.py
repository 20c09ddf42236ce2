"""Media."""

import pytest

import nearfield as nf
from nearfield.entry.constants import VACUUM_SPEED


def test_index_and_wavelength_are_those_of_the_lossless_medium():
    medium = nf.Medium(2.0, 8.0, conductivity="1 S/m")
    assert medium.index == pytest.approx(4.0)
    assert medium.wavelength(1e9) == pytest.approx(VACUUM_SPEED / 4e9)


def test_labels_name_or_describe():
    assert nf.Medium().label() == "vacuum"
    assert nf.Medium(2.2, name="board").label() == "board"
    assert nf.Medium(2.2, 3, conductivity=0.1).label() == "eps_r 2.2, mu_r 3, 0.1 S/m"


@pytest.mark.parametrize(
    "values",
    [
        {"permittivity": 0},
        {"permeability": -1},
        {"conductivity": -1},
        {"epsilon": 2},
        {"permittivity": float("nan")},
        {"permittivity": 1e-9},
    ],
)
def test_impossible_media_are_refused(values):
    with pytest.raises(nf.ModelError):
        nf.Medium(**values)
