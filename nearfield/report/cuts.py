"""Peak, polarisation, E- and H-plane cuts and beamwidths of a far field."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.analysis.network import power_decibels


@dataclass(frozen=True)
class Pattern:
    """Directivity at one frequency over theta (rows) and phi (columns), and where and how it peaks."""

    frequency: float
    theta: np.ndarray
    phi: np.ndarray
    dbi: np.ndarray
    peak: tuple[int, int]
    major: np.ndarray  # major axis of the polarisation ellipse at the peak, Cartesian
    axial_ratio: float

    @property
    def maximum(self) -> float:
        return float(self.dbi[self.peak])

    @property
    def direction(self) -> tuple[float, float]:
        """Theta and phi of the peak (rad)."""
        return float(self.theta[self.peak[0]]), float(self.phi[self.peak[1]])


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
        level = np.where(np.isfinite(self.dbi), self.dbi, -400.0)
        top = int(np.argmax(level))
        sides = []
        for step in (-1, 1):
            at = top
            while 0 <= at + step < level.size and level[at] > level[top] - 3.0103:
                at += step
            if level[at] > level[top] - 3.0103:
                return None
            inner, outer = level[at - step], level[at]
            part = (inner - level[top] + 3.0103) / (inner - outer)
            sides.append(self.angle[at - step] + part * (self.angle[at] - self.angle[at - step]))
        return abs(float(sides[1] - sides[0]))


def patterns(far_field: Any) -> list[Pattern]:
    """The pattern at each frequency that radiates; frequencies without radiation are left out."""
    directivity = far_field.directivity
    theta, phi, frequencies = (np.asarray(directivity[name].values, float) for name in ("theta", "phi", "frequency"))
    fields = far_field.e_theta.values, far_field.e_phi.values
    phi, samples = closed(phi, np.asarray(directivity.values, float))
    found = []
    for number, (frequency, values) in enumerate(zip(frequencies, samples)):
        if not (np.isfinite(values) & (values > 0)).any():
            continue
        dbi = np.where(values > 0, power_decibels(np.maximum(values, 1e-30)), -300.0)
        dbi = np.where(np.isfinite(values), dbi, np.nan)
        near = dbi >= np.nanmax(dbi) - 0.02  # of equal maxima (a dipole's ring) the first phi, then the first theta
        column = int(np.flatnonzero(near.any(axis=0))[0])
        row = int(np.nanargmax(dbi[:, column]))
        e_theta, e_phi = (complex(field[number, row, column]) for field in fields)
        major, ratio = polarisation(theta[row], phi[column], e_theta, e_phi)
        found.append(Pattern(float(frequency), theta, phi, dbi, (row, column), major, ratio))
    return found


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
    return [cut for cut in found if cut is not None and cut.angle.size > 1]


def _column(pattern: Pattern, phi: float) -> int | None:
    """The column of this phi, or None where none lies within 5 degrees."""
    apart = np.abs(np.angle(np.exp(1j * (pattern.phi - phi))))
    nearest = int(np.argmin(apart))
    return nearest if apart[nearest] < math.radians(5) else None


def meridian(pattern: Pattern, phi: float, name: str) -> Cut | None:
    """The great circle (or its half, where the other is not recorded) through the poles at phi and phi + 180."""
    phi = phi % math.pi
    near, far = _column(pattern, phi), _column(pattern, phi + math.pi)
    angle, level = [], []
    order = np.argsort(pattern.theta)
    theta, dbi = pattern.theta[order], pattern.dbi[order]
    if far is not None:
        keep = theta > 1e-9 if near is not None else slice(None)
        angle.append(-theta[keep][::-1])
        level.append(dbi[keep, far][::-1])
    if near is not None:
        angle.append(theta)
        level.append(dbi[:, near])
    if not angle:
        return None
    shown = round(math.degrees(pattern.phi[near] if near is not None else pattern.phi[far] - math.pi)) % 180
    return Cut(label_of(name, f"φ = {shown}°"), "meridian", np.concatenate(angle), np.concatenate(level))


def azimuth(pattern: Pattern, theta: float, name: str) -> Cut:
    """The cut of constant theta."""
    row = int(np.argmin(np.abs(pattern.theta - theta)))
    return Cut(label_of(name, f"θ = {math.degrees(pattern.theta[row]):.0f}°"), "azimuth", pattern.phi, pattern.dbi[row])


def label_of(name: str, label: str) -> str:
    """`E-plane, φ = 0°`; the label alone without a name."""
    return f"{name}, {label}" if name else label
