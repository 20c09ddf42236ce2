"""Waveguide ports of shape "open": modes of lines and cores without metal around them."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from lines import LAYER, MM, line, silicon, slab, slot_line, with_flux
from scipy.optimize import brentq
from scipy.special import ellipk

import nearfield as nf
from nearfield.analysis.sparameters import port_waves, renormalised
from nearfield.guides.loaded import Equations, first_waves
from nearfield.guides.outspread import outspread
from validation.microstrip.run import expected

LIGHT = 299792458.0
PAIR = ((-2.0, -1.0), (-0.5, 0.5))


def placed(model, number=0):
    """The line of a channel."""
    return model._channels[number]._placed(model._setup().context).line


def waves(result, excitation, name, frequencies):
    """(a, b) of a port."""
    variables = result.record.excitations[excitation].ports[name]
    return port_waves(variables, frequencies, np.nan, name == excitation)


def level(values):
    return 20 * np.log10(np.abs(values))


def index(found, frequencies):
    return -np.log(found.per_cell(frequencies)).imag / found.cell / (2 * np.pi * frequencies / LIGHT)


def test_the_modes_impedance_and_permittivity_of_a_microstrip_are_those_of_the_literature():
    """1.5 %: 0.6 % of a tenth of a cell in the strip's width, 0.5 % of dispersion at 2 GHz (validation/microstrip)."""
    height, cells = 0.795, 11
    cell = 2.46 / cells
    model = line(((-0.5 * cells * cell, 0.5 * cells * cell),), cell, height, 4, 4.0, growth=1.15)
    f, (impedance, permittivity) = np.array([0.2e9, 2e9]), expected()
    modes = model.guide_modes(f).isel(port=0)
    assert modes["characteristic_impedance"].values == pytest.approx(impedance, rel=0.015)
    beta = modes["propagation_constant"].values.imag
    assert (beta * LIGHT / (2 * np.pi * f)) ** 2 == pytest.approx(permittivity, rel=0.015)


def test_a_stripline_passes_a_pulse_from_0_hz_on_with_its_phase_and_power():
    """Shielded above and below, all of the power lies in the rectangle: what is left is the CPML's reflection."""
    model = line(shielded=True, room=4.0, excitations=("in",))
    grid, f = model._setup().grid, np.array([0.5, 1, 2, 4, 8]) * 1e9
    x, y, z = grid.lines
    assert model.check().modes[0].line_impedance == pytest.approx(placed(model).impedances(f)[3], rel=1e-3)
    flux = nf.Flux("power", (x[LAYER], y[18], 0), (x[-1 - LAYER], y[18], z[-1]), f)
    result = model.model_copy(update={"monitors": (flux,)}).run(threads=1)
    (a, b), (c, d) = (waves(result, "in", name, f) for name in ("in", "out"))
    assert level(b / a).max() < -70 and level(c / a).max() < -70
    assert np.abs(d / a / placed(model).per_cell(f) ** 14 - 1).max() < 1e-4
    for power in (np.abs(a) ** 2 - np.abs(b) ** 2, np.abs(d) ** 2 - np.abs(c) ** 2):
        assert np.abs(0.5 * power / result.excitation("in")["power"].values - 1).max() < 1e-4


def test_a_port_may_stand_between_cells_of_two_lengths():
    """Stable bounds about rims take the lengths of cells along the line too; the media are the same."""
    model = line(metal="conformal", excitations=("in",))
    port, (x, y, z) = model.ports[0], model._setup().grid.lines
    place = port.lower[1]
    y = np.where(y > place, place + 1.1 * (y - place), y)
    uneven = model.model_copy(update={"grid": nf.Grid(x, y, z), "ports": (port,)})
    found = [each.guide_modes().isel(port=0) for each in (model, uneven)]
    assert (found[0].frequency > 0).all()  # although the pulse begins at 0 Hz
    even, other = (each.characteristic_impedance.values[-1].real for each in found)
    assert other == pytest.approx(even, rel=2e-3)


@pytest.mark.parametrize("length", [36, 50])
def test_an_endless_microstrip_reflects_less_than_minus_50_db_and_passes_all(length):
    """1.7 % of the power lie beyond the rectangle: 2 thousandths of the wave by what `excess` leaves (open_line.py)."""
    model = line(room=4.0, length=length, steps=500 + 20 * (length - 36), excitations=("in",))
    f = np.array([0.2, 0.5, 1, 2, 4, 8]) * 1e9
    result = model.run(threads=1)
    (a, b), (c, d) = (waves(result, "in", name, f) for name in ("in", "out"))
    assert level(b / a).max() < -55 and level(c / a).max() < -60
    passed = d / a / placed(model).per_cell(f) ** (length - 22)
    assert np.abs(np.abs(passed) - 1).max() < 4e-3
    assert np.abs(np.angle(passed)).max() < 3e-3
    assert [text for text in model.check().warnings if "pass beyond its rectangle" in text]


