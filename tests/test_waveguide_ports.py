"""Waveguide ports: modes of the grid, launched one way to rounding, measured as waves above and below their cut-off."""

import numpy as np
import pytest
from cases import slow_after

import nearfield as nf
from nearfield.analysis.guided_line import GuideLine
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED
from nearfield.guides.analytic import Opening, potential
from nearfield.guides.names import ModeName

MM = 1e-3
PULSE, HIGH = nf.ModulatedGaussian(20e9, 10e9), nf.ModulatedGaussian(36e9, 10e9)
FACES = {"z_low": nf.CPML(8), "z_high": nf.CPML(8)}


def lines(count: int, graded: bool, seed: int = 3) -> np.ndarray:
    cells = np.random.default_rng(seed).uniform(0.7, 1.4, count) if graded else np.ones(count)
    return MM * np.concatenate(([0.0], np.cumsum(cells)))


def rectangular(modes="TE10", graded=False, length=120, pulse=PULSE, **more) -> nf.Simulation:
    """A guide of 12 x 7 cells along z with a port at each end, 20 cells from it."""
    x, y, z = lines(12, graded), lines(7, graded, 4), MM * np.arange(length + 1)
    ports = [
        nf.WaveguidePort(name, (0, 0, place), (x[-1], y[-1], place), direction, modes)
        for name, place, direction in (("in", z[20], "+z"), ("out", z[-21], "-z"))
    ]
    settings = dict(grid=nf.Grid(x, y, z), ports=ports, waveform=pulse, precision="double")
    return nf.Simulation(**settings | {"boundaries": nf.Boundaries(nf.PEC, **FACES)} | more)


def round_guide(mode: str, shape: str = "circular", length=70, pulse=HIGH, **more):
    """A guide of 6 mm radius in metal, in cells of 1 mm; a coaxial one with 2.4 mm inside."""
    radius, half, end = 6 * MM, 8 * MM, length * MM
    solids = [nf.Structure(nf.Box((-half, -half, 0), (half, half, end)), nf.PEC)]
    solids += [nf.Structure(nf.Cylinder((0, 0, 0), (0, 0, end), radius), nf.Medium())]
    inner = {}
    if shape == "coaxial":
        inner = {"inner_radius": 2.4 * MM}
        solids += [nf.Structure(nf.Cylinder((0, 0, 0), (0, 0, end), 2.4 * MM), nf.PEC)]
    ports = [
        nf.WaveguidePort(name, (-radius, -radius, z), (radius, radius, z), direction, mode, shape, **inner)
        for name, z, direction in (("in", 20 * MM, "+z"), ("out", end - 20 * MM, "-z"))
    ]
    settings = dict(structures=solids, ports=ports, waveform=pulse, precision="double")
    settings |= dict(boundaries=nf.Boundaries(nf.PEC, **FACES))
    settings |= dict(grid=nf.Grid.uniform(MM, (16, 16, length), (-half, -half, 0)))
    return nf.Simulation(**settings | more)


GUIDES = {
    "TE10": lambda **more: rectangular(**more),
    "TE11, graded": lambda **more: rectangular("TE11", graded=True, **more),
    "TM11, graded": lambda **more: rectangular("TM11", graded=True, pulse=nf.ModulatedGaussian(36e9, 10e9), **more),
    "round TE11": lambda **more: round_guide("TE11", **more),
    "round TM01": lambda **more: round_guide("TM01", **more),
    "coaxial TEM": lambda **more: round_guide("TEM", "coaxial", **{"metal": "staircase"} | more),
}


QUICK = [pytest.param(name, marks=[pytest.mark.slow] * (name == "round TM01")) for name in GUIDES]


@pytest.mark.parametrize("guide", QUICK)
def test_nothing_but_rounding_leaks_out_behind_the_port(guide):
    """Up to eps times the square root of the steps, times the samples of E and H of a mode: 6e-13 to 1e-12 of E."""
    setup = (model := GUIDES[guide](excitations=("in",), steps=95))._setup()
    port = next(each for each in setup.simulation._channels if each.name.startswith("in"))
    rounding = np.finfo(float).eps * 95**0.5 * 2 * port._placed(setup.context).mode.values.size
    corners = [tuple(line[end] for line in model.grid.resolve().lines) for end in (0, -1)]
    last = nf.Snapshot("all", *corners, times=[94.5 * setup.time_step])  # nothing has come back from the far CPML
    fields = model.model_copy(update={"monitors": (last,)}).run(threads=1)["all"]
    for letter in "EH":
        parts = [fields[letter + axis] for axis in "xyz"]
        largest = max(np.abs(part).max() for part in parts)
        behind = max(np.abs(part.sel(z=slice(None, 19.4 * MM))).max() for part in parts)
        assert largest > 0 and behind < rounding * largest


