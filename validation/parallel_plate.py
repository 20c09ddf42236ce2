"""A parallel-plate line along z, the cheapest place for a plane wave: PEC walls across E (x), PMC walls across H (y).

Its impedance is eta times height over width, a square one's 376.7303 ohm. One cell across is enough, the fields being
uniform there. Used by several cases.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nearfield as nf
from nearfield.analysis.spectra import fourier_integral

ETA = 376.730313412  # ohm


def line(
    cell: float,
    cells: int,
    waveform: Any,
    probes: dict[str, int],
    source: int,
    end: Any = None,
    permittivity: float = 1.0,
    **more: Any,
) -> nf.Simulation:
    """A line of square section, one cell wide, that ends in CPML or, at its far end, in the boundary `end`.

    The current sheet stands at grid line `source`, each probe of E at the grid line named for it.
    """
    middle = 0.5 * cell
    return nf.Simulation(
        grid=nf.Grid.uniform(cell, (1, 1, cells)),
        boundaries=nf.Boundaries(
            x_low=nf.PEC, x_high=nf.PEC, y_low=nf.PMC, y_high=nf.PMC, z_low=nf.CPML(20), z_high=end or nf.CPML(20)
        ),
        background=nf.Medium(permittivity=permittivity),
        sources=[nf.CurrentSheet((0, 0, source * cell), (cell, cell, source * cell), "x", waveform)],
        monitors=[nf.Probe(name, (middle, 0, node * cell), "Ex") for name, node in probes.items()],
        precision="double",
        **more,
    )


def spectra(simulation: nf.Simulation, frequencies: np.ndarray) -> dict[str, np.ndarray]:
    """The spectrum of E at each probe."""
    result = simulation.run(threads=1)
    found = {name: result[name] for name in result.monitors}
    return {name: fourier_integral(e.time.values, e.values, frequencies) for name, e in found.items()}
