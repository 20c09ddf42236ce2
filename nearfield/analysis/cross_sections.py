"""Radar cross-sections: the far field of what a plane wave hits, over the wave.

    sigma = 4 pi abs(r E_scattered)^2 / abs(E_incident)^2                    radar, m^2, one for each direction
    sigma_scattered = power through the surface / (abs(E_incident)^2/(2 eta))
    sigma_extinct = -(4 pi/k) Im(r E_scattered(forward) . e / E_incident)    the optical theorem, exp(+j w t)

Source: Bohren and Huffman, Absorption and Scattering of Light by Small Particles, sections 3.4 and 4.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.farfield import unit_vectors
from nearfield.entry.errors import ModelError

if TYPE_CHECKING:
    import xarray


def decibels(power: Any) -> Any:
    """10 log10 of a power ratio; -inf for zero."""
    with np.errstate(divide="ignore"):
        return 10 * np.log10(power)


class CrossSections:
    """What a far field has besides where a plane wave was its only source."""

    def incident(self) -> np.ndarray:
        """Spectrum of the incident E at the origin of coordinates (V/m s), (frequency,). Error: there is none."""
        if "incident" not in self.variables:
            raise ModelError(
                "a radar cross-section needs a plane wave as the only source of its excitation, with a pulse; give the "
                "model one PlaneWave that is no continuous wave, and no other source"
            )
        return self.variables["incident"].array

    def _chosen(self, values: xarray.DataArray, frequency: float | None) -> xarray.DataArray:
        if frequency is None:
            return values
        at = int(np.argmin(np.abs(self.frequencies - frequency)))
        if abs(self.frequencies[at] - frequency) > 1e-6 * abs(frequency):
            known = ", ".join(f"{value:.6g}" for value in self.frequencies)
            raise ModelError(f"frequency {frequency:.6g} Hz was not recorded; there is: {known} Hz")
        return values.isel(frequency=at)

    def radar_cross_section(self, frequency: float | None = None) -> xarray.DataArray:
        """Bistatic radar cross-section (m^2), dims (frequency, theta, phi), or (theta, phi) of one frequency (Hz)."""
        power = np.abs(self.variables["e_theta"].array) ** 2 + np.abs(self.variables["e_phi"].array) ** 2
        values = 4 * np.pi * power / np.abs(self.incident())[:, None, None] ** 2
        return self._chosen(self._array(values, "radar_cross_section", "m^2"), frequency)

    def radar_cross_section_dbsm(self, frequency: float | None = None) -> xarray.DataArray:
        """The same in dB over a square metre."""
        found = self.radar_cross_section(frequency)
        found = found.copy(data=decibels(found.values)).rename("radar_cross_section_dbsm")
        found.attrs["units"] = "dBsm"
        return found

    def _towards(self, sign: float) -> tuple[float, float]:
        """Theta and phi (rad) of the direction in which the wave travels (+1) or from which it comes (-1)."""
        x, y, z = sign * np.array(self.variables["incident"].attributes["travels"], dtype=float)
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
        density = np.abs(self.incident()) ** 2 / (2 * self.exterior.impedance)
        values = self.variables["surface_power"].array / density
        return self._array(values, "scattering_cross_section", "m^2", ("frequency",))

    @property
    def extinction_cross_section(self) -> xarray.DataArray:
        """Power that the wave loses, scattered and absorbed, over its power density (m^2), (frequency,)."""
        incident = self.incident()
        theta, phi = self._towards(1.0)
        forward = self.at(theta, phi).variables
        _, along_theta, along_phi = unit_vectors(np.array([theta]), np.array([phi]))
        electric = np.array(self.variables["incident"].attributes["electric"], dtype=float)
        field = sum(
            forward[name].array[:, 0, 0] * float(unit[0] @ electric)
            for name, unit in (("e_theta", along_theta), ("e_phi", along_phi))
        )
        values = -4 * np.pi / self.exterior.wavenumber(self.frequencies) * (field / incident).imag
        return self._array(values, "extinction_cross_section", "m^2", ("frequency",))
