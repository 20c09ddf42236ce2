"""Periodic cells: nothing tells where the cell begins, phases are those of waves, what cannot be is refused."""

from dataclasses import replace

import numpy as np
import pytest
from cases import slow_after
from checkpointed import assert_goes_on

import nearfield as nf
from nearfield import model_file
from nearfield.grid.yee import COMPONENTS, is_half
from nearfield.lowering.context import Site

LENGTHS = (12e-3, 10e-3, 14e-3)
STEPS = 150


def shifted(position, by) -> tuple:
    """A position moved, and brought back into the cell."""
    return tuple((a + b) % length for a, b, length in zip(position, by, LENGTHS))


def cell(by, boundaries, **options) -> nf.Simulation:
    """A dispersive ball, a metal ball, a wire and a dipole, all of them moved by the same whole cells."""
    rod = shifted((2e-3, 8e-3, 5e-3), by)
    wet = nf.Medium(4.0, conductivity=0.05, poles=nf.Debye(3.0, 2e-11))
    return nf.Simulation(
        nf.Grid.uniform(1e-3, (12, 10, 14)),
        structures=[
            nf.Structure(nf.Sphere(shifted((3e-3, 3e-3, 3e-3), by), 2.7e-3), wet),
            nf.Structure(nf.Sphere(shifted((9.2e-3, 2.1e-3, 12e-3), by), 2e-3), "pec"),
            nf.Structure(nf.Wire([rod, (rod[0], rod[1] + 6e-3, rod[2])]), "pec"),
        ],
        boundaries=boundaries,
        sources=[nf.PointCurrent(shifted((6.3e-3, 5e-3, 7.5e-3), by), "z", nf.Gaussian(30e9))],
        monitors=[
            nf.Probe("p", shifted((3e-3, 8e-3, 10.5e-3), by), "Ez"),
            nf.Probe("q", shifted((4.2e-3, 8.1e-3, 10.2e-3), by), "Hx"),
        ],
        steps=STEPS,
        precision="double",
        **options,
    )


MOVES = [(5e-3, 0, 0), (0, 7e-3, 0), (0, 0, 10e-3), (10e-3, 4e-3, 13e-3)]
ROUNDING = 1e-12  # sums over the cell's 1680 samples in another order, some hundred steps


@pytest.mark.parametrize("move", MOVES)
def test_nothing_tells_where_a_periodic_cell_begins(move):
    results = [cell(by, nf.Boundaries(all="periodic")).run(threads=1) for by in ((0, 0, 0), move)]
    for name in "pq":
        here, there = (result[name].values for result in results)
        assert np.abs(here).max() > 0
        assert np.abs(here - there).max() <= ROUNDING * np.abs(here).max()


@pytest.mark.parametrize("move", MOVES)
def test_over_the_end_of_a_bloch_cell_fields_lag_by_its_phases(move):
    phases = (0.7, -2.0, 1.1)
    boundaries = nf.Boundaries(**{axis: nf.Bloch(phase=phase) for axis, phase in zip("xyz", phases)})
    results = [cell(by, boundaries).run(threads=1) for by in ((0, 0, 0), move)]
    source = np.array((6.3e-3, 5e-3, 7.5e-3))
    for name, at in (("p", (3e-3, 8e-3, 10.5e-3)), ("q", (4.2e-3, 8.1e-3, 10.2e-3))):
        here, there = (result[name].values for result in results)
        cells = np.floor((np.array(at) + move) / LENGTHS) - np.floor((source + move) / LENGTHS)
        brought_back = there * np.exp(-1j * np.dot(phases, cells))
        assert np.abs(here - brought_back).max() <= ROUNDING * np.abs(here).max()
        assert np.abs(here.imag).max() > 0


def test_a_graded_cell_may_begin_anywhere():
    steps = 1e-3 * np.array([1.0, 1.2, 1.4, 1.1, 0.9, 0.7, 0.8, 1.0])

    def run(first: int) -> np.ndarray:
        x = np.concatenate(([0.0], np.cumsum(np.roll(steps, -first))))
        place = float(x[(5 - first) % 8])
        bar = (1.9e-3 - float(steps[:first].sum())) % float(steps.sum())  # its faces cut cells
        simulation = nf.Simulation(
            nf.Grid(x, 1e-3 * np.arange(4), 1e-3 * np.arange(4)),
            structures=[nf.Structure(nf.Box((bar, -1, -1), (bar + 2.2e-3, 1, 1)), nf.Medium(3.0, permeability=2.0))],
            boundaries=nf.Boundaries(all="periodic"),
            sources=[nf.CurrentSheet((place, 0, 0), (place, 3e-3, 3e-3), "z", nf.Gaussian(20e9))],
            monitors=[nf.Probe("p", (place, 1e-3, 1.5e-3), "Ez")],
            steps=100,
            precision="double",
        )
        return simulation.run(threads=1)["p"].values

    runs = [run(first) for first in (0, 2, 3, 5, 6)]
    for values in runs[1:]:
        assert np.abs(values - runs[0]).max() <= ROUNDING * np.abs(runs[0]).max()


