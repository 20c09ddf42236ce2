"""Ports in guides with mixed fillings: hybrid modes of the grid over a band, beside closed forms."""

import numpy as np
import pytest
from guides import MM, behind, guide

import nearfield as nf
from nearfield.analysis.loaded_line import wave_number
from nearfield.guides.counted import static_fields
from nearfield.guides.loaded import Equations, first_waves
from nearfield.guides.loaded_mode import loaded_mode
from nearfield.guides.modes import flat_edges
from validation.loaded_guide.run import slab_wave_number

PULSE = nf.ModulatedGaussian(16e9, 12e9)


def slab(x0=4, x1=8, permittivity=4.0, height=7, **more):
    """From wall to wall along y, corners in mm."""
    return nf.Structure(nf.Box((x0 * MM, 0, 0), (x1 * MM, height * MM, 1)), nf.Medium(permittivity, **more))


def section_of(model):
    context = model._setup().context
    return model._channels[0]._placed(context).mode.section, context.time_step


def test_the_wave_number_of_a_slab_loaded_guide_is_its_closed_form_to_second_order():
    """(k d)^2/24 of a wave of 2 pi/k = 8 cells in the slab is 2 %, and a quarter of it at twice the cells."""
    errors, wanted = [], slab_wave_number(16e9, 12 * MM, 4 * MM, 4.0)
    for fine in (1, 2):
        grid = nf.Grid.uniform(MM / fine, (12 * fine, 4, 30))
        port = nf.WaveguidePort("in", (0, 0, 12 * MM / fine), (12 * MM, 4 * MM / fine, 12 * MM / fine), "+z", 1, "any")
        model = guide([slab()]).model_copy(update={"grid": grid, "ports": (port,), "waveform": PULSE})
        line = port._placed(model._setup().context).line
        lag = -np.angle(line.per_cell(np.array([16e9])))[0]
        errors.append(lag * fine / MM / wanted - 1)
    assert abs(errors[0]) < 0.02
    assert 3.2 < errors[0] / errors[1] < 4.8


def test_hybrid_modes_have_no_common_power_and_obey_both_equations():
    section, step = section_of(guide([slab(2, 5)], pulse=PULSE))
    equations, k2 = Equations(section), wave_number(16e9, step) ** 2
    waves = first_waves(equations, k2, 5, "port")
    powers = [[np.sum(equations.area * one.electric * other.magnetic) for one in waves] for other in waves]
    assert np.abs(np.array(powers) - np.eye(5)).max() < 1e-10
    for wave in waves:
        miss = equations.waves(k2) @ wave.electric - wave.square * wave.electric
        assert np.abs(miss).max() < 1e-9 * abs(wave.square) * np.abs(wave.electric).max()


def test_with_one_medium_a_hybrid_mode_is_the_mode_of_its_name():
    """All of the line to 1e-9: the polynomials through 8 points."""
    model = guide(pulse=PULSE)
    section, step = section_of(model)
    hybrid = loaded_mode(section, 1, (10e9, 24e9), step, "port").line(MM, step)
    named = model.ports[0]._placed(model._setup().context).line
    f = np.linspace(10e9, 24e9, 41)
    assert np.abs(hybrid.per_cell(f) - named.per_cell(f)).max() < 1e-9
    for one, other in zip(hybrid.admittances(f), named.admittances(f)):
        assert np.abs(one / other - 1)[np.abs(f / named.cutoff_frequency - 1) > 0.02].max() < 1e-6
    assert hybrid.cutoff_frequency == pytest.approx(named.cutoff_frequency, rel=1e-3)


def test_the_cutoff_of_a_hybrid_mode_is_known_from_pulses_that_begin_above_it():
    """The same as from one that begins below, whose polynomials have it to the 4001 frequencies of its band."""
    for structures in ([slab(2, 5)], []):
        model = guide(structures, pulse=PULSE)
        section, step = section_of(model)
        around = loaded_mode(section, 1, (5e9, 24e9), step, "port").line(MM, step).cutoff_frequency
        above = loaded_mode(section, 1, (17e9, 22e9), step, "port")
        assert 5e9 < around < 17e9
        assert np.isnan(above.line(MM, step).cutoff_frequency)
        assert above.cutoff_below(step) == pytest.approx(around, abs=28e9 / 4000)
    model = guide([slab(2, 5)], pulse=nf.ModulatedGaussian(20e9, 4e9))
    found = model.guide_modes()
    assert list(found.family.values) == ["hybrid"] * 2
    assert found.cutoff_frequency.values == pytest.approx(
        guide([slab(2, 5)], pulse=PULSE).guide_modes().cutoff_frequency.values, rel=2e-3
    )


