"""A plane wave on cubic cells runs at the grid's own speed."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED
from nearfield.grid.yee import COMPONENTS

SPACING = 1e-3  # m
LENGTH, MIDDLE = 600, slice(260, 340)  # cells; the line's ends reach the middle after 260 steps
PUBLISHED = {5: 0.948752, 10: 0.988556, 20: 0.997209, 40: 0.999306}  # v/c at 0.99 of the limit, along an axis


def line(axis: int, precision: str) -> nf.Solver:
    """A line of one cell across: PEC plates at the ends of E, PMC along them; E, H and the axis are right-handed."""
    cells, walls = [1, 1, 1], {}
    cells[axis] = LENGTH
    for side in ("low", "high"):
        walls |= {f"{'xyz'[(axis + 1) % 3]}_{side}": nf.PEC, f"{'xyz'[(axis + 2) % 3]}_{side}": nf.PMC}
    sim = nf.Simulation(
        nf.Grid.uniform(SPACING, tuple(cells)), boundaries=nf.Boundaries(nf.PEC, **walls), precision=precision, steps=1
    )
    return nf.Solver(sim, threads=1)


def set_wave(solver: nf.Solver, axis: int, frequency: float, wave_number: float) -> str:
    """E = cos(w t - k z) at t = 0 and eta0 H = E half a step later: on the axis the grid's impedance is exact."""
    for component, time, size in (((axis + 1) % 3, 0.0, 1.0), (3 + (axis + 2) % 3, 0.5, 1 / VACUUM_IMPEDANCE)):
        place = solver.grid.component_axes(component)[axis].reshape([-1 if a == axis else 1 for a in range(3)])
        phase = 2 * np.pi * frequency * time * solver.time_step - wave_number * place
        shape = solver.grid.component_shape(component)
        solver.set_field(COMPONENTS[component], np.broadcast_to(size * np.cos(phase), shape))
    return COMPONENTS[(axis + 1) % 3]


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("cells_per_wavelength", list(PUBLISHED))
def test_a_plane_wave_has_the_exact_speed_of_the_grid(cells_per_wavelength, axis, precision):
    solver = line(axis, precision)
    frequency = VACUUM_SPEED / (cells_per_wavelength * SPACING)  # cells per wavelength of the vacuum
    reach = VACUUM_SPEED * solver.time_step / SPACING
    # sin(w dt / 2) = reach sin(k d / 2)
    wave_number = 2 / SPACING * np.arcsin(np.sin(np.pi * frequency * solver.time_step) / reach)
    speed = 2 * np.pi * frequency / wave_number / VACUUM_SPEED
    assert speed == pytest.approx(PUBLISHED[cells_per_wavelength], abs=6e-7)
    name = set_wave(solver, axis, frequency, wave_number)
    weights = np.cos(wave_number * SPACING * np.arange(LENGTH + 1)[MIDDLE])
    a = []
    for _ in range(240):
        solver.advance()
        a.append(np.dot(weights, np.moveaxis(solver.field(name), axis, 0)[MIDDLE, 0, 0].astype(float)))
    a = np.array(a)
    # a(n+1) + a(n-1) = 2 cos(w dt) a(n), by least squares
    cosine = np.dot(a[1:-1], a[2:] + a[:-2]) / (2 * np.dot(a[1:-1], a[1:-1]))
    found = np.arccos(cosine) / (2 * np.pi * solver.time_step)
    assert found / frequency == pytest.approx(1, abs=1e-6 if precision == "single" else 1e-10)
