"""Closed-form fields of point dipoles, and what monitors would record of them on a Yee grid."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import nearfield as nf
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED
from nearfield.grid.yee import YeeGrid
from nearfield.lowering.context import Context
from nearfield.plan.recorders import DFTBox, Recording


@dataclass(frozen=True)
class Medium:
    """Stands for the coefficients of a lossless uniform medium."""

    permittivity: float = 1.0

    cuts_edges = False  # no conformal metal

    def open_fraction(self, component, i, j, k):
        return 1.0

    def at(self, component, i, j, k):
        ones = np.ones(np.shape(i))
        return ones, ones / (self.permittivity if component < 3 else 1.0)

    media_at = at

    def is_metal(self, component, i, j, k):
        return np.zeros(np.shape(i), bool)

    def fillings(self):
        return [("the background", nf.Medium(self.permittivity), None)]


@dataclass(frozen=True)
class Dipole:
    """A point current of moment `moment` (A m, or V m if magnetic) in a uniform medium."""

    position: np.ndarray
    moment: np.ndarray
    magnetic: bool = False
    permittivity: float = 1.0

    @property
    def impedance(self) -> float:
        return VACUUM_IMPEDANCE / self.permittivity**0.5

    def wavenumber(self, frequency: float) -> float:
        return 2 * np.pi * frequency * self.permittivity**0.5 / VACUUM_SPEED

    def fields(self, points: np.ndarray, frequency: float) -> tuple[np.ndarray, np.ndarray]:
        """E and H at points (..., 3), Balanis section 4.2 in vector form."""
        k, eta = self.wavenumber(frequency), self.impedance
        away = points - self.position
        distance = np.linalg.norm(away, axis=-1)[..., None]
        u = away / distance
        g = np.exp(-1j * k * distance) / (4 * np.pi * distance)
        near = 1 / (1j * k * distance)
        along = np.sum(u * self.moment, axis=-1, keepdims=True)
        e = -1j * k * eta * g * (self.moment - u * along + (self.moment - 3 * u * along) * (near + near**2))
        h = 1j * k * g * (1 + near) * np.cross(self.moment, u)
        return (-h, e / eta**2) if self.magnetic else (e, h)

    def far(self, theta: np.ndarray, phi: np.ndarray, frequency: float) -> tuple[np.ndarray, np.ndarray]:
        """E_theta and E_phi times r exp(j k r)."""
        radial = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], -1)
        along_theta = np.stack([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), -np.sin(theta)], -1)
        along_phi = np.stack([-np.sin(phi), np.cos(phi), 0 * phi], -1)
        k = self.wavenumber(frequency)
        common = -1j * k / (4 * np.pi) * np.exp(1j * k * radial @ self.position)
        if self.magnetic:
            return common * (along_phi @ self.moment), -common * (along_theta @ self.moment)
        common = common * self.impedance
        return common * (along_theta @ self.moment), common * (along_phi @ self.moment)

    def power(self, frequency: float) -> float:
        """Radiated power, eta k^2 p^2/(12 pi)."""
        scale = 1 / self.impedance if self.magnetic else self.impedance
        return scale * self.wavenumber(frequency) ** 2 * np.sum(np.abs(self.moment) ** 2) / (12 * np.pi)

    def image(self, axis: int, position: float, kind: str) -> Dipole:
        """The mirror dipole behind a PEC or PMC wall."""
        mirror = np.where(np.arange(3) == axis, -1.0, 1.0)
        sign = 1.0 if (kind == "pec") == self.magnetic else -1.0
        place = self.position * mirror + np.where(np.arange(3) == axis, 2 * position, 0.0)
        return Dipole(place, sign * mirror * self.moment, self.magnetic, self.permittivity)


@dataclass(frozen=True)
class Space:
    """A grid with boundaries, in which monitors are lowered and closed-form fields are recorded."""

    grid: YeeGrid
    boundaries: nf.Boundaries = field(default_factory=lambda: nf.Boundaries(all=nf.CPML(4)))
    permittivity: float = 1.0
    time_step: float = 1e-15  # so short that fields half a step apart are equal

    @property
    def context(self) -> Context:
        return Context(
            self.grid,
            time_step=self.time_step,
            coefficients=Medium(self.permittivity),
            boundaries=self.boundaries,
            maximum_frequency=1e9,
            precision="double",
            steps=100,
        )

    def spectrum(self, term: DFTBox, dipoles: list[Dipole]) -> Recording:
        """The sum of the dipoles' fields on the samples of one term."""
        axes = [a[lo:hi] for a, lo, hi in zip(self.grid.component_axes(term.component), term.lower, term.upper)]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        values = [
            sum(dipole.fields(points, f)[term.component // 3][..., term.component % 3] for dipole in dipoles)
            for f in term.frequencies
        ]
        return Recording(np.zeros(0), np.array(values))

    def collect(self, monitor, dipoles: list[Dipole]):
        """What the monitor makes of the dipoles' fields."""
        recordings = [self.spectrum(term, dipoles) for term in monitor._terms(self.context)]
        return monitor._collect(self.context, recordings)


def cube(cells: int, size: float, boundaries: nf.Boundaries | None = None, shift=(0.0, 0.0, 0.0), **options) -> Space:
    """An even grid of `cells` cells of `size` a side, centred on `shift`."""
    origin = [offset - 0.5 * cells * size for offset in shift]
    grid = nf.Grid.uniform(size, (cells, cells, cells), origin).resolve()
    return Space(grid, boundaries or nf.Boundaries(all=nf.CPML(4)), **options)
