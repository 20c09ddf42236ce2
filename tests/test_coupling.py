"""The full tensor at slanting surfaces: what is coupled, that it keeps the energy, and what it gains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield.coefficients.coupling import largest_share, spare
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.tiling import Tiling
from nearfield.engines.reference.engine import ReferenceEngine
from validation.dielectric_sphere_resonance.run import error

CONTRASTS = 2.0, 4.0, 12.0, 50.0


def balls(seed: int, cells: int = 12, grading: float = 0.3, **options) -> nf.Simulation:
    """Overlapping spheres of random contrasts on a graded grid between metal walls."""
    rng = np.random.default_rng(seed)
    lines = [1e-3 * np.concatenate(([0.0], np.cumsum(rng.uniform(1 - grading, 1 + grading, cells)))) for _ in range(3)]
    bodies = [
        nf.Structure(nf.Sphere(tuple(rng.uniform(2e-3, 10e-3, 3)), rng.uniform(2e-3, 5e-3)), nf.Medium(contrast))
        for contrast in rng.permutation(CONTRASTS)
    ]
    given = {"boundaries": nf.Boundaries(nf.PEC), "precision": "double", "courant": 1.0, "steps": 100} | options
    return nf.Simulation(nf.Grid(*lines), structures=given.pop("structures", bodies), averaging="tensor", **given)


def ringing(simulation: nf.Simulation) -> ReferenceEngine:
    """The oracle of a model, with random H and no E where samples are free."""
    engine, rng = ReferenceEngine(simulation._setup().plan), np.random.default_rng(1)
    for component in range(3, 6):
        free = engine.coefficients[component][1] != 0.0
        engine.fields[component] = free * rng.standard_normal(free.shape)
    return engine


def volumes(simulation: nf.Simulation) -> list[np.ndarray]:
    """What a sample of each component stands for, between metal walls."""
    grid = simulation._setup().grid
    found = []
    for component in range(6):
        half = [(a == component % 3) == (component < 3) for a in range(3)]
        lengths = [grid.primary(a) if half[a] else grid.dual(a)[:-1] for a in range(3)]
        found.append(lengths[0][:, None, None] * lengths[1][:, None] * lengths[2])
    return found


@pytest.mark.parametrize("seed", range(2))
def test_the_energy_is_constant_to_rounding(seed):
    """E.D + H(before).H(after), D being the sum of c dt curl H from zero, at the very limit of the time step."""
    simulation = balls(seed)
    engine, volume = ringing(simulation), volumes(simulation)
    assert engine.plan.coupling.component.size > 500
    free = [engine.coefficients[c][1] != 0.0 for c in range(3)]
    d, found = [0.0] * 3, []
    for _ in range(150):
        for p in range(3):
            q, r = (p + 1) % 3, (p + 2) % 3
            d[p] = d[p] + free[p] * engine.plan.scale * (engine._derivative(3 + r, q) - engine._derivative(3 + q, r))
        before = [h.copy() for h in engine.fields[3:]]
        engine.advance(1)
        electric = sum(float((v * e * each).sum()) for v, e, each in zip(volume, engine.fields, d))
        magnetic = sum(float((v * a * b).sum()) for v, a, b in zip(volume[3:], before, engine.fields[3:]))
        assert electric > 0.0
        found.append(electric + magnetic)
    assert np.ptp(found) < 1e-12 * found[0]


@pytest.mark.parametrize("grading, least", [(0.0, 3.6), (0.3, 2.5)])
def test_the_limit_of_the_time_step_stays(grading, least):
    """The largest eigenvalue of (c dt)^2 curl xi curl, by 150 power iterations from below: at most 4."""
    simulation = balls(0, grading=grading)
    engine, weight, size = ringing(simulation), volumes(simulation)[3:], 1.0
    for _ in range(150):
        start = [h / size for h in engine.fields[3:]]
        engine.fields = [np.zeros_like(h) for h in start] + start
        engine._update_electric()
        engine._couple()
        engine.fields[3:] = [np.zeros_like(h) for h in start]
        engine._update_magnetic()
        size = max(float(np.abs(h).max()) for h in engine.fields[3:])
    found = -sum(float((v * a * b).sum()) for v, a, b in zip(weight, start, engine.fields[3:]))
    assert least < found / sum(float((v * a * a).sum()) for v, a in zip(weight, start)) <= 4.0


numbers = st.floats(1e-3, 1.0)


@settings(max_examples=50, deadline=None)
@given(*[st.tuples(*[kind] * 3) for kind in (st.floats(-0.5, 0.5), numbers, numbers)])
def test_the_largest_share_leaves_both_bounds(between, low, high):
    share = float(largest_share(np.array([between]), np.array([low]), np.array([high]))[0])
    yz, zx, xy = between
    full = np.array([[0.0, xy, zx], [xy, 0.0, yz], [zx, yz, 0.0]])

    def least(part: float) -> float:
        bounded = np.stack((np.diag(low) + part * full, np.diag(high) - part * full))
        return float(np.linalg.eigvalsh(bounded).min())

    assert 0.0 <= share <= 1.0 and least(share) > -1e-12
    assert share == 1.0 or least(1.001 * share + 1e-9) < 0.0


def test_means_may_count_half_as_much_again_in_cubes_and_less_beside_conformal_metal_in_oblong_cells():
    """Faces across x beside cut ones need part_y/dz^2 + part_z/dy^2 <= 1/dx^2."""
    cubes, oblong = (nf.Grid.uniform(size, (4, 5, 6)).resolve() for size in (1e-3, (1e-3, 2e-3, 3e-3)))
    for cut in (False, True):
        np.testing.assert_allclose(spare(cubes, cut), 0.5)
    rate, part = 1.0 / np.array([1.0, 4.0, 9.0]), spare(oblong, True)
    for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        assert part[y] * rate[z] + part[z] * rate[y] <= rate[x] * (1 + 1e-12)
    np.testing.assert_allclose(spare(oblong), rate / (rate.sum() - rate))


def test_a_uniform_field_sees_the_tensor_of_a_slanting_plane():
    """D along y alone gives E along x at the edges next to a plane of 30 degrees: n_x n_y (<1/eps> - 1/<eps>) of the
    nodes at both ends, known to 0.02 from 4 x 4 x 4 samples of an eighth."""
    normal, lines = np.array([np.cos(np.pi / 6), 0.5]), np.arange(17.0)
    along = np.array([-normal[1], normal[0]])
    middle = np.array([8.13, 7.71])
    corners = [tuple(middle + 40 * (a * along - b * normal)) for a, b in ((-1, 0), (1, 0), (1, 1), (-1, 1))]
    slope = nf.Structure(nf.Polygon("z", corners, -1.0, 20.0), nf.Medium(8.0))
    plan = (
        nf.Simulation(
            nf.Grid(lines, lines, lines),
            structures=[slope],
            boundaries=nf.Boundaries(nf.PEC),
            averaging="tensor",
            steps=1,
        )
        ._setup()
        .plan
    )
    engine = ReferenceEngine(plan)
    engine.fields[3] = np.broadcast_to(np.arange(16.0), plan.active).astype(plan.dtype)  # H_x grows along z: D_y alone
    engine._couple()
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, 41), np.linspace(-0.5, 0.5, 41))

    def node(i: int, j: int) -> float:
        part = np.mean((i + x - middle[0]) * normal[0] + (j + y - middle[1]) * normal[1] < 0.0)
        return normal[0] * normal[1] * ((part / 8 + 1 - part) - 1 / (8 * part + 1 - part))

    wanted = np.array([[0.5 * (node(i, j) + node(i + 1, j)) for j in range(3, 13)] for i in range(3, 13)])
    assert np.abs(wanted).max() > 0.08
    np.testing.assert_allclose(engine.fields[0][3:13, 3:13, 8] / plan.scale, wanted, atol=0.02)
    assert not engine.fields[2].any()


@pytest.mark.parametrize(
    "options",
    [
        {"structures": [nf.Structure(nf.Box((2.2e-3,) * 3, (7.1e-3,) * 3), nf.Medium(8.0))]},
        {"structures": [nf.Structure(nf.Sphere((6e-3,) * 3, 3e-3), nf.Medium(8.0, conductivity=0.1))]},
        {"structures": [nf.Structure(nf.Sphere((6e-3,) * 3, 3e-3), nf.Medium(4.0, poles=[nf.Debye(2.0, 1e-11)]))]},
        {"structures": [nf.Structure(nf.Sphere((6e-3,) * 3, 3e-3), "pec")]},
        {
            "boundaries": nf.Boundaries(nf.CPML(5)),
            "structures": [nf.Structure(nf.Cylinder((0, 6e-3, 6e-3), (1e-2, 6e-3, 6e-3), 5.5e-3), nf.Medium(8.0))],
        },
    ],
    ids=["flat faces", "loss", "poles", "metal", "in the CPML"],
)
def test_what_has_no_slanting_surface_of_lossless_media_is_not_coupled(options):
    assert balls(0, **options)._setup().plan.coupling is None


def test_edges_that_a_source_drives_are_not_coupled():
    def coupled(plan) -> set:
        return set(zip(plan.coupling.component.tolist(), *plan.coupling.at.T.tolist()))

    sheet = nf.CurrentSheet((0, 0, 6e-3), (11e-3, 11e-3, 6e-3), "x", nf.Gaussian(1e9))
    with_source, without = balls(0, sources=[sheet])._setup().plan, balls(0)._setup().plan
    driven = {(0, int(i), int(j), int(k)) for t in with_source.terms for i, j, k in zip(t.i, t.j, t.k)}
    assert driven & coupled(without) and not driven & coupled(with_source)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("tiling", [None, Tiling(3, 4)])
def test_engines_make_the_bits_of_the_oracle(tiling, precision):
    source = nf.PointCurrent((6e-3, 6e-3, 6e-3), "z", nf.Gaussian(3e9))
    plan = balls(1, sources=[source], precision=precision)._setup().plan
    engine, oracle = CpuEngine(plan, 2, None, tiling), ReferenceEngine(plan)
    for each in (engine, oracle):
        each.advance(25, "sources")
    for component in range(6):
        np.testing.assert_array_equal(engine.gathered(component), oracle.state(component))


@pytest.mark.parametrize("planes", [{"x": "electric"}, {"x": "electric", "y": "magnetic"}, {"z": "magnetic"}])
def test_a_half_couples_as_the_whole(planes):
    """A sphere on all planes, off the nodes' symmetry along none; a dipole along x."""

    def run(symmetry):
        return nf.Simulation(
            nf.Grid.uniform(1e-3, (16, 14, 12), (-8e-3, -7e-3, -6e-3)),
            boundaries=nf.Boundaries(nf.CPML(3)),
            structures=[nf.Structure(nf.Sphere((0, 0, 0), 2.7e-3), nf.Medium(8.0))],
            symmetry=nf.Symmetry(**symmetry),
            sources=[nf.PointCurrent((0, 0, 0), "x", nf.Gaussian(6e9))],
            averaging="tensor",
            precision="double",
            monitors=[nf.Snapshot("all", (-8e-3, -7e-3, -6e-3), (8e-3, 7e-3, 6e-3), every=100)],
            steps=100,
        ).run(threads=1)["all"]

    whole, part = run({}), run(planes)
    for name in whole:
        values = whole[name].values
        np.testing.assert_allclose(part[name].values, values, atol=1e-12 * np.abs(values).max())


