"""Radar cross-sections: the far field of a body that a plane wave hits, over the wave.

    sigma = 4 pi abs(r E_scattered)^2/(2 eta) / S                            radar, m^2, one for each direction
    sigma_scattered = power through the surface / S
    sigma_extinct = -(4 pi/k) Im(r E_scattered(forward) . e / E_incident)    the optical theorem, exp(+j w t)

with S = abs(E_incident)^2/(2 eta). In the grid a wave of this E carries cos(w dt/2) sum K_a^2 cos(q_a h_a/2)/K^2 of
that (K, q: grid_waves.py), and powers and amplitudes of far fields are the grid's too: S is the grid's, 0.95 of it
along an axis at 12 cells a wavelength. The optical theorem takes the field that the sources have in free space, over
S without cos(w dt/2): what it says is lost is then what leaves and what is absorbed. On PEC and PMC walls the far
field is that of the body and its images, and a wave that passes along the walls loses as much to each of them: the
body's part is one half for each wall, as it is of the scattered power.

Source: Bohren and Huffman, Absorption and Scattering of Light by Small Particles, sections 3.4 and 4.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.farfield import Exterior, intensity, unit_vectors
from nearfield.entry.errors import ModelError
from nearfield.entry.levels import power_decibels
from nearfield.entry.quantities import FREQUENCY, Quantity, read_one
from nearfield.records.records import Variable, Variables, labelled

if TYPE_CHECKING:
    import xarray

DIMS = ("frequency", "theta", "phi")


class CrossSections:
    """The part of a far field's results that exists where a plane wave was its only source."""

    variables: Variables
    frequencies: np.ndarray
    exterior: Exterior
    at: Callable[..., Any]

    def incident(self) -> np.ndarray:
        """Spectrum of the incident E at the origin of coordinates (V/m s), (frequency,). Error: there is none."""
        if "incident" not in self.variables:
            raise ModelError(
                "a radar cross-section needs a plane wave as the only source of its excitation, with a pulse; give the "
                "model one PlaneWave that is no continuous wave, and no other source"
            )
        return self.variables["incident"].array

    def _time_factor(self) -> np.ndarray:
        """cos(w dt/2), (frequency,)."""
        raise NotImplementedError

    def _array(self, values: np.ndarray, name: str, units: str, dims: tuple[str, ...] = DIMS) -> xarray.DataArray:
        return labelled(self.variables | {name: Variable(dims, values, {"units": units})}, name)

    def incident_power(self) -> np.ndarray:
        """Power density of the incident wave in the grid (W s^2/m^2), (frequency,)."""
        self.incident()
        return self.variables["incident_power"].array

    def radar(self, e_theta: np.ndarray, e_phi: np.ndarray) -> np.ndarray:
        """Radar cross-section (m^2) of scattered fields times r, (frequency, ...)."""
        density = self.incident_power().reshape(-1, *[1] * (e_theta.ndim - 1))
        return 4 * np.pi * intensity(e_theta, e_phi, self.exterior.impedance) / density

    def radar_cross_section(self, frequency: Any = None) -> xarray.DataArray:
        """Bistatic radar cross-section (m^2), dims (frequency, theta, phi), or (theta, phi) of one frequency.

        frequency: in Hz, or as "10 GHz". Error: it was not recorded.
        """
        values = self.radar(self.variables["e_theta"].array, self.variables["e_phi"].array)
        array = self._array(values, "radar_cross_section", "m^2")
        if frequency is None:
            return array
        frequency = read_one("frequency", frequency, Quantity(FREQUENCY))
        at = int(np.argmin(np.abs(self.frequencies - frequency)))
        if abs(self.frequencies[at] - frequency) > 1e-6 * abs(frequency):
            known = ", ".join(f"{value:.6g}" for value in self.frequencies)
            raise ModelError(f"frequency {frequency:.6g} Hz was not recorded; there is: {known} Hz")
        return array.isel(frequency=at)

    def radar_cross_section_dbsm(self, frequency: Any = None) -> xarray.DataArray:
        """Bistatic radar cross-section in dB over a square metre."""
        linear = self.radar_cross_section(frequency)
        array = linear.copy(data=power_decibels(linear.values)).rename("radar_cross_section_dbsm")
        return array.assign_attrs(units="dBsm")

    def _towards(self, sign: float) -> tuple[float, float]:
        """Theta and phi (rad) of the direction in which the wave travels (+1) or from which it comes (-1)."""
        x, y, z = sign * np.asarray(self.variables["incident"].attributes["travels"], dtype=float)
        return float(np.arctan2(np.hypot(x, y), z)), float(np.arctan2(y, x))

    @property
    def monostatic_cross_section(self) -> xarray.DataArray:
        """Radar cross-section (m^2) back to where the wave comes from, (frequency,)."""
        self.incident()
        values = self.at(*self._towards(-1.0)).radar_cross_section().values[:, 0, 0]
        return self._array(values, "monostatic_cross_section", "m^2", ("frequency",))

    @property
    def scattering_cross_section(self) -> xarray.DataArray:
        """Power that leaves through the surface over the wave's power density (m^2), (frequency,)."""
        values = self.variables["surface_power"].array / self.incident_power()
        return self._array(values, "scattering_cross_section", "m^2", ("frequency",))

    @property
    def extinction_cross_section(self) -> xarray.DataArray:
        """Power that the wave loses, scattered and absorbed, over its power density (m^2), (frequency,).

        On PEC and PMC walls, along which the wave passes, that of the body itself: none of its images'.
        """
        incident = self.incident()
        theta, phi = self._towards(1.0)
        forward = self.at(theta, phi).variables
        _, along_theta, along_phi = unit_vectors(np.array([theta]), np.array([phi]))
        electric = np.asarray(self.variables["incident"].attributes["electric"], dtype=float)
        field = sum(
            forward[name].array[:, 0, 0] * float(unit[0] @ electric)
            for name, unit in (("e_theta", along_theta), ("e_phi", along_phi))
        )
        in_free_space = field / self.variables["amplitude_scale"].array
        in_free_space = in_free_space / 2 ** len(self.exterior.walls)  # of the body without its images
        lost = np.abs(incident) ** 2 / (2 * self.exterior.impedance) * self._time_factor() / self.incident_power()
        values = -4 * np.pi / self.exterior.wavenumber(self.frequencies) * (in_free_space / incident).imag * lost
        return self._array(values, "extinction_cross_section", "m^2", ("frequency",))
