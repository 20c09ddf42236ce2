"""Conductors: the fit of their impedance, their surface against geometry, the same bits, loss against theory."""

import numpy as np
import pytest
from agreement import assert_model_agrees
from amplification import amplification
from cases import slow_after

import nearfield as nf
from nearfield.analysis.spectra import fourier_integral
from nearfield.coefficients.stability import gain
from nearfield.media.materials import Medium
from nearfield.media.poles import PoleResidue
from nearfield.metal.patches import Patch
from nearfield.metal.skin_fit import impedance_terms
from nearfield.metal.thickness import least_thickness
from nearfield.model_file import loads
from validation.lossy_walls.run import BOX, POOR, box, box_quality
from validation.parallel_plate import ETA

MM, C = 1e-3, 299792458.0
LINES = [np.cumsum([0, *(1 + 0.3 * np.sin(np.arange(n) + n))]) * MM for n in (9, 8, 7)]
PULSE = nf.Gaussian(30e9)
METAL = nf.Conductor(1e5)


@pytest.mark.parametrize(("ratio", "poles"), [(10.0, 3), (100.0, 5), (1000.0, 7)])
def test_a_few_positive_terms_are_the_root_of_s_over_decades(ratio, poles):
    terms = impedance_terms(ratio)
    s = 1j * np.geomspace(1.0, ratio, 997)
    assert np.abs(terms.value(s) / np.sqrt(s) - 1.0).max() < 0.0042  # 0.004 where it was fitted
    assert len(terms.rates) == poles
    assert min(terms.resistance, terms.inductance, *terms.weights) > 0.0


def surface(structures, grid, component, metal="staircase", walls=None):
    """m^2 of metal that each H face of a component has about it."""
    boundaries = nf.Boundaries(nf.PEC, conductor=walls)
    found = nf.Simulation(grid, structures, boundaries, metal=metal, steps=1)._setup().coefficients
    (skin,) = found.ingredients.surfaces
    grid, window = found.grid, ((0, found.active[1]), (0, found.active[2]))
    shape = [b - a for a, b in window]
    patches = [Patch(3 + component, 0, i, window) for i in range(found.active[0])]
    part = np.stack([np.broadcast_to(skin.drawn_part(patch), shape) for patch in patches])
    if metal == "conformal":  # less what is open of each face
        opened = (found.metal.fraction(patch) for patch in patches)
        part = part * np.stack([np.ones(shape) if one is None else one for one in opened])
    for a in range(3):
        length = grid.dual(a)[:-1] if a == component else grid.primary(a)
        part = part * length.reshape([-1 if a == b else 1 for b in range(3)])
    return part


@pytest.mark.parametrize("kind", ["staircase", "conformal"])
@pytest.mark.parametrize("component", range(3))
def test_the_faces_of_a_block_add_up_to_its_walls_beside_each_component(component, kind):
    """Those of a component see the four walls that it lies along, also where the block's edges stand out."""
    low, high = ([line[n] for line in LINES] for n in (2, 5))
    a, b, c = (high[(component + n) % 3] - low[(component + n) % 3] for n in range(3))
    found = surface([nf.Structure(nf.Box(low, high), METAL)], nf.Grid(*LINES), component, kind)
    assert found.sum() == pytest.approx(2 * a * (b + c))


def test_a_sheet_has_two_sides_and_walls_have_one():
    top = LINES[2][3]
    sheet = nf.Structure(nf.Sheet((LINES[0][2], LINES[1][2], top), (LINES[0][6], LINES[1][5], top)), METAL)
    area = (LINES[0][6] - LINES[0][2]) * (LINES[1][5] - LINES[1][2])
    assert surface([sheet], nf.Grid(*LINES), 0).sum() == pytest.approx(2 * area)
    assert not surface([sheet], nf.Grid(*LINES), 2).any()
    x, y, z = (line[-1] for line in LINES)
    walls = surface([], nf.Grid(*LINES), 0, walls=METAL)
    assert walls[1:].sum() == pytest.approx(2 * (x - 0.5 * LINES[0][1] - 0.5 * (x - LINES[0][-2])) * (y + z), rel=0.1)


