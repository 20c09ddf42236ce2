"""Ports: exact totals on graded grids, power to rounding, lines that end matched, waves at a plane of a strip line."""

import numpy as np
import pytest
from small_fdtd import SmallFDTD

import nearfield as nf
from nearfield.analysis.sparameters import port_spectra, port_waves, scattering
from nearfield.discretization.cautions import cautions
from nearfield.discretization.discretization import Discretization
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.lowering.context import Site
from nearfield.plan.excitations import Waveform
from nearfield.plan.recorders import Functional
from nearfield.plan.terms import CircuitTerm
from nearfield.sources import edges

PULSE = nf.Gaussian(10e9)
PLATES = nf.Boundaries(all="pmc", z_low="pec", z_high="pec")


def graded(cells, seed=5):
    random = np.random.default_rng(seed)
    return nf.Grid(*(np.cumsum(random.uniform(0.5e-3, 1.5e-3, n + 1)) for n in cells)).resolve()


def excited(*ports):
    return {port.name: Waveform(port.waveform.value, port.name, port.waveform.end) for port in ports if port.waveform}


def run(grid, walls, ports, steps, excitation, elements=(), metal=(), time_step=None):
    """Fields and each port's variables after a run."""
    dt = time_step or 0.95 * grid.maximum_time_step()
    loads = [load for item in (*ports, *elements) for load in item._loads(Site(grid))]
    box = SmallFDTD(grid, walls, dt, loads, metal, excited(*ports))
    terms = [port._terms(box.context) for port in ports]
    passive = [term for item in elements for term in item._terms(box.context)]
    recordings = box.run([*passive, *(term for own in terms for term in own)], steps, excitation)
    found = {}
    for port, own in zip(ports, terms):
        count = sum(isinstance(term, Functional) for term in own)
        found[port.name] = port._collect(box.context, recordings[:count], excitation)
        recordings = recordings[count:]
    return box, found


@pytest.mark.parametrize("axis", "xyz")
def test_a_sheet_on_a_graded_grid_has_exactly_its_resistance(axis):
    grid = graded((5, 6, 7))
    number = "xyz".index(axis)
    lower, upper = [line[1] for line in grid.lines], [line[4] for line in grid.lines]
    upper[(number + 1) % 3] = lower[(number + 1) % 3]
    port = nf.LumpedPort("p", lower, upper, axis, resistance=70.0, capacitance=2e-12, connection="parallel")
    (load,) = port._loads(Site(grid))
    block = port._block(Site(grid))
    total = upper[number] - lower[number]
    for layer in np.unique((block.i, block.j, block.k)[number]):
        inside = (block.i, block.j, block.k)[number] == layer
        current = (load.conductivity * block.area)[inside].sum()  # A in a field of 1 V/m
        assert total / current == pytest.approx(70.0, rel=1e-12)
        displaced = VACUUM_PERMITTIVITY * (load.permittivity * block.area)[inside].sum()
        assert displaced / total == pytest.approx(2e-12, rel=1e-12)


def test_voltage_is_positive_when_the_upper_terminal_is():
    grid = graded((3, 3, 4))
    port = nf.LumpedPort("p", [line[1] for line in grid.lines], [line[3] for line in grid.lines], "z")
    box = SmallFDTD(grid, PLATES, 1e-13, port._loads(Site(grid)))
    box.fields[2][...] = -2.0  # E points down: from the upper, positive, terminal to the lower one
    (term,) = port._terms(box.context)
    assert box.value(term) == pytest.approx(2.0 * (grid.lines[2][3] - grid.lines[2][1]), rel=1e-12)


CIRCUITS = [
    dict(),
    dict(inductance=2e-9),
    dict(capacitance=1e-13),
    dict(inductance=2e-9, capacitance=1e-13),
    dict(inductance=2e-9, connection="parallel"),
    dict(capacitance=1e-13, connection="parallel"),
    dict(inductance=2e-9, capacitance=1e-13, connection="parallel"),
]


