"""Power radiated by a point current, in vacuum and in a dielectric, through boxes of two sizes.

.venv/bin/python -m validation.radiated_power.run
"""

from __future__ import annotations

import math

import numpy as np
import xarray

import nearfield as nf
from validation.case import Case
from validation.picture import picture

FREQUENCY = 1e9  # Hz
MOMENT = 1e-3  # A m
C = 299792458.0
ETA = 376.730313412  # ohm
INTERIOR = 14  # cells from the source to the inner face of the CPML
BOXES = {"small": 3, "large": 9}  # half width of the flux boxes in cells


def cell(permittivity: float) -> float:
    """A twentieth of the wavelength in the medium at 1 GHz (m)."""
    return C / math.sqrt(permittivity) / FREQUENCY / 20


def radiated(frequency: float, permittivity: float = 1.0) -> float:
    """eta k^2 p^2 / (12 pi), in W, for a sinusoidal current of peak moment p."""
    index = math.sqrt(permittivity)
    return ETA / index * (2 * math.pi * frequency * index / C) ** 2 * MOMENT**2 / (12 * math.pi)


def lattice_factor(frequency: float, permittivity: float, time_step: float) -> float:
    """Power of a point current on the Yee lattice over that in space; README.md derives it."""
    step, length = 2 * math.pi * frequency * time_step, cell(permittivity)
    omega = 2 / time_step * math.sin(step / 2)
    half = 0.5 * length * omega * math.sqrt(permittivity) / C
    cosine, weight = np.polynomial.legendre.leggauss(48)
    phi = np.linspace(0, 2 * math.pi, 48, endpoint=False)[:, None]
    x, y = np.sqrt(1 - cosine**2) * np.cos(phi), np.sqrt(1 - cosine**2) * np.sin(phi)
    stretch = 1 / np.sqrt((1 - (half * x) ** 2) * (1 - (half * y) ** 2) * (1 - (half * cosine) ** 2))
    mean = 0.75 * float(np.sum(weight * (1 - cosine**2) * stretch.mean(axis=0)))
    return mean * math.cos(step / 2) * (omega / (2 * math.pi * frequency)) ** 2


def simulation(permittivity: float, frequencies: tuple[float, ...]) -> nf.Simulation:
    """A point current amid 28 cells of a medium and two flux boxes round it."""
    length = cell(permittivity)
    half = (INTERIOR + 10) * length
    return nf.Simulation(
        grid=nf.Grid.uniform(length, [2 * INTERIOR + 20] * 3, origin=[-half] * 3),
        background=nf.Medium(permittivity=permittivity),
        sources=[nf.PointCurrent((0, 0, length / 2), "z", nf.GaussianDerivative(FREQUENCY), moment=MOMENT)],
        monitors=[
            nf.Flux(name, [-cells * length] * 3, [cells * length] * 3, frequencies) for name, cells in BOXES.items()
        ],
    )


def powers(permittivity: float, frequencies: tuple[float, ...] = (FREQUENCY,)) -> dict[str, xarray.DataArray]:
    """Power (W) through each box for a continuous current of peak moment MOMENT."""
    found = simulation(permittivity, frequencies).run(threads=2).per_source()
    return {name: found[name] for name in BOXES}


def main() -> None:
    case = Case(__file__, "Radiated power of a point current")
    frequencies = tuple(np.linspace(0.4e9, 1.6e9, 25))
    media = {"vacuum": 1.0, "eps_r 2.25": 2.25}
    spectra = {name: powers(value, frequencies) for name, value in media.items()}
    steps = {name: simulation(value, (FREQUENCY,))._setup().time_step for name, value in media.items()}
    small = {name: float(boxes["small"].sel(frequency=FREQUENCY)) for name, boxes in spectra.items()}
    for name, value in media.items():
        large = float(spectra[name]["large"].sel(frequency=FREQUENCY))
        lattice = radiated(FREQUENCY, value) * lattice_factor(FREQUENCY, value, steps[name])
        case.compare(f"{name}, in space", 1e3 * radiated(FREQUENCY, value), 1e3 * small[name], 0.01, unit="mW")
        case.compare(f"{name}, on the lattice", 1e3 * lattice, 1e3 * small[name], 5e-4, unit="mW")
        case.compare(f"{name}, large over small box", 1.0, large / small[name], 0.003)
    case.compare("eps_r 2.25 over vacuum", 1.5, small["eps_r 2.25"] / small["vacuum"], 0.005)
    with picture(case, facts="20 cells per wavelength at 1 GHz; dashed: theory of the lattice") as (axes,):
        for (name, value), colour in zip(media.items(), ("#0072B2", "#D55E00")):
            expected = np.array([radiated(f, value) for f in frequencies])
            lattice = np.array([lattice_factor(f, value, steps[name]) for f in frequencies])
            error = 100 * (spectra[name]["small"].values / expected - 1)
            axes.plot(np.array(frequencies) / 1e9, error, color=colour, label=name)
            axes.plot(np.array(frequencies) / 1e9, 100 * (lattice - 1), "--", color="#1F2933", linewidth=1)
        axes.axhspan(-1, 1, color="#E4E8EC", zorder=0)
        axes.set(xlabel="frequency (GHz)", ylabel="found over expected - 1 (%)")
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
