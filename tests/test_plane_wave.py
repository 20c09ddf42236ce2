"""The plane wave: what leaks out of an empty box, layers, cross-sections, and what is refused."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.entry.errors import ModelError
from validation.mie import mie

C = 299792458.0
CELL = 1e-3
CELLS = (38, 36, 40)
EDGE = 13  # cells from the grid's ends to the box
SMOOTH = nf.Gaussian(10e9, delay=6.2 * 4.83e-11)  # 6.2 widths: it begins at 1e-17 of its peak
OBLIQUE = [(("60 deg", "40 deg"), "30 deg"), ((-1, 0.3, -2), (1, 1, 0)), ((1e-3, 0.5, 0.02), "x"), ((1, 1, 1), "y")]


def in_box(direction, polarisation, precision="double", lines=None, waveform=SMOOTH, **entries) -> nf.Simulation:
    lines = lines or [CELL * np.arange(n + 1) for n in CELLS]
    low, high = ([line[at] for line in lines] for at in (EDGE, -1 - EDGE))
    wave = nf.PlaneWave(low, high, direction, polarisation, waveform)
    return nf.Simulation(grid=nf.Grid(*lines), sources=[wave], precision=precision, steps=240, **entries)


def leak(simulation: nf.Simulation) -> float:
    """Largest scattered field of an empty box over the largest total field, dB."""
    setup = simulation._setup()
    engine = CpuEngine(setup.plan, 2)
    first, last = simulation.sources[0]._corner_nodes(setup.grid, simulation.boundaries)
    inside, outside = 0.0, 0.0
    for _ in range(12):
        engine.advance(20)
        for component in range(6):
            field = np.abs(np.array(engine.state(component)))
            half = [(component % 3 == axis) == (component < 3) for axis in range(3)]
            box = tuple(slice(a, b + (not h)) for a, b, h in zip(first, last, half))
            inside = max(inside, field[box].max())
            field[box] = 0.0
            outside = max(outside, field.max())
    assert inside > 0.5
    return 20 * np.log10(outside / inside)


@pytest.mark.parametrize("precision, limit", [("double", -250.0), ("single", -120.0)])
@pytest.mark.parametrize("direction, polarisation", [("+z", "x"), ("-x", (0, 1, 2)), ("+y", "45 deg")])
def test_a_wave_along_an_axis_leaks_at_rounding(direction, polarisation, precision, limit):
    assert leak(in_box(direction, polarisation, precision)) < limit


@pytest.mark.parametrize("precision, limit", [("double", -250.0), ("single", -115.0)])
def test_layers_and_a_graded_grid_leak_no_more(precision, limit):
    rng = np.random.default_rng(2)
    lines = [np.concatenate(([0.0], np.cumsum(rng.uniform(0.7, 1.4, n) * CELL))) for n in CELLS]
    lossy = nf.Medium(4.0, conductivity=0.3)
    magnetic = nf.Medium(2.0, 3.0, magnetic_conductivity=100.0)
    z = lines[2][[18, 21]].tolist()
    layers = [
        nf.Structure(nf.Box((-1, -1, z[0]), (1, 1, z[1])), lossy),
        nf.Structure(nf.Box((-1, -1, z[1] + 1.3 * CELL), (1, 1, 1)), magnetic),
    ]
    assert leak(in_box("+z", (1, 2, 0), precision, lines, structures=layers)) < limit


WATER = nf.Medium(4.9, poles=[nf.Debye(75.2, 9.231e-12)])
PLASMA = nf.Medium(poles=[nf.Drude(28.7e9, 20e9)])
RESONANT = nf.Medium(2.0, conductivity=0.01, poles=[nf.Debye(3.0, 2e-11)], magnetic_poles=[nf.Lorentz(1.0, 8e9, 1e9)])


def layers(*media: nf.Medium, first: float = 18.0, thick: float = 2.6) -> list[nf.Structure]:
    """Across z, one behind the other, the last one without end; a vacuum layer of its own ends a slab."""
    ends = [(first + thick * n) * CELL for n in range(len(media))] + [1.0]
    return [nf.Structure(nf.Box((-1, -1, a), (1, 1, b)), medium) for medium, a, b in zip(media, ends, ends[1:])]


@pytest.mark.parametrize(
    "media, precision, limit",
    [
        ((WATER,), "double", -250.0),
        ((PLASMA, nf.Medium()), "double", -250.0),
        ((RESONANT, PLASMA, WATER), "double", -250.0),
        ((RESONANT, PLASMA, WATER), "single", -115.0),
    ],
)
def test_dispersive_layers_leak_no_more(media, precision, limit):
    assert leak(in_box("+z", (1, 2, 0), precision, structures=layers(*media))) < limit


@pytest.mark.parametrize("direction, polarisation", OBLIQUE)
def test_a_wave_at_an_angle_leaks_less_than_minus_200_db(direction, polarisation):
    assert leak(in_box(direction, polarisation)) < -200.0


@pytest.mark.parametrize("direction, polarisation", OBLIQUE[:2])
def test_a_wave_at_an_angle_leaks_near_rounding_in_single_precision(direction, polarisation):
    assert leak(in_box(direction, polarisation, "single")) < -115.0


def test_the_first_value_of_a_default_pulse_is_all_that_leaks_more():
    assert -200.0 < leak(in_box(*OBLIQUE[0], waveform=nf.Gaussian(10e9))) < -150.0


def line_model(structures, far="cpml", cells=300, box=(60, 250), direction="+z") -> nf.Simulation:
    """One cell across between walls that fit: the wave alone, in no time."""
    lower, upper = ((0, 0, box[0] * CELL), (CELL, CELL, box[1] * CELL))
    return nf.Simulation(
        grid=nf.Grid.uniform(CELL, (1, 1, cells)),
        boundaries=nf.Boundaries(x_low="pec", x_high="pec", y_low="pmc", y_high="pmc", z_low="cpml", z_high=far),
        structures=structures,
        sources=[nf.PlaneWave(lower, upper, direction, "x", nf.Gaussian(8e9))],
        monitors=[
            nf.Probe("front", (0.5 * CELL, 0, box[0] * CELL), "Ex"),
            nf.Probe("behind", (0.5 * CELL, 0, 240 * CELL), "Ex"),
            nf.Probe("outside", (0.5 * CELL, 0, 40 * CELL), "Ex"),
        ],
        precision="double",
        steps=4000,
    )


def test_layers_pass_what_the_closed_form_says():
    # 20 cells a wavelength in the slab at 7.5 GHz: 0.5 % in phase over one wavelength of slab
    slab = nf.Structure(nf.Box((0, 0, 100 * CELL), (CELL, CELL, 115 * CELL)), nf.Medium(4.0))
    frequencies = np.array([2.5e9, 3.5e9, 5e9, 6.25e9])
    run, empty = line_model([slab]).run(threads=1), line_model([]).run(threads=1)
    passed, free = (nf.spectrum(each["behind"], frequencies).values for each in (run, empty))
    phase = 2 * np.pi * frequencies * 2 * 15e-3 / C
    expected = 1 / np.abs(np.cos(phase) + 1j * 0.5 * (2 + 0.5) * np.sin(phase))
    assert np.allclose(np.abs(passed / free), expected, rtol=1e-2)
    sent_back = np.abs(nf.spectrum(run["outside"], frequencies).values / free) ** 2
    assert np.allclose(sent_back, 1 - np.abs(passed / free) ** 2, atol=1e-4)  # 0 before: part of the incident wave
    assert np.abs(empty["outside"].values).max() < 1e-5  # the CPML


@pytest.mark.parametrize("medium", [WATER, PLASMA])
def test_a_dispersive_half_space_reflects_what_the_closed_form_says(medium):
    # two cells past the face of the box; E and H half a cell apart turn the impedance of the grid by (n k d)^2/8, and
    # 2 n/(1 + n)^2 of it shows in the reflection
    frequencies = np.array([2e9, 3e9, 4.5e9, 6e9])
    run = line_model(layers(medium, first=62.0)).model_copy(update={"steps": 1500}).run(threads=1)
    both = nf.spectrum(run["front"], frequencies).values
    n, k = np.sqrt(medium.relative_permittivity(frequencies)), 2 * np.pi * frequencies / C
    expected = (1 - n) / (1 + n) * np.exp(-2j * k * 2 * CELL)
    sent = nf.Gaussian(8e9).spectrum(frequencies)
    tolerance = 1.3 * np.abs(2 * n / (1 + n) ** 2 * (n * k * CELL) ** 2 / 8)
    assert (np.abs(both / sent - 1 - expected) < tolerance).all()
    sent_back = nf.spectrum(run["outside"], frequencies).values / sent
    assert (np.abs(np.abs(sent_back) - np.abs(expected)) < tolerance).all()  # in front of the box there is nothing else


def test_e_is_amplitude_times_waveform_where_the_wave_enters():
    run = line_model([]).run(threads=1)
    front = run["front"]
    expected = nf.Gaussian(8e9).value(front.time.values)
    assert np.abs(front.values - expected).max() < 2e-3  # two cells of dispersion, (k d)^2/24 of a phase of 2 k d


def cell(across, width=6, direction="+z", **entries) -> nf.Simulation:
    """A cell of 6 x 6 between walls or images, the box all across or less along x."""
    wave = nf.PlaneWave((0, 0, 20 * CELL), (width * CELL, 6 * CELL, 60 * CELL), direction, "y", SMOOTH)
    walls = nf.Boundaries(x=across, y="periodic", z=nf.CPML(8)) if across != "pec" else nf.Boundaries(x="pec", y="pmc")
    return nf.Simulation(
        grid=nf.Grid.uniform(CELL, (6, 6, 80)),
        boundaries=walls,
        sources=[wave],
        steps=300,
        precision="double",
        **entries,
    )


def test_a_periodic_cell_carries_the_wave_without_a_leak():
    assert leak(cell("periodic")) < -200.0  # what comes back of the total field behind the box, from 8 cells of CPML


def test_the_line_stays_calm_for_many_steps_whatever_stands_at_its_end():
    dense = nf.Structure(nf.Box((0, 0, 200 * CELL), (CELL, CELL, 1)), nf.Medium(80.0, conductivity=1.0))
    slow = nf.Structure(dense.shape, nf.Medium(3.0, 2.0, poles=[nf.Lorentz(9.0, 1e9, 1e8), nf.Debye(5.0, 1e-9)]))
    cases = (([], "cpml"), ([dense], "cpml"), ([], "pmc"), ([dense], "pec"), ([slow], "cpml"), ([slow], "pmc"))
    for structures, far in cases:
        march = line_model(structures, far)._setup().plan.waves[0].march(np.float64)
        march.tables(1, 20000)
        assert np.abs(march.tables(20001, 10)).max() < 1e-2  # a static field may stay in what conducts


def test_a_wall_behind_the_box_sends_the_wave_back():
    run = line_model([], far="pec", box=(60, 300)).run(threads=1)
    assert run["outside"].values.min() < -0.9  # reflected upside down
    assert run["behind"].values.min() < -0.9


def sphere(direction, polarisation, medium, radius=8) -> nf.Simulation:
    """A sphere of so many cells' radius in the middle of a box with a cell to spare."""
    half = radius + 2 + 5 + 7
    box = (radius + 2) * CELL
    return nf.Simulation(
        grid=nf.Grid.uniform(CELL, (2 * half,) * 3, (-half * CELL,) * 3),
        boundaries=nf.Boundaries(all=nf.CPML(7)),
        structures=[nf.Structure(nf.Sphere((0, 0, 0), radius * CELL), medium)],
        sources=[nf.PlaneWave((-box,) * 3, (box,) * 3, direction, polarisation, nf.GaussianDerivative(6e9), 2.0)],
        monitors=[
            nf.FarField("far", [4e9, 8e9], theta=["0 deg", "90 deg"], phi=[0]),
            nf.Probe("inside", (0, 0, 0)),
            nf.Probe("beside", (0, 0, (radius + 4) * CELL)),
            nf.FieldDFT("across", (-half * CELL / 2, 0, 0), (half * CELL / 2, 0, 0), [4e9]),
        ],
        decay=1e-5,
    )


