"""Impedance of a coaxial line of staircase cylinders.

    .venv/bin/python -m validation.coax.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from nearfield.analysis.spectra import fourier_integral
from validation.case import Case
from validation.picture import picture

ETA = 376.730313412  # ohm
INNER, OUTER = 100e-3, 230e-3  # radii (m)


def expected(inner: float = INNER, outer: float = OUTER, permittivity: float = 1.0) -> float:
    """eta ln(outer/inner)/(2 pi), in ohm."""
    return ETA / math.sqrt(permittivity) * math.log(outer / inner) / (2 * math.pi)


def model(cell: float, permittivity: float = 1.0) -> nf.Simulation:
    """A quarter of the line along z: magnetic walls stand in the planes x = 0 and y = 0."""
    across, along = math.ceil(OUTER / cell) + 2, 90
    feed, middle, top = 24 * cell, 60 * cell, along * cell
    waveform = nf.GaussianDerivative(150e6)
    return nf.Simulation(
        grid=nf.Grid.uniform(cell, (across, across, along)),
        structures=[
            nf.Structure(nf.Box((0, 0, 0), (across * cell, across * cell, top)), nf.PEC),
            nf.Structure(nf.Cylinder((0, 0, 0), (0, 0, top), OUTER), nf.Medium(permittivity)),
            nf.Structure(nf.Cylinder((0, 0, 0), (0, 0, top), INNER), nf.PEC),
        ],
        boundaries=nf.Boundaries(nf.PEC, x_low=nf.PMC, y_low=nf.PMC, z_low=nf.CPML(16), z_high=nf.CPML(16)),
        sources=[  # on the walls, so each is half a radial current
            nf.LineCurrent((INNER, 0, feed), (OUTER, 0, feed), waveform),
            nf.LineCurrent((0, INNER, feed), (0, OUTER, feed), waveform),
        ],
        monitors=[
            nf.Voltage("voltage", (INNER, 0, middle), (OUTER, 0, middle)),
            nf.Current("current", (0, 0, middle), (INNER + 2 * cell, INNER + 2 * cell, middle)),
        ],
    )


def impedance(frequencies: np.ndarray, cell: float) -> np.ndarray:
    """V/I of the travelling wave, in ohm."""
    result = model(cell).run(threads=2)
    voltage, current = result["voltage"], result["current"]
    v = fourier_integral(voltage.time.values, voltage.values, frequencies)
    i = fourier_integral(current[current.dims[0]].values, current.values, frequencies)
    return v / (4 * i)


def main() -> None:
    case = Case(__file__, "Coaxial line, radii 100 and 230 mm")
    frequencies = np.linspace(50e6, 250e6, 21)
    with picture(case, facts="staircase cylinders, travelling wave") as (axes,):
        for cell in (10e-3, 5e-3):
            z = impedance(frequencies, cell)
            axes.plot(frequencies / 1e6, z.real, label=f"{1e3 * cell:g} mm cells")
        axes.axhline(expected(), color="#1F2933", linestyle=":", label="theory")
        axes.set(xlabel="frequency (MHz)", ylabel="impedance (ohm)")
        axes.legend()
    mean, spread = float(z.real.mean()), float(np.abs(z - z.mean()).max() / abs(z.mean()))
    exact = expected()
    case.between("impedance, 5 mm cells", 0.99 * exact, 1.03 * exact, mean, expected=exact, unit="ohm")
    case.at_most("variation and reactance over 50 to 250 MHz", 0.005, spread)
    case.finish()


if __name__ == "__main__":
    main()
