"""Spheres of media with poles: cross-sections against Mie's series, and a resonance in a spherical cavity.

.venv/bin/python -m validation.dispersive_sphere.run
"""

from __future__ import annotations

import cmath
import math

import numpy as np
from scipy.optimize import newton
from scipy.special import spherical_jn, spherical_yn

import nearfield as nf
from nearfield.media.materials import response
from validation.case import Case
from validation.dielectric_sphere_resonance.run import CAVITY, OFF, RADIUS
from validation.mie import mie
from validation.picture import picture

C = 299792458.0
SPARE, GAP, LAYER = 2, 6, 10  # cells from sphere to box, from box to CPML, of the CPML
CELLS = 7.0, 7.35, 7.7, 8.05, 12.0, 12.35, 12.7  # in the radius: the surface cuts cells in many ways
WET, RESONANT, WATER, PLASMA = "wet soil", "resonant", "water", "plasma"
SPHERES = {  # medium, radius (m), frequencies (Hz)
    WET: (nf.Medium(4.0, conductivity=0.02, poles=[nf.Debye(8.0, 20e-12)]), 10e-3, np.linspace(2.5e9, 10e9, 11)),
    RESONANT: (nf.Medium(2.0, poles=[nf.Lorentz(1.5, 12e9, 1e10)]), 8e-3, np.linspace(3e9, 9e9, 11)),
    WATER: (nf.Medium(4.9, poles=[nf.Debye(75.2, 9.231e-12)]), 2.5e-3, np.linspace(4e9, 14e9, 11)),
    PLASMA: (nf.Medium(poles=[nf.Drude(28.7e9, 20e9)]), 10e-3, np.linspace(5e9, 14e9, 11)),
}
LOADING = nf.Medium(3.0, poles=[nf.Debye(3.0, 1e-12)])  # Q of some 100 near 8 GHz


def errors(name: str, cells: float, averaging: str = "diagonal") -> np.ndarray:
    """Relative errors of Qext, Qsca and Qabs, a column a frequency, with so many cells in the radius; a quarter is
    stepped."""
    medium, radius, frequencies = SPHERES[name]
    cell, whole = radius / cells, math.ceil(cells)
    half, box = whole + SPARE + GAP + LAYER, (whole + SPARE) * cell
    low, high = frequencies[[0, -1]]
    wave = nf.PlaneWave((-box,) * 3, (box,) * 3, "+z", "x", nf.ModulatedGaussian((low + high) / 2, 1.1 * (high - low)))
    far = nf.Simulation(
        grid=nf.Grid.uniform(cell, (2 * half,) * 3, (-half * cell,) * 3),
        boundaries=nf.Boundaries(all=nf.CPML(LAYER)),
        structures=[nf.Structure(nf.Sphere((0, 0, 0), radius), medium)],
        sources=[wave],
        decay=1e-7,
        symmetry=nf.Symmetry(x="electric", y="magnetic"),
        averaging=averaging,
        monitors=[nf.FarField("far", frequencies, theta=[0.0], phi=[0.0])],
    ).run()["far"]
    extinction, scattering = far.extinction_cross_section.values, far.scattering_cross_section.values
    found = np.array([extinction, scattering, extinction - scattering]) / (np.pi * radius**2)
    index = np.conj(np.sqrt(medium.relative_permittivity(frequencies)))
    exact = np.array([mie(2 * np.pi * f * radius / C, n)[:2] for f, n in zip(frequencies, index)]).T
    return found / np.array([*exact, exact[0] - exact[1]]) - 1.0


def expected() -> complex:
    """Complex frequency (Hz) of TM101 of the loaded cavity: psi and psi'/eps are continuous, psi' is zero on the wall,
    where psi = r f(r), f spherical Bessel."""

    def bessel(function, x: complex) -> tuple[complex, complex]:
        return x * function(1, x), function(1, x) + x * function(1, x, derivative=True)

    def mismatch(frequency: complex) -> complex:
        k = 2 * math.pi * frequency / C
        n = cmath.sqrt(response(1j * 2 * math.pi * frequency, LOADING.permittivity, 0.0, LOADING.poles))
        wall = [bessel(f, k * CAVITY)[1] for f in (spherical_jn, spherical_yn)]
        (j, dj), (y, dy) = (bessel(f, k * RADIUS) for f in (spherical_jn, spherical_yn))
        inside, slope = bessel(spherical_jn, n * k * RADIUS)
        return slope / n * (wall[1] * j - wall[0] * y) - inside * (wall[1] * dj - wall[0] * dy)

    return newton(mismatch, 7.9e9 + 4e7j, tol=1.0)