def test_the_cut_faces_of_a_ball_add_up_to_its_surface():
    radius, line = 4.3 * MM, np.linspace(-6, 6, 25) * MM
    ball = nf.Structure(nf.Sphere((0.1 * MM, 0.07 * MM, 0.15 * MM), radius), METAL)
    found = surface([ball], nf.Grid(line, line, line), 2, "conformal")
    # a cap of 1 - cos(asin 0.2) = 2 % at each pole is seen too small; cells of an eighth of the radius
    assert found.sum() == pytest.approx(4 * np.pi * radius**2, rel=0.05)


def test_other_metal_keeps_its_own_surface():
    line = LINES[0]
    low, high = [line[2]] * 3, [line[5]] * 3
    block, cover = nf.Structure(nf.Box(low, high), METAL), nf.Structure(nf.Box(low, (line[5], line[5], line[3])), "pec")
    found = surface([block, cover], nf.Grid(line, line, line), 2)
    side = line[5] - line[2]
    assert found.sum() == pytest.approx(4 * side * (line[5] - line[3]), rel=0.2)  # half a cell where they meet
    assert found.sum() < 4 * side * side


def small_model(precision="single", kind="conformal", **options):
    """A block and a ball of one conductor, a sheet of another, walls of the first, CPML, a seam; currents inside."""
    rough = nf.Conductor(2e5, roughness=1.7)
    entries = {
        "boundaries": nf.Boundaries(nf.CPML(3), x="periodic", y_high=nf.PMC, z_high=nf.PEC, conductor=METAL),
        "structures": [
            nf.Structure(nf.Box((3 * MM, 0, 2.4 * MM), (8 * MM, 12 * MM, 4 * MM)), nf.Medium(3.0, 1.5, 0.02)),
            nf.Structure(nf.Box((9 * MM, 4 * MM, -MM), (20 * MM, 9 * MM, 4 * MM)), METAL),
            nf.Structure(nf.Sphere((4.2 * MM, 7.3 * MM, 7.1 * MM), 2.3 * MM), METAL),
            nf.Structure(nf.Sheet((1 * MM, MM, 5 * MM), (9 * MM, 4 * MM, 5 * MM)), rough),
        ],
    }
    return nf.Simulation(
        grid=nf.Grid.uniform(MM, (14, 12, 11)),
        sources=[nf.PointCurrent((6 * MM, 5.5 * MM, 5 * MM), "x", PULSE)],
        monitors=[nf.Probe("h", (4 * MM, 4.7 * MM, 4.6 * MM), "Hy")],
        metal=kind,
        precision=precision,
        steps=20,
        **entries | options,
    )


@pytest.mark.parametrize(("precision", "kind"), [("single", "conformal"), ("double", "staircase")])
def test_a_model_agrees_with_the_oracle_by_every_schedule(engine_name, precision, kind):
    plan = small_model(precision, kind)._setup().plan
    assert [medium.magnetic for medium in plan.pole_media] == [True, True]
    assert_model_agrees(engine_name, plan)


def gathered(found, axis, low, high):
    """Db of three components, then the weights of both surfaces in them, of a box."""
    shape = [high[(axis + n) % 3] - low[(axis + n) % 3] for n in range(3)]
    values = np.zeros((3, 3, *shape))
    for planes in found.planes(axis, low, high):
        values[0, :, planes.start : planes.stop] = planes.magnetic[:, 1, None]
        for poles in planes.poles:
            values[1 + poles.medium, :, planes.start : planes.stop] = poles.weight[:, None]
    return values.transpose(0, 1, *(2 + (a - axis) % 3 for a in range(3))).reshape(9, *np.subtract(high, low))


def test_planes_along_any_axis_and_the_boxes_of_ranks_are_the_same():
    found, low, high = small_model()._setup().coefficients, (2, 3, 2), (13, 11, 9)
    whole = gathered(found, 0, (0, 0, 0), found.active)[:, *(slice(*ends) for ends in zip(low, high))]
    assert [kind.any() for kind in whole] == [True] * 8 + [False]  # nothing of the flat sheet in Hz
    for axis in range(3):
        np.testing.assert_allclose(gathered(found, axis, low, high), whole, rtol=1e-12)