@pytest.mark.parametrize("pulse", [nf.Gaussian(1e9), nf.ModulatedGaussian(10e9, 4e9)])
def test_a_quasi_tem_wave_has_no_cutoff(pulse):
    strip = nf.Structure(nf.Sheet((4 * MM, 2 * MM, 0), (8 * MM, 2 * MM, 1)), nf.PEC)
    model = guide([slab(0, 12, 4.0, height=2), strip], pulse=pulse)
    assert list(model.guide_modes().cutoff_frequency.values) == [0.0, 0.0]
    assert "none" in str(model.check()).split("modes of the waveguide ports")[1]


def test_a_shielded_microstrip_begins_with_its_static_permittivity():
    """At a hundredth of a wavelength across the box, to the square of it."""
    board = slab(0, 12, 4.0, height=2)
    strip = nf.Structure(nf.Sheet((4 * MM, 2 * MM, 0), (8 * MM, 2 * MM, 1)), nf.PEC)
    model = guide([board, strip], pulse=nf.Gaussian(1e9))
    section, step = section_of(model)
    found = model.ports[0]._placed(model._setup().context).line
    f = np.array([0.25e9])
    index = found.shares(f) @ found.squares / wave_number(f, step) ** 2
    filled, empty = capacitances(section)
    assert index[0] == pytest.approx(filled / empty, rel=1e-3)


def test_a_shielded_microstrip_has_the_line_impedance_of_its_capacitances():
    """eta0/sqrt(C C0)/eps0, to the square of a hundredth of a wavelength across the box."""
    board = slab(0, 12, 4.0, height=2)
    strip = nf.Structure(nf.Sheet((4 * MM, 2 * MM, 0), (8 * MM, 2 * MM, 1)), nf.PEC)
    model = guide([board, strip], pulse=nf.Gaussian(1e9))
    section, _ = section_of(model)
    filled, empty = capacitances(section)
    found = model.guide_modes(0.5e9).line_impedance
    assert found.values == pytest.approx(376.730 / np.sqrt(filled * empty), rel=1e-3)
    assert "2 P" in found.attrs["definition"]


def test_modes_that_are_no_pair_of_conductors_wave_have_no_line_impedance():
    """Hollow guides, and the second mode of a shielded microstrip."""
    board = slab(0, 12, 4.0, height=2)
    strip = nf.Structure(nf.Sheet((4 * MM, 2 * MM, 0), (8 * MM, 2 * MM, 1)), nf.PEC)
    hollow, filled = guide(pulse=PULSE), guide([slab()], pulse=PULSE)
    second = guide([board, strip], pulse=nf.ModulatedGaussian(22e9, 4e9))
    second = second.model_copy(update={"ports": (second.ports[0].model_copy(update={"modes": ("2",)}),)})
    for model in (hollow, filled, second):
        assert np.isnan(model.guide_modes().line_impedance.values).all()
    assert "line of" not in str(hollow.check()) + str(filled.check())


def capacitances(section):
    """Of the strip over eps0 with the dielectric and without, per length; mu beside is eps of the latter."""
    from dataclasses import replace

    area, live, _ = flat_edges(section)
    cb, db = (
        np.concatenate([part.ravel() for part in both[:2]])
        for both in (section.filling.electric, section.filling.magnetic)
    )
    area, energies = area * live, []
    for open_parts in (cb, 1 / db):  # area/open part weighs the static problem: eps_r area
        parts = np.split(open_parts, [section.live_u.size])
        filling = replace(
            section.filling,
            open_u=parts[0].reshape(section.live_u.shape),
            open_v=parts[1].reshape(section.live_v.shape),
        )
        (electric,) = static_fields(replace(section, filling=filling))
        energies.append(np.sum(area / open_parts * electric**2))
    return energies


LEAKS = {
    "slab": lambda: guide([slab()], length=110, steps=230, pulse=PULSE),
    "corner": lambda: guide([slab(0, 5, height=3)], length=110, steps=260, pulse=nf.ModulatedGaussian(14e9, 8e9)),
}


@pytest.mark.parametrize("case", LEAKS)
def test_what_leaks_out_behind_the_port_is_below_minus_100_db(case):
    assert behind(LEAKS[case]()) < 1e-5


def test_waves_between_two_ports_lag_by_the_lines_between_them():
    """With both reference planes in the middle S is one, and zero; 1e-3 for what the record cuts off."""
    model = guide([slab()], length=50, steps=None, duration=4e-9, pulse=PULSE)
    ports = tuple(port.model_copy(update={"reference_plane": 25 * MM}) for port in model.ports)
    s = model.model_copy(update={"ports": ports}).run(threads=1).sparameters.sel(frequency=slice(11e9, 22e9))
    assert np.abs(s.values - np.array([[0, 1], [1, 0]])).max() < 1e-3
    assert np.abs(s.sel(to="in", source="in")).max() < 1e-4


