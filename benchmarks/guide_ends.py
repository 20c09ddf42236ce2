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
from nearfield.discretization.absorbers import guide_end
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.grid.boundaries import CPML, cpml_profile

COURANT = nf.Simulation.model_fields["courant"].default
LOWEST = 8e9  # Hz, of the band
CUT_OFFS = (0.8, 0.95, 1.1, 1.3, 1.6, 2.0, 3.0, 5.0)  # over the lowest frequency
NEAR = (1.01, 1.02, 1.05, 1.1)  # frequencies over the cut-off


def returned(layer: CPML, cell: float, cut_off: float, frequencies: np.ndarray, magnetic: bool = False) -> np.ndarray:
    """gamma of a TE mode, or a TM one (`magnetic`: H in place of E), at the layer's inner face to within a cell."""
    count = layer.cells + 4
    grid = nf.Grid.uniform(cell, (2, 2, count)).resolve()
    step = COURANT * grid.maximum_time_step()
    delay = np.exp(-2j * math.pi * frequencies * step)
    turned = 2.0 * np.sin(math.pi * frequencies * step) / (VACUUM_SPEED * step)  # 2 sin(w dt/2)/(c dt)
    nodes, halves = cpml_profile(None, layer, grid, 2, step)
    rate = VACUUM_SPEED * step / cell
    at_node, at_half = (
        [1.0 / k + c / rate / (1.0 - b * delay) for k, b, c in zip(p.kappa, p.decay, p.drive, strict=True)]
        for p in (nodes, halves)
    )
    square = (turned**2 - (2.0 * math.pi * cut_off / VACUUM_SPEED) ** 2) * cell**2
    own, across, before = (at_half, at_node, 0) if magnetic else (at_node, at_half, 1)
    field = np.ones(frequencies.size, dtype=complex)  # the sample next to the wall, where E along it is 0
    flux = np.zeros_like(field) if magnetic else -across[count - 1] * field
    for n in range(count - 1, count - layer.cells - 1, -1):
        flux = flux + square * field / own[n]
        field, deeper = field - flux / across[n - before], field
    number = np.arccos(1.0 - 0.5 * square + 0j)
    wave = np.exp(1j * np.where(number.imag > 0.0, -number, number))  # a cell towards the source
    back = (field - deeper * wave) / (1.0 / wave - wave)
    return back / (deeper - back)


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
