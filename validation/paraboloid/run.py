"""A paraboloid of twelve wavelengths and a feed of cosine squared: directivity and pattern by physical optics.

.venv/bin/python -m validation.paraboloid.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from nearfield.analysis.farfield import intensity
from validation.case import Case
from validation.physical_optics import ETA, C, HuygensArray, Paraboloid, beamwidth
from validation.picture import picture

FREQUENCY = 12e9  # Hz
WAVELENGTH = C / FREQUENCY
DIAMETER, FOCAL_LENGTH = 0.3, 0.12  # m
THICKNESS = 5e-3  # m, of the metal
PITCH = 0.35 * WAVELENGTH  # of the feed's elements
CELLS = 15  # a wavelength
SPACE, LAYER = 10, 10  # cells between metal and layer, cells of the layer
THETA = np.radians(np.arange(0.0, 180.5, 0.5))
CUTS = np.radians([0.0, 90.0])


def feed(pitch: float = PITCH) -> HuygensArray:
    """Three elements at the focus, nearest to a field of cos(angle from -z) before them and none behind.

    Each radiates (1 + u)/2 with u the cosine of that angle; their moments are those of least squares over the sphere.
    """
    u, weight = np.polynomial.legendre.leggauss(200)
    z = pitch * np.array([-1, 0, 1])
    elements = 0.5 * (1 + u[:, None]) * np.exp(-2j * math.pi / WAVELENGTH * np.outer(u, z))
    root = np.sqrt(weight)
    moments = np.linalg.lstsq(elements * root[:, None], np.maximum(u, 0) * root, rcond=None)[0]
    return HuygensArray(z, moments, FREQUENCY)


def row(diameter: float = DIAMETER, focal_length: float = FOCAL_LENGTH) -> float:
    """Aperture theory for 6 cos^2 (dBi): 24 (sin^2(a/2) + ln cos(a/2))^2 cot^2(a/2) of (pi D/lambda)^2 (Balanis)."""
    half = math.atan(diameter / (4 * focal_length))
    share = 24 * ((math.sin(half) ** 2 + math.log(math.cos(half))) / math.tan(half)) ** 2
    return 10 * math.log10(share * (math.pi * diameter / WAVELENGTH) ** 2)


def dish(segments: int = 96) -> nf.Revolved:
    """The mirror, its back moved along the axis."""
    r = np.linspace(0, DIAMETER / 2, segments + 1)
    face = [(float(q), float(q**2 / (4 * FOCAL_LENGTH) - FOCAL_LENGTH)) for q in r]
    return nf.Revolved("z", face + [(q, z - THICKNESS) for q, z in face[::-1]])


def currents(array: HuygensArray) -> list:
    """The feed: pairs of an electric and a magnetic dipole, late by the angles of their moments."""
    pulse = nf.ModulatedGaussian(FREQUENCY, 6e9)
    found = []
    for z, moment in zip(array.z, array.moments):
        late = pulse.centre - np.angle(moment) / (2 * math.pi * FREQUENCY)
        signal = pulse.model_copy(update={"delay": float(late), "amplitude": float(abs(moment))})
        at = 0, 0, float(z)
        found += [nf.PointCurrent(at, "x", signal), nf.MagneticPointCurrent(at, "y", signal, moment=-ETA)]
    return found


def model(cells: int = CELLS, mirror: bool = True) -> nf.Simulation:
    """Dish and feed, a quarter of them; or the feed alone in the same box."""
    cell = WAVELENGTH / cells
    across = math.ceil(DIAMETER / 2 / cell) + SPACE + LAYER
    below = math.ceil((FOCAL_LENGTH + THICKNESS) / cell) + SPACE + LAYER
    above = math.ceil(PITCH / cell) + SPACE + LAYER
    return nf.Simulation(
        grid=nf.Grid.uniform(cell, (2 * across, 2 * across, below + above), (-across * cell,) * 2 + (-below * cell,)),
        structures=[nf.Structure(dish(), nf.PEC, "dish")] if mirror else [],
        sources=currents(feed()),
        monitors=[nf.FarField("far", [FREQUENCY], theta=THETA, phi=np.concatenate((CUTS, CUTS + math.pi)))],
        symmetry=nf.Symmetry(x="electric", y="magnetic"),
        metal="conformal",
        decay=1e-6,
    )


def physical_optics() -> np.ndarray:
    """Directivity (theta, cut) of the mirror's currents and the feed's, over the feed's power."""
    array, mirror = feed(), Paraboloid(DIAMETER, FOCAL_LENGTH)
    theta, phi = (angle.ravel() for angle in np.meshgrid(THETA, CUTS, indexing="ij"))
    both = zip(mirror.far_fields(array.magnetic_field, FREQUENCY, theta, phi), array.far_fields(theta, phi))
    found = 4 * math.pi * intensity(*(sum(pair) for pair in both), ETA) / array.power()
    return found.reshape(THETA.size, CUTS.size)


def found(simulation: nf.Simulation) -> tuple[np.ndarray, nf.Result]:
    """Directivity (theta, cut), and the result."""
    result = simulation.run(threads=2)
    return result["far"].directivity.values[0][:, : CUTS.size], result


def main() -> None:
    case = Case(__file__, "Paraboloid, 12 wavelengths, f/D 0.4, feed of cosine squared")
    pattern, result = found(model())
    alone, _ = found(model(mirror=False))
    theory, array = physical_optics(), feed()
    back = intensity(*array.far_fields(np.array([math.pi]), np.zeros(1)), ETA)[0]
    case.compare("feed alone: directivity towards the mirror", 4 * math.pi * back / array.power(), alone[-1, 0], 0.01)
    case.compare("directivity, cosine squared", row(), decibels(pattern[0, 0]), 0.4, absolute=True, unit="dBi")
    case.compare(
        "directivity, this feed", decibels(theory[0, 0]), decibels(pattern[0, 0]), 0.15, absolute=True, unit="dBi"
    )
    for column, name in enumerate(("E-plane", "H-plane")):
        expected, width = (beamwidth(THETA, each[:, column]) for each in (theory, pattern))
        case.compare(f"beamwidth, {name}", expected, width, 0.01, unit="deg")
    error = np.abs(np.sqrt(pattern) - np.sqrt(theory)).max() / np.sqrt(theory[0, 0])
    case.at_most("largest difference of the fields in both planes, over the beam's", 0.03, float(error))
    power = result["far"]
    case.compare(
        "power through the surface over that in all directions",
        1.0,
        float(power.surface_power[0] / power.radiated_power[0]),
        1e-3,
    )
    with picture(case, columns=2, facts="thin: physical optics") as axes:
        for column, name in enumerate(("E-plane", "H-plane")):
            axes[column].plot(np.degrees(THETA), decibels(pattern[:, column]), label=f"{name}, found")
            axes[column].plot(np.degrees(THETA), decibels(theory[:, column]), "k", linewidth=0.7)
            axes[column].set(xlabel="angle from the axis (degrees)", ylabel="directivity (dBi)", ylim=(-30, 33))
            axes[column].legend()
    case.finish()


def decibels(power: np.ndarray | float) -> np.ndarray | float:
    return 10 * np.log10(power)


if __name__ == "__main__":
    main()
