"""WR-90 waveguide: wavelength, cut-off and wave impedance of TE10, decay below cut-off.

.venv/bin/python -m validation.rectangular_guide.run
"""

from __future__ import annotations

import cmath
import math

import numpy as np

import nearfield as nf
from nearfield.analysis.spectra import fourier_integral
from validation.case import Case
from validation.picture import picture

C = 299792458.0
ETA = 376.730313412  # ohm
WIDTH, HEIGHT = 22.86e-3, 10.16e-3
CELLS = (36, 4)
STEP = 0.5e-3  # m, along the guide
PLANES = {"left": 120, "middle": 136, "right": 152}  # 8 mm apart


def cutoff(width: float = WIDTH) -> float:
    """c/(2 a), in Hz."""
    return C / (2 * width)


def propagation(frequency: float, width: float = WIDTH) -> complex:
    """Wave number along the guide, -j times the attenuation below cut-off (1/m)."""
    return -1j * cmath.sqrt((math.pi / width) ** 2 - (2 * math.pi * frequency / C) ** 2)


def measured(waveform: nf.ModulatedGaussian, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(wave number from three planes, -Ey/Hx of the wave at the middle one)."""
    spacing = (WIDTH / CELLS[0], HEIGHT / CELLS[1], STEP)
    middle = (0.5 * WIDTH, 0.5 * HEIGHT)
    places = {name: (*middle, node * STEP) for name, node in PLANES.items()}
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(spacing, (*CELLS, 280)),
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(40), z_high=nf.CPML(40)),
        sources=[nf.CurrentSheet((0, 0, 60 * STEP), (WIDTH, HEIGHT, 60 * STEP), "y", waveform)],
        monitors=[
            *[nf.Probe(name, place, "Ey") for name, place in places.items()],
            nf.Probe("magnetic", places["middle"], "Hx"),
        ],
        symmetry=nf.Symmetry(x="magnetic", y="electric"),
        precision="double",
        decay=1e-12,
    )
    result = simulation.run(threads=2)
    e = {}
    for name in result.monitors:
        field = result[name]
        e[name] = fourier_integral(field[field.dims[0]].values, field.values, frequencies)
    length = (PLANES["middle"] - PLANES["left"]) * STEP
    cosine = (e["left"] + e["right"]) / (2 * e["middle"])
    return np.arccos(cosine.astype(complex)) / length, -e["middle"] / e["magnetic"]


def main() -> None:
    case = Case(__file__, "WR-90 waveguide, TE10")
    above, below = np.array([9e9, 9.5e9, 10e9, 10.5e9, 11e9]), np.array([4.5e9, 5e9, 5.5e9])
    k, impedance = measured(nf.ModulatedGaussian(10e9, 3e9), above)
    at_10 = float(k[2].real)
    case.compare("guide wavelength at 10 GHz", 39.70712, 2e3 * math.pi / at_10, 0.002, unit="mm")
    found = math.sqrt(10e9**2 - (at_10 * C / (2 * math.pi)) ** 2)
    case.compare("cut-off", cutoff() / 1e9, found / 1e9, 0.002, unit="GHz")
    case.compare("wave impedance at 10 GHz", 498.974, float(impedance[2].real), 0.002, unit="ohm")
    decay, _ = measured(nf.ModulatedGaussian(5e9, 2e9), below)
    case.compare("decay at 5 GHz", 88.9095, abs(decay[1].imag), 0.002, unit="Np/m")
    with picture(case, facts="dots: found; above cut-off the wave number, below it the decay") as (axes,):
        frequencies = np.linspace(4e9, 12e9, 400)
        axes.plot(frequencies / 1e9, [abs(propagation(f)) for f in frequencies], label="theory")
        axes.plot(below / 1e9, np.abs(decay.imag), "o", label="decay (Np/m)")
        axes.plot(above / 1e9, k.real, "o", label="wave number (1/m)")
        axes.set(xlabel="frequency (GHz)", ylabel="1/m", ylim=(0, None))
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
