"""What the CPML at the end of a guide returns of travelling waves, and what it gives to evanescent ones.

    python benchmarks/guide_ends.py

No run: the reflection of a mode of cut-off kc from the layer's own coefficients, sample by sample from the
wall behind it, exact in the discrete frequencies. With the field A (exp(-kappa z) + gamma exp(kappa z)) of a mode below
its cut-off, power flows into the layer in proportion to -Im gamma: a layer with Im gamma > 0 feeds what lies before it.
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from nearfield.discretization.cpml import guide_end
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.grid.boundaries import CPML
from nearfield.trust.walls import factors, reflection

LOWEST = 8e9  # Hz, of the band
CUT_OFFS = (0.8, 0.95, 1.1, 1.3, 1.6, 2.0, 3.0, 5.0)  # over the lowest frequency
NEAR = (1.01, 1.02, 1.05, 1.1)  # frequencies over the cut-off


def returned(layer: CPML, cell: float, cut_off: float, frequencies: np.ndarray, magnetic: bool = False) -> np.ndarray:
    """gamma of a TE mode, or a TM one (`magnetic`: H in place of E), at the layer's inner face.

    A TE mode goes along the guide as a plane wave in a medium of permittivity 1 - (cut-off/frequency)^2, a TM mode as
    one in a medium of such a permeability.
    """
    grid = nf.Grid.uniform(cell, (2, 2, layer.cells + 4))
    setup = nf.Simulation(grid=grid, boundaries=nf.Boundaries(nf.PEC, z_high=layer), steps=1)._setup()
    turn = 2j * np.sin(math.pi * frequencies * setup.time_step)
    below = 2.0 * math.pi * cut_off * setup.time_step / np.abs(turn)
    of_mode, vacuum = 1.0 - below**2 + 0j, np.ones_like(below)
    nodes, halves = factors(setup, 2, "high", frequencies)
    media = (vacuum, of_mode) if magnetic else (of_mode, vacuum)
    return reflection(nodes, halves, layer.cells, turn, *media) * (-1.0 if magnetic else 1.0)


def decibels(gamma: np.ndarray) -> float:
    """The largest of reflections, in dB."""
    return float(20.0 * np.log10(np.abs(gamma).max()))


def in_band(layer: CPML, cells: float, highest: float = 1.5) -> float:
    """Largest return (dB) in a band up to `highest` times its lowest frequency, where a wave has `cells` cells."""
    band = np.linspace(1.0, highest, 40) * LOWEST
    return decibels(returned(layer, VACUUM_SPEED / LOWEST / cells, CUT_OFFS[0] * LOWEST, band))


def near_cut_off(layer: CPML, cells: float) -> list[float]:
    """Returns (dB) of waves between the cut-off and the band, at `NEAR` of the cut-off."""
    cut_off = CUT_OFFS[0] * LOWEST
    return [decibels(returned(layer, VACUUM_SPEED / LOWEST / cells, cut_off, np.array([n * cut_off]))) for n in NEAR]


def gain(layer: CPML, cells: float, highest: float = 1.5) -> float:
    """Largest Im gamma of TE and TM modes of any cut-off, at frequencies below it and up to that of the band."""
    found = []
    for cut_off in CUT_OFFS:
        frequencies = min(0.999 * cut_off, highest) * LOWEST * np.linspace(0.2, 1.0, 160)
        cell = VACUUM_SPEED / LOWEST / cells
        found += [returned(layer, cell, cut_off * LOWEST, frequencies, kind).imag.max() for kind in (False, True)]
    return float(max(found))


def main() -> None:
    """Print the table of docs/method.md."""
    print("layer, cells a wavelength: return in the band; at 1.01, 1.02, 1.05, 1.1 of the cut-off (dB); gain")
    for name, layer in (("guide", CPML(**guide_end(LOWEST))), ("line", CPML(alpha_maximum=0.0))):
        for cells in (15, 20, 40, 80):
            near = ", ".join(f"{value:.0f}" for value in near_cut_off(layer, cells))
            print(f"{name}, {cells}: {in_band(layer, cells):.0f}; {near}; {gain(layer, cells):.2g}")


if __name__ == "__main__":
    main()