def test_modes_of_an_even_rectangle_have_the_grids_closed_form():
    setup = rectangular(("TE10", "TE21", "TM11"), excitations=("in:TE10",))._setup()
    found = [channel._placed(setup.context).mode for channel in setup.simulation._channels[:3]]
    for mode, (m, n) in zip(found, ((1, 0), (2, 1), (1, 1))):
        k = [2 / MM * np.sin(0.5 * np.pi * number / cells) for number, cells in ((m, 12), (n, 7))]
        assert mode.cutoff == pytest.approx(np.hypot(*k), rel=1e-12)
    electric = [mode.values for mode in found]
    area = found[0].section.edges.area
    assert np.abs(np.einsum("is,js,s->ij", electric, electric, area) - np.eye(3)).max() < 1e-12


@pytest.mark.parametrize("mode, numbers", [("TE10", (1, 0)), ("TE01", (0, 1)), ("TM11", (1, 1)), ("TM21", (2, 1))])
def test_metal_that_cuts_cells_moves_the_cutoff_as_a_wall_there_does(mode, numbers):
    """1.5 %: (k d)^2/24 is 1.2 % of the part of two half waves in 11.5 cells, 0.3 % of one."""
    wall = nf.Structure(nf.Box((11.5 * MM, 0, 0), (13 * MM, 7 * MM, 1)), nf.PEC)
    simulation = rectangular(mode, pulse=HIGH, structures=[wall], metal="conformal")
    ports = [port.model_copy(update={"upper": (11.5 * MM, 7 * MM, port.upper[2])}) for port in simulation.ports]
    context = simulation.model_copy(update={"ports": tuple(ports)})._setup().context
    found = ports[0]._placed(context).mode
    wanted = np.hypot(numbers[0] * np.pi / (11.5 * MM), numbers[1] * np.pi / (7 * MM))
    assert found.cutoff == pytest.approx(wanted, rel=0.015)
    edges, electric, beside = found.section.edges, found.values, found.values * found.section.edges.turn
    area = edges.free * edges.area
    assert np.sum(area * electric**2) == pytest.approx(1.0, rel=1e-12) == np.sum(area * beside**2)


@pytest.mark.parametrize(
    "mode, wanted",
    [("TE11", 1.841183781), ("TM01", 2.404825558), ("TE01", 3.831705970), ("TM11", 3.831705970), ("TE21", 3.054236928)],
)
def test_round_modes_are_found_near_their_cutoffs(mode, wanted):
    """The theory to its digits; the staircase, whose radius is uncertain by a quarter of a cell in 6, to 8 %."""
    opening = Opening("circular", (0.0, 0.0), (2.0, 2.0))
    assert potential(opening, ModeName.read(mode), 0.0)[0] == pytest.approx(wanted, rel=1e-8)
    setup = round_guide(mode, pulse=nf.ModulatedGaussian(50e9, 10e9))._setup()
    assert setup.simulation.ports[0]._placed(setup.context).mode.cutoff * 6 * MM == pytest.approx(wanted, rel=0.08)


# cells; off the lines of the grid its own modes are at 45 degrees
@pytest.mark.parametrize("off", slow_after(1, [0.17, 0.0]))
def test_a_port_in_a_round_guide_of_conformal_metal_is_matched(off):
    """The cut-off to (k d)^2/24, 0.4 % at 6 cells in the radius. Small faces made larger slow a few edges."""
    grid = nf.Grid.uniform(MM, (16, 16, 70), ((off - 8) * MM, (off - 8) * MM, 0))
    simulation = round_guide("TE11", metal="conformal", decay=1e-8, excitations=("in",), grid=grid)
    line = simulation.ports[0]._placed(simulation._setup().context).line
    assert line.cutoff * 6 * MM == pytest.approx(1.841183781, rel=0.005)
    s = simulation.run(threads=2).sparameters.sel(source="in")
    s = s.sel(frequency=slice(1.2 * line.cutoff_frequency, None))
    assert np.abs(s.sel(to="in")).max() < 10 ** (-40 / 20)
    assert np.abs(np.abs(s.sel(to="out")) - 1).max() < 1e-4


