"""Media whose constants differ along x, y and z."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.model_file import load
from validation.anisotropic_media.run import CONSTANTS, MODES, found, on_the_grid
from validation.parallel_plate import line

LAMINATE = (3.4, 3.4, 2.9)
BOX = nf.Box((0, 0, 0), (4e-3, 6e-3, 2e-3))


def model(**entries):
    entries = {"grid": nf.Grid.uniform(1e-3, (8, 8, 8)), "boundaries": nf.Boundaries(nf.PEC), "steps": 3} | entries
    return nf.Simulation(**entries)


def test_three_equal_constants_are_one_and_other_forms_are_refused_in_words():
    assert nf.Medium((3.4, 3.4, 3.4)) == nf.Medium(3.4) and not nf.Medium([2, 2, 2]).anisotropic
    assert nf.Medium(np.array(LAMINATE)).permittivity == LAMINATE
    for wrong in ([3.4, 2.9], [[3.4, 0, 0], [0, 3.4, 0], [0, 0, 2.9]], (3.4, 3.4, 0.0), (1e10, 1, 1)):
        with pytest.raises(nf.ModelError, match=r"three, along x, y and z|positive|0.01 to 1e\+09"):
            nf.Medium(wrong)
    with pytest.raises(nf.ModelError, match=r"constants along x, y and z; take medium.along"):
        nf.Medium(LAMINATE).relative_permittivity(1e9)


def test_each_axis_has_the_constants_of_its_own():
    medium = nf.Medium(LAMINATE, (1.0, 2.0, 1.0), conductivity=(0.1, 0, 0), name="board")
    assert [medium.along(axis).permittivity for axis in "xyz"] == list(LAMINATE)
    assert medium.along("x").relative_permittivity(1e9).imag < 0 == medium.along("z").relative_permittivity(1e9).imag
    assert medium.index == pytest.approx(np.sqrt(3.4 * 2.0))  # a wave with E along x and H along y
    assert [wave.index**2 for wave in medium._waves(2)] == pytest.approx([3.4 * 2.0, 3.4])
    assert nf.Medium(LAMINATE).index_at(1e9) == pytest.approx(np.sqrt(3.4))


def test_a_loss_tangent_at_a_frequency_holds_along_each_axis_and_over_a_band_is_refused():
    medium = nf.Medium(LAMINATE, loss_tangent=0.02, loss_frequency=1e10)
    for axis in "xyz":
        value = medium.along(axis).relative_permittivity(1e10)
        assert -value.imag / value.real == pytest.approx(0.02, rel=1e-12)
    with pytest.raises(nf.ModelError, match="poles act alike along all axes"):
        nf.Medium(LAMINATE, loss_tangent=0.02, loss_band=(1e9, 1e10))


def test_a_model_file_takes_an_array_and_a_saved_model_gives_it_back(tmp_path):
    text = model(structures=[nf.Structure(BOX, nf.Medium(3.0))]).to_toml()
    file = tmp_path / "model.toml"
    file.write_text(text.replace("permittivity = 3.0", "permittivity = [3.4, 3.4, 2.9]"))
    assert load(file).structures[0].medium.permittivity == LAMINATE
    assert "permittivity = [3.4, 3.4, 2.9]" in load(file).to_toml()


@pytest.mark.parametrize("name", MODES)
def test_a_filled_box_rings_at_the_frequencies_of_its_axes(name):
    """Yee's own frequencies, to rounding of the fitted cosine over 60 steps."""
    frequency, step = found(name)
    assert frequency == pytest.approx(on_the_grid(name, step), rel=1e-9)
    assert len({*CONSTANTS[0]}) == len({*CONSTANTS[1]}) == 3


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"permeability": (5.0, 1.5, 1.0), "conductivity": (0.1, 0.0, 2.0)},
        {"poles": [nf.Lorentz(0.5, 4e9, 5e8)]},
        {"poles": [nf.Debye(3.0, 1e-10)], "magnetic_poles": [nf.Drude(3e9, 1e8)]},
    ],
)
def test_a_slab_is_to_each_polarisation_what_its_own_medium_is(more):
    """The same bits, with faces inside cells: no other constant takes part."""
    medium = nf.Medium((4.0, 2.0, 7.0), **more)
    seen = medium._waves(2)[0]  # E along x, H along y
    records = []
    for filled in (medium, seen):
        slab = nf.Structure(nf.Box((0, 0, 45.3e-3), (1e-3, 1e-3, 52.8e-3)), filled)
        run = line(1e-3, 80, nf.GaussianDerivative(4e9), {"before": 30, "behind": 55}, 25, structures=[slab], steps=400)
        result = run.run(threads=1)
        records.append([result[name].values for name in ("before", "behind")])
    assert np.array_equal(records[0], records[1]) and np.abs(records[0][1]).max() > 0


