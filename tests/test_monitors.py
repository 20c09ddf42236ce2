"""Monitors: which samples they read with which weights, and what they make of them."""

import numpy as np
import pytest
from dipoles import Space, cube

import nearfield as nf
from nearfield.discretization.cautions import cautions
from nearfield.discretization.discretization import Discretization
from nearfield.plan.recorders import DFTBox, Recording, SnapshotBox
from nearfield.records.records import MonitorRecord
from nearfield.results import FieldResult

GRADED = nf.Grid(x=[0, 1, 3, 4, 6, 7], y=[0, 2, 3, 5, 6], z=[0, 1, 2, 4, 5, 7, 8]).resolve()


def graded(**faces):
    return Space(GRADED, nf.Boundaries(all=nf.PEC, **faces), time_step=0.5)


def summed(space, term, field):
    """The functional of a field given as function (component, points)."""
    total = 0.0
    for component, i, j, k, weight in zip(term.component, term.i, term.j, term.k, term.weight):
        axes = space.grid.component_axes(component)
        total += weight * field(component, np.array([axes[0][i], axes[1][j], axes[2][k]]))
    return total


@pytest.mark.parametrize("component", ["Ex", "Ey", "Ez", "Hx", "Hy", "Hz"])
def test_a_probe_reads_a_linear_field_exactly_where_it_stands(component):
    space, position = graded(), (2.6, 2.2, 3.1)
    (term,) = nf.Probe("p", position, component, stride=3)._terms(space.context)
    found = summed(space, term, lambda c, r: 1 + r @ [2.0, -3.0, 5.0])
    assert found == pytest.approx(1 + np.dot(position, [2.0, -3.0, 5.0]))
    assert set(term.component) == {["Ex", "Ey", "Ez", "Hx", "Hy", "Hz"].index(component)} and term.stride == 3


def test_a_probe_on_a_sample_reads_that_sample_alone():
    space = graded()
    (term,) = nf.Probe("p", (3.5, 2, 4), "Ex")._terms(space.context)
    assert (term.i.tolist(), term.j.tolist(), term.k.tolist(), term.weight.tolist()) == ([2], [1], [3], [1.0])


def test_a_probe_on_a_high_pec_wall_reads_nothing_and_stays_in_the_engine_s_range():
    (term,) = nf.Probe("p", (3.5, 6, 4), "Ex")._terms(graded().context)
    assert not term.weight.any() and term.j.max() < GRADED.cells[1]
    (term,) = nf.Probe("p", (3.5, 6, 4), "Ex")._terms(graded(y_high=nf.PMC).context)
    assert term.weight.sum() == 1.0 and term.j.tolist() == [4]


def test_voltage_is_the_line_integral_of_e_from_start_to_end():
    space = graded()
    for start, end, sign in (((3, 3, 1), (3, 3, 5), 1), ((3, 3, 5), (3, 3, 1), -1)):
        (term,) = nf.Voltage("v", start, end)._terms(space.context)
        assert summed(space, term, lambda c, r: 2.0 + r[2]) == pytest.approx(sign * (2 * 4 + (25 - 1) / 2))
        assert set(term.component) == {2} and set(term.i) == {2}


@pytest.mark.parametrize("normal", [0, 1, 2])
def test_current_is_the_loop_integral_of_h_about_the_plus_normal(normal):
    b, c = (normal + 1) % 3, (normal + 2) % 3
    space = graded()
    lower, upper = np.array([2.0, 2.0, 2.0]), np.array([4.5, 5.0, 5.0])
    lower[normal] = upper[normal] = 3.0

    def rotating(component, r):  # curl H = 2 along the normal
        return {b + 3: -r[c], c + 3: r[b]}.get(component, 7.0)

    (term,) = nf.Current("i", lower, upper)._terms(space.context)
    sides = []
    for axis in (b, c):
        inside = np.flatnonzero((GRADED.lines[axis] >= lower[axis]) & (GRADED.lines[axis] <= upper[axis]))
        sides.append(GRADED.dual(axis)[inside].sum())
    assert summed(space, term, rotating) == pytest.approx(2 * sides[0] * sides[1])


def test_current_between_half_planes_is_interpolated_and_walls_close_the_loop():
    space = graded()
    (term,) = nf.Current("i", (0, 0, 2), (3, 3, 2))._terms(space.context)
    nearer = sum(abs(w) for w, k in zip(term.weight, term.k) if k == 1)
    further = sum(abs(w) for w, k in zip(term.weight, term.k) if k == 2)
    assert nearer / further == pytest.approx(2.0)  # 1/2 and 1 away
    assert term.i.min() >= 0 and term.j.min() >= 0
    # the loop's two sides inside: along y at x half a cell past 3, along x at y past 3
    assert np.abs(term.weight).sum() == pytest.approx(GRADED.dual(0)[:3].sum() + GRADED.dual(1)[:3].sum())


