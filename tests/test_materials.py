"""Media."""

import pytest

import nearfield as nf
from nearfield.discretization.resolution import media_in_use
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


def test_frequencies_of_media_may_be_texts_and_are_refused_in_words():
    copper = nf.Conductor(5.8e7)
    assert copper.skin_depth("10 GHz") == copper.skin_depth(10e9) == pytest.approx(0.661e-6, rel=1e-3)
    assert nf.Medium(2.0).wavelength("10 GHz") == nf.Medium(2.0).wavelength(10e9)
    for ask in (copper.skin_depth, nf.Medium(2.0).wavelength, nf.Medium(4.0).relative_permittivity):
        for wrong in (0, -1.0, {"a": 1}, "ten"):
            with pytest.raises(nf.ModelError, match="frequency"):
                ask(wrong)


def test_a_band_that_falls_is_refused():
    with pytest.raises(nf.ModelError, match="lower frequency first"):
        nf.Medium(2.0, valid_band=("10 GHz", "1 GHz"))


def test_media_in_use_are_hashed_once_each_however_many_bodies_have_them(monkeypatch):
    hashes, own = [], nf.Medium.__hash__
    monkeypatch.setattr(nf.Medium, "__hash__", lambda medium: hashes.append(medium) or own(medium))
    media = nf.Medium(2.0, name="a"), nf.Medium(3.0, name="b")
    boxes = [nf.Structure(nf.Box((0, 0, n), (1, 1, n + 1)), media[n % 2]) for n in range(40)]
    model = nf.Simulation(nf.Grid.uniform(1.0, (4, 4, 40)), structures=boxes, steps=1)
    assert model._bodies and not hashes.clear()
    assert [name for name, _ in media_in_use(model)] == ["background", "a", "b"] and len(hashes) <= 3
