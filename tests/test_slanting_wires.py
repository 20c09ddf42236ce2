"""Wires along no axis: their chains of edges, the lattice's field, stability, antennas, refusals, and the same bits."""

import math

import numpy as np
import pytest
from agreement import assert_model_agrees
from test_conformal import largest_eigenvalue, random_lines
from test_thin_wires import MM, box, wire

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.metal.lattice_potential import NEAR, mean_cell, potentials, tables
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.slanting_chains import slack_of
from nearfield.metal.slanting_wires import slanting_factors
from nearfield.metal.wire_lattice import edge_factors
from nearfield.metal.wire_path import path_of
from validation.wire_antennas.nec import ANSWERS, RADIUS, circle
from validation.wire_antennas.run import answer


def coefficients(grid, structures, gaps=(), share=0.99):
    bodies = filled_shapes(structures)
    step = share * grid.maximum_time_step() / slack_of(body.shape for body in bodies) ** 0.5
    return Coefficients(grid, bodies, nf.Medium(), nf.Boundaries(nf.PEC), step, gaps=gaps)


def test_the_lattice_potential_solves_its_equation_and_tends_to_that_of_a_point():
    cells = np.array([[1.0, 1.0, 1.0], [1.0, 0.5, 2.0]]) * MM
    table, kind = tables(cells)
    for cell, one, mean in zip(cells, kind, mean_cell(cells)):

        def at(*steps, one=one, mean=mean):
            return float(potentials(table, one, mean, np.array(steps), np.array(1.0)))

        for place in ((0, 0, 0), (1, 0, 0), (2, 1, 3)):
            second = 0.0
            for axis, size in enumerate(cell):
                step = np.eye(3, dtype=int)[axis]
                second += (at(*(place + step)) + at(*(place - step)) - 2 * at(*place)) / size**2
            source = 1.0 / np.prod(cell) if place == (0, 0, 0) else 0.0
            # cells are shared between lattices within 2 % of ratio, hence their squares within 2 %
            assert -second == pytest.approx(source, abs=0.025 / np.prod(cell))
        longest = int(cell.argmax())
        apart = NEAR * cell[longest]
        assert at(*(NEAR * np.eye(3, dtype=int)[longest])) == pytest.approx(1 / (4 * math.pi * apart), rel=0.02)
    assert potentials(table, kind[0], MM, np.zeros(3, dtype=int), np.array(1.0)) * MM == pytest.approx(
        0.252731, rel=1e-5
    )


def test_along_an_axis_the_factors_are_those_of_the_lattice_across_it():
    grid = box(80, 12, 12)
    samples = SampleNumbers(grid)
    for radius in (0.003 * MM, 0.1 * MM, 0.3 * MM):
        path = path_of(nf.Wire([(5 * MM, 6 * MM, 6 * MM), (75 * MM, 6 * MM, 6 * MM)], radius), grid)
        (edge, p), (face, q) = slanting_factors(samples, path, radius, (True, True), 1.0)
        m = float(edge_factors(grid, 0, (6, 6), radius)[0, 0])
        middle = [np.abs(samples.place(number)[1][:, 0] - 40) < 2 for number in (edge, face)]
        assert p[middle[0]].size and q[middle[1]].size
        # charges end 30 cells away here, and 24 cells away there
        np.testing.assert_allclose(p[middle[0]], m, rtol=2e-3)
        np.testing.assert_allclose(q[middle[1]], m, rtol=2e-3)


def test_the_chain_of_edges_is_connected_and_nowhere_leaves_the_nodes_about_the_wire():
    random = np.random.default_rng(3)
    for _ in range(20):
        lines = [MM * np.array(random_lines(random, n, 1)) for n in random.integers(8, 14, 3)]
        grid = nf.Grid(*lines).resolve()
        points = [tuple(float(random.uniform(line[0], line[-1])) for line in lines) for _ in range(3)]
        path = path_of(nf.Wire(points, 1e-3 * MM), grid)
        steps = np.abs(np.diff(path.nodes, axis=0))
        assert (steps.sum(axis=1) == 1).all()
        for end, point in ((0, points[0]), (-1, points[-1])):
            assert path.nodes[end].tolist() == [grid.nearest_node(a, q) for a, q in enumerate(point)]
        assert (np.diff(path.along) >= 0).all() and 0 <= path.along[0] and path.along[-1] <= path.length
        places = np.stack([line[path.nodes[:, a]] for a, line in enumerate(lines)], axis=1)
        largest = max(float(np.diff(line).max()) for line in lines)
        assert np.linalg.norm(places - path.at, axis=1).max() < 0.5 * 3**0.5 * largest * 1.5