@pytest.mark.parametrize("direction, polarisation", [("+z", "x"), (("50 deg", "20 deg"), "10 deg")])
def test_a_dielectric_sphere_scatters_as_mie_says_from_any_side(direction, polarisation):
    # half a cell of the 8 in the radius decides where the surface is, some 1/16 of that on average: 2 % of the volume's
    # square; the backward field is a small difference and feels twice that, and the wave's lag in the grid
    far = sphere(direction, polarisation, nf.Medium(2.4)).run()["far"]
    area = np.pi * (8 * CELL) ** 2
    sizes = 2 * np.pi * far.frequencies * 8 * CELL / C
    expected = np.array([mie(x, 2.4**0.5) for x in sizes]).T
    assert np.allclose(far.scattering_cross_section.values / area, expected[1], rtol=0.06)
    assert np.allclose(far.monostatic_cross_section.values / area, expected[2], rtol=0.08)
    # nothing is absorbed: what the forward field takes is what leaves
    assert np.allclose(far.extinction_cross_section, far.scattering_cross_section, rtol=0.01)


@pytest.mark.parametrize(
    "walls, polarisation",
    [
        ({"z_low": "pec"}, "z"),
        ({"z_low": "pmc"}, "y"),
        ({"y_high": "pmc", "z_low": "pec"}, "z"),
        ({"y_low": "pmc", "z_low": "pec"}, "z"),
    ],
)
def test_a_lossless_body_on_walls_takes_from_the_wave_what_it_scatters(walls, polarisation):
    # the far field forward is that of the body and its images, the power of the body alone
    (lower, upper), (first, last) = (
        (
            [-n * CELL * (f"{axis}_low" not in walls) for axis in "xyz"],
            [n * CELL * (f"{axis}_high" not in walls) for axis in "xyz"],
        )
        for n in (18, 7)
    )
    model = nf.Simulation(
        grid=nf.Grid.uniform(CELL, tuple(round((b - a) / CELL) for a, b in zip(lower, upper)), tuple(lower)),
        boundaries=nf.Boundaries(nf.CPML(6), **walls),
        structures=[nf.Structure(nf.Sphere((0, 0, 0), 5 * CELL), nf.Medium(4.0))],
        sources=[nf.PlaneWave(tuple(first), tuple(last), "+x", polarisation, nf.GaussianDerivative(8e9))],
        monitors=[nf.FarField("far", [6e9, 8e9], theta=[0], phi=[-1.5])],
        decay=1e-6,
    )
    far = model.run(threads=1)["far"]
    assert np.allclose(far.extinction_cross_section, far.scattering_cross_section, rtol=5e-3)


