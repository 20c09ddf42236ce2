"""Conformal metal: open parts against geometry, stability on random shapes, and true fields in all that is recorded."""

import numpy as np
import pytest
from agreement import assert_model_agrees
from cases import slow_after

import nearfield as nf
from nearfield.bodies.geometry import filled_shapes
from nearfield.coefficients.coefficients import Coefficients
from nearfield.coefficients.edge_loads import EdgeLoad
from nearfield.entry.constants import VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.metal import conformal, solid_corners

MM = 1e-3
PEC_WALLS = nf.Boundaries(all=nf.PEC)
PULSE = nf.Gaussian(20e9)


def metal(shape, medium=nf.PEC):
    return nf.Structure(shape, medium)


def coefficients(grid, structures, boundaries=PEC_WALLS, step=None, loads=(), kind="conformal", background=None):
    step = step or conformal.maximum_time_step(grid, 1.0)
    return Coefficients(grid, filled_shapes(structures), background or nf.Medium(), boundaries, step, loads, kind)


def cube(n, size=1.0):
    return nf.Grid.uniform(size / n, (n, n, n)).resolve()


def random_lines(random, count, graded):
    steps = np.cumprod(random.uniform(0.75, 1.33, count)) if graded else np.ones(count)
    return (0.0, *np.cumsum(steps / steps.sum()))


def random_bodies(random, count):
    """Overlapping metal and vacuum in the unit cube: balls, slanting rods, boxes, prisms."""
    bodies = []
    for number in range(count):
        at, size = random.uniform(0, 1, 3), random.uniform(0.05, 0.45)
        kind = random.integers(4)
        if kind == 0:
            shape = nf.Sphere(tuple(at), size)
        elif kind == 1:
            shape = nf.Cylinder(tuple(at), tuple(random.uniform(0, 1, 3)), 0.5 * size)
        elif kind == 2:
            shape = nf.Box(tuple(at), tuple(at + random.uniform(0.02, 0.5, 3)))
        else:
            shape = nf.Polygon("xyz"[random.integers(3)], random.uniform(0, 1, (3, 2)).tolist(), at[0], at[0] + size)
        bodies.append(metal(shape, nf.PEC if number % 2 == 0 else nf.Medium()))
    return bodies


def largest_eigenvalue(found, grid, step, rounds=120):
    """That of the operator of second differences, times dt^2, between PEC walls, by power iteration; stable up to 4."""
    drive = [np.asarray(found.dense(component)[1]) for component in range(6)]
    random = np.random.default_rng(0)
    electric = [random.standard_normal(grid.cells) * (drive[c] != 0) for c in range(3)]
    dual = [VACUUM_SPEED * step / grid.dual(a)[:-1].reshape([-1 if a == b else 1 for b in range(3)]) for a in range(3)]
    primary = [VACUUM_SPEED * step / grid.primary(a).reshape([-1 if a == b else 1 for b in range(3)]) for a in range(3)]

    def after(values, axis):
        return np.roll(np.pad(values, [(0, a == axis) for a in range(3)]), -1, axis)[
            tuple(slice(0, n) for n in values.shape)
        ]

    def before(values, axis):
        return np.pad(values, [(a == axis, 0) for a in range(3)])[tuple(slice(0, n) for n in values.shape)]

    growth = 0.0
    for _ in range(rounds):
        magnetic, new = [], []
        for p in range(3):
            q, r = (p + 1) % 3, (p + 2) % 3
            over_q, over_r = after(electric[r], q) - electric[r], after(electric[q], r) - electric[q]
            magnetic.append((over_q * primary[q] - over_r * primary[r]) * drive[3 + p])
        for p in range(3):
            q, r = (p + 1) % 3, (p + 2) % 3
            over_q, over_r = magnetic[r] - before(magnetic[r], q), magnetic[q] - before(magnetic[q], r)
            new.append((over_q * dual[q] - over_r * dual[r]) * drive[p])
        growth = np.sqrt(sum((part**2).sum() for part in new))
        if not growth:
            return 0.0
        electric = [part / growth for part in new]
    return growth


