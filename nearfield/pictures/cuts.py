"""Peak, polarisation, E- and H-plane cuts and beamwidths of a far field."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.entry.levels import HALF_POWER, power_decibels, width_of_beam

FINEST, COARSEST = math.radians(0.1), math.radians(1.0)  # between samples of a cut
PER_LOBE = 20  # samples of a cut in the narrowest lobe
AROUND = np.linspace(-1.0, 1.0, 11)  # recorded steps, where the peak is looked for about the largest sample
GAIN = 0.005  # dB by which a place between the samples must exceed them to count as the peak


@dataclass(frozen=True)
class Pattern:
    """Directivity at one frequency over recorded theta (rows) and phi (columns), and where and how it peaks."""

    frequency: float
    theta: np.ndarray
    phi: np.ndarray
    dbi: np.ndarray
    maximum: float  # dBi
    direction: tuple[float, float]  # theta and phi of the peak (rad)
    major: np.ndarray  # major axis of the polarisation ellipse at the peak, Cartesian
    axial_ratio: float
    level: Callable[[np.ndarray, np.ndarray], np.ndarray]  # dBi at paired angles (rad), exact; NaN behind walls
    step: float  # rad between samples of a cut


@dataclass(frozen=True)
class Cut:
    """Directivity (dBi) over an angle (rad): theta of a meridian, negative on its far half, or phi of a cone."""

    name: str
    kind: str  # "meridian" | "azimuth"
    angle: np.ndarray
    dbi: np.ndarray

    @property
    def beamwidth(self) -> float | None:
        """Width (rad) between the half-power points either side of the cut's peak; None where a side has none."""
        step = float(np.diff(self.angle).min())
        circle = np.full(round(2 * math.pi / step), np.nan)
        circle[np.rint((self.angle - self.angle[0]) / step).astype(int) % circle.size] = self.dbi
        width = step * width_of_beam(circle, HALF_POWER)
        return None if math.isnan(width) else width


def patterns(far_field: Any) -> list[Pattern]:
    """The pattern at each frequency that radiates; frequencies without radiation are left out."""
    directivity = far_field.directivity
    theta, phi = (np.asarray(directivity[name].values, float) for name in ("theta", "phi"))
    samples = np.asarray(directivity.values, float)
    return [
        pattern_of(far_field, number, theta, phi, values)
        for number, values in enumerate(samples)
        if (np.isfinite(values) & (values > 0)).any()
    ]


def pattern_of(far_field: Any, number: int, theta: np.ndarray, phi: np.ndarray, values: np.ndarray) -> Pattern:
    """The pattern of one frequency, its peak looked for between the samples too."""

    def level(theta: np.ndarray, phi: np.ndarray) -> np.ndarray:
        return dbi_of(far_field.directivity_towards(theta, phi, number))

    step = float(np.clip(far_field.lobe_width(number) / PER_LOBE, FINEST, COARSEST))
    dbi = dbi_of(values)
    near = dbi >= np.nanmax(dbi) - 0.02  # of equal maxima (a dipole's ring) the first phi, then the first theta
    column = int(np.flatnonzero(near.any(axis=0))[0])
    row = int(np.nanargmax(dbi[:, column]))
    direction, top = peak_about(level, theta, phi, (row, column), float(dbi[row, column]))
    e_theta, e_phi = (complex(field[number, 0]) for field in far_field.towards(*np.transpose([direction]), number))
    major, ratio = polarisation(*direction, e_theta, e_phi)
    phi, dbi = closed(phi, dbi)
    return Pattern(float(far_field.frequencies[number]), theta, phi, dbi, top, direction, major, ratio, level, step)


def dbi_of(values: np.ndarray) -> np.ndarray:
    """Directivities in dBi, none as -300, what is not finite as NaN."""
    with np.errstate(invalid="ignore"):
        dbi = np.where(values > 0, power_decibels(np.maximum(values, 1e-30)), -300.0)
    return np.where(np.isfinite(values), dbi, np.nan)


def peak_about(
    level: Callable[[np.ndarray, np.ndarray], np.ndarray],
    theta: np.ndarray,
    phi: np.ndarray,
    at: tuple[int, int],
    recorded: float,
) -> tuple[tuple[float, float], float]:
    """Direction (rad) and level (dBi) of the peak within one recorded step of a sample, to 0.04 of a step.

    Samples all round have it within a turn from their first phi on.
    """
    found = (float(theta[at[0]]), float(phi[at[1]])), recorded
    steps = [float(np.abs(np.diff(angles)).min()) if angles.size > 1 else 0.0 for angles in (theta, phi)]
    for part in (1.0, 0.2):
        sides = (place + part * step * AROUND for place, step in zip(found[0], steps))
        across, along = (side.ravel() for side in np.meshgrid(*sides, indexing="ij"))
        across = np.clip(across, 0.0, math.pi)
        levels = level(across, along)
        best = int(np.argmax(np.nan_to_num(levels, nan=-400.0)))
        if levels[best] > found[1] + GAIN:
            found = (float(across[best]), float(along[best])), float(levels[best])
    (across_peak, along_peak), top = found
    if np.ptp(phi) + 1.5 * steps[1] > 2 * math.pi:
        along_peak = float(phi[0]) + (along_peak - float(phi[0])) % (2 * math.pi)
    return (across_peak, along_peak), top


