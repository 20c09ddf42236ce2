"""The library against what its sources tabulate, at two points each at least, and its own words."""

import json
import re

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.entry.constants import VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.entry.toml_text import dumps
from nearfield.model_file import loads
from scripts.fit_library import fit

ROUNDED = 2e-6  # of constants kept to seven digits


def index_at(name: str, micrometres: float) -> complex:
    return np.sqrt(nf.library[name].relative_permittivity(VACUUM_SPEED / micrometres * 1e6))


# wavelength (um), n, k: the tables of the Lorentz-Drude model on refractiveindex.info (M. N. Polyanskiy, public domain)
RAKIC = {
    "gold": [(0.49712, 0.81015, 1.8730), (1.0129, 0.25970, 6.0788), (5.0236, 3.4866, 31.039)],
    "silver": [(0.40535, 0.15377, 1.8860), (1.0013, 0.21994, 6.4341), (10.186, 12.294, 64.413)],
    "copper": [(0.48036, 1.0073, 2.2301), (1.0075, 0.25557, 6.5372), (10.093, 8.3039, 64.879)],
}


@pytest.mark.parametrize("name", RAKIC)
def test_metals_have_the_indices_of_rakic(name):
    for micrometres, n, k in RAKIC[name]:
        found = index_at(name, micrometres)
        # the table's wavelengths have five digits, and at these points n moves by at most 15 times their relative error
        assert found.real == pytest.approx(n, rel=1e-3)
        assert -found.imag == pytest.approx(k, rel=1e-3)


def test_metals_in_the_visible_have_the_indices_of_johnson_and_christy():
    for name, micrometres, n, k in (
        ("gold", 0.5486, 0.43, 2.455),
        ("gold", 0.8920, 0.17, 5.663),
        ("silver", 0.4509, 0.04, 2.657),
        ("silver", 0.7560, 0.03, 5.242),
        ("copper", 0.6168, 0.30, 3.205),
        ("copper", 1.0880, 0.36, 7.217),
    ):
        entry, frequency = nf.library.about(f"{name}-visible"), VACUUM_SPEED / micrometres * 1e6
        assert entry.published(frequency) == pytest.approx((n - 1j * k) ** 2, rel=1e-9)
        assert entry.medium.relative_permittivity(frequency) == pytest.approx((n - 1j * k) ** 2, rel=entry.error)


# wavelength (um), n: Malitson's table of measured values; Schott's catalogue at the lines d, F, C and 1529.6 nm; those
# of Salzberg and Villa
GLASSES = {
    "fused-silica": [(0.587561, 1.45846), (1.01398, 1.45024), (0.2378325, 1.51473)],
    "bk7": [(0.5875618, 1.51680), (0.4861327, 1.52238), (0.6562725, 1.51432), (1.5296, 1.50091)],
    "silicon": [(1.3570, 3.4975), (1.5295, 3.4795), (2.4373, 3.4408)],
}
MEASURED = {"fused-silica": 3e-5, "bk7": 1e-5, "silicon": 1.2e-3}  # of the formula against the measurements


@pytest.mark.parametrize("name", GLASSES)
def test_glasses_have_the_measured_indices(name):
    for micrometres, n in GLASSES[name]:
        assert index_at(name, micrometres) == pytest.approx(n, abs=MEASURED[name])


# Hz, permittivity, loss tangent: A. R. von Hippel, Dielectric Materials and Applications 1954, water at 25 C
def test_water_is_that_of_von_hippels_table():
    for frequency, real, tangent in ((3e8, 77.5, 0.016), (3e9, 76.7, 0.157)):
        found = nf.library.water.relative_permittivity(frequency)
        assert found.real == pytest.approx(real, rel=0.015)
        assert -found.imag / found.real == pytest.approx(tangent, rel=0.1)


def test_water_has_the_static_permittivity_that_is_measured():
    # C. G. Malmberg, A. A. Maryott 1956: 78.30 at 25 C, 80.10 at 20 C; the formula is good to a third of a percent
    for name, static in (("water", 78.30), ("water-20c", 80.10)):
        assert nf.library[name].relative_permittivity(1e6).real == pytest.approx(static, rel=3.3e-3)