@pytest.mark.parametrize("seed", slow_after(2, range(16)))
def test_the_step_is_stable_for_random_shapes_on_random_grids(seed):
    random = np.random.default_rng(seed)
    grid = nf.Grid(*(random_lines(random, n, seed % 2) for n in random.integers(7, 13, 3))).resolve()
    step = conformal.maximum_time_step(grid, 1.0)
    found = coefficients(grid, random_bodies(random, int(random.integers(1, 6))), step=step)
    assert largest_eigenvalue(found, grid, step) < 4.0


def test_a_gap_thinner_than_half_a_cell_about_a_grid_plane_is_stable():
    grid = cube(8, 8.0)
    step = conformal.maximum_time_step(grid, 1.0)
    for half in (0.02, 0.1, 0.3):
        plates = [metal(nf.Box((0, 0, 0), (8, 8, 4 - half))), metal(nf.Box((0, 0, 4 + 0.7 * half), (8, 8, 8)))]
        found = coefficients(grid, plates, step=step)
        assert np.abs(found.dense(3)[1]).max() > 1.5
        assert 2.0 < largest_eigenvalue(found, grid, step) < 4.0


def test_a_face_inside_cells_opens_their_part_of_edges_and_faces():
    grid = cube(4, 4.0)
    found = coefficients(grid, [metal(nf.Box((-1, -1, -1), (9, 9, 1.6)))])
    np.testing.assert_allclose(found.dense(2)[1][2, 2], [0, 0.4, 1, 1], atol=1e-5)
    np.testing.assert_allclose(found.dense(0)[1][2, 2], [0, 0, 1, 1])
    np.testing.assert_allclose(found.dense(3)[1][2, 2], [1, 1 / 0.4, 1, 1], rtol=1e-5)
    np.testing.assert_allclose(found.dense(5)[1][2, 2], 1.0)
    np.testing.assert_allclose(found.open_fraction(2, 2, 2, np.arange(4)), [1, 0.4, 1, 1], atol=1e-5)


def test_metal_on_grid_lines_is_the_same_by_both_methods(monkeypatch):
    """But for the corners of solids, at which the field is another (tests/test_solid_corners.py)."""
    monkeypatch.setattr(solid_corners, "REACH", 0.0)
    grid = cube(6, 6.0)
    bodies = [
        metal(nf.Box((1, 1, 0), (5, 5, 2))),
        metal(nf.Box((2, 2, 1), (3, 3, 2)), nf.Medium(2.0)),
        metal(nf.Box((1, 1, 3), (5, 5, 6))),
        metal(nf.Sheet((0, 0, 2), (6, 6, 2))),  # its rims lie on the walls
    ]
    step = 0.5 * grid.maximum_time_step()
    both = [coefficients(grid, bodies, step=step, kind=kind) for kind in ("conformal", "staircase")]
    for component in range(6):
        for one, other in zip(*(found.dense(component) for found in both)):
            live = both[1].dense(component)[1] != 0
            np.testing.assert_allclose(one[live], other[live], rtol=1e-12)
            assert component >= 3 or np.array_equal(one == 0, other == 0)
    closed = nf.Boundaries(all=nf.PEC)
    assert not conformal.cutting(filled_shapes(bodies), grid, closed)
    assert conformal.cutting(filled_shapes([metal(nf.Box((1, 1, 0), (5, 5, 2.5)))]), grid, closed)


def test_a_block_hollowed_out_on_grid_lines_is_the_same_by_both_methods():
    """Faces in its inner corners have two closed sides and are whole all the same."""
    grid = cube(7)
    block, hole = metal(nf.Box((0, 0, 0), (1, 1, 1))), metal(nf.Box((1 / 7,) * 3, (5 / 7, 6 / 7, 4 / 7)), nf.Medium())
    stairs, followed = (coefficients(grid, [block, hole], kind=kind) for kind in ("staircase", "conformal"))
    for component in range(6):
        np.testing.assert_array_equal(stairs.dense(component)[1], followed.dense(component)[1])


