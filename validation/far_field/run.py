"""Far fields against closed form: electric and magnetic dipole, turnstile, dipoles over a ground.

.venv/bin/python -m validation.far_field.run
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import nearfield as nf
from nearfield.analysis.pattern import FarFieldResult
from validation.case import Case
from validation.picture import picture

C = 299792458.0
ETA = 376.730313412  # ohm
FREQUENCY = 1e9  # Hz
WAVELENGTH = C / FREQUENCY
CELL = WAVELENGTH / 24
WAVE_NUMBER = 2 * math.pi / WAVELENGTH
PULSE = nf.GaussianDerivative(FREQUENCY)
THETA = np.radians(np.arange(0, 91, 2.0))


def far_field(sources: list, ground: str | None = None, interior: int = 16, normalised: bool = True) -> FarFieldResult:
    """The far field of sources amid a cube of CPML, or over a ground at z = 0, if wanted per unit of the source."""
    half = (interior + 10) * CELL
    cells, bottom = [2 * (interior + 10)] * 3, -half
    boundaries = nf.Boundaries()
    if ground:
        cells[2], bottom = interior + 26, 0.0
        boundaries = nf.Boundaries(z_low=ground)
    theta = THETA if ground else np.concatenate((THETA, np.pi - THETA[-2::-1]))
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(CELL, cells, (-half, -half, bottom)),
        boundaries=boundaries,
        sources=sources,
        monitors=[nf.FarField("far", [FREQUENCY], theta=theta, phi=np.radians(np.arange(0, 360, 15.0)))],
    )
    result = simulation.run(threads=2)
    return (result.per_source() if normalised else result)["far"]


def largest(found: Any, expected: np.ndarray) -> float:
    """Largest difference over the largest expected value."""
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())


def dipoles(case: Case) -> None:
    """An electric and a magnetic dipole off the origin: complex fields, cross polarisation, directivity."""
    place = (2 * CELL, -3 * CELL, 1.5 * CELL)
    for name, source, factor in (
        ("electric dipole", nf.PointCurrent(place, "z", PULSE), 1j * WAVE_NUMBER * ETA / (4 * math.pi)),
        ("magnetic dipole", nf.MagneticPointCurrent(place, "z", PULSE), -1j * WAVE_NUMBER / (4 * math.pi)),
    ):
        far = far_field([source])
        theta, phi = far.theta[:, None], far.phi[None, :]
        direction = (np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta))
        phase = np.exp(1j * WAVE_NUMBER * sum(r * p for r, p in zip(direction, place)))
        expected = factor * np.sin(theta) * phase
        co, cross = (far.e_theta, far.e_phi) if name.startswith("electric") else (far.e_phi, far.e_theta)
        case.at_most(f"{name}: largest error of the complex field", 0.004, largest(co.values[0], expected))
        case.at_most(f"{name}: cross polarisation", 1e-4, float(np.abs(cross.values).max() / np.abs(expected).max()))
        case.compare(f"{name}: directivity", 1.5, float(far.directivity.max()), 1e-3)


def turnstile(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Crossed dipoles, y a quarter period late: axial ratio 1/cos(theta), right-handed upward.

    Gives theta and the inverse of the ratio.
    """
    late = PULSE.model_copy(update={"delay": PULSE.centre + 0.25 / FREQUENCY})
    origin = (0, 0, 0)
    far = far_field([nf.PointCurrent(origin, "x", PULSE), nf.PointCurrent(origin, "y", late)], normalised=False)
    inverse = 1 / far.axial_ratio.values[0]
    expected = np.abs(np.cos(far.theta))[:, None] + 0 * far.phi
    case.at_most("turnstile: axial ratio on the axis", 1.001, float(1 / inverse[0].min()))
    case.at_most("turnstile: largest error of 1/(axial ratio)", 1e-3, float(np.abs(inverse - expected).max()))
    left = np.abs(far.e_left.values[0, 0] / far.e_right.values[0, 0]).max()
    case.at_most("turnstile: left-handed part upward", 1e-4, float(left))
    return far.theta, inverse[:, 0]


Cut = tuple[np.ndarray, np.ndarray, np.ndarray]


def over_ground(case: Case, name: str, axis: str, ground: str, height: float) -> Cut:
    """A dipole over a wall: directivity from the sum with its image. Gives theta, found and expected in a cut."""
    far = far_field([nf.PointCurrent((0, 0, height), axis, PULSE)], ground)
    theta, phi = far.theta[:, None], far.phi[None, :]
    opposite = (axis == "z") == (ground == nf.PMC)  # the image's current against the dipole's
    array = (np.sin if opposite else np.cos)(WAVE_NUMBER * height * np.cos(theta))

    def intensity(theta: np.ndarray, phi: np.ndarray, array: np.ndarray) -> np.ndarray:
        element = np.sin(theta) ** 2 if axis == "z" else 1 - (np.sin(theta) * np.cos(phi)) ** 2
        return element * array**2

    fine, weight = np.polynomial.legendre.leggauss(64)
    cosine = 0.5 * (fine + 1)[:, None]
    turn = np.linspace(0, 2 * math.pi, 64, endpoint=False)[None, :]
    sphere = intensity(np.arccos(cosine), turn, (np.sin if opposite else np.cos)(WAVE_NUMBER * height * cosine))
    power = 2 * math.pi * float(0.5 * weight @ sphere.mean(axis=1))
    expected = 4 * math.pi * intensity(theta, phi, array) / power + 0 * phi
    case.at_most(f"{name}: largest error of the directivity", 1.5e-3, largest(far.directivity.values[0], expected))
    return far.theta, far.directivity.values[0, :, 6], expected[:, 6]


def main() -> None:
    case = Case(__file__, "Far field against closed form")
    dipoles(case)
    theta, inverse = turnstile(case)
    quarter = round(0.25 * WAVELENGTH / CELL) * CELL
    cuts = {}
    for name, axis, ground, height in (
        ("z dipole over PEC", "z", nf.PEC, quarter + 0.5 * CELL),
        ("x dipole over PEC", "x", nf.PEC, quarter),
        ("x dipole over PMC", "x", nf.PMC, quarter),
    ):
        cuts[name] = over_ground(case, name, axis, ground, height)
    with picture(case, columns=2, facts="24 cells per wavelength; dots: closed form") as axes:
        for name, (angle, found, expected) in cuts.items():
            axes[0].plot(np.degrees(angle), found, label=name)
            axes[0].plot(np.degrees(angle[::5]), expected[::5], "o", markersize=3, color="#1F2933")
        axes[0].set(xlabel="theta (degrees), phi = 90 degrees", ylabel="directivity")
        axes[0].legend()
        axes[1].plot(np.degrees(theta), inverse, label="turnstile")
        axes[1].plot(np.degrees(theta[::5]), np.abs(np.cos(theta[::5])), "o", markersize=3, color="#1F2933")
        axes[1].set(xlabel="theta (degrees)", ylabel="1 / axial ratio")
        axes[1].legend()
    case.finish()


if __name__ == "__main__":
    main()
