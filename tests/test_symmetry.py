"""A model stepped by halves gives what the whole gives: fields, ports, fluxes and patterns."""

import numpy as np
import pytest
from checkpointed import assert_goes_on

import nearfield as nf

MM = 1e-3
BAND = [6e9, 9e9]
ROUNDING = 1e-11  # of the peak: sums in another order, some hundred steps in double


def steps(cells: int, graded: float = 0.25) -> np.ndarray:
    """Graded lines (m), symmetric about the origin."""
    upper = np.cumsum([0.0, *(1 + graded * np.sin(1.0 + np.arange(cells // 2)))])
    return MM * np.concatenate((-upper[:0:-1], upper))


def dipole(symmetry: dict, **options) -> nf.Simulation:
    """A strip along x with a port in its middle, over a slab: symmetric about x (electric) and about y (magnetic)."""
    x, y, z = steps(36), steps(28), steps(24)
    faces = nf.Boundaries(all=nf.CPML(6))
    gap = float(x[19])
    return nf.Simulation(
        nf.Grid(x, y, z),
        boundaries=faces,
        symmetry=nf.Symmetry(**symmetry),
        structures=[
            nf.Structure(nf.Box((-6e-3, -3.3e-3, -3e-3), (6e-3, 3.3e-3, -1e-3)), nf.Medium(3.0, conductivity=0.02)),
            nf.Structure(nf.Sheet((-7e-3, -1e-3, 0), (-gap, 1e-3, 0)), "pec"),
            nf.Structure(nf.Sheet((gap, -1e-3, 0), (7e-3, 1e-3, 0)), "pec"),
        ],
        ports=[nf.LumpedPort("feed", (-gap, -1e-3, 0), (gap, 1e-3, 0), "x", inductance=0.3e-9, resistance=70.0)],
        monitors=[
            nf.Probe("above", (-3.2e-3, 2.1e-3, 4.1e-3), "Ex"),
            nf.Probe("below", (3.2e-3, -2.1e-3, -4.1e-3), "Hz"),
            nf.Voltage("u", (-5e-3, -4e-3, 1e-3), (4e-3, -4e-3, 1e-3)),
            nf.Current("i", (2.5e-3, -2e-3, -1e-3), (2.5e-3, 2e-3, 1e-3)),
            nf.Snapshot("part", (-8e-3, -6e-3, -5e-3), (2e-3, 4e-3, 5e-3), every=100),
            nf.FieldDFT("all", (x[0], y[0], z[0]), (x[-1], y[-1], z[-1]), BAND),
            nf.FieldDFT("plane", (-4e-3, 0, -4e-3), (9e-3, 0, 4e-3), BAND),
            nf.Flux("out", (-9e-3, -6e-3, -5e-3), (9e-3, 6e-3, 5e-3), BAND),
            nf.FarField("pattern", BAND, theta=(0.0, 0.6, 2.5), phi=(0.2, 2.0, 4.5)),
        ],
        waveform=nf.Gaussian(15e9),
        steps=400,
        precision="double",
        metal="staircase",  # places of cuts on either side differ by their own rounding, of which bisection has more
        **options,
    )


@pytest.fixture(scope="module")
def whole():
    return dipole({}).run(threads=1)


def differences(found, wanted):
    """(name, largest difference over the largest value) of every array of two runs."""
    records = [result.record.excitations["feed"] for result in (found, wanted)]
    groups = [(name, [record.ports[name] for record in records]) for name in records[0].ports]
    groups += [(name, [record.monitors[name].variables for record in records]) for name in records[0].monitors]
    for group, (ours, theirs) in groups:
        peaks = {}
        for name, variable in theirs.items():
            values = variable.array
            if name not in variable.dims and values.dtype.kind in "fc":
                peaks[name[0]] = max(peaks.get(name[0], 0.0), np.abs(values).max())
        for name, variable in theirs.items():
            if name in variable.dims:
                assert np.allclose(ours[name].array, variable.array), (group, name)
            elif variable.array.dtype.kind in "fc":
                yield f"{group} {name}", np.abs(ours[name].array - variable.array).max() / peaks[name[0]]


@pytest.mark.parametrize("symmetry", [{"x": "electric"}, {"y": "magnetic"}, {"x": "electric", "y": "magnetic"}])
def test_halves_and_quarters_report_the_whole(symmetry, whole):
    simulation = dipole(symmetry)
    plan = simulation._setup().plan
    assert np.prod(plan.cells) == 36 * 28 * 24 // 2 ** len(symmetry)
    found = simulation.run(threads=2)
    seen = dict(differences(found, whole))
    assert len(seen) > 40 and {name: d for name, d in seen.items() if not d < ROUNDING} == {}
    assert np.nanmax(np.abs(found.sparameters.values - whole.sparameters.values)) < 1e-9
    for name in ("directivity", "gain"):
        ours, theirs = (getattr(result["pattern"], name).values for result in (found, whole))
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-9 * theirs.max())


@pytest.mark.parametrize("component", ["x", "y", "z"])
def test_eighths_of_a_dipole_s_field(component):
    """A dipole is symmetric about the plane across it (electric) and those along it (magnetic)."""
    kinds = {axis: "electric" if axis == component else "magnetic" for axis in "xyz"}
    lines = steps(20)
    position = [0.0, 0.0, 0.0]
    monitors = [nf.FieldDFT("f", (-4 * MM,) * 3, (5 * MM,) * 3, BAND), nf.Probe("p", (-2 * MM, 1 * MM, -3 * MM), "Ex")]
    model = nf.Simulation(
        nf.Grid(lines, lines, lines),
        boundaries=nf.Boundaries(all=nf.CPML(5)),
        monitors=monitors,
        steps=200,
        sources=[nf.PointCurrent(position, component, nf.Gaussian(15e9))],
        precision="double",
    )
    whole, eighth = model.run(threads=1), model.model_copy(update={"symmetry": nf.Symmetry(**kinds)}).run(threads=1)
    for field, peak in (("E", 0.0), ("H", 0.0)):
        names = [field + axis for axis in "xyz"]
        peak = max(float(np.abs(whole["f"][name]).max()) for name in names)
        for name in names:
            assert np.abs(whole["f"][name].values - eighth["f"][name].values).max() < ROUNDING * peak
    assert np.abs(whole["p"].values - eighth["p"].values).max() < ROUNDING * np.abs(whole["p"].values).max()


def test_domains_and_schedules_change_no_bit_of_a_quarter():
    both = {"x": "electric", "y": "magnetic"}
    first = dipole(both).run(threads=1)
    second = dipole(both, schedule="stepwise").run(threads=2, parallel=nf.Parallel(domains="1x2x1"))
    assert all(difference == 0 for _, difference in differences(second, first))


def test_a_quarter_goes_on_from_a_checkpoint_with_the_same_bits(tmp_path):
    assert_goes_on(dipole({"x": "electric", "y": "magnetic"}, check_every=50), tmp_path, 150)


def test_an_automatic_grid_gets_a_line_in_each_plane():
    ball = nf.Structure(nf.Sphere((1 * MM, 0, 0), 2.2 * MM), nf.Medium(4.0))
    simulation = nf.Simulation(
        nf.AutoGrid(maximum_frequency=20e9, padding=(5e-3, 5e-3, 5e-3)),
        structures=[ball],
        steps=1,
        symmetry=nf.Symmetry(x="magnetic", z="electric"),
    )
    grid = simulation._setup().grid
    for axis, middle in ((0, 1 * MM), (2, 0.0)):
        assert np.isclose(grid.lines[axis][grid.cells[axis] // 2], middle, atol=1e-12)


def model(grid=None, boundaries=None, symmetry=None, **options):
    options.setdefault("sources", [nf.PointCurrent((2 * MM, 0, 0), "z", nf.Gaussian(15e9))])
    boundaries = boundaries or nf.Boundaries(all="pec")
    grid = grid or nf.Grid.uniform(MM, (10, 10, 10), (-5 * MM,) * 3)
    symmetry = symmetry or nf.Symmetry(x="magnetic")
    return nf.Simulation(grid, boundaries=boundaries, symmetry=symmetry, steps=1, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": nf.Grid.uniform(MM, (9, 10, 10), (-5 * MM,) * 3)}, "grid lines along x are not symmetric"),
        ({"boundaries": nf.Boundaries(all="pec", x_low="pmc")}, "x_low and x_high differ"),
        ({"boundaries": nf.Boundaries(all="periodic")}, "a plane and fields that repeat"),
        ({"sources": [nf.PointCurrent((-2 * MM, 0, 0), "z", nf.Gaussian(9e9))]}, "nothing above the plane of symmetry"),
        (
            {"sources": [nf.PointCurrent((0, 0, 0), "z", nf.Gaussian(9e9))], "symmetry": nf.Symmetry(x="electric")},
            "E along an electric plane being zero",
        ),
    ],
)
def test_what_is_not_symmetric_is_refused(options, message):
    with pytest.raises(nf.ModelError, match=message):
        model(**options)._setup()


def test_an_automatic_grid_has_whole_cells_beside_a_plane():
    """An odd number of cells became an even one by halves on both sides of the plane, without a warning."""
    grid = nf.AutoGrid(20, "10 GHz", lower=(-5 * MM, -3 * MM, 0), upper=(5 * MM, 3 * MM, 10 * MM))
    checked = model(grid, sources=[]).check()
    assert not any("neighbouring cells" in warning for warning in checked.warnings)
    assert checked.smallest_cell > 0.8 * checked.largest_cell


def test_the_plane_of_an_automatic_grid_is_in_the_middle_of_the_space_between_its_layers():
    """Which differ in thickness where one half alone holds a dense body."""
    auto = nf.AutoGrid(20, "10 GHz", lower=(-10 * MM,) * 3, upper=(10 * MM,) * 3)
    body = nf.Structure(nf.Box((6 * MM, -10 * MM, -10 * MM), (10 * MM, 10 * MM, 10 * MM)), nf.Medium(9.0))
    lines = model(auto, nf.Boundaries(), sources=[], structures=[body])._setup().grid.lines[0]
    assert abs(lines[lines.size // 2]) < 1e-9 * MM and np.diff(lines).min() > 0.3 * MM