def test_half_a_model_about_its_plane_of_symmetry_is_the_whole():
    model = {
        "boundaries": nf.Boundaries(all=nf.PEC, conductor=METAL),
        "grid": nf.Grid.uniform(MM, (12, 10, 10)),
        "structures": [nf.Structure(nf.Box((2 * MM, 0, 3 * MM), (5 * MM, 6 * MM, 7 * MM)), METAL)],
        "monitors": [nf.Probe("e", (8 * MM, 4.7 * MM, 7 * MM), "Ex")],
        "precision": "double",
        "steps": 200,
        "sources": [nf.PointCurrent((7.5 * MM, 5 * MM, 5 * MM), "x", PULSE)],
    }
    whole, half = (
        nf.Simulation(**model, symmetry=nf.Symmetry(z=kind)).run(threads=1)["e"].values for kind in (None, "magnetic")
    )
    assert np.abs(whole).max() > 0 and half == pytest.approx(whole, abs=1e-12 * np.abs(whole).max())


@pytest.mark.parametrize("part", slow_after(1, [1.0, 1e-2, 100.0, 1e4]))
def test_what_the_surface_makes_of_a_face_is_passive_and_stable(part):
    """As a medium: part is l/A times 1 mm, up to that of a face open by a thousandth."""
    (skin, *_) = small_model()._setup().coefficients.ingredients.surfaces
    ratio = part / MM
    poles = [PoleResidue(p.pole, ratio * p.residue) for p in skin.poles]
    medium = Medium(1.0, 1.0 + ratio * skin.store, magnetic_conductivity=ratio * skin.loss, magnetic_poles=poles)
    assert gain(medium.magnetic_poles, medium.permeability, medium.magnetic_conductivity) is None
    step = 0.999 * MM / (C * 3**0.5)
    for curl in np.linspace(0.01, 1.0, 12) * 2 * 3**0.5 / MM:
        assert np.abs(amplification(medium, step, curl)).max() <= 1.0 + 1e-9


def test_a_wall_reflects_what_its_impedance_says_whatever_the_cell():
    """1 mm and 0.4 mm cells at 3 and 9 GHz; at 33 cells a wavelength the wave's impedance is 2e-3 off."""
    f, distance = np.array([3e9, 9e9]), 28 * MM
    for cell in (1.0 * MM, 0.4 * MM):
        found = []
        for metal in (None, nf.Conductor(1e3)):
            at = 40 * cell
            e = nf.Simulation(
                nf.Grid.uniform(cell, (1, 1, 40 + round(distance / cell))),
                boundaries=nf.Boundaries(nf.PEC, x="periodic", y="periodic", z_low=nf.CPML(20), conductor=metal),
                sources=[nf.CurrentSheet((0, 0, at), (cell, cell, at), "x", nf.GaussianDerivative(10e9))],
                monitors=[nf.Probe("e", (0.5 * cell, 0, 25 * cell), "Ex")],
                precision="double",
                duration=2e-9,
            ).run(threads=1)["e"]
            found.append(fourier_integral(e.time.values, e.values, f))
        way = np.exp(-4j * np.pi * f * distance / C)
        r = (found[1] * (1 - way) / found[0] - 1) / way
        zs = nf.Conductor(1e3).impedance(f)
        assert r == pytest.approx((zs - ETA) / (zs + ETA), abs=2e-3)


def test_a_box_loses_what_theory_says():
    """TE101 of 30 x 12 x 24 mm in 2 mm cells; validation/lossy_walls has the finer ones, and a sphere."""
    frequency, quality = box(POOR, 2 * MM)
    assert quality == pytest.approx(box_quality(frequency, POOR), rel=0.02)
    lossless = 0.5 * C * np.hypot(1 / BOX[0], 1 / BOX[2]) * (1 - 9.3e-4)  # of this grid, between perfect walls
    assert frequency / lossless - 1 == pytest.approx(-0.5 / quality, rel=0.05)  # as much inductance as resistance