def test_flux_through_a_rectangle_is_the_part_of_the_power_that_the_mode_has_there():
    """0.1 %; 1.2 % of the mode pass beyond the rectangle, and no flux through it has them."""
    model, f = line(room=5.0, precision="single", excitations=("in",)), np.array([1e9, 3e9, 6e9])
    port, y = model.ports[1], model.grid.resolve().lines[1][18]
    (x0, _, z0), (x1, _, z1) = port.lower, port.upper
    flux = nf.Flux("power", (x0, y, z0), (x1, y, z1), tuple(f))
    ours = model.model_copy(update={"monitors": (flux,)}).run(threads=1).excitation("in")
    far, part = ours.waves("out", f), model.guide_modes(f).power_within.sel(port="out").values
    power = 0.5 * (np.abs(far.b) ** 2 - np.abs(far.a) ** 2).values
    assert 0.005 < 1 - part[0] < 0.02
    assert np.abs(ours["power"].values / (power * part) - 1).max() < 1e-3


def test_all_of_a_closed_guides_power_lies_in_its_opening():
    closed = nf.WaveguidePort("in", (0, 0, 12 * MM), (12 * MM, 7 * MM, 12 * MM), "+z", "TE10")
    guide = nf.Simulation(
        grid=nf.Grid.uniform(MM, (12, 7, 40)),
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(8), z_high=nf.CPML(8)),
        ports=[closed],
        waveform=nf.ModulatedGaussian(20e9, 6e9),
        steps=10,
    )
    assert (guide.guide_modes([20e9]).power_within == 1.0).all()


@pytest.mark.parametrize("width, permittivity", [(0.5, 9.7), pytest.param(0.8, 16.0, marks=pytest.mark.slow)])
def test_a_slot_line_has_the_impedance_and_the_wavelength_of_its_closed_form(width, permittivity):
    """V^2/(2 P). 4 %: the formulas are within 2 % of Cohn's results, and a tenth of a cell in the slot's width (four,
    which act two thirds narrower) is 2 % of the impedance; of the wavelength it and the cells are 0.5 %."""
    pulse, f = nf.ModulatedGaussian(15e9, 2e9), np.array([15e9])
    model = slot_line(width, permittivity=permittivity, waveform=pulse, room=3.5)
    wavelength, impedance = slot_theory(width, 1.0, permittivity, f[0])
    modes = model.guide_modes(f).isel(port=0, frequency=0)
    assert modes["characteristic_impedance"] == pytest.approx(impedance, rel=0.04)
    assert index(placed(model), f)[0] == pytest.approx(1 / wavelength, rel=0.025)


def slot_theory(width, height, permittivity, frequency):
    """Wavelength over that of vacuum, V^2/(2 P) (ohm) of a slot (mm) for width/height from 0.2 to 1 and eps_r from 9.7
    to 20: Garg, Gupta, Bahl, Microstrip Lines and Slotlines, after Cohn's method."""
    w, e, h = width / height, np.log10(permittivity), 100 * height * MM * frequency / LIGHT
    wavelength = 0.987 - 0.483 * e + w * (0.111 - 0.0022 * permittivity)
    wavelength -= (0.121 + 0.094 * w - 0.0032 * permittivity) * np.log10(h)
    impedance = 113.19 - 53.55 * e + 1.25 * w * (114.59 - 51.88 * e) + 20 * (w - 0.2) * (1 - w)
    bracket = 10.25 - 5 * e + w * (2.1 - 1.42 * e) - h
    return wavelength, impedance - (0.15 + 0.23 * e + w * (-0.79 + 2.07 * e)) * bracket**2