def test_a_sheet_over_a_period_radiates_plane_waves():
    density, pulse = 2.0, nf.Gaussian(20e9)
    simulation = nf.Simulation(
        nf.Grid.uniform(0.5e-3, (3, 1, 80)),
        boundaries=nf.Boundaries(x="periodic", y="periodic", z=nf.CPML(10)),
        sources=[nf.CurrentSheet((0, 0, 20e-3), (1.5e-3, 0.5e-3, 20e-3), "x", pulse, density)],
        monitors=[nf.Probe("p", (0.25e-3, 0, 30e-3), "Ex"), nf.Probe("edge", (1.25e-3, 0.5e-3, 30e-3), "Ex")],
        duration="0.5 ns",
        precision="double",
    )
    result = simulation.run(threads=1)
    time = result["p"]["time"].values
    expected = -0.5 * 376.730313668 * density * pulse.value(time - 10e-3 / 299792458.0)
    # 30 cells per wavelength at 20 GHz: phase error of (pi/30)^2/6 (1 - S^2), S = 0.99/sqrt 3, over 0.67 wavelengths
    assert np.abs(result["p"].values - expected).max() < 0.01 * np.abs(expected).max()
    assert np.abs(result["p"].values - result["edge"].values).max() <= ROUNDING * np.abs(expected).max()


def test_power_that_goes_round_a_cell_is_not_lost():
    """The flux out of a box over the whole period of two axes is that through its two other faces."""
    waves = {"frequencies": ["5 GHz", "9 GHz"]}
    simulation = nf.Simulation(
        nf.Grid.uniform(1e-3, (8, 6, 40)),
        boundaries=nf.Boundaries(x="periodic", y=nf.Bloch(phase="50 deg"), z=nf.CPML(8)),
        sources=[nf.PointCurrent((3e-3, 5e-3, 20e-3), "x", nf.Gaussian(20e9))],
        monitors=[
            nf.Flux("box", (0, 0, 12e-3), (8e-3, 6e-3, 28e-3), **waves),
            nf.Flux("up", (0, 0, 28e-3), (8e-3, 6e-3, 28e-3), **waves),
            nf.Flux("down", (0, 0, 12e-3), (8e-3, 6e-3, 12e-3), **waves),
            nf.FieldDFT("cut", (0, 0, 28e-3), (8e-3, 6e-3, 28e-3), **waves),
        ],
        steps=200,
        precision="double",
    )
    result = simulation.run(threads=1)
    power = {n: np.asarray(getattr(result[n], "power", result[n])) for n in ("box", "up", "down")}
    assert np.allclose(power["box"], power["up"] - power["down"], rtol=1e-12)
    ends = result["cut"]["Ex"].isel(y=[0, -1], z=0).values
    assert np.allclose(ends[:, :, 1], ends[:, :, 0] * np.exp(-1j * np.radians(50)), rtol=1e-12)
    assert np.allclose(result["cut"]["Ey"].isel(x=0), result["cut"]["Ey"].isel(x=-1), rtol=1e-12)


@pytest.mark.parametrize("frame", [{}, {"lower": (0, 4e-3, 0), "upper": (12e-3, 10e-3, 14e-3)}])
def test_snapshots_repeat_their_first_line_on_the_last(frame):
    box = {"lower": (0, 0, 0), "upper": (12e-3, 10e-3, 14e-3)} | frame
    monitors = [nf.Snapshot("part", every=50, **box), nf.Snapshot("all", (0, 0, 0), LENGTHS, every=50)]
    simulation = cell((0, 0, 0), nf.Boundaries(all="periodic"))
    result = simulation.model_copy(update={"monitors": tuple(monitors)}).run(threads=1)
    whole, part = result["all"], result["part"]
    for component, name in enumerate(COMPONENTS):
        for number, axis in enumerate("xyz"):
            if not is_half(component, number):
                assert np.array_equal(whole[name].isel({axis: 0}), whole[name].isel({axis: -1}))
        skipped = whole[name].sizes["y"] - part[name].sizes["y"]
        assert np.array_equal(whole[name].isel(y=slice(skipped, None)), part[name])