@pytest.mark.parametrize("circuit", CIRCUITS, ids=str)
def test_power_out_of_a_port_is_the_energy_in_the_field(circuit):
    """V I summed over the run is the energy of a lossless box, to rounding (one edge)."""
    grid = graded((3, 4, 3))
    corner = [line[1] for line in grid.lines]
    port = nf.LumpedPort("p", corner, (*corner[:2], grid.lines[2][2]), "z", waveform=nf.Gaussian(40e9), **circuit)
    box, found = run(grid, nf.Boundaries(all="pec"), [port], 199, "p")
    voltage, current = found["p"]["voltage"].array, found["p"]["current"].array
    work = np.sum(voltage * current) * box.time_step
    other, _ = run(grid, nf.Boundaries(all="pec"), [port], 198, "p")
    lumped = sum(load.permittivity * box.fields[2][load.i, load.j, load.k] ** 2 for load in port._loads(Site(grid)))
    block = port._block(Site(grid))
    shunt = 0.5 * VACUUM_PERMITTIVITY * np.sum(lumped * block.length * block.area)
    assert box.energy(other.fields[3:]) - shunt == pytest.approx(work, rel=1e-9)
    assert work > 0.0


@pytest.mark.parametrize("circuit", CIRCUITS, ids=str)
def test_mean_voltage_and_current_of_a_wide_port_obey_its_circuit(circuit):
    """The edges' currents, weighted by their lengths, sum to the current that `collect` derives from the voltage."""
    grid = graded((5, 5, 5))
    lower, upper = [line[1] for line in grid.lines], [line[4] for line in grid.lines]
    upper[1] = lower[1]
    port = nf.LumpedPort("p", lower, upper, "z", waveform=nf.Gaussian(40e9), **circuit)
    dt = 0.9 * grid.maximum_time_step()
    box = SmallFDTD(grid, nf.Boundaries(all="pec"), dt, port._loads(Site(grid)), (), excited(port))
    terms, block = port._terms(box.context), port._block(Site(grid))
    at = (block.i, block.j, block.k)
    state = [np.zeros((len(term.i), 2)) for term in terms]
    values, currents = [], []
    for step in range(1, 41):
        old, time = [component.copy() for component in box.fields[:3]], (step - 0.5) * dt
        box.update_electric()
        free = box.fields[2][at].copy()  # E after the update with loads, without source and branch
        box.add_currents(terms, time, "p", 0)
        for term, x in zip(terms, state):
            if isinstance(term, CircuitTerm):
                box.apply_circuit(term, old, x, time, "p")
        box.update_magnetic()
        _, drive = box.coefficients.at(2, *at)
        branch = (free - box.fields[2][at]) / (drive * VACUUM_IMPEDANCE * VACUUM_SPEED * dt) * block.area
        mean, change = 0.5 * (box.fields[2][at] + old[2][at]), (box.fields[2][at] - old[2][at]) / dt
        for load in port._loads(Site(grid)):
            branch += block.area * (load.conductivity * mean + VACUUM_PERMITTIVITY * load.permittivity * change)
        currents.append(np.sum(branch * block.part))
        values.append(box.value(terms[-1]))
    recording = type("", (), {"time": dt * np.arange(1, 41), "values": np.array(values)})
    found = port._collect(box.context, [recording], "p")
    assert found["current"].array == pytest.approx(np.array(currents), abs=1e-10 * np.abs(currents).max())


def line(cells=60, d=1e-3, resistances=(None, None), reference=None, waveforms=(PULSE, PULSE)):
    """A parallel-plate line of impedance eta0 along y with a port at each end."""
    grid = nf.Grid.uniform(d, (1, cells, 1)).resolve()
    ports = [
        nf.LumpedPort(
            name,
            (0, y, 0),
            (d, y, d),
            "z",
            resistance or VACUUM_IMPEDANCE,
            reference_impedance=reference,
            waveform=waveform,
        )
        for name, y, resistance, waveform in zip(("in", "out"), (0.0, cells * d), resistances, waveforms)
    ]
    return grid, ports