def test_coaxial_modes_have_the_zeros_of_their_bessel_functions():
    opening = Opening("coaxial", (0.0, 0.0), (4.0, 4.0), inner=1.0)
    # roots x of J'(x) Y'(2 x) = J'(2 x) Y'(x) and of the same without slopes (Marcuvitz, tables 2.3 and 2.4)
    for mode, wanted in (("TE11", 0.6773), ("TE21", 1.3406), ("TM01", 3.1230), ("TM02", 6.2734), ("TM11", 3.1966)):
        assert potential(opening, ModeName.read(mode), 0.0)[0] == pytest.approx(wanted, abs=6e-5)


def test_the_line_has_the_wave_number_and_impedance_of_theory():
    """Cells of a thousandth of the wavelength: errors of the order of (k d)^2 = 4e-5 and below."""
    k, cell = 2 * np.pi * 10e9 / VACUUM_SPEED, 0.03 * MM
    for family, kc in (("TE", 100.0), ("TM", 100.0), ("TE", 300.0), ("TM", 300.0), ("TEM", 0.0)):
        line = GuideLine(family, kc, cell, 0.5 * cell / VACUUM_SPEED, 1.0, 1.0)
        beta = -1j * np.sqrt(complex(kc**2 - k**2))
        on, back = line.admittances(np.array([10e9]))
        assert np.log(line.per_cell(np.array([10e9])))[0] == pytest.approx(-1j * beta * cell, rel=1e-4)
        admittance = (k / beta if family == "TM" else beta / k) / VACUUM_IMPEDANCE
        assert 0.5 * (on - back)[0] == pytest.approx(admittance, rel=1e-4)


@pytest.mark.parametrize("guide", ["TE10", "TM11, graded", "coaxial TEM"])
def test_waves_between_two_ports_lag_by_the_lines_between_them(guide):
    """With both reference planes in the middle S is one, and zero. 1e-3: near the cut-off the record cuts tails off."""
    model = GUIDES[guide](length=60, duration=6e-9)
    middle = {"reference_plane": 30 * MM}
    ports = tuple(port.model_copy(update=middle) for port in model.ports)
    s = model.model_copy(update={"ports": ports}).run(threads=1).sparameters
    s = s.where(s.frequency > 1.05 * ports[0]._placed(model._setup().context).line.cutoff_frequency, drop=True)
    assert s.frequency.size > 500
    assert np.abs(s.values - np.array([[0, 1], [1, 0]])).max() < 1e-3


def test_below_the_cutoff_s_is_the_ratio_of_decaying_amplitudes():
    model = rectangular(length=50, pulse=nf.ModulatedGaussian(8e9, 3e9), duration=3e-9)  # cut-off 12.4 GHz
    s = model.run(threads=1).sparameters.sel(frequency=slice(7e9, 9e9))
    line = model.ports[0]._placed(model._setup().context).line
    decay = np.abs(line.per_cell(s.frequency.values)) ** 10
    assert decay.max() < 0.2
    assert np.abs(s.sel(to="out", source="in").values - decay).max() < 2e-6
    assert np.abs(s.sel(to="in", source="in").values).max() < 2e-6


def test_a_step_in_a_guide_keeps_the_power_of_all_its_modes():
    """TE10 and TE20 go on, off a post that is not in the middle: the columns of S are orthonormal."""
    post = nf.Structure(nf.Box((2 * MM, 0, 30 * MM), (4 * MM, 7 * MM, 33 * MM)), nf.PEC)
    model = rectangular(
        ("TE10", "TE20"), length=60, pulse=nf.ModulatedGaussian(30e9, 3e9), structures=[post], duration=3e-9
    )
    result = model.run(threads=1)
    s = result.sparameters.sel(frequency=slice(29e9, 31e9))
    assert list(s.to.values) == ["in:TE10", "in:TE20", "out:TE10", "out:TE20"] == list(result.excitations)
    power = np.einsum("fts,ftr->fsr", s.values.conj(), s.values)
    assert np.abs(power - np.eye(4)).max() < 1e-5
    assert np.abs(s.sel(to="out:TE20", source="in:TE10").values).min() > 0.1
    assert np.abs(s.values - s.values.transpose(0, 2, 1)).max() < 1e-5  # reciprocal


