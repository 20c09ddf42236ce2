"""Plane waves in a Bloch cell full of a dispersive medium: their frequencies solve w^2 eps(w) mu(w) = (c k)^2."""

import cmath
import math

import numpy as np
import pytest

import nearfield as nf

C = 299792458.0
CELL, CELLS = 1e-3, 6
MEDIA = {
    "drude": nf.Medium(poles=nf.Drude(15e9)),
    "drude with loss": nf.Medium(2.0, poles=nf.Drude(15e9, 3e9)),
    "lorentz": nf.Medium(1.5, poles=nf.Lorentz(2.0, 12e9, 2e9)),
    "magnetic lorentz": nf.Medium(2.0, magnetic_poles=nf.Lorentz(1.0, 12e9, 1e9)),
    "debye": nf.Medium(2.0, poles=nf.Debye(0.5, 40e-12)),
}


def root(medium: nf.Medium, k: float, guess: complex, time_step: float) -> complex:
    """The complex angular frequency near a guess of a wave exp(j w t - j k x), in continuous space and time (step 0) or
    on the grid: there s = j w is the trapezoidal rule's, and differences are sines.
    """

    def excess(w: complex) -> complex:
        s, time, space = 1j * w, w, k
        if time_step:
            s = 2j / time_step * cmath.tan(w * time_step / 2)
            time, space = 2 / time_step * cmath.sin(w * time_step / 2), 2 / CELL * math.sin(k * CELL / 2)
        eps = medium.permittivity + sum(pole.susceptibility(s) for pole in medium.poles)
        mu = medium.permeability + sum(pole.susceptibility(s) for pole in medium.magnetic_poles)
        return eps * mu * time**2 - (C * space) ** 2

    here, there = guess, guess * (1 + 1e-6)
    for _ in range(60):  # the secant rule
        rise = excess(there) - excess(here)
        if not rise:
            break
        here, there = there, there - excess(there) * (there - here) / rise
    return there


@pytest.mark.parametrize("name", MEDIA)
def test_a_wave_in_a_bloch_cell_rings_at_the_root_of_the_dispersion_relation(name):
    medium, phase = MEDIA[name], 1.3
    simulation = nf.Simulation(
        nf.Grid.uniform(CELL, (CELLS, 1, 1)), background=medium,
        boundaries=nf.Boundaries(x=nf.Bloch(phase=phase), y="periodic", z="periodic"),
        sources=[nf.CurrentSheet((0, 0, 0), (0, CELL, CELL), "z", nf.Gaussian(30e9))],
        monitors=[nf.Probe("p", (2 * CELL, 0, 0.5 * CELL), "Ez")], steps=4000, precision="double",
    )  # fmt: skip
    result, k = simulation.run(threads=1), phase / (CELLS * CELL)
    modes = nf.resonances(result, (6e9, 26e9), probe="p", smallest_q=2.0)
    assert modes.sizes["mode"] >= 1
    for mode in range(modes.sizes["mode"]):
        found = complex(2 * np.pi * modes.frequency[mode], modes.decay_rate[mode])
        on_grid, in_space = (root(medium, k, found, step) for step in (simulation.setup().time_step, 0.0))
        assert abs(found / on_grid - 1) < 1e-7
        assert abs(found / in_space - 1) < (k * CELL) ** 2 / 12