def test_cross_sections_come_by_frequency_in_square_metres_and_in_decibels():
    run = sphere("+z", "x", "pec", radius=5).run()
    far = run["far"]
    whole, one = far.radar_cross_section(), far.radar_cross_section(8e9)
    assert whole.dims == ("frequency", "theta", "phi") and whole.attrs["units"] == "m^2"
    assert np.array_equal(one.values, whole.values[1])
    assert np.allclose(far.radar_cross_section_dbsm(8e9), 10 * np.log10(one))
    back = far.at(np.pi, 0.0).radar_cross_section()
    assert np.allclose(back.values[:, 0, 0], far.monostatic_cross_section)
    with pytest.raises(ModelError, match=r"9e\+09 Hz was not recorded; there is: 4e\+09, 8e\+09"):
        far.radar_cross_section(9e9)


def test_monitors_say_which_fields_they_saw(tmp_path):
    run = sphere("+z", "x", nf.Medium(2.0), radius=3)
    result = nf.open_result(run.run().save(tmp_path / "r.h5"))
    fields = {name: result.excitation().record.monitors[name].variables for name in result.monitors}
    assert fields["inside"]["Ez"].attributes["fields"] == "total"
    assert fields["beside"]["Ez"].attributes["fields"] == "scattered"
    assert fields["across"]["Ex"].attributes["fields"] == "total and scattered"
    assert fields["far"]["Ey_x_low"].attributes["fields"] == "scattered"
    assert result["far"].monostatic_cross_section.size == 2