def test_a_post_in_a_loaded_guide_keeps_the_power_of_both_modes(tmp_path):
    post = nf.Structure(nf.Box((1 * MM, 0, 22 * MM), (3 * MM, 4 * MM, 24 * MM)), nf.PEC)
    pulse = nf.ModulatedGaussian(24e9, 5e9)
    model = guide([slab(), post], (12, 4), 2, length=46, steps=None, duration=3e-9, pulse=pulse)
    result = model.run(threads=1)
    s = result.sparameters.sel(frequency=slice(22e9, 26e9))
    power = np.einsum("fts,ftr->fsr", s.values.conj(), s.values)
    assert np.abs(s.sel(to="out:2", source="in:1")).max() > 0.1
    assert np.abs(power - np.eye(4)).max() < 1e-3
    assert np.abs(s.values - s.values.transpose(0, 2, 1)).max() < 1e-5
    kept = nf.open_result(result.save(tmp_path / "r.h5"))
    assert np.array_equal(kept.sparameters, result.sparameters, equal_nan=True)
    port = kept.excitation("in:1").port("in:1")
    assert port["voltage"].dims == ("time",)
    assert port["voltage_parts"].dims == ("profile", "time")


@pytest.mark.parametrize("direction", ["-x", pytest.param("+y", marks=pytest.mark.slow)])
def test_a_loaded_guide_along_any_axis_either_way_gives_the_same_waves(direction):
    found = []
    for way in ("+z", direction):
        by, turned = "zxy".index(way[1]), way[0] == "-"
        ends = (14, 26) if not turned else (26, 14)
        other = {"+": "-", "-": "+"}[way[0]] + way[1]
        at = [np.roll([[0, 0, z], [10, 5, z]], by, axis=1) * MM for z in ends]
        ports = [
            nf.WaveguidePort(name, *corners.tolist(), d, 1, "any")
            for name, corners, d in (("in", at[0], way), ("out", at[1], other))
        ]
        body = np.roll([[3, 0, 0], [6, 5, 1000]], by, axis=1) * MM
        model = nf.Simulation(
            grid=nf.Grid.uniform(MM, tuple(int(n) for n in np.roll((10, 5, 40), by))),
            ports=ports,
            precision="double",
            structures=[nf.Structure(nf.Box(*body.tolist()), nf.Medium(3.0))],
            waveform=nf.ModulatedGaussian(18e9, 8e9),
            boundaries=nf.Boundaries(nf.PEC, **{f"{way[1]}_{side}": nf.CPML(6) for side in ("low", "high")}),
            steps=250,
            excitations=("in",),
        )
        run = model.run(threads=1).excitation("in")
        found.append([run.port(name)[part].values for name in ("in", "out") for part in ("voltage", "current")])
    for one, other in zip(*found):
        assert np.abs(one).max() > 1e-5
        assert min(np.abs(one - other).max(), np.abs(one + other).max()) < 1e-9 * np.abs(one).max()


def test_half_of_a_loaded_guide_tells_of_the_whole():
    model = guide([slab()], length=44, steps=150, excitations=("in",), pulse=PULSE)
    whole = model.run(threads=1).excitation("in")
    part = model.model_copy(update={"symmetry": nf.Symmetry(x="magnetic")}).run(threads=1).excitation("in")
    for name in ("voltage", "current"):
        wanted, found = (each.port("out")[name].values for each in (whole, part))
        assert np.abs(found - wanted).max() < 1e-11 * np.abs(wanted).max() > 0


WRONG = {
    "a crossing": (
        lambda: guide([slab(0, 5, height=3)], pulse=nf.ModulatedGaussian(24e9, 12e9)),
        {"modes": ("2",)},
        "change so fast within the pulse's band",
    ),
    "a name": (lambda: guide([slab()], pulse=PULSE), {"modes": ("TE10",), "shape": "rectangular"}, "filled unevenly"),
    "too many": (lambda: guide([slab(0, 1, height=2)], (2, 2), pulse=PULSE), {"modes": ("9",)}, "the grid has 4 modes"),
    "a loss": (lambda: guide([slab(conductivity=1.0)], pulse=PULSE), {}, "loss tangent of 0.2"),
    "an end": (
        lambda: guide([nf.Structure(nf.Box((0, 0, 12.5 * MM), (5 * MM, 7 * MM, 1)), nf.Medium(2.0))], pulse=PULSE),
        {},
        "changes within a cell",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_port_in_a_filled_guide_that_cannot_be_right_is_refused(case):
    made, changed, message = WRONG[case]
    model = made()
    ports = (model.ports[0].model_copy(update=changed),)
    with pytest.raises(nf.ModelError, match=message):
        _ = model.model_copy(update={"ports": ports})._setup().plan