def test_flat_faces_inside_cells_lie_where_they_are_drawn_along_each_axis():
    """Across its own axis the series mean, along a face the arithmetic one, of this axis' constants."""
    block = nf.Structure(nf.Box((2e-3, 0, 0), (4.3e-3, 8e-3, 8e-3)), nf.Medium((4.0, 3.0, 2.0)))
    coefficients = model(structures=[block])._setup().coefficients
    at = [np.array([4]), np.array([4]), np.array([4])]
    across = coefficients.at(0, *at)[1]  # the edge from 4 to 5 mm
    assert across == pytest.approx(0.3 / 4.0 + 0.7, rel=1e-12)
    for component, constant in ((1, 3.0), (2, 2.0)):  # the dual cell from 3.5 to 4.5 mm
        assert 1 / coefficients.at(component, *at)[1] == pytest.approx(0.8 * constant + 0.2, rel=1e-12)


def test_isotropic_models_have_no_further_columns():
    with_one = model(structures=[nf.Structure(BOX, nf.Medium(LAMINATE))])._setup().coefficients.means
    without = model(structures=[nf.Structure(BOX, nf.Medium(3.4))])._setup().coefficients.means
    assert without.columns.count == 4 and with_one.columns.count == 6
    assert without.contrasts[0] is without.contrasts[2] and without.table.shape[1] == 8


def test_layers_and_cells_a_wavelength_follow_the_waves_of_their_axis():
    medium = nf.Medium((2.0, 3.0, 9.0))
    layers = nf.Boundaries(nf.CPML(cells=2))
    source = nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", nf.GaussianDerivative(2e9))
    setup = model(background=medium, boundaries=layers, sources=[source])._setup()
    assert sorted(wave.permittivity for wave in setup.layer_media[2, "low"]) == [2.0, 3.0]
    assert sorted(wave.permittivity for wave in setup.layer_media[0, "low"]) == [3.0, 9.0]
    assert setup.boundaries.face(2, "low").index == pytest.approx(np.sqrt(2.0))
    check = setup.simulation.check()
    assert check.media[0].refractive_index == pytest.approx(3.0)


def test_the_time_step_is_that_of_the_smallest_constants():
    """A bound of every pair of neighbours: sqrt of the least permittivity times the least permeability, below 1."""
    plain, fast = (model(background=nf.Medium(constant))._setup() for constant in (1.0, (0.25, 1.0, 4.0)))
    assert fast.time_step == pytest.approx(0.5 * plain.time_step)
    with pytest.raises(nf.ModelError, match=r"permittivity \(0.25, 1, 4\)"):
        model(background=nf.Medium((0.25, 1.0, 4.0)), time_step=plain.time_step)._setup()


def test_a_medium_turns_with_its_body_where_axes_become_axes():
    quarter, tilted = nf.Rotate("x", "90 deg"), nf.Rotate("z", "30 deg")
    turned = nf.Structure(BOX, nf.Medium((2.0, 3.0, 4.0)), transforms=[quarter]).parts()[0]
    assert turned.medium.permittivity == (2.0, 4.0, 3.0)
    assert nf.Structure(BOX, nf.Medium(LAMINATE), transforms=[tilted]).parts()[0].medium.permittivity == LAMINATE
    mirrored = nf.Structure(BOX, nf.Medium((2.0, 3.0, 4.0)), transforms=[nf.Mirror("x"), nf.Translate((1, 0, 0))])
    assert mirrored.parts()[0].medium.permittivity == (2.0, 3.0, 4.0)
    with pytest.raises(nf.ModelError, match="its axes would leave those of the grid"):
        nf.Structure(BOX, nf.Medium((2.0, 3.0, 4.0)), transforms=[tilted])