def test_a_continuous_wave_leaves_a_far_field_without_a_cross_section():
    far = nf.FarField("far", 6e9, theta=[0], phi=[0])
    model = in_box("+z", "x", waveform=nf.ContinuousWave(6e9), monitors=[far], boundaries=nf.Boundaries(nf.CPML(6)))
    pattern = model.run()["far"]
    assert np.isfinite(pattern.e_theta).all()
    with pytest.raises(ModelError, match="no continuous wave"):
        pattern.radar_cross_section()


def test_a_far_field_without_a_plane_wave_has_no_cross_section():
    model = sphere("+z", "x", nf.Medium(2.0), radius=3)
    dipole = nf.PointCurrent((0, 0, 8e-3), "z", nf.GaussianDerivative(6e9))
    far = model.model_copy(update={"sources": (dipole,), "steps": 40, "decay": None}).run()["far"]
    with pytest.raises(ModelError, match="needs a plane wave as the only source"):
        far.radar_cross_section()


def test_a_plane_wave_survives_the_model_file(tmp_path):
    model = in_box(("60 deg", "40 deg"), "30 deg")
    path = tmp_path / "model.toml"
    path.write_text(model.to_toml())
    assert nf.load(path) == model


@pytest.mark.parametrize(
    "given, words",
    [
        (dict(direction="z"), 'allowed: "+x" ... "-z", three components, or two angles'),
        (dict(direction=(0, 0, 0)), "has no length"),
        (dict(polarisation=(0, 0, 3)), "lies along the direction"),
        (dict(polarisation=(1, 2)), "three components, or one angle"),
        (dict(lower=(9e-2, 0, 0)), "give the corner with the smaller coordinates first"),
    ],
)
def test_bad_entries_are_refused_in_words(given, words):
    entries = dict(lower=(0, 0, 0), upper=(1e-2,) * 3, direction="+z", polarisation="x", waveform=nf.Gaussian(1e9))
    with pytest.raises(ModelError) as error:
        nf.PlaneWave(**(entries | given))
    assert words in str(error.value)