F = np.linspace(0.0, 8e9, 41)


def scattered(grid, ports, excitations, steps):
    records = {name: run(grid, PLATES, ports, steps, name)[1] for name in excitations}
    return scattering({port.name: port.impedance for port in ports}, records, F)


def test_a_matched_line_passes_the_wave_and_reflects_little():
    cells, d = 60, 1e-3
    grid, ports = line(cells, d)
    found = scattered(grid, ports, ["in", "out"], 900)
    s = found["sparameters"].array
    # an end sheet of eta0 sees the line's own half cell: it reflects about (pi d/wavelength)^2/2 at most
    assert np.abs(s[:, 0, 0]).max() < 0.5 * (np.pi * 8e9 * d / VACUUM_SPEED) ** 2 + 1e-6
    assert np.abs(s[:, 1, 0] - s[:, 0, 1]).max() < 1e-9
    delay = np.exp(-2j * np.pi * F * cells * d / VACUUM_SPEED)
    assert np.abs(s[:, 1, 0] - delay).max() < 0.02  # dispersion: 60 (w d/c)^3/24 (1 - courant^2)
    power = np.einsum("fts,ftr->fsr", s.conj(), s)
    assert np.abs(power - np.eye(2)).max() < 1e-6


def test_an_open_line_sends_all_power_back():
    grid, ports = line(waveforms=(PULSE, None))
    found = scattered(grid, ports[:1], ["in"], 1200)
    assert np.abs(found["sparameters"].array[:, 0, 0]) == pytest.approx(1.0, abs=1e-6)


def test_wrong_terminations_cancel_when_all_ports_are_excited():
    grid, matched = line(40)
    _, wrong = line(40, resistances=(250.0, 600.0), reference=VACUUM_IMPEDANCE)
    wanted = scattered(grid, matched, ["in", "out"], 800)["sparameters"].array
    found = scattered(grid, wrong, ["in", "out"], 2500)["sparameters"].array
    assert np.abs(found - wanted).max() < 1e-6


def test_one_excitation_gives_its_column_and_says_so():
    grid, ports = line(20)
    found = scattered(grid, ports, ["in"], 500)
    s = found["sparameters"]
    assert np.isnan(s.array[:, :, 1]).all() and np.isfinite(s.array[:, :, 0]).all()
    assert "in" in s.attributes["method"] and "own terminations" in s.attributes["method"]


def strip_port(along, axis, sign, cells=120, plane=25, seed=8):
    """A strip as wide as the grid halfway up, fed at one end: an ideal parallel-plate line below it, nothing above."""
    random = np.random.default_rng(seed)
    across = 3 - along - axis
    lengths = {along: np.full(cells, 1e-3)}
    lengths |= {axis: random.uniform(0.5e-3, 1e-3, 4), across: random.uniform(0.5e-3, 1e-3, 3)}
    lines = [np.concatenate(([0.0], np.cumsum(lengths[a]))) for a in range(3)]
    lower, upper = [0.0] * 3, [0.0] * 3
    lower[along] = upper[along] = lines[along][0 if sign > 0 else -1]
    upper[axis], upper[across] = lines[axis][2], lines[across][-1]
    reference = lines[along][plane] if sign > 0 else lines[along][-1 - plane]
    direction = ("+" if sign > 0 else "-") + "xyz"[along]
    impedance = VACUUM_IMPEDANCE * upper[axis] / upper[across]
    pulse = nf.Gaussian(15e9)
    port = nf.MicrostripPort("p", lower, upper, "xyz"[axis], direction, reference, impedance, waveform=pulse)
    metal = []
    for component in (along, across):
        at = [slice(None)] * 3
        at[axis] = 2
        metal.append((component, tuple(at)))
    faces = {f"{'xyz'[axis]}_{side}": "pec" for side in ("low", "high")}
    return nf.Grid(*lines).resolve(), nf.Boundaries(all="pmc", **faces), port, metal, impedance