def resonance(cells: int, exact: complex, averaging: str = "diagonal") -> complex:
    """The same found with so many cells in the sphere's radius; a quarter is stepped."""
    cell = RADIUS / cells
    half = math.ceil(CAVITY / cell + 0.5) + 2
    edge, centre = half * cell, (0.0, 0.0, OFF * cell)
    result = nf.Simulation(
        grid=nf.Grid.uniform(cell, [2 * half] * 3, [-edge] * 3),
        structures=[
            nf.Structure(nf.Box([-edge] * 3, [edge] * 3), nf.PEC),
            nf.Structure(nf.Sphere(centre, CAVITY), nf.Medium()),
            nf.Structure(nf.Sphere(centre, RADIUS), LOADING),
        ],
        boundaries=nf.Boundaries(nf.PEC),
        symmetry=nf.Symmetry(x="magnetic", y="magnetic"),
        sources=[nf.PointCurrent((0, 0, 0), "z", nf.ModulatedGaussian(exact.real, 0.5 * exact.real))],
        monitors=[nf.Probe("inside", (0, 0, round(0.5 * cells) * cell), "Ez")],
        duration=3e-9,
        precision="double",
        metal="conformal",
        courant=0.7,
        averaging=averaging,
    ).run()
    modes = nf.resonances(result, (0.9 * exact.real, 1.1 * exact.real), probe="inside")
    strongest = np.argmax(np.abs(modes.amplitude.values))
    frequency, quality = float(modes.frequency.values[strongest]), float(modes.quality_factor.values[strongest])
    return frequency * (1.0 + 0.5j / quality)


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def main() -> None:
    case = Case(__file__, "Spheres of media with poles")
    kinds = ("Qext", "Qsca", "Qabs")
    found = {
        (name, averaging): np.array([errors(name, cells, averaging) for cells in CELLS])
        for name in SPHERES
        for averaging in ("diagonal", "volume")
    }
    limits = {WET: (0.03,) * 3, RESONANT: (0.03,) * 3, WATER: (0.05, 0.07, 0.05), PLASMA: (0.1, 0.15, 0.5)}
    for name, allowed in limits.items():
        size = [rms(found[name, "diagonal"][:, kind]) for kind in range(3)]
        for kind, limit, value in zip(kinds, allowed, size):
            case.at_most(f"{name}: {kind}, 7 to 13 cells in the radius, rms error", limit, value)
    exact = expected()
    loaded = {(a, cells): resonance(cells, exact, a) for a in ("diagonal", "volume") for cells in (7, 10, 14)}
    case.compare(
        "TM101 of a loaded cavity, 14 cells in the radius",
        exact.real / 1e9,
        loaded["diagonal", 14].real / 1e9,
        0.005,
        unit="GHz",
    )
    quality = {key: value.real / (2.0 * value.imag) for key, value in loaded.items()}
    case.compare("Q", exact.real / (2.0 * exact.imag), quality["diagonal", 14], 0.03)
    with picture(case, columns=2, facts="lines: diagonal, dots: volume; thick: 12 to 13 cells in the radius") as axes:
        for place, kind in zip(axes, (0, 2)):
            for name, colour in zip((WET, RESONANT, WATER), ("#1F6F8B", "#C8553D", "#5B8C5A")):
                for averaging, style in (("diagonal", "-"), ("volume", ":")):
                    for rows, width in ((slice(0, 4), 0.8), (slice(4, None), 2.0)):
                        error = 100 * np.sqrt((found[name, averaging][rows, kind] ** 2).mean(axis=0))
                        label = name if width > 1 and style == "-" else None
                        place.semilogy(SPHERES[name][2] / 1e9, error, style, color=colour, linewidth=width, label=label)
            place.set(xlabel="GHz", ylabel=f"rms error of {kinds[kind]} (%)")
            place.yaxis.set_major_formatter("{x:g}")
            place.legend(fontsize=7)
    for (name, averaging), values in found.items():
        rows = {
            label: [f"{100 * rms(values[part, kind]):.2f}" for kind in range(3)]
            for label, part in (("7 to 8", slice(0, 4)), ("12 to 13", slice(4, None)))
        }
        print(name, averaging, "errors of Qext, Qsca, Qabs (%)", rows)
    for (averaging, cells), value in loaded.items():
        print(
            averaging,
            cells,
            f"{100 * (value.real / exact.real - 1):.3f} % of TM101,",
            f"{100 * (quality[averaging, cells] / (exact.real / (2 * exact.imag)) - 1):.2f} % of Q",
        )
    case.finish()


if __name__ == "__main__":
    main()