@pytest.mark.parametrize("phases", [(0.0, 0.0, 0.0), (0.7, -1.1, 2.0)])
def test_a_lattice_may_be_cut_into_cells_anywhere(phases):
    """A ball in the middle of a cell, and about its corner: the same fields, but for phases of what came over seams."""
    cells, moved, ball = np.array((9, 8, 7)), np.array((5, 4, 4)), np.array((4.1, 3.9, 3.2))
    faces = {axis: nf.Bloch(phase=phase) if phase else "periodic" for axis, phase in zip("xyz", phases)}

    def ringing(by: np.ndarray) -> list[np.ndarray]:
        source = nf.PointCurrent(tuple((np.array((1.0, 7.0, 1.0)) + by) % cells), "x", nf.Gaussian(2e7))
        plan = (
            nf.Simulation(
                nf.Grid.uniform(1.0, tuple(cells.tolist())),
                boundaries=nf.Boundaries(**faces),
                averaging="tensor",
                structures=[nf.Structure(nf.Sphere(tuple(ball + by), 2.7), nf.Medium(8.0))],
                sources=[source],
                steps=60,
                precision="double",
            )
            ._setup()
            .plan
        )
        engine = CpuEngine(plan, 2)
        engine.advance(60, "sources")
        assert (plan.coupling.tap_at == -1).any() == by.any()
        return [engine.state(c) + 1j * engine.state(c + 6) if any(phases) else engine.state(c) for c in range(6)]

    over = (np.array((1, 7, 1)) + moved) // cells  # seams between the source and where it came from
    for whole, parted in zip(ringing(0 * moved), ringing(moved)):
        for axis, (by, phase) in enumerate(zip(moved, phases)):
            whole = np.roll(whole, by, axis)
            if phase:
                lag = np.exp(1j * phase * ((np.arange(cells[axis]) < by) - over[axis]))
                whole = whole * lag.reshape([-1 if a == axis else 1 for a in range(3)])
        np.testing.assert_allclose(parted, whole, atol=1e-9 * np.abs(whole).max())


@pytest.mark.slow
def test_the_tensor_takes_most_of_the_error_where_e_crosses_a_surface_and_converges_where_it_does_not():
    """validation/dielectric_sphere_resonance has the orders: along the surface 1.6, and none of the diagonal's."""
    assert abs(error("TM101", 10, "tensor")) < 0.2 * abs(error("TM101", 10, "diagonal"))
    assert abs(error("TE101", 14, "tensor")) < 0.5**1.4 * abs(error("TE101", 7, "tensor"))