def closed(phi: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first phi once more behind the last, where the samples go all round."""
    step = phi[-1] - phi[-2] if phi.size > 2 else 0.0
    gap = phi[0] + 2 * math.pi - phi[-1] if phi.size else 0.0
    if not 1e-6 < gap <= 1.5 * step:
        return phi, values
    return np.append(phi, phi[0] + 2 * math.pi), np.concatenate((values, values[..., :1]), axis=-1)


def polarisation(theta: float, phi: float, e_theta: complex, e_phi: complex) -> tuple[np.ndarray, float]:
    """Major axis (Cartesian) and axial ratio (1 circular, infinite linear) of the polarisation ellipse."""
    field = np.array([e_theta, e_phi])
    turned = field * np.exp(-0.5j * np.angle(np.sum(field**2)))
    along_phi = np.array([-math.sin(phi), math.cos(phi), 0.0])
    minor = float(np.linalg.norm(turned.imag))
    ratio = float(np.linalg.norm(turned.real)) / minor if minor > 0 else math.inf
    return turned.real[0] * along_theta(theta, phi) + turned.real[1] * along_phi, ratio


def along_theta(theta: float, phi: float) -> np.ndarray:
    """Unit vector (Cartesian) of growing theta."""
    return np.array([math.cos(theta) * math.cos(phi), math.cos(theta) * math.sin(phi), -math.sin(theta)])


def cuts(pattern: Pattern) -> list[Cut]:
    """Two cuts through (or near) the peak: E- and H-plane where the polarisation is clear, else principal planes."""
    theta, phi = pattern.direction
    electric, magnetic = ("E-plane", "H-plane") if pattern.axial_ratio > 2.0 else ("", "")
    half_power, right_angle = 0.5 * float(np.sum(pattern.major**2)), math.pi / 2
    if abs(theta - right_angle) < math.radians(30) and pattern.phi.size > 2 and pattern.theta.max() > right_angle:
        vertical = abs(pattern.major[2]) ** 2 > half_power
        names = (electric, magnetic) if vertical else (magnetic, electric)
        found = [meridian(pattern, phi, names[0]), azimuth(pattern, right_angle, names[1])]
    elif math.sin(theta) > math.sin(math.radians(20)):
        along = float(along_theta(theta, phi) @ pattern.major) ** 2 > half_power
        found = [meridian(pattern, phi, electric if along else magnetic), meridian(pattern, phi + right_angle, "")]
    else:
        plane = math.atan2(pattern.major[1], pattern.major[0]) if electric else 0.0
        if abs(plane - round(plane / right_angle) * right_angle) < math.radians(20):
            plane = round(plane / right_angle) * right_angle
        found = [meridian(pattern, plane, electric), meridian(pattern, plane + right_angle, magnetic)]
    return [cut for cut in found if cut.angle.size > 1]


def meridian(pattern: Pattern, phi: float, name: str) -> Cut:
    """The great circle through the poles at phi and phi + 180 degrees, or the part of it before the walls."""
    phi = phi % math.pi
    angle = np.linspace(-math.pi, math.pi, 1 + math.ceil(2 * math.pi / pattern.step))
    dbi = pattern.level(np.abs(angle), np.where(angle < 0, phi + math.pi, phi))
    there = np.isfinite(dbi)
    shown = round(math.degrees(phi), 1) % 180
    return Cut(label_of(name, f"φ = {shown:g}°"), "meridian", angle[there], dbi[there])


def azimuth(pattern: Pattern, theta: float, name: str) -> Cut:
    """The cut of constant theta, NaN behind walls."""
    angle = np.linspace(0.0, 2 * math.pi, 1 + math.ceil(2 * math.pi / pattern.step))
    level = pattern.level(np.full(angle.size, theta), angle)
    return Cut(label_of(name, f"θ = {math.degrees(theta):.0f}°"), "azimuth", angle, level)


def label_of(name: str, label: str) -> str:
    """`E-plane, φ = 0°`; the label alone without a name."""
    return f"{name}, {label}" if name else label