def random_slanting(seed):
    """(grid, coefficients) of a random polyline in three dimensions, of a radius that is allowed."""
    random = np.random.default_rng(seed)
    lines = [np.array(random_lines(random, n, seed % 2)) for n in random.integers(9, 13, 3)]
    grid = nf.Grid(*lines).resolve()
    shortest = min(float(np.diff(line).min()) for line in lines)
    while True:
        corners = [tuple(float(random.uniform(line[1], line[-2])) for line in lines) for _ in range(3)]
        radius = float(shortest * 10 ** random.uniform(-4, math.log10(0.3)))
        try:
            return grid, coefficients(grid, [wire(corners, radius)])
        except nf.ModelError:
            continue


@pytest.mark.parametrize("seed", range(8))
def test_the_shorter_step_is_stable_about_any_wire(seed):
    grid, found = random_slanting(seed)
    assert largest_eigenvalue(found, grid, found.time_step, 60) < 4.0 * 0.99**2


@pytest.mark.parametrize("seed", range(8, 16))
def test_no_face_counts_with_more_than_three_times_the_least_of_its_live_edges(seed):
    grid, found = random_slanting(seed)
    samples, drive = SampleNumbers(grid), [np.asarray(found.dense(component)[1]) for component in range(6)]
    part = {}
    for c in range(3):
        index = np.stack(np.nonzero(drive[c] != 0), axis=-1)
        part.update(zip(samples.number(c, index).tolist(), (1.0 / drive[c][tuple(index.T)]).tolist()))
    changed = 0
    for component in range(3, 6):
        index = np.stack(np.nonzero(drive[component] != 1.0), axis=-1)
        faces = samples.number(component, index)
        changed += len(faces)
        for edges, q in zip(samples.edges_round(faces).tolist(), drive[component][tuple(index.T)]):
            assert q <= 3.0 * min(part.get(edge, math.inf) for edge in edges) * (1 + 1e-12)
    assert changed > 20


def impedance(direction, cell=1 / 40, length=0.47, radius=0.15):
    """(frequency (Hz) and resistance (ohm) at resonance) of a dipole for a wavelength of 1 m, `radius` in cells."""
    along = np.array(direction) / np.linalg.norm(direction)
    ends = np.array([0.0, 0, 0]), np.array([cell, 0, 0])
    arms = [(a, a + way * 0.5 * (length - cell) * along) for a, way in zip(ends, (-1, 1))]
    corners = np.array(arms).reshape(-1, 3) / cell
    low, high = np.floor(corners.min(axis=0)) - 16, np.ceil(corners.max(axis=0)) + 16
    frequency = VACUUM_SPEED
    result = nf.Simulation(
        nf.Grid.uniform(cell, tuple((high - low).astype(int).tolist()), origin=tuple((low * cell).tolist())),
        structures=[wire([tuple(p.tolist()) for p in arm], radius * cell) for arm in arms],
        boundaries=nf.Boundaries(nf.CPML(10)),
        ports=[nf.LumpedPort("feed", tuple(ends[0]), tuple(ends[1]), "x")],
        waveform=nf.ModulatedGaussian(frequency, 0.5 * frequency),
    ).run(threads=1)
    s = result.sparameters.sel(to="feed", source="feed")
    f = np.linspace(0.8, 1.15, 141) * frequency
    z = 50 * (1 + (s := np.interp(f, s.frequency.values, s.values))) / (1 - s)
    at = np.flatnonzero((z.imag[:-1] < 0) & (z.imag[1:] >= 0))[0]
    part = -z.imag[at] / (z.imag[at + 1] - z.imag[at])
    return f[at] + part * (f[at + 1] - f[at]), z.real[at] + part * (z.real[at + 1] - z.real[at])