POWERS = {  # (model, frequencies): most of each mode's power lies within the rectangle, 1 - W in the name
    "silicon strip, 2e-7": lambda: (
        silicon(length=44, ports=2, oxide=16, steps=4800),
        np.array([185e12, 193e12, 202e12]),
    ),
    "silicon rib, 2e-6": lambda: (silicon(110e-9, 44, 2, 18, steps=4800), np.array([185e12, 193e12, 202e12])),
    "slot line, 1e-4": lambda: (
        slot_line(length=36, ports=2, steps=5000, waveform=nf.ModulatedGaussian(16e9, 8e9)),
        np.array([14e9, 16e9, 18e9]),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", POWERS)
def test_power_by_flux_is_that_by_the_waves_of_both_ports(case):
    """Within 0.1 %, in a plane between the ports."""
    model, f = POWERS[case]()
    model = with_flux(model.model_copy(update={"excitations": ("in",)}), 1, model.grid.resolve().cells[1] // 2, f)
    ours = model.run(threads=1).excitation("in")
    near, far = (ours.waves(name, f) for name in ("in", "out"))
    for enters, leaves in ((near.a, near.b), (far.b, far.a)):
        power = 0.5 * (np.abs(enters) ** 2 - np.abs(leaves) ** 2)
        assert np.abs(power.values / ours["power"].values - 1).max() < 1e-3


def test_light_in_a_rib_goes_slower_than_in_the_slab_beside_it():
    """Between the wave of the slab, which goes on to both sides, and that of a film as thick as the rib."""
    f = np.array([193.4e12])
    found = index(placed(silicon(110e-9)), f)[0]
    thin, thick = (slab_index(1e-9 * h, 3.48, 1.44, LIGHT / f[0]) for h in (110, 220))
    assert thin < found < thick


def test_both_modes_of_unequal_coupled_strips_go_apart_from_each_other():
    model = line(((-2.5, -1.0), (-0.5, 0.5)), modes=(1, 2), room=3.0, steps=450)
    section = outspread(model._channels[0]._placed(model._setup().context).mode.section).section
    equations, k2 = Equations(section), 84.0**2  # 4 GHz
    both = first_waves(equations, k2, 2, "port")
    power = [[np.sum(equations.area * one.electric * other.magnetic) for one in both] for other in both]
    assert np.abs(np.array(power) - np.eye(2)).max() < 1e-9
    s = model.model_copy(update={"excitations": ("in:1", "in:2")}).run(threads=1).sparameters
    s = s.sel(frequency=slice(0.3e9, 8e9))
    for other in "12":
        mixed = s.sel(source=f"in:{'21'[int(other) - 1]}", to=[f"in:{other}", f"out:{other}"])
        assert level(mixed).max() < -45
        assert level(s.sel(source=f"in:{other}", to=f"in:{other}")).max() < -50


def test_the_odd_mode_of_a_pair_has_the_differential_impedance_and_the_even_mode_the_common_one():
    """In one medium sqrt(eps_r) Z is eta0 (voltage)^2/energy: the odd mode's exceeds twice a quarter of the even's."""
    model = line(PAIR, modes=(1, 2), shielded=True, room=4.0, medium=nf.Medium())
    section = model._channels[0]._placed(model._setup().context).mode.section
    found = sorted(placed(model, n).impedances(np.array([1e9]))[0] for n in (0, 1))
    capacitance = capacitances(outspread(section).section)
    one, mutual = capacitance[0, 0], -capacitance[0, 1]
    assert found == pytest.approx([376.73031 / (2 * (one - mutual)), 2 * 376.73031 / (one + mutual)], rel=2e-3)


@pytest.mark.parametrize("off", [0.0, 0.15])
def test_a_pair_in_one_medium_has_its_modes_wherever_it_lies_in_the_cells(off):
    """Waves of one speed: any mixture of both is one, and rounding chose it (impedances 8 % off); Cohn (1955)."""
    cell, wide, apart, height = 0.2 * MM, 0.9 * MM, 0.4 * MM, 1.2 * MM
    strips = [
        nf.Structure(nf.Sheet((low + off * cell, -1, height / 2), (low + wide + off * cell, 1, height / 2)), nf.PEC)
        for low in (-apart / 2 - wide, apart / 2)
    ]
    port = ((-5 * MM, 14 * cell, 0.0), (5 * MM, 14 * cell, height))
    model = nf.Simulation(
        grid=nf.Grid.uniform(cell, (80, 50, 6), (-8 * MM, 0.0, 0.0)),
        background=nf.Medium(2.9),
        structures=strips,
        boundaries=nf.Boundaries(nf.CPML(10), z=nf.PEC),
        ports=[nf.WaveguidePort("in", *port, "+y", ("1", "2"), "open")],
        waveform=nf.Gaussian(6e9),
    )
    found = np.sort(model.guide_modes([1e9]).characteristic_impedance.values[:, 0].real)
    one, both = (np.tanh(np.pi * size / 2 / height) for size in (wide, wide + apart))
    even, odd = (30 * np.pi / 2.9**0.5 * ellipk(1 - k**2) / ellipk(k**2) for k in (one * both, one / both))
    assert found == pytest.approx([even / 2, 2 * odd], rel=0.01)


def capacitances(section):
    """Of two strips, over eps0, from the static problem on the same grid."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import spsolve

    from nearfield.guides.counted import conductors
    from nearfield.guides.modes import differences, flat_edges

    area, cb = flat_edges(section)[0], np.concatenate([part.ravel() for part in section.filling.electric[:2]])
    label, _ = conductors(section)
    operator, alive = differences(section, te=False)[0], section.live_n.ravel()
    stiffness = (operator.T @ diags(area / cb) @ operator).tocsc()
    fields = np.stack([(label == n).astype(float) for n in (1, 2)], axis=1)
    fields[alive] = spsolve(stiffness[alive][:, alive], -(stiffness @ fields)[alive])
    return fields.T @ (stiffness @ fields)


def slab_index(film, core, around, wavelength):
    """Of the first TE wave of a film: w tan(w a) = g, w and g across inside and outside."""

    def miss(n):
        inside, outside = np.sqrt(core**2 - n**2), np.sqrt(n**2 - around**2)
        angle = np.pi * film / wavelength * inside
        return inside * np.sin(angle) - outside * np.cos(angle)

    return brentq(miss, around, core - 1e-9)


def test_light_in_a_film_of_silicon_has_the_index_of_its_closed_form():
    """Second order; at 22 cells a wavelength in silicon (k d)^2/24 is 0.3 %, and the mode's own k half of it."""
    f, wanted = np.array([LIGHT / 1.55e-6]), slab_index(0.22e-6, 3.48, 1.44, 1.55e-6)
    errors = [index(placed(slab(fine)), f)[0] / wanted - 1 for fine in (1, 2)]
    assert abs(errors[0]) < 2e-3
    assert 3.5 < errors[0] / errors[1] < 4.5


def test_light_in_a_film_passes_whole():
    """Its field ends before the border; -73 dB come back from the CPML at the ends of the film."""
    model, f = slab(excitations=("in",)), np.array([185e12, 193.4e12, 202e12])
    result = model.run(threads=1)
    (a, b), (_, d) = (waves(result, "in", name, f) for name in ("in", "out"))
    assert level(b / a).max() < -65
    assert np.abs(d / a / placed(model).per_cell(f) ** 48 - 1).max() < 1e-4


def test_a_film_between_plates_a_cell_apart_has_the_same_mode_without_a_warning():
    """No cell beside its edges has a potential that could lead currents along the border."""
    f = np.array([193.4e12])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = placed(slab(plates=1))
    assert index(found, f)[0] == pytest.approx(index(placed(slab()), f)[0], rel=1e-9)


@pytest.mark.slow
def test_light_in_a_strip_has_no_impedance():
    """No conductor, so no current but the rounding of H on the wall behind the virtual cells."""
    model = silicon()
    found, f = placed(model), np.array([193.4e12])
    assert np.isnan(found.impedances(f)).all()
    assert 1.44 < index(found, f)[0] < slab_index(0.22e-6, 3.48, 1.44, 1.55e-6)


def test_a_slightly_lossy_board_is_said_and_reflects_a_quarter_of_its_loss_tangent():
    """The loss tangent is 0.016 at 5 GHz; V and I, which are those of no loss, see 13 of the 14 cells between ports."""
    medium = nf.Medium(2.2, conductivity=2 * np.pi * 4e9 * 8.854e-12 * 2.2 * 0.02)
    settings = dict(waveform=nf.ModulatedGaussian(5e9, 6e9), steps=2500, excitations=("in",))
    model = line(shielded=True, room=2.0, medium=medium, **settings)
    (said,) = [text for text in model.check().warnings if "loss tangent" in text and "'in'" in text]
    assert "-48 dB" in said
    f = np.array([3e9, 5e9, 7e9])
    result = model.run(threads=1)
    (a, b), (_, d) = (waves(result, "in", name, f) for name in ("in", "out"))
    decay = np.pi * 4e9 * np.sqrt(2.2) * 0.02 / LIGHT * 13 * 0.5 * MM  # sigma fixed: the same at all frequencies
    assert -np.log(np.abs(d / a)) == pytest.approx(decay, rel=0.02)
    assert np.abs(b / a) == pytest.approx(0.25 * 0.02 * 4e9 / f, rel=0.05)


def test_s_of_a_reference_impedance_is_that_of_a_piece_of_line():
    """z = 0.5 (Z/Z0 + Z0/Z): the closed form of a line between resistors, with the line's own Z and phase."""
    model, f = line(shielded=True, room=3.0), np.array([2e9, 5e9])
    ports = tuple(port.model_copy(update={"reference_impedance": 50.0}) for port in model.ports)
    result = model.model_copy(update={"ports": ports}).run(threads=1)
    s = result.sparameters.sel(frequency=f, method="nearest")
    f = s.frequency.values
    q = placed(model).per_cell(f) ** 14
    own = np.moveaxis(np.array([[0 * q, q], [q, 0 * q]]), 2, 0)
    impedance = placed(model).impedances(f)
    wanted = np.stack([renormalised(one, np.full(2, z), np.full(2, 50.0)) for one, z in zip(own, impedance)])
    assert np.abs(s.values - wanted).max() < 1e-3
    assert result.record.sparameters["reference_impedance"].array.tolist() == [50.0, 50.0]


def test_waves_and_power_are_those_of_the_reference_impedance_in_runs_that_broke_off_too():
    model, f = line(shielded=True, room=2.0, steps=250, excitations=("in",)), np.array([2e9, 5e9])
    ports = tuple(port.model_copy(update={"reference_impedance": 20.0}) for port in model.ports)
    own, done = (each.run(threads=1) for each in (model, model.model_copy(update={"ports": ports})))
    broken = nf.Result(replace(done.record, sparameters=None, status="interrupted"))
    assert broken.reference_impedances == done.reference_impedances == {"in": 20.0, "out": 20.0}
    for result in (done, broken):
        accepted, available = result.excitation().port_powers(f)
        waves = result.excitation().waves("in", f)
        assert available == pytest.approx(0.5 * np.abs(waves["a"].values) ** 2, rel=1e-9)
        assert accepted == pytest.approx(own.excitation().port_powers(f)[0], rel=1e-6)
    assert np.abs(available / own.excitation().port_powers(f)[1] - 1).min() > 0.05


def test_half_of_a_line_tells_of_the_whole():
    model = line(room=2.0, steps=250, excitations=("in",))
    whole = model.run(threads=1).excitation("in")
    part = model.model_copy(update={"symmetry": nf.Symmetry(x="magnetic")}).run(threads=1).excitation("in")
    for name in ("voltage", "current"):
        wanted, found = (each.port("out")[name].values for each in (whole, part))
        assert np.abs(found - wanted).max() < 1e-9 * np.abs(wanted).max() > 0


def test_results_of_open_lines_are_read_again_as_they_were(tmp_path):
    result = line(shielded=True, room=2.0, steps=200, excitations=("in",)).run(threads=1)
    kept = nf.open_result(result.save(tmp_path / "r.h5"))
    assert np.array_equal(kept.sparameters, result.sparameters, equal_nan=True)


WRONG = {
    "no such mode": (lambda: line(room=2.0), {"modes": ("2",)}, "no wave that this line guides"),
    "in the CPML": (lambda: line(room=2.0), {"cut": 1}, "in the CPML at x_low"),
    "lossy": (lambda: line(room=2.0, medium=nf.Medium(2.2, conductivity=0.2)), {}, "loss tangent of 0.2"),
    "poles": (lambda: line(room=2.0, medium=nf.Medium(2.2, poles=nf.Debye(1.0, 1e-11))), {}, "dispersive"),
    "impedance": (lambda: line(room=2.0), {"shape": "any", "reference_impedance": 50.0}, "goes with shape"),
    "name": (lambda: line(room=2.0), {"modes": ("TE10",)}, "counted from 1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_open_line_that_a_port_cannot_know_is_refused(case):
    made, changed, message = WRONG[case]
    model = made()
    port = model.ports[0].model_dump() | changed
    if port.pop("cut", 0):
        port["lower"] = (model._setup().grid.lines[0][LAYER - 2], *port["lower"][1:])
    with pytest.raises((nf.ModelError, ValueError), match=message):
        _ = model.model_copy(update={"ports": (nf.WaveguidePort(**port),)})._setup().plan


@pytest.mark.parametrize("strips", [((-2.5, -0.3), (0.3, 2.5)), ((-2.3, -0.2), (0.5, 2.6))])
def test_both_modes_of_strips_a_narrow_gap_apart_keep_the_speed_of_light(strips):
    """In one medium they are as fast as each other, wherever in its cells the gap lies, and can be told apart."""
    model = line(strips, modes=(1, 2), shielded=True, room=4.0, medium=nf.Medium())
    odd, even = sorted(placed(model, n).impedances(np.array([1e9]))[0] for n in (0, 1))
    assert odd < 0.35 * even