def plate(by: float, thick: float = 0.0, spare: int = 0) -> nf.Simulation:
    """A plate that ends `by` cells inside the box of a wave along z across x, or of one wider by `spare` cells."""
    ends = (-3.0 * CELL, -3.0 * CELL, -0.5 * thick * CELL), ((6.0 - by) * CELL, 3.0 * CELL, 0.5 * thick * CELL)
    shape = nf.Box(*ends) if thick else nf.Sheet(*ends)
    wide, high = (6 + spare) * CELL, 4 * CELL
    wave = nf.PlaneWave((-wide, -wide, -high), (wide, wide, high), "+z", "x", nf.ModulatedGaussian(50e9, 40e9))
    return nf.Simulation(
        grid=nf.Grid.uniform(CELL, (44, 44, 36), origin=(-22 * CELL, -22 * CELL, -18 * CELL)),
        structures=[nf.Structure(shape, nf.PEC, name="plate")],
        sources=[wave],
        monitors=[nf.Probe("beside", (9 * CELL, 1 * CELL, 1.5 * CELL), "Ez")],
        steps=120,
    )


@pytest.mark.parametrize("by, thick", [(2.4, 0.0), (2.0, 0.0), (1.4, 2.0)])
def test_metal_whose_rims_change_samples_on_a_face_alone_scatters_as_in_a_larger_box(by, thick):
    """E on the face is total: its own coefficients count. Refused as matter that crosses the face up to 2.4 cells from
    it. 1e-5: single precision, of a wave ten times what is scattered there."""
    found, wanted = (np.array(plate(by, thick, spare).run(threads=1)["beside"]) for spare in (0, 2))
    np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())


SHEET = nf.Sheet((0, 0, 59 * CELL), (CELL, CELL, 59 * CELL))
BALL = nf.Structure(nf.Sphere((13e-3, 18e-3, 20e-3), 2.4e-3), nf.Medium(3.0))
GRADED = [np.cumsum([0.0, *(CELL * (1 + 0.1 * np.sin(np.arange(n))))]) for n in CELLS]