def test_sea_water_conducts_as_at_20_c_and_35_parts_per_thousand():
    sea = nf.library.sea_water
    assert sea.conductivity == pytest.approx(4.788, abs=2e-3)
    # Recommendation ITU-R P.527: 70 and 5 S/m, rounded, up to 1 GHz
    assert sea.relative_permittivity(1e9).real == pytest.approx(70, rel=0.05)


SOILS = {  # real part and conductivity (S/m) at 100 MHz and 1 GHz, two Debye terms by hand
    "soil-dry": [(1e8, 3.2 + 0.75 / 3.8994 + 0.3 / 1.00460), (1e9, 3.2 + 0.75 / 290.94 + 0.3 / 1.46048)],
    "soil-wet": [(1e8, 6.0 + 2.75 / 7.25345 + 0.75 / 1.02487), (1e9, 6.0 + 2.75 / 626.345 + 0.75 / 3.48719)],
}


@pytest.mark.parametrize("name", SOILS)
def test_soils_have_the_permittivity_of_their_two_relaxations(name):
    for frequency, real in SOILS[name]:
        assert nf.library[name].relative_permittivity(frequency).real == pytest.approx(real, rel=1e-4)


# permittivity, conductivity (S/m) at 900 MHz and 2450 MHz: D. Andreuccetti, R. Fossi, C. Petrucci, IFAC-CNR, Florence,
# an Internet resource for the dielectric properties of body tissues, after Gabriel
TISSUES = {
    "muscle": [(55.03, 0.943), (52.73, 1.739)],
    "fat": [(5.462, 0.0510), (5.280, 0.1045)],
    "blood": [(61.36, 1.538), (58.26, 2.545)],
    "skin-dry": [(41.41, 0.867), (38.01, 1.464)],
    "brain-grey": [(52.73, 0.942), (48.91, 1.807)],
    "bone-cortical": [(12.45, 0.143), (11.38, 0.394)],
}


@pytest.mark.parametrize("name", TISSUES)
def test_tissues_have_the_values_in_use(name):
    entry = nf.library.about(name)
    for frequency, (real, conductivity) in zip((900e6, 2450e6), TISSUES[name]):
        loss = conductivity / (2 * np.pi * frequency * VACUUM_PERMITTIVITY)
        formula, fitted = entry.published(np.array(frequency)), entry.medium.relative_permittivity(frequency)
        assert formula == pytest.approx(real - 1j * loss, rel=1e-3)
        assert fitted == pytest.approx(real - 1j * loss, rel=1e-3 + entry.error)


BOARDS = {
    "fr4": [(2e9, 4.04, 0.0210)],
    "ro4003c": [(10e9, 3.38, 0.0027), (2.5e9, None, 0.0021)],
    "ro4350b": [(10e9, 3.48, 0.0037), (2.5e9, None, 0.0031)],
    "rt-duroid-5870": [(10e9, 2.33, 0.0012)],
    "rt-duroid-5880": [(10e9, 2.20, 0.0009)],
    "rt-duroid-6002": [(10e9, 2.94, 0.0012)],
    "rt-duroid-6010lm": [(10e9, 10.2, 0.0023)],
    "tmm-3": [(10e9, 3.27, 0.0020)],
    "tmm-4": [(10e9, 4.50, 0.0020)],
    "tmm-6": [(10e9, 6.00, 0.0023)],
    "tmm-10i": [(10e9, 9.80, 0.0020)],
    "megtron-6": [(1e9, 3.40, 0.0020)],
    "rf-35tc": [(10e9, 3.5, 0.0011)],
}


@pytest.mark.parametrize("name", BOARDS)
def test_laminates_have_the_values_of_their_data_sheets(name):
    for frequency, real, tangent in BOARDS[name]:
        found = nf.library[name].relative_permittivity(frequency)
        assert -found.imag / found.real == pytest.approx(tangent, rel=0.02)
        if real is not None:
            assert found.real == pytest.approx(real, rel=1e-3)


@pytest.mark.parametrize("name", BOARDS)
def test_the_loss_of_a_laminate_stays_near_its_data_sheet_over_the_whole_band(name):
    frequency = np.geomspace(*nf.library.about(name).valid_band, 200)
    found, formula = nf.library[name].relative_permittivity(frequency), nf.library.about(name).published(frequency)
    assert np.abs(found.imag / formula.imag - 1).max() < 0.05


