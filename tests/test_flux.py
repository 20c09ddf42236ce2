"""Power flux: the grid's own Poynting theorem, and closed forms."""

import numpy as np
import pytest
from dipoles import Dipole, cube

import nearfield as nf
from nearfield.analysis.faces import Face
from nearfield.analysis.flux import face_power, surface_power, trapezoid
from nearfield.grid.yee import YeeGrid, is_half

FREQUENCY = 1e9
WAVELENGTH = 299792458.0 / FREQUENCY


def graded_lines(rng, cells):
    return tuple(np.concatenate(([0.0], np.cumsum(rng.uniform(0.5, 1.5, n)))) for n in cells)


def discrete_curls(grid, e):
    """H from curl E = -j H (unit mu, w) and J from J = curl H - j E, both exactly as the leap-frog equations say."""
    h, j = [], []
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        h.append(1j * (difference(grid, e[c], b, False) - difference(grid, e[b], c, False)))
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        j.append(difference(grid, h[c], b, True) - difference(grid, h[b], c, True) - 1j * e[a])
    return h, j


def difference(grid, values, axis, dual):
    shape = [1, 1, 1]
    shape[axis] = -1
    if dual:  # ends are never used by the test
        padding = [(int(n == axis), int(n == axis)) for n in range(3)]
        return np.diff(np.pad(values, padding), axis=axis) / grid.dual(axis).reshape(shape)
    return np.diff(values, axis=axis) / grid.primary(axis).reshape(shape)


def box_faces(grid, e, h, first, last):
    for axis in range(3):
        b, c = (axis + 1) % 3, (axis + 2) % 3
        for node, outward in ((first[axis], -1), (last[axis], 1)):
            below, above = grid.primary(axis)[node - 1], grid.primary(axis)[node]

            def cut(component, field, axis=axis, at=node):
                index = [slice(first[n], last[n] + (not is_half(component, n))) for n in range(3)]
                index[axis] = at
                plane = field[component % 3][tuple(index)]
                return (plane if (axis + 1) % 3 < (axis + 2) % 3 else plane.T)[None]

            low = [cut(n + 3, h, at=node - 1) for n in (b, c)]
            high = [cut(n + 3, h, at=node) for n in (b, c)]
            magnetic = [(above * x + below * y) / (below + above) for x, y in zip(low, high)]
            nodes = tuple(grid.lines[n][first[n] : last[n] + 1] for n in (b, c))
            electric = (cut(b, e), cut(c, e))
            yield Face(axis, outward, 0.0, (below, above), nodes, electric, tuple(magnetic), np.ones(1))


def test_flux_out_of_a_box_is_the_work_of_the_currents_in_it_on_any_graded_grid():
    rng = np.random.default_rng(5)
    grid = YeeGrid(graded_lines(rng, (8, 9, 10)))
    e = [rng.normal(size=grid.component_shape(n)) + 1j * rng.normal(size=grid.component_shape(n)) for n in range(3)]
    h, j = discrete_curls(grid, e)
    first, last = (2, 1, 3), (6, 7, 8)
    work = 0.0
    for n in range(3):
        index = tuple(slice(first[a], last[a] + (a != n)) for a in range(3))
        nodes = [grid.lines[a][first[a] : last[a] + 1] for a in range(3)]
        weights = [np.diff(nodes[a]) if a == n else trapezoid(nodes[a]) for a in range(3)]
        density = (e[n][index] * j[n][index].conj()).real
        work += 0.5 * np.einsum("ijk,i,j,k->", density, *weights)
    flux = surface_power(list(box_faces(grid, e, h, first, last)))[0]
    assert flux == pytest.approx(-work, rel=1e-12)


@pytest.mark.parametrize("magnetic", [False, True])
def test_power_of_a_dipole_through_any_box_round_it(magnetic):
    size = WAVELENGTH / 20
    space = cube(40, size)
    dipole = Dipole(np.array([0.3, -0.2, 0.4]) * size, np.array([1e-3, 2e-3, -1e-3]), magnetic)
    boxes = [nf.Flux("small", (-0.05,) * 3, (0.05,) * 3, [FREQUENCY]), nf.Flux("big", (-0.2,) * 3, (0.2,) * 3, 1e9)]
    for box in boxes:
        power = space.collect(box, [dipole])["power"].array[0]
        # closed-form H averaged across a cell loses up to (kh)^2/8 of its normal part
        assert power == pytest.approx(dipole.power(FREQUENCY), rel=(2 * np.pi / 20) ** 2 / 8)


def test_nothing_leaves_a_box_that_the_source_is_not_in():
    space = cube(40, WAVELENGTH / 20)
    dipole = Dipole(np.array([0.2, 0.0, 0.0]), np.array([0.0, 0.0, 1e-3]))
    box = nf.Flux("empty", (-0.15, -0.1, -0.1), (0.05, 0.1, 0.1), [FREQUENCY])
    power = space.collect(box, [dipole])["power"].array[0]
    assert abs(power) < 2e-3 * dipole.power(FREQUENCY)


def test_a_plane_counts_along_the_direction_asked_for_and_boxes_add_their_faces():
    space = cube(30, WAVELENGTH / 20)
    dipole = Dipole(np.zeros(3) + 1e-3, np.array([0.0, 0.0, 1e-3]))
    powers = {}
    for sign in "+-":
        plane = nf.Flux("plane", (0.075, -0.075, -0.075), (0.075, 0.075, 0.075), [FREQUENCY], sign)
        powers[sign] = space.collect(plane, [dipole])["power"].array[0]
    assert powers["+"] == -powers["-"] > 0
    box = space.collect(nf.Flux("box", (-0.075,) * 3, (0.075,) * 3, [FREQUENCY]), [dipole])
    assert box["power_x_high"].array[0] == pytest.approx(powers["+"], rel=1e-12)
    assert sum(v.array[0] for k, v in box.items() if k.startswith("power_")) == pytest.approx(box["power"].array[0])


def test_faces_of_a_box_on_a_wall_are_left_out():
    space = cube(20, 0.01, nf.Boundaries(all=nf.CPML(4), z_low=nf.PEC, y_high=nf.PMC))
    places = nf.Flux("box", (-0.05, -0.05, -0.1), (0.05, 0.1, 0.05), [FREQUENCY])._places(space.context)
    assert {(p.axis, p.side) for p in places} == {(0, "low"), (0, "high"), (1, "low"), (2, "high")}
    with pytest.raises(nf.ModelError, match="outer wall of the grid"):
        nf.Flux("wall", (-0.05, -0.05, -0.1), (0.05, 0.05, -0.1), [FREQUENCY])._terms(space.context)


def test_flux_through_a_graded_plane_wave_face_is_the_poynting_vector():
    rng = np.random.default_rng(2)
    nodes = (np.cumsum(rng.uniform(1, 2, 6)), np.cumsum(rng.uniform(1, 2, 5)))
    shapes = [(1, 5, 5), (1, 6, 4)]
    electric = (np.full(shapes[0], 2.0 + 1j), np.full(shapes[1], 1j))
    magnetic = (np.full(shapes[1], -1j), np.full(shapes[0], 2.0 + 1j))
    face = Face(0, 1, 0.0, (1.0, 1.0), nodes, electric, magnetic, np.ones(1))
    area = np.ptp(nodes[0]) * np.ptp(nodes[1])
    assert face_power(face)[0] == pytest.approx(0.5 * (5 + 1) * area)


def test_a_line_is_no_surface():
    with pytest.raises(nf.ModelError, match="none along x and y"):
        nf.Flux("line", (0, 0, 0), (0, 0, 1), [1e9])