def test_a_medium_by_its_name_turns_with_its_body_too():
    media = {"board": nf.Medium((2.0, 3.0, 4.0))}
    bodies = [nf.Structure(BOX, "board"), nf.Structure(BOX, "board", transforms=[nf.Rotate("x", "90 deg")])]
    found = model(structures=bodies, media=media)
    assert [body.medium.permittivity for body in found._bodies] == [(2.0, 3.0, 4.0), (2.0, 4.0, 3.0)]
    assert model(structures=found.structures, media=media)._bodies[1].medium.permittivity == (2.0, 4.0, 3.0)
    with pytest.raises(nf.ModelError, match="its axes would leave those of the grid"):
        model(structures=[nf.Structure(BOX, "board", transforms=[nf.Rotate("x", "30 deg")])], media=media)


def test_what_knows_isotropic_media_alone_refuses_by_name():
    medium, layers = nf.Medium(LAMINATE, name="board"), nf.Boundaries(nf.CPML(cells=3))
    grid = nf.Grid.uniform(1e-3, (20, 20, 20))
    with pytest.raises(nf.ModelError, match=r'averaging="tensor".*board'):
        model(structures=[nf.Structure(BOX, medium)], averaging="tensor")._setup()
    wave = nf.PlaneWave((5e-3,) * 3, (15e-3,) * 3, (1, 1, 0), (0, 0, 1), nf.GaussianDerivative(5e9))
    with pytest.raises(nf.ModelError, match="anisotropic medium of"):
        model(grid=grid, background=medium, boundaries=layers, sources=[wave])._setup().plan  # noqa: B018
    source = nf.PointCurrent((10e-3, 10e-3, 10e-3), "z", nf.GaussianDerivative(5e9))
    entries = {"grid": grid, "boundaries": layers, "sources": [source], "monitors": [nf.FarField("far", 5e9)]}
    with pytest.raises(nf.ModelError, match="lies in the anisotropic medium board"):
        model(background=medium, **entries)._setup().plan  # noqa: B018
    inside = nf.Structure(nf.Box((8e-3, 8e-3, 8e-3), (12e-3, 12e-3, 12e-3)), medium)
    assert model(structures=[inside], **entries)._setup().plan is not None


@pytest.mark.parametrize("where", ["body", "background"])
def test_poles_of_such_media_are_judged_along_each_axis(where):
    """eps_inf - (f_p/f)^2 with f_p/f up to 1.33 in the band: below 0 along x alone."""
    medium = nf.Medium((1.5, 3.0, 9.0), poles=[nf.Drude(8e9, 0.0)])
    body = [nf.Structure(nf.Sphere((4e-3,) * 3, 2e-3), medium if where == "body" else nf.Medium())]
    found = model(
        structures=body,
        background=nf.Medium() if where == "body" else medium,
        sources=[nf.PointCurrent((4e-3,) * 3, "z", nf.ModulatedGaussian(8e9, 4e9))],
        monitors=[nf.Probe("ez", (4e-3,) * 3)],
    )
    assert any("permittivity below 0" in said for said in found.check().warnings)
    assert any(each.name == "surfaces of negative permittivity" for each in found.run(threads=1).trust)


def test_a_port_has_the_mode_of_an_anisotropic_filling_and_refuses_it_by_its_family():
    """TE10 has E along y alone: beta^2 = eps_y k^2 - (pi/a)^2, on 16 cells a wavelength to 2 %."""
    cells, size = (12, 6, 40), (12e-3, 6e-3, 40e-3)
    filling = nf.Structure(nf.Box((0, 0, 0), size), nf.Medium((3.0, 4.0, 2.0)))

    def port(mode, shape):
        return nf.WaveguidePort("in", (0, 0, 10e-3), (12e-3, 6e-3, 10e-3), "+z", mode, shape)

    def guide(given):
        walls = nf.Boundaries(nf.PEC, z_low=nf.CPML(cells=6), z_high=nf.CPML(cells=6))
        entries = {"structures": [filling], "boundaries": walls, "waveform": nf.ModulatedGaussian(10e9, 3e9)}
        return nf.Simulation(nf.Grid.uniform(1e-3, cells), **entries, ports=[given], steps=3)

    beta = guide(port(1, "any")).guide_modes([10e9])["propagation_constant"].values.imag.item()
    wanted = np.sqrt(4.0 * (2 * np.pi * 10e9 / 299792458.0) ** 2 - (np.pi / 12e-3) ** 2)
    assert beta == pytest.approx(wanted, rel=0.02)
    with pytest.raises(nf.ModelError, match="TE10 is a mode of one medium"):
        guide(port("TE10", "rectangular"))._setup().plan  # noqa: B018