def test_a_port_of_several_modes_is_excited_by_its_name():
    model = rectangular(("TE10", "TE20"), excitations=("out",), steps=1)
    assert model._setup().excitations == ("out:TE10", "out:TE20")


@pytest.mark.parametrize("along", [0, 1])
@pytest.mark.parametrize("sign", ["+", "-"])
def test_a_guide_along_any_axis_either_way_gives_the_same_waves(along, sign):
    cells, rows = (10, 5, 40), {"+": (12, 28), "-": (28, 12)}[sign]
    found = []
    for by, direction in ((0, "+z"), (along + 1, sign + "xyz"[along])):
        nodes = rows if by else (12, 28)
        other = {"+": "-", "-": "+"}[direction[0]] + direction[1]
        ports = []
        for name, node, way in (("in", nodes[0], direction), ("out", nodes[1], other)):
            corners = np.roll([[0, 0, node], [10, 5, node]], by, axis=1) * MM
            ports.append(nf.WaveguidePort(name, *corners.tolist(), way, "TE10"))
        faces = {f"{direction[1]}_{side}": nf.CPML(6) for side in ("low", "high")}
        model = nf.Simulation(
            grid=nf.Grid.uniform(MM, tuple(int(n) for n in np.roll(cells, by))),
            ports=ports,
            precision="double",
            boundaries=nf.Boundaries(nf.PEC, **faces),
            waveform=nf.ModulatedGaussian(25e9, 8e9),
            steps=300,
            excitations=("in",),
        )
        excitation = model.run(threads=1).excitation("in")
        found.append([excitation.port(name)[part].values for name in ("in", "out") for part in ("voltage", "current")])
    for one, other in zip(*found):
        assert np.abs(one).max() > 1e-3
        difference = min(np.abs(one - other).max(), np.abs(one + other).max())  # E of a mode points up its own axis
        assert difference < 1e-12 * np.abs(one).max()


@pytest.mark.parametrize(
    "mode, planes",
    [
        ("TE11x", {"x": "electric", "y": "magnetic"}),
        ("TM01", {"x": "magnetic"}),
        pytest.param("TE11y", {"x": "magnetic", "y": "electric"}, marks=pytest.mark.slow),
    ],
)
def test_a_quarter_of_a_guide_tells_of_the_whole(mode, planes):
    # on whole cells: cuts have rounding of their own on either side
    model = round_guide(mode, length=50, steps=200, excitations=("in",), metal="staircase")
    whole = model.run(threads=1).excitation("in")
    part = model.model_copy(update={"symmetry": nf.Symmetry(**planes)}).run(threads=1).excitation("in")
    for port in ("in", "out"):
        for name in ("voltage", "current"):
            wanted, found = (each.port(port)[name].values for each in (whole, part))
            assert np.abs(found - wanted).max() < 1e-11 * np.abs(wanted).max() > 0


def test_modes_survive_a_file_and_touchstone_says_what_their_waves_are(tmp_path):
    model = rectangular(length=50, duration=1e-9)
    result = model.run(threads=1)
    kept = nf.open_result(result.save(tmp_path / "r.h5"))
    assert np.array_equal(kept.sparameters, result.sparameters, equal_nan=True)
    assert "waves of in are those of a waveguide's mode" in kept.write_touchstone(tmp_path / "s").read_text()
    (tmp_path / "m.toml").write_text(model.to_toml())
    assert nf.load(tmp_path / "m.toml") == model


def test_a_filled_guide_has_the_modes_of_its_filling():
    setup = rectangular(background=nf.Medium(2.2, 1.5), pulse=nf.ModulatedGaussian(12e9, 4e9))._setup()
    line = setup.simulation.ports[0]._placed(setup.context).line
    assert (line.permittivity, line.permeability) == pytest.approx((2.2, 1.5))
    assert line.cutoff_frequency == pytest.approx(VACUUM_SPEED / (24 * MM * (2.2 * 1.5) ** 0.5), rel=0.01)


def moved(**changes):
    """The first port of the rectangular guide, changed."""

    def made():
        model = rectangular()
        fields = {name: getattr(model.ports[0], name) for name in ("lower", "upper", "direction", "modes")}
        port = nf.WaveguidePort("in", **fields | changes)
        return model.model_copy(update={"ports": (port,)})

    return made