def test_walls_have_the_conductivity_of_the_recommendation():
    # MathWorks' buildingMaterialPermittivity at 9 GHz, after ITU-R P.2040-1: brick, concrete, plasterboard, wood, glass
    for name, real, conductivity in (
        ("brick", 3.75, 0.038),
        ("concrete", 5.31, 0.19305),
        ("wood", 1.99, 0.049528),
        ("plasterboard", 2.94, 0.054914),
        ("window-glass", 6.27, 0.059075),
    ):
        formula = nf.library.about(name).published(np.array(9e9))
        assert formula.real == real
        assert -formula.imag * 2 * np.pi * 9e9 * VACUUM_PERMITTIVITY == pytest.approx(conductivity, rel=1e-4)


@pytest.mark.parametrize("name", list(nf.library))
def test_every_medium_is_as_near_its_source_as_it_says_and_passive(name):
    entry = nf.library.about(name)
    frequency = entry.points(333)
    published = entry.published(frequency)
    off = np.abs(entry.medium.relative_permittivity(frequency) - published) / np.abs(published)
    assert off.max() <= max(entry.error, ROUNDED)
    everywhere = entry.medium.relative_permittivity(np.logspace(3, 18, 500))
    assert (everywhere.imag <= 1e-9 * np.abs(everywhere)).all()
    assert entry.medium.permittivity >= 1.0


@pytest.mark.parametrize("name", list(nf.library))
def test_every_medium_names_its_source_with_a_year_and_its_band(name):
    entry = nf.library.about(name)
    assert re.search(r"\b(19|20)\d\d\b", entry.source + entry.title) or "data sheet" in entry.source
    assert 0 <= entry.valid_band[0] < entry.valid_band[1]
    assert entry.medium.valid_band == entry.valid_band and entry.medium.name == entry.title


def simulation(**change):
    grid = nf.Grid.uniform(1e-3, (8, 8, 8))
    change |= {"boundaries": nf.Boundaries(all=nf.PEC)}
    source = nf.PointCurrent((4e-3, 4e-3, 4.5e-3), "z", change.pop("waveform", nf.Gaussian(10e9)))
    return nf.Simulation(grid, sources=[source], monitors=[nf.Probe("p", (2e-3,) * 3, "Ez")], steps=10, **change)


def test_a_model_file_names_media_of_the_library_and_the_result_holds_their_constants():
    head = 'background = "library:fat"\n\n[media]\nskin = "library:skin-dry"\n\n[grid]'
    text = dumps(simulation()).replace("[grid]", head)
    text += (
        '\n[[structures]]\nmedium = "library:muscle"\n'
        'shape = {kind = "box", lower = [0, 0, 0], upper = [0.002, 0.002, 0.002]}\n'
    )
    model = loads(text)
    assert model.background == nf.library.fat and model.media["skin"] == nf.library["skin-dry"]
    assert model.structures[0].medium == nf.library.muscle
    assert loads(dumps(model)) == model
    assert "library:" not in dumps(model)


def test_a_run_beyond_the_band_of_a_medium_is_warned_of():
    beyond = [w for w in simulation(background="library:gold").check().warnings if "is known from" in w]
    assert len(beyond) == 1 and "48.36 THz" in beyond[0] and "10 GHz" in beyond[0]
    inside = simulation(background="library:brick", waveform=nf.ModulatedGaussian(5e9, 1e9))
    assert not [w for w in inside.check().warnings if "is known from" in w]


@pytest.mark.parametrize("name", ["gald", "", "library:gold"])
def test_a_name_that_is_not_there_is_refused(name):
    with pytest.raises(nf.ModelError, match="the library has no medium"):
        nf.library[name]
    with pytest.raises(AttributeError):
        getattr(nf.library, name or "x")
    with pytest.raises(nf.ModelError, match="background: the library has no medium"):
        simulation(background=f"library:{name}")


def test_the_command_lists_all_and_describes_one(capsys):
    assert main(["media", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["media"]
    assert [entry["name"] for entry in listed] == list(nf.library)
    assert main(["media", "gold"]) == 0
    assert "A. D. Rakic" in (text := capsys.readouterr().out) and "[media.gold]" in text
    assert main(["media", "gald"]) == 2
    assert "did you mean 'gold'?" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["skin-dry", "ro4003c", "wood", "silver-visible"])
def test_a_fit_made_again_is_as_near_its_source_as_the_one_kept(name):
    entry = nf.library.about(name)
    assert fit(entry).largest_error <= entry.error