def test_a_snapshot_takes_each_component_on_its_own_positions_at_its_own_times():
    space = graded()
    cut = nf.Snapshot("s", (1, 2, 2), (4, 5, 2), every=4)
    terms = cut._terms(space.context)
    assert all(isinstance(term, SnapshotBox) for term in terms) and len(terms) == 6
    assert terms[0].steps.tolist() == list(range(4, 101, 4))
    shapes = {term.component: np.subtract(term.upper, term.lower).tolist() for term in terms}
    assert shapes[0] == [2, 3, 1] and shapes[2] == [3, 3, 2] and shapes[5] == [2, 2, 1] and shapes[3] == [3, 2, 2]
    recordings = [
        Recording(np.array([4.0, 8.0]) + 0.25 * (term.component >= 3), np.ones((2, *shapes[term.component]), "f4"))
        for term in terms
    ]
    variables = cut._collect(space.context, recordings)
    assert variables["Ex"].dims == ("time", "x_half", "y", "z")
    assert variables["Hz"].dims == ("time_half", "x_half", "y_half", "z")
    assert variables["time_half"].array.tolist() == [4.25, 8.25]
    assert variables["z_half"].array.tolist() == [1.5, 3.0]


def test_what_lies_on_a_wall_is_zero_at_the_times_of_the_rest():
    wall = nf.Snapshot("s", (5e-3, 0, 0), (5e-3, 5e-3, 5e-3), ("Ex", "Ey", "Hy", "Hx"), every=4)
    model = nf.Simulation(
        nf.Grid.uniform(1e-3, (5, 5, 5)),
        boundaries=nf.Boundaries(all="pec"),
        monitors=[wall],
        steps=9,
        sources=[nf.PointCurrent((2e-3,) * 3, "z", nf.Gaussian(30e9))],
    )
    found = model.run(threads=1)["s"]
    assert found["Ex"].values.any() and found["Ey"].shape == (2, 1, 5, 6) and not found["Ey"].values.any()
    assert np.array_equal(found["Ey"]["time"], found["Ex"]["time"])
    assert np.array_equal(found["Hx"]["time"], found["Hy"]["time"]) and found["Hx"].shape[0] == 2


def test_times_of_a_snapshot_become_the_nearest_steps_within_the_run():
    context = graded().context
    assert nf.Snapshot("s", (1, 2, 2), (4, 5, 2), times=[0.0, 2.1, 2.2])._steps(context).tolist() == [1, 4]
    with pytest.raises(nf.ModelError, match="after the end of the run at 50 s"):
        nf.Snapshot("s", (1, 2, 2), (4, 5, 2), times=[51.0])._terms(context)


@pytest.mark.parametrize("make", [nf.Snapshot, nf.ElementStatistics])
def test_a_run_that_ends_before_the_first_record_is_refused(make):
    with pytest.raises(nf.ModelError, match="every = 101, but the run has 100 steps"):
        make("s", (1, 2, 2), (4, 5, 2), every=101)._steps(graded().context)


def test_records_due_after_the_fields_have_decayed_are_warned_of():
    model = nf.Simulation(
        nf.Grid.uniform(1e-3, (12, 12, 12)),
        boundaries=nf.Boundaries(all=nf.CPML(4)),
        sources=[nf.PointCurrent((6e-3,) * 3, "z", nf.GaussianDerivative(30e9))],
        monitors=[
            nf.Snapshot("late", (5e-3, 5e-3, 6e-3), (7e-3, 7e-3, 6e-3), "Ez", every=2000),
            nf.Snapshot("both", (5e-3, 5e-3, 6e-3), (7e-3, 7e-3, 6e-3), "Ez", times=[1e-11, 5e-9]),
            nf.Snapshot("good", (5e-3, 5e-3, 6e-3), (7e-3, 7e-3, 6e-3), "Ez", every=10),
        ],
        steps=3000,
        decay=0.01,
    )
    said = [text for text in model.run(threads=1).facts["warnings"] if text.startswith("monitor")]
    assert len(said) == 2 and "had decayed at step" in said[0]
    assert "'late' recorded nothing: its first step is 2000" in said[0] and "'both' recorded 1 of its 2" in said[1]


def test_spectra_of_a_box_at_a_high_wall_get_its_zeros_back():
    space = graded(x_high=nf.PMC)
    box = nf.FieldDFT("d", (4, 3, 4), (7, 6, 8), [1e-2, 2e-2], components=["Ex", "Ez", "Hy"])
    terms = box._terms(space.context)
    assert all(isinstance(term, DFTBox) for term in terms)
    assert terms[0].upper == (5, 4, 6) and terms[1].upper == (6, 4, 6)
    recordings = [Recording(np.zeros(0), np.ones((2, *np.subtract(term.upper, term.lower)), complex)) for term in terms]
    variables = box._collect(space.context, recordings)
    assert variables["Ex"].array.shape == (2, 2, 3, 4)
    assert not variables["Ex"].array[:, :, -1].any() and not variables["Ex"].array[:, :, :, -1].any()
    assert variables["Ex"].array[:, :, :-1, :-1].all()
    assert variables["Ez"].array[:, -1, 0, 0].all()  # on the PMC wall