@pytest.mark.parametrize(("along", "axis"), [(1, 2), (0, 2), (2, 0), (0, 1), (1, 0), (2, 1)])
@pytest.mark.parametrize("sign", [1, -1])
def test_microstrip_port_sees_the_lines_impedance_in_a_forward_wave(along, axis, sign):
    """V/I = Z/cos(beta d/2): a wave's V and I are in the exact ratio on the Yee grid, I interpolated over a cell."""
    grid, walls, port, metal, impedance = strip_port(along, axis, sign)
    dt = 0.9 * grid.maximum_time_step()
    # the pulse has passed the plane, 25 cells along, and is not yet back from the far end, 120 cells along
    time = 0.65e-9
    assert 25e-3 / VACUUM_SPEED + port.waveform.end < time < 215e-3 / VACUUM_SPEED
    _, found = run(grid, walls, [port], int(time / dt), "p", metal=metal, time_step=dt)
    f = np.linspace(1e9, 15e9, 15)
    voltage, current = port_spectra(found["p"], f)
    beta = 2 / 1e-3 * np.arcsin(np.sin(np.pi * f * dt) * 1e-3 / (VACUUM_SPEED * dt))
    wanted = impedance / np.cos(0.5 * beta * 1e-3)
    assert np.abs(voltage / current / wanted - 1).max() < 1e-6
    a, b = port_waves(found["p"], f, impedance)
    assert (np.abs(b) < 0.015 * np.abs(a)).all()  # (beta d)^2/16 of the interpolation
    assert found["p"]["time_half"].array[0] - found["p"]["time"].array[0] == pytest.approx(0.5 * dt)


def test_a_port_without_waveform_is_a_termination():
    grid, ports = line(20, waveforms=(PULSE, None))
    _, found = run(grid, PLATES, ports, 300, "in")
    voltage, current = found["out"]["voltage"].array, found["out"]["current"].array
    assert np.abs(voltage).max() > 0.4 and current == pytest.approx(-voltage / VACUUM_IMPEDANCE, rel=1e-12)


CORNERS = ((0, 0, 0), (2e-3, 0, 1e-3))
REFUSED = (
    (lambda: nf.LumpedPort("p", (0, 0, 0), (1e-3, 0, 0), "z"), "terminals lie apart"),
    (lambda: nf.LumpedPort("p", (0, 0, 1e-3), (0, 0, 0), "z"), "exceeds"),
    (lambda: nf.LumpedPort("", *CORNERS, "z"), "name"),
    (lambda: nf.LumpedPort("p", *CORNERS, "z", resistance=0), "must be positive"),
    (lambda: nf.LumpedElement(*CORNERS, "z"), "at least one"),
    (lambda: nf.LumpedElement(*CORNERS, "z", 50.0, connection="delta"), "series"),
    (lambda: nf.MicrostripPort("p", *CORNERS, "z", "+z", 5e-3), "must lie across"),
    (lambda: nf.MicrostripPort("p", *CORNERS, "z", "+x", 5e-3), "across the line"),
    (lambda: nf.MicrostripPort("p", (0, 0, 0), (0, 0, 1e-3), "z", "+y", 5e-3), "no width"),
    (lambda: nf.MicrostripPort("p", *CORNERS, "z", "-y", 5e-3), "turn the propagation"),
    (lambda: nf.MicrostripPort("p", *CORNERS, "z", "y", 5e-3), "propagation"),
    (lambda: nf.LumpedPort("p", (0, 0, 0), (0, 0, 0.1e-3), "z")._edges(Site(line()[0])), "vanish"),
    (lambda: nf.LumpedPort("p", (0, 0, 0), (0, 0, 1), "z")._edges(Site(line()[0])), "outside"),
    (lambda: nf.MicrostripPort("p", (0, 0, 0), (1e-3, 0, 1e-3), "z", "+y", 0.2e-3)._plane_node(line()[0]), "one cell"),
    (lambda: nf.MicrostripPort("p", (0, 0, 0), (1e-3, 0, 1e-3), "z", "+y", 59.9e-3)._plane_node(line()[0]), "one cell"),
)


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_wrong_ports_are_refused_with_a_reason(make, message):
    with pytest.raises(nf.ModelError, match=message):
        make()


