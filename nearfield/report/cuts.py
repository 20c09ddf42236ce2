"""What an antenna engineer reads off a far field: peak, polarisation, E- and H-plane cuts, beamwidths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np


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
    directivity = np.asarray(far_field.directivity.values, dtype=float)
    theta, phi = (np.asarray(far_field.directivity[name].values, dtype=float) for name in ("theta", "phi"))
    frequencies = np.asarray(far_field.directivity.frequency.values, dtype=float)
    fields = far_field.e_theta.values, far_field.e_phi.values
    phi, directivity = closed(phi, directivity)
    found = []
    for number, frequency in enumerate(frequencies):
        values = directivity[number]
        if not (np.isfinite(values) & (values > 0)).any():
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            dbi = np.where(values > 0, 10 * np.log10(np.maximum(values, 1e-30)), -300.0)
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
    along_theta = np.array([math.cos(theta) * math.cos(phi), math.cos(theta) * math.sin(phi), -math.sin(theta)])
    along_phi = np.array([-math.sin(phi), math.cos(phi), 0.0])
    minor = float(np.linalg.norm(turned.imag))
    ratio = float(np.linalg.norm(turned.real)) / minor if minor > 0 else math.inf
    return turned.real[0] * along_theta + turned.real[1] * along_phi, ratio


def cuts(pattern: Pattern) -> list[Cut]:
    """Two cuts through (or near) the peak: E- and H-plane where the polarisation is clear, else principal planes."""
    theta, phi = pattern.direction
    linear = pattern.axial_ratio > 2.0
    if abs(theta - math.pi / 2) < math.radians(30) and pattern.phi.size > 2 and pattern.theta.max() > math.pi / 2:
        vertical = abs(pattern.major[2]) ** 2 > 0.5 * float(np.sum(pattern.major**2))
        names = ("E-plane", "H-plane") if vertical else ("H-plane", "E-plane")
        found = [
            meridian(pattern, phi, names[0] if linear else ""),
            azimuth(pattern, math.pi / 2, names[1] if linear else ""),
        ]
    elif math.sin(theta) > math.sin(math.radians(20)):
        upright = np.array([math.cos(theta) * math.cos(phi), math.cos(theta) * math.sin(phi), -math.sin(theta)])
        along = float(upright @ pattern.major) ** 2 > 0.5 * float(np.sum(pattern.major**2))
        found = [
            meridian(pattern, phi, ("E-plane" if along else "H-plane") if linear else ""),
            meridian(pattern, phi + math.pi / 2, ""),
        ]
    else:
        plane = math.atan2(pattern.major[1], pattern.major[0]) if linear else 0.0
        if abs(plane - round(plane / (math.pi / 2)) * math.pi / 2) < math.radians(20):
            plane = round(plane / (math.pi / 2)) * math.pi / 2
        found = [
            meridian(pattern, plane, "E-plane" if linear else ""),
            meridian(pattern, plane + math.pi / 2, "H-plane" if linear else ""),
        ]
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
    label = f"φ = {shown}°"
    return Cut(f"{name}, {label}" if name else label, "meridian", np.concatenate(angle), np.concatenate(level))


def azimuth(pattern: Pattern, theta: float, name: str) -> Cut | None:
    """The cut of constant theta."""
    row = int(np.argmin(np.abs(pattern.theta - theta)))
    label = f"θ = {math.degrees(pattern.theta[row]):.0f}°"
    return Cut(f"{name}, {label}" if name else label, "azimuth", pattern.phi, pattern.dbi[row])