def test_a_plane_on_a_high_pec_wall_holds_nothing_and_still_has_its_shape():
    space = graded()
    plane = nf.FieldDFT("d", (0, 0, 8), (7, 6, 8), [1e-2], components="Ex")
    assert plane._terms(space.context) == []
    assert plane._collect(space.context, [])["Ex"].array.shape == (1, 5, 5, 1)


@pytest.mark.parametrize("upper", [(4, 5, 5), (4, 5, 1), (1, 5, 5)])
def test_collocated_components_of_a_linear_field_are_exact_at_cell_centres(upper):
    space = graded()
    box = nf.FieldDFT("d", (1, 2, 1), upper, [1e-2])
    recordings = []
    for term in box._terms(space.context):
        axes = [a[lo:hi] for a, lo, hi in zip(space.grid.component_axes(term.component), term.lower, term.upper)]
        x, y, z = np.meshgrid(*axes, indexing="ij")
        recordings.append(Recording(np.zeros(0), (1 + 2 * x - 3 * y + 5j * z)[None]))
    record = MonitorRecord("field-dft", {}, box._collect(space.context, recordings))
    data = FieldResult(record.variables).collocated()
    expected = 1 + 2 * data.x - 3 * data.y + 5j * data.z
    for component in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz"):
        assert np.allclose(data[component].isel(frequency=0), expected, rtol=1e-12)
    assert data.sizes["x"] == (1 if upper[0] == 1 else 2)


@pytest.mark.parametrize("place", [0.0, 6e-3])
@pytest.mark.parametrize("x", ["periodic", nf.Bloch(phase=1.0)])
def test_a_plane_on_a_seam_has_the_fields_of_one_in_the_middle_of_the_cell(x, place):
    """All is moved by half a period, and what then lies a period off turns by the phase."""

    def run(by, at):
        corners = [(at, 0.0, 0.0), (at, 4e-3, 4e-3)]
        model = nf.Simulation(
            nf.Grid.uniform(1e-3, (6, 4, 4)),
            boundaries=nf.Boundaries(all=nf.PEC, x=x),
            sources=[nf.PointCurrent((1e-3 + by, 2e-3, 2e-3), "y", nf.Gaussian(30e9))],
            monitors=[nf.Snapshot("s", *corners, every=20), nf.FieldDFT("d", *corners, [20e9])],
            steps=60,
            precision="double",
        )
        return model.run(threads=1)

    seam, middle = run(0.0, place), run(3e-3, 3e-3)
    turn = np.exp(-1j) if place and x != "periodic" else 1.0
    for one, other in ((seam[name], middle[name]) for name in ("s", "d")):
        found, wanted = one.collocated(), other.collocated()
        for kind in "EH":
            scale = max(float(np.abs(other[kind + axis]).max()) for axis in "xyz")
            for name in (kind + axis for axis in "xyz"):
                assert one[name].shape == other[name].shape
                assert np.abs(found[name].values - turn * wanted[name].values).max() < 1e-9 * scale, name
    assert seam["s"]["Ex"].x.values == pytest.approx(place + np.array([-0.5e-3, 0.5e-3]))


@pytest.mark.parametrize("place", [0.0, 6e-3])
def test_what_is_odd_across_a_pmc_wall_is_zero_on_it(place):
    corners = [(place, 0.0, 0.0), (place, 4e-3, 4e-3)]
    model = nf.Simulation(
        nf.Grid.uniform(1e-3, (6, 4, 4)),
        boundaries=nf.Boundaries(all=nf.PEC, x=nf.PMC),
        sources=[nf.PointCurrent((2e-3, 2e-3, 2e-3), "y", nf.Gaussian(30e9))],
        monitors=[nf.Snapshot("s", *corners, every=20), nf.FieldDFT("d", *corners, [20e9])],
        steps=60,
    )
    result = model.run(threads=1)
    for raw in (result["s"], result["d"]):
        found = raw.collocated()
        assert all(np.abs(raw[name]).max() > 0 for name in raw)
        assert {name for name in raw if not found[name].values.any()} == {"Ex", "Hy", "Hz"}