def test_each_port_element_and_source_is_placed_once(monkeypatch):
    """Refusals, loads, cautions and terms all read the same edges."""
    counts, place = {}, edges.edge_block

    def counted(grid, lower, upper, axis, what):
        counts[what] = counts.get(what, 0) + 1
        return place(grid, lower, upper, axis, what)

    monkeypatch.setattr(edges, "edge_block", counted)
    mm = 1e-3
    setup = Discretization(
        nf.Simulation(
            nf.Grid.uniform(mm, (8, 8, 8)),
            boundaries=nf.Boundaries(nf.PEC),
            ports=[
                nf.LumpedPort("a", (mm, mm, 0), (mm, mm, mm), "z"),
                nf.MicrostripPort("b", (3 * mm, mm, 0), (5 * mm, mm, mm), "z", "+y", reference_plane=4 * mm),
            ],
            elements=[nf.LumpedElement((mm, 6 * mm, 0), (mm, 6 * mm, mm), "z", capacitance=1e-12)],
            sources=[nf.LineCurrent((7 * mm, mm, 0), (7 * mm, mm, 8 * mm), nf.Gaussian(5e9))],
            waveform=nf.Gaussian(5e9),
            steps=2,
        )
    )
    cautions(setup)
    assert setup.terms
    assert counts == {"LumpedPort 'a'": 1, "MicrostripPort 'b'": 1, "LumpedElement": 1, "LineCurrent": 1}


@pytest.mark.parametrize("cells", [-2, 0, 2, 9])
def test_a_strip_that_goes_on_behind_its_microstrip_port_is_said(cells):
    """It ends before the sheet, at it, and behind it."""
    strip = nf.Sheet((4e-3, (9 - cells) * 1e-3, 1e-3), (6e-3, 30e-3, 1e-3))
    model = nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (10, 30, 12)),
        boundaries=nf.Boundaries(nf.CPML(3), z_low=nf.PEC),
        structures=[nf.Structure(strip, nf.PEC)],
        ports=[nf.MicrostripPort("in", (4e-3, 9e-3, 0), (6e-3, 9e-3, 1e-3), "z", "+y", reference_plane=15e-3)],
        waveform=nf.Gaussian(5e9),
        steps=10,
    )
    said = [text for text in model.check().warnings if "behind its sheet" in text]
    assert len(said) == (cells > 0)
    assert all("WaveguidePort" in text for text in said)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_a_microstrip_port_below_its_ground_is_refused(axis):
    """Its current was that in the ground over the strip's width, its voltage that of the strip with the other sign."""
    turn = "xyz".index(axis) + 1

    def at(across, along, up):
        return tuple(1e-3 * q for q in np.roll((across, along, up), turn))

    def line(ground, strip, along="xyz"[(1 + turn) % 3]):
        metal = [nf.Sheet(at(4, 4, ground), at(16, 36, ground)), nf.Sheet(at(8, 10, strip), at(12, 30, strip))]
        plane = at(0, 15, 0)["xyz".index(along)]
        port = nf.MicrostripPort(
            "p", at(8, 10, 13), at(12, 10, 15), axis, f"+{along}", plane, waveform=nf.Gaussian(9e9)
        )
        grid = nf.Grid.uniform(1e-3, tuple(np.roll((20, 40, 20), turn)))
        bodies = [nf.Structure(sheet, "pec") for sheet in metal]
        return nf.Simulation(grid, bodies, nf.Boundaries(nf.CPML(3)), ports=[port], steps=5)

    assert line(ground=13, strip=15)._setup().terms
    with pytest.raises(nf.ModelError, match="ground and strip have changed places"):
        _ = line(ground=15, strip=13)._setup().terms