@pytest.mark.parametrize(
    ("direction", "radius"),
    [((1, 1, 0), 0.15), ((3**0.5, 1, 0), 0.15), ((1, 0.18, 0), 0.15), ((1, 1, 1), 0.15), ((1, 1, 0), 0.01)],
)
def test_a_slanting_dipole_resonates_as_one_along_an_axis(direction, radius):
    """Each of two ends lies within 0.2 cells, 2 % of the 19 cells between them, and acts half a radius shorter than one
    of a wire along an axis, which counts the charge on its end face: 0.8 % at 0.15 cells.

    The resistance of arms that bend by up to 55 degrees at the port of one cell, 5 % of the length, is within that.
    """
    (straight, resistance), (found, own) = impedance((1, 0, 0), radius=radius), impedance(direction, radius=radius)
    assert found == pytest.approx(straight, rel=0.02 + radius / 19)
    assert own == pytest.approx(resistance, rel=0.06)


def test_a_round_loop_has_the_impedance_and_gain_of_nec():
    """On an automatic grid of 40 cells a wavelength, whose lines are not made for the loop.

    NEC2's resistance of this loop rises by 2.1 ohm/MHz and the place of its wire by 0.2 cells moves it by 1.8 % of the
    diameter, 5.4 MHz, which is 11 ohm.
    """
    cell, frequency = 0.025, VACUUM_SPEED
    corners = circle(cell)
    result = nf.Simulation(
        grid=nf.AutoGrid(cells_per_wavelength=40, maximum_frequency=frequency, padding=0.2),
        structures=[wire(corners, RADIUS)],
        boundaries=nf.Boundaries(nf.CPML(10)),
        ports=[nf.LumpedPort("feed", corners[-1], corners[0], "y", resistance=50.0)],
        monitors=[nf.FarField("pattern", (frequency,))],
        waveform=nf.ModulatedGaussian(frequency, 0.5 * frequency),
    ).run(threads=1)
    expected, ahead, behind = ANSWERS["circle"]
    found, *levels = answer(result)
    assert abs(found - expected) < 11.0
    assert levels == pytest.approx([ahead, behind], abs=0.1)


def small_model(**options):
    """A wire that bends in three dimensions on a port over a plate, and one along an axis; graded cells, a medium."""
    lines = [MM * np.cumsum([0, *(1 + 0.2 * np.sin(np.arange(n) + n))]) for n in (17, 16, 16)]
    at = lambda *node: tuple(float(line[n]) for line, n in zip(lines, node))  # noqa: E731
    return nf.Simulation(
        nf.Grid(*lines),
        boundaries=nf.Boundaries(nf.CPML(3), z_low=nf.PEC),
        structures=[
            nf.Structure(nf.Box(at(8, 3, 2), at(13, 8, 7)), nf.Medium(2.0, conductivity=0.1)),
            wire([at(5, 5, 1), at(11, 9, 5), at(9, 11, 9)], 0.1 * MM),
            wire([at(12, 4, 4), at(12, 4, 9)], 0.2 * MM),
        ],
        ports=[nf.LumpedPort("feed", at(5, 5, 0), at(5, 5, 1), "z", waveform=nf.Gaussian(20e9))],
        monitors=[nf.Probe("e", at(6, 6, 3), "Ex")],
        steps=20,
        **options,
    )


@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_model_agrees_with_the_oracle_by_every_schedule(engine_name, precision):
    assert_model_agrees(engine_name, small_model(precision=precision)._setup().plan, "feed")


def test_planes_along_any_axis_are_those_of_the_whole():
    found = small_model()._setup().coefficients
    for component in range(6):
        dense = found.dense(component)[1]
        index = np.argwhere(dense != 0)[::5].T
        np.testing.assert_allclose(found.at(component, *index)[1], dense[tuple(index)], rtol=1e-14)


def test_a_mirrored_wire_has_the_mirrored_factors():
    def drives(way):
        grid = nf.Grid.uniform(MM, (16, 12, 12), origin=(-8 * MM, 0, 0)).resolve()
        points = [(way * 5 * MM, 3 * MM, 3 * MM), (0, 5 * MM, 6 * MM), (way * 4.2 * MM, 8 * MM, 8 * MM)]
        return [np.asarray(coefficients(grid, [wire(points, 0.1 * MM)]).dense(c)[1]) for c in range(6)]

    for component, (one, other) in enumerate(zip(drives(1), drives(-1))):
        half = (component == 0) or component in (4, 5)  # samples between the lines along x
        one = one[:16] if half else one
        other = other[:16] if half else np.concatenate((other, other[:1]))[: one.shape[0]]
        if half:
            np.testing.assert_allclose(one[::-1], other, rtol=1e-9)
        else:
            np.testing.assert_allclose(one[1:16], other[1:16][::-1], rtol=1e-9)