@pytest.mark.parametrize("x, said", [("periodic", "the seam of a periodic axis"), (nf.PMC, "a PMC wall")])
def test_files_of_planes_with_samples_on_one_side_alone_are_warned_of(x, said):
    planes = [
        nf.Snapshot(name, (at, 0.0, 0.0), (at, 4e-3, 4e-3), "Ex", every=20, file=nf.FieldFile())
        for name, at in (("end", 0.0), ("inside", 2e-3))
    ]
    model = nf.Simulation(
        nf.Grid.uniform(1e-3, (6, 4, 4)), boundaries=nf.Boundaries(all=nf.PEC, x=x), monitors=planes, steps=60
    )
    (found,) = [text for text in cautions(Discretization(model)) if "half a cell off" in text]
    assert f"'end' lies on {said} across x" in found.replace('"', "'")


@pytest.mark.parametrize("x", ["periodic", nf.PMC])
def test_of_planes_those_with_half_samples_across_them_are_warned_of_in_their_own_words(x):
    corners = (0.0, 0.0, 0.0), (0.0, 8e-3, 8e-3)
    planes = [
        nf.Snapshot("on it", *corners, "Ez", every=20, file=nf.FieldFile()),
        nf.ElementStatistics("spots", *corners, every=20, quantity="E"),
    ]
    walls = nf.Boundaries(all=nf.PEC, x=x)
    model = nf.Simulation(nf.Grid.uniform(1e-3, (6, 8, 8)), boundaries=walls, monitors=planes, steps=60)
    (found,) = [text for text in cautions(Discretization(model)) if "half a cell off" in text]
    assert "spots" in found and "it takes samples midway" in found and "`file`" not in found


@pytest.mark.parametrize("lower, conductor, count", [(0.0, True, 1), (1e-3, True, 0), (0.0, False, 0)])
def test_boxes_of_flux_on_walls_that_lose_are_warned_of(lower, conductor, count):
    walls = nf.Boundaries(all=nf.CPML(2), z_low=nf.PEC, conductor=nf.Conductor(1e6) if conductor else None)
    model = nf.Simulation(
        nf.Grid.uniform(1e-3, (9, 9, 9)),
        boundaries=walls,
        monitors=[nf.Flux("box", (3e-3, 3e-3, lower), (6e-3, 6e-3, 6e-3), [20e9])],
        sources=[nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", nf.GaussianDerivative(20e9))],
        steps=60,
    )
    assert sum("walls that lose power" in text for text in cautions(Discretization(model))) == count


def test_running_sums_are_sampled_above_twice_the_band():
    space = cube(20, 1e-3)
    frequency = 5e9
    (term, *_) = nf.FieldDFT("d", (0, 0, 0), (0, 0, 0), frequency)._terms(space.context)
    assert 1 / (term.stride * space.time_step) >= 2 * (space.context.maximum_frequency + frequency)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: nf.Voltage("v", (0, 0, 0), (1, 1, 0)), "along one axis"),
        (lambda: nf.Current("i", (0, 0, 0), (1, 1, 1)), "exactly one axis"),
        (lambda: nf.Snapshot("s", (0, 0, 0), (1, 1, 0)), "either times"),
        (lambda: nf.Snapshot("s", (0, 0, 0), (1, 1, 0), times=[1], every=2), "both given"),
        (lambda: nf.FieldDFT("d", (0, 0, 0), (1, 1, 0), []), "frequencies"),
        (lambda: nf.FieldDFT("d", (0, 0, 1), (1, 1, 0), [1e9]), "smaller coordinates first"),
        (lambda: nf.Probe("p", (0, 0, 0), "E"), "component"),
        (lambda: nf.FarField("p", [1e9], theta=[0, 45, 90]), "theta = 45 rad .* for degrees write"),
        (lambda: nf.Probe("p", (0, 0, 0), stride=0), "stride"),
        (lambda: nf.Probe("p", (0, 0, 99))._terms(graded().context), "outside the grid"),
        (lambda: nf.Current("i", (0, 0, 2), (7, 6, 2))._terms(graded().context), "spans the whole grid"),
    ],
)
def test_monitors_that_cannot_be_are_refused_with_the_reason(make, message):
    with pytest.raises(nf.ModelError, match=message):
        make()


def test_planes_of_fields_between_lines_are_listed_as_moved():
    grid = nf.Grid.uniform(1e-3, (8, 8, 8))
    monitors = [
        nf.FieldDFT("between", (0, 0, 3.4e-3), (8e-3, 8e-3, 3.4e-3), [1e9]),
        nf.Snapshot("on", (0, 0, 3e-3), (8e-3, 8e-3, 3e-3), "Ez", every=10),
    ]
    (moved,) = nf.Simulation(grid, boundaries=nf.Boundaries("pec"), monitors=monitors, steps=10).check().moved
    assert (moved["what"], moved["to"]) == ("monitor 'between', its place along z", pytest.approx(3e-3))
    assert moved["cells"] == pytest.approx(0.4)