def test_a_plane_on_the_last_line_is_that_on_the_first():
    monitors = [nf.Snapshot(name, (0, 0, z), (12e-3, 10e-3, z), "Ex", every=50) for name, z in (("a", 0), ("b", 14e-3))]
    simulation = cell((0, 0, 0), nf.Boundaries(all="periodic")).model_copy(update={"monitors": tuple(monitors)})
    result = simulation.run(threads=1)
    first, last = (result[name]["Ex"].values for name in "ab")
    assert np.array_equal(first, last) and np.abs(first).max() > 0


@pytest.mark.parametrize("faces", [{"all": "periodic"}, {"all": "periodic", "x": nf.Bloch(phase=1.0)}])
def test_a_run_goes_on_from_a_checkpoint_with_the_same_bits(faces, tmp_path):
    monitors = [
        nf.Probe("p", (3e-3, 8e-3, 10.5e-3), "Ez"),
        nf.Snapshot("s", (0, 0, 0), (12e-3, 10e-3, 0), every=40),
        nf.FieldDFT("d", (0, 0, 7e-3), LENGTHS, "8 GHz", "Ey"),
    ]
    simulation = cell((0, 0, 0), nf.Boundaries(**faces), check_every=30)
    assert_goes_on(simulation.model_copy(update={"monitors": tuple(monitors)}), tmp_path, 60)


def test_a_wave_number_is_a_phase_over_the_period():
    grid = nf.Grid.uniform("2 mm", (5, 4, 3)).resolve()
    boundaries = nf.Boundaries(x=nf.Bloch(wave_number="50 rad/m"), y=nf.Bloch(phase="180 deg"), z="periodic")
    assert boundaries.phases(grid) == (50 * grid.lines[0][-1], np.pi, 0.0)
    assert boundaries.complex_fields and not nf.Boundaries(x="periodic").complex_fields


def test_boundaries_come_back_from_a_model_file():
    faces = nf.Boundaries(x=nf.Bloch(phase=0.5), y="periodic", z_low="pec", z_high=nf.CPML(7))
    simulation = nf.Simulation(nf.Grid.uniform(1e-3, (4, 4, 20)), boundaries=faces, steps=1)
    text = simulation.to_toml()
    assert model_file.loads(text).boundaries == faces


one_side = r"x_low is 'periodic', x_high is a CPML: .* both must be alike"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nf.Boundaries(x_low="periodic"), one_side),
        (lambda: nf.Boundaries(x_low=nf.Bloch(phase=1), x_high=nf.Bloch(phase=2)), "both must be alike"),
        (lambda: nf.Boundaries(x=nf.Bloch()), "either phase .* or wave_number .*; neither given"),
        (lambda: nf.Boundaries(x=nf.Bloch(phase=1, wave_number=2)), "both given"),
        (lambda: nf.Boundaries(x=nf.Bloch(phase="1 m")), "unit of a length"),
    ],
)
def test_boundaries_that_cannot_be_are_refused(make, message):
    with pytest.raises(nf.ModelError, match=message):
        make()


def refused(monitors=(), ports=(), boundaries=None):
    return (
        nf.Simulation(
            nf.Grid.uniform(1e-3, (8, 8, 30)),
            monitors=monitors,
            ports=ports,
            steps=1,
            boundaries=boundaries or nf.Boundaries(x="periodic", y="periodic"),
        )
        ._setup()
        .plan
    )


def test_monitors_and_ports_that_make_no_sense_are_refused(tmp_path):
    bloch = nf.Boundaries(x=nf.Bloch(phase=1), y="periodic")
    with pytest.raises(nf.ModelError, match=r"the fields repeat along x, .* no far field"):
        refused([nf.FarField("f", ["5 GHz"])])
    with pytest.raises(nf.ModelError, match="lies on the outer wall"):
        refused([nf.Flux("f", (0, 0, 12e-3), (4e-3, 8e-3, 20e-3), ["5 GHz"])])
    with pytest.raises(nf.ModelError, match="complex"):
        port = nf.LumpedPort("p", (0, 0, 12e-3), (0, 0, 13e-3), "z", waveform=nf.Gaussian(9e9))
        refused(ports=[port], boundaries=bloch)


