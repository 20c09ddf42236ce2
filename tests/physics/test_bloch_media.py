"""Plane waves in a Bloch cell full of a dispersive medium: their frequencies solve w^2 eps(w) mu(w) = (c k)^2."""

import cmath
import math

import numpy as np
import pytest

import nearfield as nf

C = 299792458.0
CELL, CELLS = 0.5e-3, 12
MEDIA = {  # each with its branches at one k
    "drude": (nf.Medium(poles=nf.Drude(15e9)), 1),
    "drude with loss": (nf.Medium(2.0, poles=nf.Drude(15e9, 3e9)), 1),
    "lorentz": (nf.Medium(1.5, poles=nf.Lorentz(2.0, 12e9, 2e9)), 2),
    "magnetic lorentz": (nf.Medium(2.0, magnetic_poles=nf.Lorentz(1.0, 12e9, 1e9)), 2),
    "debye": (nf.Medium(2.0, poles=nf.Debye(0.5, 40e-12)), 1),
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
def test_a_wave_in_a_bloch_cell_rings_at_the_roots_of_the_dispersion_relation(name):
    """On the grid to the inversion's rounding; in space within the errors of differences and the trapezoidal rule."""
    (medium, branches), phase = MEDIA[name], 1.3
    simulation = nf.Simulation(
        nf.Grid.uniform(CELL, (CELLS, 1, 1)),
        background=medium,
        boundaries=nf.Boundaries(x=nf.Bloch(phase=phase), y="periodic", z="periodic"),
        sources=[nf.CurrentSheet((0, 0, 0), (0, CELL, CELL), "z", nf.Gaussian(30e9))],
        monitors=[nf.Probe("p", (4 * CELL, 0, 0.5 * CELL), "Ez")],
        steps=4000,
        precision="double",
    )
    time_step, k = simulation._setup().time_step, phase / (CELLS * CELL)
    modes = nf.resonances(simulation.run(threads=1), (3e9, 26e9), probe="p", smallest_q=2.0)
    every = 2 * np.pi * modes.frequency.values + 1j * modes.decay_rate.values
    found = [w for w in every if abs(w / root(medium, k, w, time_step) - 1) < 1e-9]  # others: of k and whole turns
    assert len(found) == branches
    for w in found:
        assert abs(w / root(medium, k, w, 0.0) - 1) < (k * CELL) ** 2 / 24 + abs(w * time_step) ** 2 / 12