IRIS = nf.Structure(nf.Sheet((0, 0, 21 * MM), (3 * MM, 7 * MM, 21 * MM)), nf.PEC)
WRONG = {
    "no such mode": (moved(modes="TM10"), "both numbers of a TM mode"),
    "no mode at all": (moved(modes="TE"), 'allowed: "TEM"'),
    "a number for a name": (moved(modes="10"), "modes are counted from 1"),
    "a name for a number": (moved(shape="any"), "modes are counted from 1"),
    "a high number": (moved(shape="any", modes=("1", 900)), "99 at most"),
    "TEM in a pipe": (moved(modes="TEM"), "two conductors"),
    "a mode twice": (moved(modes=("TE10", "TE10")), "name one twice"),
    "along the guide": (moved(direction="+x"), "agree in x alone"),
    "an oblong circle": (moved(shape="circular", modes="TE11"), "make them equal"),
    "an inner radius": (moved(inner_radius=1e-3), "goes with shape"),
    "in the CPML": (moved(lower=(0, 0, 8e-3), upper=(12e-3, 7e-3, 8e-3)), "or in a CPML; allowed: 0.009 to 0.111"),
    "too small": (moved(upper=(6e-3, 7e-3, 20e-3)), "is not closed by metal|no mode of the guide"),
    "a body there": (
        lambda: rectangular(structures=[nf.Structure(nf.Box((0, 0, 0), (4e-3, 7e-3, 1)), nf.Medium(2))]),
        "filled unevenly",
    ),
    "a lossy filling": (lambda: rectangular(background=nf.Medium(1.0, conductivity=0.1)), "loss tangent of 0.0"),
    "an iris there": (lambda: rectangular(structures=[IRIS]), "cross-section changes"),
    "a PMC wall": (lambda: rectangular(boundaries=nf.Boundaries(nf.PEC, x_low=nf.PMC, **FACES)), "not closed by metal"),
    "solid metal": (
        lambda: rectangular(structures=[nf.Structure(nf.Box((0, 0, 0), (1, 1, 1)), nf.PEC)]),
        "lies in metal",
    ),
    "no inner conductor": (
        lambda: round_guide("TEM", "coaxial", structures=round_guide("TE11").structures),
        "no inner conductor of inner_radius 0.0024 m",
    ),
    "the wrong plane": (lambda: round_guide("TE11x", symmetry=nf.Symmetry(x="magnetic")), "has no magnetic plane"),
    "a plane along it": (lambda: round_guide("TE11x", symmetry=nf.Symmetry(z="magnetic")), "would mirror the port"),
    "a plane in metres": (moved(reference_plane=20.0), "reference_plane z=20 m lies outside the grid, 0 to 0.12 m"),
    "no modes": (moved(modes=()), r"modes: given \(\); needs 1 or more entries"),
    "no pulse": (lambda: rectangular(pulse=None), "a guide carries waves above its cut-off"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_port_that_cannot_be_right_is_refused(case):
    made, message = WRONG[case]
    with pytest.raises(nf.ModelError, match=message):
        _ = made()._setup().plan


def test_a_pulse_from_below_the_cutoff_is_warned_of():
    assert any("below the cut-off of TE10" in text for text in rectangular(pulse=nf.Gaussian(20e9)).check().warnings)
    assert rectangular().check().warnings == ()


BLOCK = nf.Structure(nf.Box((0, 0, 0), (4 * MM, 7 * MM, 12 * MM)), nf.PEC)
ODD = {
    "no CPML behind": ({"boundaries": nf.Boundaries(nf.PEC, z_high=nf.CPML(8))}, "ends behind it at z_low without"),
    "metal behind": ({"structures": [BLOCK]}, "metal behind it is not that at the port"),
}


@pytest.mark.parametrize("case", ODD)
def test_a_guide_that_does_not_run_on_behind_its_port_is_warned_of(case):
    changes, message = ODD[case]
    warnings = rectangular(**changes).check().warnings
    assert len(warnings) == 1 and "port 'in'" in warnings[0] and message in warnings[0]


def test_a_probe_in_a_guide_and_its_port_count_power_alike():
    """Circuits count V and I at one time, modes half a step apart: without cos(w dt/2) they differ by 0.7 %."""
    x, y, z = lines(12, False), lines(7, False), MM * np.arange(61)
    probe = nf.LumpedPort("probe", (6 * MM, 0, 56 * MM), (6 * MM, MM, 56 * MM), "y", 200.0)
    model = nf.Simulation(
        grid=nf.Grid(x, y, z),
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(10)),
        structures=[nf.Structure(nf.Wire([(6 * MM, MM, 56 * MM), (6 * MM, 4 * MM, 56 * MM)]), nf.PEC)],
        ports=[nf.WaveguidePort("in", (0, 0, z[20]), (x[-1], y[-1], z[20]), "+z", "TE10"), probe],
        monitors=[nf.Flux("through", (0, 0, z[30]), (x[-1], y[-1], z[30]), [18e9, 20e9, 22e9])],
        waveform=nf.ModulatedGaussian(20e9, 6e9),
        precision="double",
        decay=1e-9,
    )
    result = model.run(threads=1)
    s = result.sparameters.sel(frequency=slice(18e9, 22e9)).values
    assert np.abs(s[:, 1, 0]).max() > 0.3  # the probe takes some
    assert np.abs(np.einsum("fts,ftr->fsr", s.conj(), s) - np.eye(2)).max() < 1e-4
    for name in ("in", "probe"):
        ours = result.excitation(name)
        flux = ours["through"]
        for port in ("in", "probe"):
            waves = ours.waves(port, flux.frequency.values)
            power = 0.5 * (np.abs(waves.a) ** 2 - np.abs(waves.b) ** 2).values
            assert np.abs(power / flux.values - (1 if port == "in" else -1)).max() < 1e-4, (name, port)


def test_ports_that_look_the_same_way_along_one_guide_are_warned_of():
    model = rectangular()
    one, other = model.ports
    turned = model.model_copy(update={"ports": (one, other.model_copy(update={"direction": "+z"}))})
    assert any("give 'out' '-z'" in text for text in turned.check().warnings)
    away = [one.model_copy(update={"direction": "-z"}), other.model_copy(update={"direction": "+z"})]
    assert any("away from each other" in text for text in model.model_copy(update={"ports": away}).check().warnings)
    assert not any("one guide" in text for text in model.check().warnings)


def test_what_an_open_guide_takes_back_is_no_part_of_what_it_radiates():
    """Accepted, surface and radiated power agree, though the reflected wave leaves through the surface; and so do the
    patterns of two surfaces that cut the guide at two places, 0.06 dB apart before they reached back along it."""
    cell, a, b, f = 2.5e-3, 20e-3, 10e-3, 10e9
    z = cell * np.array([-30, -10, 0, 24])  # the CPML's end, the port, the mouth, the other end
    guide = [
        nf.Structure(nf.Box((-0.5 * a - w, -0.5 * b - w, -1), (0.5 * a + w, 0.5 * b + w, end)), medium)
        for w, end, medium in ((2 * cell, z[2], nf.PEC), (0.0, z[3], nf.Medium()))
    ]
    corners = (-9 * cell, -7 * cell, -14 * cell), (9 * cell, 7 * cell, 8 * cell)
    model = nf.Simulation(
        grid=nf.Grid.uniform(cell, (40, 36, 54), (-20 * cell, -18 * cell, z[0])),
        structures=guide,
        ports=[nf.WaveguidePort("in", (-0.5 * a, -0.5 * b, z[1]), (0.5 * a, 0.5 * b, z[1]), "+z", "TE10")],
        symmetry=nf.Symmetry(x="magnetic", y="electric"),
        waveform=nf.ModulatedGaussian(f, 4e9),
        monitors=[nf.FarField("far", [f]), nf.FarField("near", [f], *corners)],
    )
    (moved,) = model.check().moved
    assert "'near'" in moved["what"] and moved["from"] > moved["to"] == pytest.approx(-17 * cell)
    result = model.run()
    levels = [result[name].directivity_dbi.max().item() for name in ("far", "near")]
    assert abs(levels[0] - levels[1]) < 0.003
    back = abs(result.sparameters.interp(frequency=f).item()) ** 2
    far = result["far"]
    efficiency, surface = far.radiation_efficiency.item(), (far.surface_power / far.radiated_power).item()
    assert back > 0.03, back
    assert abs(efficiency * surface - 1) < 1e-4 and abs(surface - 1) < 0.01