def test_planes_of_symmetry_across_and_along_slanting_wires_change_nothing():
    def probed(**planes):
        bent = wire([(-4 * MM, 0, -2 * MM), (0, 0, 3 * MM), (4 * MM, 0, -2 * MM)], 0.1 * MM)
        ends = [(w, s) for w in (1, -1) for s in (1, -1)]
        arms = [wire([(0, s * 5 * MM, -4 * MM), (w * 3 * MM, s * 3 * MM, -6 * MM)], 0.1 * MM) for w, s in ends]
        sim = nf.Simulation(
            nf.Grid.uniform(MM, (20, 20, 20), origin=(-10 * MM,) * 3),
            structures=[bent, *arms],
            boundaries=nf.Boundaries(nf.CPML(3)),
            sources=[nf.PointCurrent((0, 0, 0.5 * MM), "z", nf.Gaussian(30e9))],
            monitors=[nf.Probe("at", (MM, 2.5 * MM, 2 * MM), "Ez")],
            symmetry=nf.Symmetry(**planes),
            precision="double",
            steps=150,
        )
        return sim.run(threads=1)["at"].values

    whole = probed()
    for planes in ({"x": "magnetic"}, {"y": "magnetic"}, {"x": "magnetic", "y": "magnetic"}):
        np.testing.assert_allclose(probed(**planes), whole, atol=1e-9 * np.abs(whole).max())


def test_check_lists_how_far_the_edges_lie_beside_the_wire_and_what_they_ask_of_the_time_step():
    def checked(points, **options):
        body = nf.Structure(nf.Wire(points, 0.1 * MM), nf.PEC, "arm")
        grid = nf.Grid.uniform(MM, (12, 12, 12))
        return nf.Simulation(grid, [body], nf.Boundaries(nf.PEC), steps=1, **options).check()

    straight = checked([(3 * MM, 3 * MM, 3 * MM), (3 * MM, 9 * MM, 3 * MM)])
    flat = checked([(3 * MM, 3 * MM, 3 * MM), (9 * MM, 9 * MM, 3 * MM)])
    steep = checked([(3 * MM, 3 * MM, 3 * MM), (9 * MM, 9 * MM, 9 * MM)])
    assert flat.time_step == pytest.approx(straight.time_step / 2**0.5)
    assert steep.time_step == pytest.approx(straight.time_step / 3**0.5)
    entry = next(each for each in flat.moved if "arm" in each["what"])
    assert entry["to"] == pytest.approx(0.5**0.5 * MM)  # the corner of every other node
    assert "29 % shorter" in entry["effect"]
    assert not any("no axis" in each["what"] for each in straight.moved)
    with pytest.raises(nf.ModelError, match="wires along no axis"):
        checked([(3 * MM, 3 * MM, 3 * MM), (9 * MM, 9 * MM, 3 * MM)], time_step=1.01 * straight.time_step)


@pytest.mark.parametrize(
    ("wires", "words"),
    [
        ([wire([(3 * MM,) * 3, (8 * MM,) * 3], 0.4 * MM)], ["0.0004 m", "0.3", "Cylinder"]),
        ([wire([(3 * MM,) * 3, (9 * MM, 13 * MM, 9 * MM)], 0.1 * MM)], ["outside the grid", "13"]),
        ([wire([(3.1 * MM,) * 3, (3.2 * MM,) * 3], 0.1 * MM)], ["shorter than a cell"]),
        (
            [wire([(0.5 * MM, y * MM, 5 * MM), (11.5 * MM, (y + 6) * MM, 5 * MM)], 0.1 * MM) for y in (2, 3)],
            ["one cell apart", "two cells"],
        ),
    ],
)
def test_wires_that_cannot_act_are_refused_in_words(wires, words):
    sim = nf.Simulation(nf.Grid.uniform(MM, (12, 12, 12)), structures=wires, boundaries=nf.Boundaries(nf.PEC), steps=1)
    with pytest.raises(nf.ModelError) as refused:
        sim.check()
    for word in words:
        assert word in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_wire_into_the_cpml_is_refused_in_words():
    body = wire([(10 * MM,) * 3, (18 * MM, 17 * MM, 10 * MM)], 0.1 * MM)
    sim = nf.Simulation(nf.Grid.uniform(MM, (20, 20, 20)), [body], nf.Boundaries(nf.CPML(5)), steps=1)
    with pytest.raises(nf.ModelError, match="goes into the CPML across"):
        sim.check()
