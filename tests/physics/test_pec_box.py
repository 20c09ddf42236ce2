"""A closed box rings at the frequencies of the Yee grid, which are known exactly."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.entry.constants import VACUUM_SPEED

SIZE, CELLS = (50e-3, 20e-3, 60e-3), (25, 10, 31)
YEE_GIGAHERTZ = {  # at 0.99 of the stability limit; in the continuum 3.902423 ... 8.449918
    (1, 0, 1): 3.901613,
    (1, 0, 2): 5.823191,
    (2, 0, 1): 6.486922,
    (2, 0, 2): 7.798349,
    (1, 1, 0): 8.055069,
    (1, 1, 1): 8.435640,
}


def exact_frequency(mode, time_step: float) -> float:
    """sin(w dt / 2) = c dt sqrt(sum (sin(k d / 2) / d)^2), k = mode pi / size."""
    spacing = np.divide(SIZE, CELLS)
    wave_number = np.pi * np.array(mode) / SIZE
    total = np.sum((np.sin(wave_number * spacing / 2) / spacing) ** 2)
    return np.arcsin(VACUUM_SPEED * time_step * np.sqrt(total)) / (np.pi * time_step)


def mode_field(mode) -> list[np.ndarray]:
    """A divergence-free standing wave of the grid: Ex ~ cos(kx x) sin(ky y) sin(kz z) and cyclic.

    A random start holds charges whose field stands still; it is orthogonal to every divergence-free wave.
    """
    spacing = np.divide(SIZE, CELLS)
    wave_number = 2 / spacing * np.sin(np.pi * np.array(mode) / SIZE * spacing / 2)
    still = mode.index(0) if 0 in mode else None  # nothing changes along this axis: E along it has no divergence
    amplitude = np.cross(wave_number, (0, 0, 1)) if still is None else np.eye(3)[still]
    field = []
    for component in range(3):
        values = amplitude[component]
        for axis, (m, n) in enumerate(zip(mode, CELLS)):
            along = (np.arange(n) + 0.5) / n if axis == component else np.arange(n + 1) / n
            wave = np.cos if axis == component else np.sin
            values = np.multiply.outer(values, wave(np.pi * m * along))
        field.append(values)
    return field


@pytest.mark.parametrize("precision", ["single", "double"])
def test_every_mode_has_its_exact_yee_frequency(precision):
    grid = nf.Grid.uniform(tuple(np.divide(SIZE, CELLS)), CELLS)
    sim = nf.Simulation(grid, boundaries=nf.Boundaries(nf.PEC), precision=precision, steps=1)
    solver = nf.Solver(sim, threads=1)
    rng = np.random.default_rng(1)
    for component, name in enumerate(("Ex", "Ey", "Ez")):
        solver.set_field(name, rng.standard_normal(solver.grid.component_shape(component)))
    fields = {mode: mode_field(mode) for mode in YEE_GIGAHERTZ}
    amplitudes = {mode: [] for mode in YEE_GIGAHERTZ}
    for _ in range(300):
        solver.advance()
        found = [solver.field(name).astype(float) for name in ("Ex", "Ey", "Ez")]
        for mode, shape in fields.items():
            amplitudes[mode].append(sum(np.vdot(f, s) for f, s in zip(found, shape)))
    for mode, published in YEE_GIGAHERTZ.items():
        a = np.array(amplitudes[mode])
        # a(n+1) + a(n-1) = 2 cos(w dt) a(n), by least squares
        cosine = np.dot(a[1:-1], a[2:] + a[:-2]) / (2 * np.dot(a[1:-1], a[1:-1]))
        frequency = np.arccos(cosine) / (2 * np.pi * solver.time_step)
        tolerance = 1e-6 if precision == "single" else 1e-11
        assert frequency == pytest.approx(exact_frequency(mode, solver.time_step), rel=tolerance), mode
        assert frequency == pytest.approx(published * 1e9, rel=1e-6), mode