@pytest.mark.parametrize(
    "model, words",
    [
        (lambda: in_box("+z", "x", structures=[BALL]), "crosses a face of its box near"),
        (lambda: in_box("+z", "x", structures=[nf.Structure(BALL.shape, "pec")]), "Enlarge the box"),
        (lambda: plate(1.4), "metal of structure 'plate' crosses a face of its box, or lies too near"),
        (lambda: plate(-2.0), "two cells to spare beside flat metal"),
        (lambda: in_box(*OBLIQUE[0], lines=GRADED), "cells about its box vary along x"),
        (lambda: in_box(*OBLIQUE[0], background=nf.Medium(2.0, conductivity=0.1)), "uniform lossless one"),
        (lambda: in_box("+z", "x", background=nf.Medium(2.0, conductivity=0.1)), "lossy, dispersive or layered"),
        (lambda: in_box("+z", "x", boundaries=nf.Boundaries(all=nf.CPML(13))), "one cell of scattered field"),
        (lambda: in_box("+z", "x", monitors=[nf.FarField("f", [1e9], (12e-3,) * 3, (22e-3,) * 3)]), "crosses or"),
        (lambda: cell(nf.Bloch(phase="90 deg")), "a Bloch phase makes the fields complex"),
        (lambda: cell("periodic", direction=(0.2, 0, 1)), "touches the PERIODIC wall x_low"),
        (lambda: cell("periodic", width=3), "one of the two periodic faces across x"),
        (lambda: in_box("+z", "x", boundaries=nf.Boundaries(all="periodic")), "along z, whose faces are periodic"),
        (lambda: line_model([], far="pec", box=(60, 299), direction="-z"), "one cell from the z wall"),
        (lambda: line_model([nf.Structure(SHEET, "pec")], box=(60, 250)), "metal lies one cell before its box along z"),
        (lambda: cell("pec", symmetry=nf.Symmetry(x="electric")), "the plane of symmetry across x is electric"),
        (lambda: cell("periodic", background=WATER), "lossy, dispersive or layered"),
        (lambda: in_box("+z", "x", structures=[nf.Structure(BALL.shape, PLASMA)]), "crosses a face of its box near"),
        (lambda: in_box(*OBLIQUE[0], structures=layers(PLASMA)), "the dispersive medium of box is not wholly inside"),
        (lambda: line_model([], far="pec", box=(0, 250)), "one cell of scattered field"),
        (lambda: line_model([], far="pec", box=(60, 300), direction="-z"), "touches the PEC wall z_high"),
    ],
)
def test_what_cannot_run_is_refused_in_words(model, words):
    with pytest.raises(ModelError) as error:
        assert model()._setup().plan is None
    assert words in str(error.value)


def test_a_wave_in_periodic_cells_is_the_one_between_walls_that_images_allow():
    # a patch in the middle of the cell: its images in PEC and PMC walls are its periodic copies
    def scattered(**lateral) -> np.ndarray:
        patch = nf.Structure(nf.Box((2e-3, 2e-3, 20e-3), (4e-3, 6e-3, 22e-3)), nf.Medium(9.0))
        wave = nf.PlaneWave((0, 0, 15e-3), (6e-3, 8e-3, 30e-3), "+z", "x", nf.Gaussian(20e9))
        simulation = nf.Simulation(
            nf.Grid.uniform(1e-3, (6, 8, 45)),
            boundaries=nf.Boundaries(nf.CPML(10), **lateral),
            sources=[wave],
            structures=[patch],
            monitors=[nf.Probe("ahead", (3.5e-3, 4e-3, 12e-3), "Ex")],
            steps=300,
            precision="double",
        )
        return simulation.run(threads=1)["ahead"].values

    periodic = scattered(x_low="periodic", x_high="periodic", y_low="periodic", y_high="periodic")
    walled = scattered(x_low="pec", x_high="pec", y_low="pmc", y_high="pmc")
    assert np.abs(periodic).max() > 0.01
    assert np.abs(periodic - walled).max() < 1e-12