def array_cell(shift, boundaries, structures=(), source=True, **entries) -> nf.Simulation:
    """Bodies in a cell of 18 x 18 mm, moved by whole cells (mm), a dipole and a probe that move with them."""

    def home(*place):
        return ((place[0] + shift[0]) * 1e-3 % 18e-3, (place[1] + shift[1]) * 1e-3 % 18e-3, place[2] * 1e-3)

    dipole = nf.PointCurrent(home(3, 3.5, 9), "y", nf.Gaussian(12e9))
    return nf.Simulation(
        nf.Grid.uniform(1e-3, (18, 18, 26)),
        boundaries=boundaries,
        structures=structures,
        sources=[dipole] if source else [],
        monitors=[nf.Probe("p", home(15, 4, 17.5), "Ez"), *entries.pop("monitors", ())],
        steps=250,
        precision="double",
        **entries,
    )


CELL = nf.Boundaries(x="periodic", y="periodic", z=nf.CPML(8))
OVER = [(9, 0), (9, 8)]  # to the high face along x, along x and y


def moved_by(shift, *place):
    """A place (mm) moved by whole cells, in m."""
    return tuple((a + b) * 1e-3 for a, b in zip(place, (*shift, 0)))


def plates(shift):
    return [nf.Structure(nf.Sheet(moved_by(shift, 5, 6, z), moved_by(shift, 12, 11, z)), "pec") for z in (11.0, 14.0)]


def assert_alike(here, there, within=1e-4):
    assert np.abs(here).max() > 0
    assert np.abs(np.asarray(here) - there).max() <= within * np.abs(here).max()


# the sides of rims that lie on both images of a sheet are divided otherwise: some 1e-6 (2e-2 where edges were lost)
@pytest.mark.parametrize("shift", OVER)
@pytest.mark.parametrize(
    "circuit",
    [
        dict(resistance=20.0),
        dict(resistance=20.0, inductance=1e-9),
        dict(resistance=20.0, inductance=1e-9, capacitance=1e-12),
    ],
    ids=lambda circuit: "".join(name[0] for name in circuit),
)
def test_an_element_at_the_high_face_acts_as_anywhere(circuit, shift):
    found = []
    for by in ((0, 0), shift):
        ends = moved_by(by, 7, 7, 11), moved_by(by, 9, 10, 14)
        cell = array_cell(by, CELL, plates(by), elements=[nf.LumpedElement(*ends, "z", **circuit)])
        found.append(cell.run(threads=1)["p"].values)
    assert_alike(*found)


@pytest.mark.parametrize("shift", OVER)
@pytest.mark.parametrize("circuit", [dict(), dict(inductance=1e-9), dict(capacitance=1e-12, connection="parallel")])
def test_a_port_at_the_high_face_acts_as_anywhere(circuit, shift):
    found = []
    for by in ((0, 0), shift):
        port = nf.LumpedPort("a", moved_by(by, 7, 7, 11), moved_by(by, 9, 10, 14), "z", **circuit)
        cell = array_cell(by, CELL, plates(by), ports=[port], source=False, waveform=nf.Gaussian(12e9))
        result = cell.run(threads=1).excitation()
        found.append([result["p"].values, *(result.port("a")[name].values for name in ("voltage", "current"))])
    for here, there in zip(*found):
        assert_alike(here, there)


def test_an_element_across_the_whole_cell_counts_the_edges_of_its_face_once():
    element = nf.LumpedElement((0, 7e-3, 11e-3), (18e-3, 7e-3, 14e-3), "z", resistance=20.0, inductance=1e-9)
    site = Site(nf.Grid.uniform(1e-3, (18, 18, 26)).resolve())
    closed = Site(replace(site.grid, phases=(0.0, 0.0, None)))
    blocks = [element._placed(each).block for each in (site, closed)]
    assert [block.i.size for block in blocks] == [19 * 3, 18 * 3]
    np.testing.assert_allclose(blocks[1].share, 1 / 18, rtol=1e-12)
    assert blocks[1].width.sum() == pytest.approx(blocks[0].width.sum(), rel=1e-12)


def test_ports_on_both_sides_of_a_face_share_its_edges():
    ports = [nf.LumpedPort(n, (x, 7e-3, 11e-3), (x, 7e-3, 14e-3), "z") for n, x in (("a", 0.0), ("b", 18e-3))]
    with pytest.raises(nf.ModelError, match="overlaps"):
        array_cell((0, 0), CELL, ports=ports, waveform=nf.Gaussian(12e9)).check()


