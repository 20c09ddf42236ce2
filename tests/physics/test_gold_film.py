"""examples/gold_film at a small size, against the Airy sum, and its model file against its Python form."""

from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from examples.gold_film import GOLD, NM, THICKNESS, expected, model, spectra
from nearfield.entry.constants import VACUUM_SPEED

ROOT = Path(__file__).resolve().parents[2]
WAVELENGTHS = np.linspace(400, 800, 9) * NM


def test_gold_has_the_permittivity_of_the_published_formula():
    """Le Ru and Etchegoin 2009, (E.2), for exp(-i w t), lengths in nm; near -11.6 + 1.2i at the helium-neon line."""
    wavelength = np.array([400.0, 632.8, 900.0])
    formula = 1.54 * (1 - 1 / (177.5**2 * (1 / wavelength**2 + 1j / (14500 * wavelength))))
    for strength, own, width in ((1.27, 470, 1900), (1.1, 325, 1060)):
        formula += (
            strength
            / own
            * (
                np.exp(-0.25j * np.pi) / (1 / own - 1 / wavelength - 1j / width)
                + np.exp(0.25j * np.pi) / (1 / own + 1 / wavelength + 1j / width)
            )
        )
    found = GOLD.relative_permittivity(VACUUM_SPEED / (wavelength * NM))
    assert found == pytest.approx(formula.conjugate(), rel=1e-9)
    assert found[1] == pytest.approx(-11.6 - 1.2j, abs=0.3)


@pytest.mark.parametrize("thickness", [THICKNESS, 16 * NM])
def test_what_passes_returns_and_stays_follows_the_airy_sum(thickness):
    """2 nm cells: 200 a wavelength in vacuum, 73 in gold, so that faces and phases are good to some 0.001."""
    found = spectra(model(thickness, 2 * NM, WAVELENGTHS), threads=1)
    for name, values in expected(thickness, WAVELENGTHS).items():
        assert found[name] == pytest.approx(values, abs=0.003), name


def test_the_model_file_is_the_python_model():
    file, python = nf.load(ROOT / "examples" / "gold_film.toml"), model()
    for ours, theirs in zip(file._setup().grid.lines, python._setup().grid.lines):
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-15)
    assert np.allclose(file.structures[0].shape.bounds(), python.structures[0].shape.bounds(), atol=1e-15)
    f = VACUUM_SPEED / WAVELENGTHS
    assert np.allclose(file.media["gold"].relative_permittivity(f), GOLD.relative_permittivity(f), rtol=1e-8)
    assert file.sources[0].waveform == python.sources[0].waveform
    assert file.check().warnings == ()