def test_a_model_file_holds_conductors_and_names_them_among_the_media():
    sim = small_model(media={"copper": nf.Conductor("58 MS/m", name="copper")})
    named = nf.Structure(nf.Box((0, 0, 8 * MM), (MM, MM, 9 * MM)), "copper")
    sim = sim.model_copy(update={"structures": (*sim.structures, named)})
    assert loads(sim.to_toml()) == sim
    assert sim.run(threads=1).status == "done"


def test_voxels_and_automatic_grids_take_conductors():
    sim = nf.Simulation(
        nf.AutoGrid(maximum_frequency="10 GHz"),
        [nf.Structure(nf.Sheet((0, 0, 0), (MM, MM, 0)), METAL)],
        waveform=nf.Gaussian(10e9),
        sources=[nf.PointCurrent((0, 0, 2 * MM), "z", nf.Gaussian(10e9))],
        steps=2,
    )
    pec = sim.model_copy(update={"structures": (nf.Structure(sim.structures[0].shape, "pec"),)})
    for mine, other in zip(sim._setup().grid.lines, pec._setup().grid.lines):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        (nf.Structure(nf.Box((0, 0, 0), (MM, MM, MM)), nf.Conductor(1.0)), "must have at least"),
        (nf.Structure(nf.Box((0, 0, 0), (MM, MM, 5e-7)), nf.Conductor(5.8e7)), "500 nm thick, but the skin depth"),
        (nf.Structure(nf.Sphere((5 * MM, 5 * MM, 5 * MM), 0.5 * MM), METAL), "no surface on the grid"),
    ],
)
def test_what_has_no_surface_impedance_is_refused(structure, message):
    with pytest.raises(nf.ModelError, match=message):
        _ = small_model(structures=[structure])._setup().coefficients


def test_wires_have_no_surface():
    with pytest.raises(nf.ModelError, match="no surface"):
        nf.Structure(nf.Wire([(0, 0, 0), (1, 0, 0)]), METAL)


SQUARE = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
CORNERS = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
CUBE = nf.Mesh(vertices=CORNERS, triangles=[three for a, b, c, d in SIDES for three in ((a, b, c), (a, c, d))])


@pytest.mark.parametrize(
    "shape, thickness",
    [
        (nf.Box((0, 0, 0), (1, 1, 1)), 1.0),
        (nf.Polygon("z", SQUARE, 0, 3), 1.0),
        (nf.Polygon("z", [(0, 0), (4, 0), (4, 0.5), (0, 0.5)], 0, 3), 0.5),
        (nf.Polygon("x", [(0, 0), (4, 3), (4 - 0.006, 3 + 0.008), (-0.006, 0.008)], 0, 9), 0.01),  # a film, turned
        (nf.Revolved("z", [(0, 0), (0.5, 0), (0.5, 4), (0, 4)]), 1.0),  # a rod
        (nf.Revolved("z", [(2, 0), (2.1, 0), (2.1, 4), (2, 4)]), 0.1),  # a tube
        (CUBE, 1.0),
    ],
)
def test_bodies_are_as_thick_as_they_are(shape, thickness):
    """Compact ones too, which twice volume over surface makes a third of that."""
    assert least_thickness(shape) == pytest.approx(thickness, rel=1e-9)


def test_a_tilted_film_thinner_than_the_skin_depth_is_refused():
    """The least extent of the box about it told how thick it is."""
    film = nf.Box((5e-3, 5e-3, 10e-3), (15e-3, 15e-3, 10.00001e-3))
    tilted = nf.Structure(film, nf.Conductor(5.8e7), transforms=[nf.Rotate("x", "30 deg", (0, 10e-3, 10e-3))])
    source = nf.PointCurrent((2e-3, 2e-3, 3e-3), "x", nf.Gaussian(9e9))
    grid, faces = nf.Grid.uniform(1e-3, (20, 20, 20)), nf.Boundaries(nf.PEC)
    with pytest.raises(nf.ModelError, match="10 nm thick"):
        nf.Simulation(grid, [tilted], faces, sources=[source], steps=10).check()