@pytest.mark.parametrize("shift", [*OVER, (12, 0)])
@pytest.mark.parametrize("bloch", [False, True])
def test_a_current_at_a_face_is_that_of_anywhere(shift, bloch):
    phase = nf.Bloch(phase=0.7)
    boundaries = nf.Boundaries(x=phase, y="periodic", z=nf.CPML(8)) if bloch else CELL
    found = []
    for by in ((0, 0), shift):
        cell = array_cell(
            by,
            boundaries,
            monitors=[
                nf.Current("up", moved_by(by, 4, 6, 12), moved_by(by, 6, 10, 12)),
                nf.Current("along", moved_by(by, 6, 6, 9), moved_by(by, 6, 10, 15)),
            ],
        )
        result = cell.run(threads=1)
        turn = np.exp(0.7j * ((3 + by[0]) // 18)) if bloch else 1.0
        found.append([result[name].values * turn for name in ("up", "along")])
    for here, there in zip(*found):
        assert_alike(here, there, 1e-11)


BODIES = {
    "PMC": (lambda by: nf.Box(moved_by(by, 5.5, 6.5, 10.5), moved_by(by, 12.5, 11.5, 14.5)), "pmc"),
    "PMC on lines": (lambda by: nf.Box(moved_by(by, 5, 6, 10), moved_by(by, 12, 11, 14)), "pmc"),
    "PEC": (lambda by: nf.Box(moved_by(by, 6.3, 5, 10), moved_by(by, 11.2, 12, 14)), "pec"),
    "Conductor": (lambda by: nf.Box(moved_by(by, 6.3, 5, 10), moved_by(by, 11.2, 12, 14)), nf.Conductor(1e6)),
    "sheet": (lambda by: nf.Sheet(moved_by(by, 6.3, 5, 12), moved_by(by, 11.2, 12, 12)), "pec"),
}


@pytest.mark.parametrize("shift", slow_after(2, [(9, 9), (-11, 0), (7, 0), (-18, -18)]))
@pytest.mark.parametrize("name", BODIES)
def test_a_body_over_a_face_or_beyond_it_acts_as_in_the_middle(name, shift):
    shape, medium = BODIES[name]
    cells = [array_cell(by, CELL, [nf.Structure(shape(by), medium)]) for by in ((0, 0), shift)]
    checks = [cell.check() for cell in cells]
    assert not any("outside the grid" in warning for warning in checks[1].warnings)
    assert all(abs(one["to"] - one["from"]) <= 0.51e-3 for one in checks[1].moved)
    results = [cell.run(threads=1) for cell in cells]
    assert results[0].facts["time_step"] == pytest.approx(results[1].facts["time_step"], rel=1e-12)
    assert_alike(*(result["p"].values for result in results))


def test_a_magnetic_plate_over_the_whole_cell_lets_nothing_through():
    plate = nf.Structure(nf.Box((0, 0, 11.5e-3), (18e-3, 18e-3, 13.5e-3)), "pmc")
    result = array_cell((0, 0), CELL, [plate]).run(threads=1)
    assert np.abs(result["p"].values).max() == 0.0


def test_a_body_past_an_end_that_is_no_period_is_still_lost():
    body = nf.Structure(nf.Box((0, 0, 30e-3), (3e-3, 3e-3, 33e-3)), "pec")
    assert any("lies outside the grid" in each for each in array_cell((0, 0), CELL, [body]).check().warnings)


def test_the_current_of_a_microstrip_port_at_a_face_is_that_of_anywhere():
    found = []
    for x in (6e-3, 15e-3):
        strip = nf.Structure(nf.Sheet((x, 10e-3, 2e-3), (x + 3e-3, 1, 2e-3)), "pec")
        simulation = nf.Simulation(
            nf.Grid.uniform(1e-3, (18, 40, 18)),
            boundaries=nf.Boundaries(x="periodic", y=nf.CPML(6), z_low="pec", z_high=nf.CPML(6)),
            structures=[strip],
            ports=[nf.MicrostripPort("in", (x, 10e-3, 0), (x + 3e-3, 10e-3, 2e-3), "z", "+y", reference_plane=18e-3)],
            waveform=nf.Gaussian(10e9),
            steps=300,
            precision="double",
        )
        found.append(simulation.run(threads=1).excitation().port("in")["current"].values)
    assert_alike(*found, 1e-11)