def test_openings_that_touch_in_metal_are_one():
    grid = cube(8, 8.0)
    block, way, slit = metal(nf.Box((0, 0, 0), (8, 8, 8))), (2.3, 1.6), (5.2, 6.7)
    whole = [block, metal(nf.Box((*way, 1), (*slit, 7)), nf.Medium())]
    parts = [(1, 4), (4, 5.5), (5.5, 7)]  # in a grid plane, and within a cell
    parts = [block, *(metal(nf.Box((*way, low), (*slit, high)), nf.Medium()) for low, high in parts)]
    one, other = (coefficients(grid, bodies) for bodies in (whole, parts))
    for component in range(6):
        np.testing.assert_allclose(one.dense(component)[1], other.dense(component)[1], rtol=5e-5)
    closed = [*parts[:2], metal(nf.Sheet((0, 0, 4), (8, 8, 4))), *parts[2:]]
    assert not coefficients(grid, closed).dense(0)[1][:, :, 4].any()


def test_the_open_faces_of_a_plane_through_a_cavity_add_up_to_its_circle():
    errors = []
    for n in (10, 20):
        grid = cube(n, 1.0)
        bodies = [metal(nf.Box((0, 0, 0), (1, 1, 1))), metal(nf.Sphere((0.51, 0.48, 0.5), 0.4), nf.Medium())]
        found = coefficients(grid, bodies, step=1e-3 * grid.maximum_time_step())  # no face is too small for it
        inverse = found.dense(5)[1][:, :, n // 2]
        opened = (np.abs(found.dense(0)[1][:, :, n // 2]) > 0) | (np.roll(found.dense(0)[1], -1, 1)[:, :, n // 2] > 0)
        errors.append(1.0 - (opened / inverse).sum() / n**2 / (np.pi * 0.4**2))
        assert abs(errors[-1]) < (1 / (0.4 * n)) ** 2 / 12  # a quarter of what chords would cut off
    assert abs(errors[1]) < abs(errors[0]) / 3


@pytest.mark.parametrize("end", [7.0, 7.3], ids=["on a grid plane", "inside a cell"])
def test_where_a_round_wall_meets_a_flat_one_faces_are_open_to_the_corner(end):
    """Between flat ends the wave of a round line sees its own length: there a = f times the open part of the cell."""
    grid = cube(10, 10.0)
    tube, rod = nf.Cylinder((5.2, 4.9, 2.6), (5.2, 4.9, end), 4), nf.Cylinder((5.2, 4.9, 0), (5.2, 4.9, 10), 1.7)
    bodies = [metal(nf.Box((0, 0, 0), (10, 10, 10))), metal(tube, nf.Medium()), metal(rod)]
    found = coefficients(grid, bodies, step=1e-3 * grid.maximum_time_step())
    across = np.asarray(found.dense(1)[1])[:, :, 5]  # f of the edges along y between the ends
    for cell, part in ((5, 1.0), (2, 0.4), (int(np.ceil(end)) - 1, end - np.ceil(end) + 1)):
        inverse = np.asarray(found.dense(3)[1])[:, :, cell]
        cut = (across > 0.01) & (across < 1.0)
        assert cut.sum() > 15
        np.testing.assert_allclose(1 / inverse[cut], part * across[cut], rtol=3e-3)


def test_shapes_over_a_seam_are_those_in_the_middle():
    lines = tuple(np.arange(7) * 1.0)
    grids = nf.Boundaries(nf.PEC, x="periodic")
    found = []
    for centre in (3.1, 0.1):
        sim = nf.Simulation(
            nf.Grid(lines, lines, lines), [metal(nf.Sphere((centre, 3, 3), 1.8))], grids, metal="conformal", steps=1
        )
        found.append([sim._setup().coefficients.dense(component)[1] for component in range(6)])
    for middle, seam in zip(*found):
        np.testing.assert_allclose(np.roll(seam, 3, 0), middle, atol=2e-5)


def guide(n, courant):
    """A slice of a circular guide of radius 1 off the grid's middle between PEC walls: its lowest TM resonance (Hz)."""
    size = 1.2
    sim = nf.Simulation(
        grid=nf.Grid.uniform(1 / n, (round(2 * size * n), round(2 * size * n), 1), (-size, -size, 0)),
        structures=[
            metal(nf.Box((-size, -size, 0), (size, size, 1 / n))),
            metal(nf.Cylinder((0.03, 0.017, 0), (0.03, 0.017, 1 / n), 1.0), nf.Medium()),
        ],
        boundaries=PEC_WALLS,
        precision="double",
        metal="conformal",
        courant=courant,
        duration=4e-7,
        sources=[nf.PointCurrent((0.2, 0.1, 0.5 / n), "z", nf.ModulatedGaussian(115e6, 80e6))],
        monitors=[nf.Probe("ringing", (-0.3, 0.3, 0.5 / n), "Ez")],
    )
    modes = nf.resonances(sim.run(threads=1), (107e6, 122e6), probe="ringing")
    return float(modes.frequency[np.argmax(np.abs(modes.amplitude.values))])


def test_a_cut_off_converges_with_the_square_of_the_cell():
    exact = 2.404825558 * VACUUM_SPEED / (2 * np.pi)
    coarse, fine = (guide(n, 0.7) / exact - 1.0 for n in (5, 15))
    assert abs(coarse) < 7e-3
    assert abs(fine) < abs(coarse) / 5.0  # 9 but for the scatter with where cells are cut


def small_model(precision="single", **options):
    """A metal ball, a slanting rod and a thin wall between CPML and walls, with a port to a face inside a cell."""
    wall = [(4 * MM, MM), (7.1 * MM, 2.3 * MM), (7.1 * MM, 2.6 * MM), (4 * MM, 1.3 * MM)]
    return nf.Simulation(
        grid=nf.Grid.uniform(MM, (14, 12, 11)),
        boundaries=nf.Boundaries(nf.PEC, x_low=nf.CPML(3), x_high=nf.CPML(3), y_high=nf.PMC),
        structures=[
            metal(nf.Sphere((9 * MM, 7.2 * MM, 6.1 * MM), 2.6 * MM)),
            metal(nf.Cylinder((-3 * MM, 3 * MM, 2.2 * MM), (20 * MM, 4 * MM, 3.1 * MM), 1.3 * MM)),
            metal(nf.Box((0, 9 * MM, 0), (20 * MM, 12 * MM, 2.4 * MM))),
            metal(nf.Polygon("z", wall, 6.3 * MM, 8.8 * MM)),
            nf.Structure(nf.Box((4 * MM, 8 * MM, 2.4 * MM), (8 * MM, 12 * MM, 5 * MM)), nf.Medium(3.0, 1.0, 0.02)),
        ],
        ports=[
            nf.LumpedPort(
                "feed", (6 * MM, 10 * MM, 2 * MM), (6 * MM, 10 * MM, 5 * MM), "z", inductance=1e-9, waveform=PULSE
            )
        ],
        monitors=[
            nf.Probe("e", (8 * MM, 4.7 * MM, 3.6 * MM), "Ez"),
            nf.Snapshot("all", (0, 0, 0), (14 * MM, 12 * MM, 11 * MM), every=5),
            nf.Flux("out", (4 * MM, MM, MM), (10 * MM, 8 * MM, 8 * MM), 1e10),
        ],
        precision=precision,
        metal="conformal",
        steps=20,
        **options,
    )


@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_model_agrees_with_the_oracle_by_every_schedule(engine_name, precision):
    assert_model_agrees(engine_name, small_model(precision)._setup().plan, "feed")


@pytest.mark.slow
def test_planes_along_any_axis_and_single_samples_agree():
    found = small_model()._setup().coefficients
    all_samples = [found.dense(component)[1] for component in range(6)]
    for component, dense in enumerate(all_samples):
        index = np.argwhere(dense != 0)[::7].T
        np.testing.assert_allclose(found.at(component, *index)[1], dense[tuple(index)], rtol=1e-14)
    for axis in range(3):
        whole = {p: planes for planes in found.planes(axis) for p in range(planes.start, planes.stop)}
        for component, samples in enumerate(all_samples):
            dense = np.moveaxis(samples, [axis, (axis + 1) % 3, (axis + 2) % 3], [0, 1, 2])
            half = "electric" if component < 3 else "magnetic"
            planes = np.stack([getattr(whole[p], half)[component % 3, 1] for p in range(len(dense))])
            np.testing.assert_allclose(planes, dense, rtol=1e-14)


def assert_part_agrees(found, whole, axis, low, high, relative=1e-14):
    """Planes of a part, from `low` to `high`, have the drives that the arrays of the whole have there."""
    around = [(axis + n) % 3 for n in range(3)]
    part = tuple(slice(low[a], high[a]) for a in around[1:])
    for planes in found.planes(axis, low, high):
        for component, dense in enumerate(whole):
            values = (planes.electric, planes.magnetic)[component // 3][component % 3, 1]
            for plane in range(planes.start + low[axis], planes.stop + low[axis]):
                there = np.moveaxis(dense, around, [0, 1, 2])[plane][part]
                np.testing.assert_allclose(values, there, rtol=relative, atol=0.0)


def test_the_box_of_a_rank_agrees_with_the_whole():
    found, low, high = small_model()._setup().coefficients, (5, 3, 2), (13, 9, 10)
    whole = [found.dense(component)[1] for component in range(6)]
    for axis in range(3):
        assert_part_agrees(found, whole, axis, low, high)


def test_recorders_and_sources_deal_in_the_true_field():
    path = (9 * MM, 10 * MM, 4 * MM), (9 * MM, 10 * MM, 0)
    monitors = nf.Probe("at", (9 * MM, 10 * MM, 2.5 * MM), "Ez"), nf.Voltage("v", *path)
    sim = small_model().model_copy(update={"monitors": monitors})
    setup = sim._setup()
    assert float(setup.coefficients.open_fraction(2, 9, 10, 2)) == pytest.approx(0.6, abs=1e-5)
    probe, voltage = (item.item._terms(setup.context)[0] for item in setup.lowered[2].values())
    assert float(probe.weight[0]) == pytest.approx(1 / 0.6, rel=1e-4)  # stored is 0.6 E
    assert np.abs(voltage.weight) == pytest.approx(MM)  # and 0.6 E times the whole edge is E times its open part
    point = nf.PointCurrent((9 * MM, 10 * MM, 2.5 * MM), "z", PULSE)._terms(setup.context)[0]
    line = nf.LineCurrent((9 * MM, 10 * MM, 2 * MM), (9 * MM, 10 * MM, 3 * MM), PULSE)._terms(setup.context)[0]
    assert float(point.weight[0]) == pytest.approx(float(line.weight[0]) / (0.6 * MM), rel=1e-4)
    solver = nf.Solver(sim)
    solver.set_field("Ez", np.ones(solver.grid.component_shape(2)))
    assert solver.field("Ez")[9, 10, 2] == pytest.approx(1.0)


def test_a_resistor_on_a_cut_edge_sees_the_voltage_over_its_open_part():
    grid = cube(4, 4 * MM)
    body, step = [metal(nf.Box((-MM, -MM, -MM), (9 * MM, 9 * MM, 1.6 * MM)))], 1e-13
    load = EdgeLoad(2, np.array([2]), np.array([2]), np.array([1]), 3.0, 0.0)
    stay, _ = coefficients(grid, body, step=step, loads=[load]).at(2, 2, 2, 1)
    loss = 0.4 * 3.0 * step / (2 * VACUUM_PERMITTIVITY)
    assert float(stay) == pytest.approx((1 - loss) / (1 + loss), rel=1e-4)


def test_poles_weigh_in_cut_cells_what_they_weigh_in_whole_ones():
    """The array holds f E and the states follow it, so what they give back is f P already."""
    grid, body = cube(4, 4 * MM), [metal(nf.Box((-MM, -MM, -MM), (9 * MM, 9 * MM, 1.6 * MM)))]
    gas = nf.Medium(poles=[nf.Drude(2e10, 1e9)])
    model = coefficients(grid, body, step=1e-13, background=gas)
    cut, whole = (model.parts_at(2, *(np.array([n]) for n in at)) for at in ((2, 2, 1), (2, 2, 2)))
    assert cut[1] / whole[1] == pytest.approx(0.4, rel=1e-4)  # Cb
    np.testing.assert_array_equal(np.delete(cut, 1, axis=0), np.delete(whole, 1, axis=0))
    dense, weights = model.dense_poles(0, 2)[1], whole[3, 0]
    assert weights > 0
    np.testing.assert_array_equal(dense[2, 2, 1:3], weights)


def test_metal_takes_no_part_in_the_means_of_media():
    """A filling that ends in metal, with the metal's own surface, is even up to it."""
    grid, middle = nf.Grid(*(MM * np.arange(n + 1) for n in (20, 20, 3))).resolve(), (10 * MM, 10 * MM)
    filling = nf.Medium(permittivity=2.1, permeability=1.5, conductivity=0.01, poles=[nf.Debye(1.0, 1e-11)])
    rod = [nf.Cylinder((*middle, -MM), (*middle, 21 * MM), radius * MM) for radius in (8.3, 2.6)]
    bodies = [metal(nf.Box((-MM,) * 3, (21 * MM,) * 3)), nf.Structure(rod[0], filling), metal(rod[1])]
    coax = coefficients(grid, bodies)
    for component in range(6):
        stay, drive = coax.media_at(component, *np.indices((20, 20, 3)))
        if component >= 3:  # 1 inside metal
            assert set(np.unique(drive.round(14))) == {round(1 / 1.5, 14), 1.0}
        else:
            assert np.ptp(stay[drive > 0]) < 1e-14 and np.ptp(drive[drive > 0]) < 1e-14
            weight = coax.dense_poles(0, component)[1]
            assert np.ptp(weight[weight > 0]) < 1e-14
    assert (coax.open_fraction(0, *np.indices((20, 20, 3))) < 1).any()
    half = [*bodies[:2], nf.Structure(nf.Box((0, 0, 0), (10 * MM, 20 * MM, 20 * MM)), nf.Medium()), bodies[0]]
    half[3] = metal(nf.Cylinder((*middle, -MM), (*middle, 21 * MM), 2.6 * MM))
    found = coefficients(grid, half).media_at(2, 10, 13, 1)[1]  # on the line between the halves, by the rod
    free, filled = (coefficients(grid, half).media_at(2, i, 13, 1)[1] for i in (6, 14))
    assert 1 / found == pytest.approx(0.5 / free + 0.5 / filled, rel=1e-12)


@pytest.mark.parametrize("place", [3.0, 3.3])
def test_a_hole_that_ends_at_the_faces_of_the_metal_leaves_no_film(place):
    """A window drawn as a later body with the wall's own faces: as open as four bodies about it."""
    grid = cube(8, 8.0)
    wall = metal(nf.Box((0, 0, place), (8, 8, place + 2)))
    flush = coefficients(grid, [wall, metal(nf.Box((2, 2, place), (6, 6, place + 2)), nf.Medium())])
    further = coefficients(grid, [wall, metal(nf.Box((2, 2, place - 1), (6, 6, place + 3)), nf.Medium())])
    for component in range(6):
        for own, other in zip(flush.dense(component), further.dense(component)):
            np.testing.assert_allclose(own, other, atol=1e-12)
    assert flush.dense(0)[1][3, 4, 3] > 0


def test_a_time_step_beyond_the_cut_cells_limit_is_refused():
    limit = small_model()._setup().time_step_limit
    assert limit == pytest.approx(0.5**0.5 * MM / 3**0.5 / VACUUM_SPEED)
    with pytest.raises(nf.ModelError, match="conformal"):
        small_model(time_step=1.01 * limit)._setup()


def test_a_rod_is_followed_by_the_cells_across_it_however_long_those_along_it_are():
    def faces(count: int) -> np.ndarray:
        grid = nf.Grid.uniform((1e-3, 12e-3 / count, 1e-3), (12, count, 12)).resolve()
        rod = nf.Cylinder((6e-3, 0, 6e-3), (6e-3, 12e-3, 6e-3), 2.6e-3)
        found = coefficients(grid, [metal(rod)], step=1e-12)
        i = np.arange(12)
        return found.at(5, i, np.zeros_like(i), np.full_like(i, 6), perfect=True)[1]

    long, short = faces(2), faces(12)
    np.testing.assert_allclose(long, short, rtol=1e-9)
    assert long.max() > 2 * long.min()
