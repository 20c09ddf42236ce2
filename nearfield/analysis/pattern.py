"""A far field as users meet it: pattern, directivity, gain and efficiency, polarisation, beamwidth."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.cross_sections import CrossSections
from nearfield.analysis.farfield import allowed_directions, far_fields, intensity
from nearfield.analysis.pattern_variables import pattern_variables, read_exterior, surface_pattern
from nearfield.analysis.surface import Surface, read_surface
from nearfield.entry.errors import ModelError
from nearfield.entry.levels import HALF_POWER, power_decibels, width_of_beam
from nearfield.entry.quantities import ANGLE, FREQUENCY, NUMBER, Quantity, read_angles, read_one, refuse_degrees
from nearfield.records.records import Variables

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

    from nearfield.records.records import Excitation


class FarFieldResult(CrossSections):
    """The far field of one excitation, dims (frequency, theta, phi), theta from +z, phi from +x, in rad.

    Directivity, gain and realized gain are named apart and linear, with `_dbi` beside each. The phase centre is the
    origin of coordinates. Over a ground (a wall of the domain) only the half space of the antenna exists.
    """

    def __init__(self, variables: Variables, excitation: Excitation, normalised: bool = False) -> None:
        if "e_theta" not in variables:  # an interrupted run has recorded the surface only
            variables = variables | surface_pattern(variables)
        self.variables, self.excitation, self.normalised = variables, excitation, normalised
        self.frequencies = variables["frequency"].array
        self.theta, self.phi = variables["theta"].array, variables["phi"].array
        self.exterior = read_exterior(variables)

    @cached_property
    def surface(self) -> Surface:
        """The recorded tangential fields and the grid about them."""
        return read_surface(self.variables, self.exterior.places)

    def __repr__(self) -> str:
        sizes = f"{self.frequencies.size} frequencies x {self.theta.size} theta x {self.phi.size} phi"
        return f"<nearfield.FarFieldResult {sizes}{', per source' if self.normalised else ''}>"

    def _repr_html_(self) -> str:
        from nearfield.pictures.cuts import patterns
        from nearfield.pictures.notebook import picture_and_table
        from nearfield.pictures.style import quantity, signed

        rows = {}
        for each in patterns(self)[:12]:
            theta, phi = np.degrees(each.direction)
            peak = f"{signed(each.maximum, 2)} dBi at theta {theta:.0f}°, phi {phi:.0f}°"
            rows[quantity(each.frequency, "Hz")] = peak
        return picture_and_table("Far field", rows, self.plot)

    def _time_factor(self) -> np.ndarray:
        """cos(w dt/2), (frequency,)."""
        return self.surface.faces[0].time_factor

    @cached_property
    def _scale(self) -> np.ndarray:
        """Amplitudes of the grid's power over those of free space, (frequency,)."""
        if "amplitude_scale" not in self.variables:  # recorded by an earlier version, which `surface` refuses
            return surface_pattern(self.variables)["amplitude_scale"].array
        return self.variables["amplitude_scale"].array

    def towards(self, theta: np.ndarray, phi: np.ndarray, only: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """E_theta and E_phi (V s) at paired angles (rad), each (frequency, directions); of `only` one, others zero."""
        e_theta, e_phi = far_fields(self.surface, self.exterior, self.frequencies, theta, phi, only)
        return e_theta * self._scale[:, None], e_phi * self._scale[:, None]

    def directivity_towards(self, theta: np.ndarray, phi: np.ndarray, number: int) -> np.ndarray:
        """Directivity at paired angles (rad) at frequency `number`, from the surface; NaN behind an infinite wall."""
        theta, phi = np.broadcast_arrays(theta, phi)
        found, there = np.full(theta.shape, np.nan), allowed_directions(theta, phi, self.exterior.walls)
        fields = self.towards(theta[there], phi[there], number)
        u = intensity(fields[0][number], fields[1][number], self.exterior.impedance)
        with np.errstate(divide="ignore", invalid="ignore"):
            found[there] = 4 * np.pi * u / self.variables["radiated_power"].array[number]
        return found

    def lobe_width(self, number: int) -> float:
        """Angle (rad) of the narrowest lobe that a surface of this size can have at a frequency: wavelength over size.

        Size is the diagonal of the box through which the fields were recorded; images in walls double it at most.
        """
        size = float(np.linalg.norm([np.ptp(line.nodes) for line in self.surface.lines]))
        doubled = 2.0 if self.exterior.walls else 1.0
        return 2 * np.pi / (float(self.exterior.wavenumber(self.frequencies)[number]) * size * doubled)

    def plot(self, frequency: Any = None, ax: Axes | None = None) -> Any:
        """Directivity in dBi: cuts in the E- and H-plane and a map, a row for each frequency (at most three).

        frequency: one, in Hz or as "10 GHz". ax: polar or Cartesian axes, for the cuts alone. Returns the axes.
        """
        from nearfield.pictures.pattern import draw_pattern
        from nearfield.pictures.style import shown

        at = None if frequency is None else read_one("frequency", frequency, Quantity(FREQUENCY))
        return shown(draw_pattern)(self, ax, at)

    def _source(self) -> np.ndarray:
        return self.excitation.source(self.frequencies) if self.normalised else np.ones(self.frequencies.size)

    def _field(self, name: str) -> xarray.DataArray:
        values = self.variables[name].array / self._source()[:, None, None]
        return self._array(values, name, "V per unit of the source" if self.normalised else "V s")

    def _power(self, name: str) -> xarray.DataArray:
        values = self.variables[name].array / np.abs(self._source()) ** 2
        units = "W per squared unit of the source" if self.normalised else "W s^2"
        return self._array(values, name, units, ("frequency",))

    @property
    def e_theta(self) -> xarray.DataArray:
        """E_theta times r exp(+j k r), complex (V s, or V per unit of the source)."""
        return self._field("e_theta")

    @property
    def e_phi(self) -> xarray.DataArray:
        """E_phi times r exp(+j k r), complex (V s, or V per unit of the source)."""
        return self._field("e_phi")

    @property
    def radiated_power(self) -> xarray.DataArray:
        """Power radiated, the intensity integrated over all directions (of the half space over a ground)."""
        return self._power("radiated_power")

    @property
    def surface_power(self) -> xarray.DataArray:
        """Power through the recorded surface: the radiated power, found without the far field."""
        return self._power("surface_power")

    @property
    def intensity(self) -> xarray.DataArray:
        """Radiation intensity U, power per steradian."""
        values = intensity(self.e_theta.values, self.e_phi.values, self.exterior.impedance)
        return self._array(values, "intensity", self.radiated_power.attrs["units"] + "/sr")

    def _over(self, power: np.ndarray, name: str) -> xarray.DataArray:
        u = intensity(self.variables["e_theta"].array, self.variables["e_phi"].array, self.exterior.impedance)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._array(4 * np.pi * u / power[:, None, None], name, "1")

    @property
    def directivity(self) -> xarray.DataArray:
        """4 pi U / radiated power."""
        return self._over(self.variables["radiated_power"].array, "directivity")

    @property
    def directivity_dbi(self) -> xarray.DataArray:
        return self._dbi(self.directivity)

    @property
    def gain(self) -> xarray.DataArray:
        """4 pi U / power accepted at the excited port, Re(V I*)/2; other ports count as losses of the antenna."""
        return self._over(self.excitation.port_powers(self.frequencies)[0], "gain")

    @property
    def gain_dbi(self) -> xarray.DataArray:
        return self._dbi(self.gain)

    @property
    def realized_gain(self) -> xarray.DataArray:
        """4 pi U / power available at the excited port, abs(V + Z I)^2 / (8 Z), Z its reference impedance."""
        return self._over(self.excitation.port_powers(self.frequencies)[1], "realized_gain")

    @property
    def realized_gain_dbi(self) -> xarray.DataArray:
        return self._dbi(self.realized_gain)

    @property
    def radiation_efficiency(self) -> xarray.DataArray:
        """Radiated over accepted power, (frequency,)."""
        ratio = self.variables["radiated_power"].array / self.excitation.port_powers(self.frequencies)[0]
        return self._array(ratio, "radiation_efficiency", "1", ("frequency",))

    def _dbi(self, ratio: xarray.DataArray) -> xarray.DataArray:
        return self._array(power_decibels(ratio.values), f"{ratio.name}_dbi", "dBi")

    @property
    def axial_ratio(self) -> xarray.DataArray:
        """Major over minor axis of the polarisation ellipse: 1 circular, inf linear."""
        right, left = np.abs(self.e_right.values), np.abs(self.e_left.values)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._array((right + left) / np.abs(right - left), "axial_ratio", "1")

    @property
    def e_right(self) -> xarray.DataArray:
        """Right-hand circular part (IEEE: clockwise seen along the propagation), (E_theta + j E_phi)/sqrt(2)."""
        return self._circular(+1j, "e_right")

    @property
    def e_left(self) -> xarray.DataArray:
        """Left-hand circular part, (E_theta - j E_phi)/sqrt(2)."""
        return self._circular(-1j, "e_left")

    def _circular(self, turn: complex, name: str) -> xarray.DataArray:
        values = (self.e_theta.values + turn * self.e_phi.values) / np.sqrt(2)
        return self._array(values, name, self.e_theta.attrs["units"])

    @property
    def grid_lag(self) -> xarray.DataArray:
        """Phase (rad) by which waves along an axis lag in the grid on their way to the surface, (frequency,).

        The far field is free of it. In an antenna of this size currents and waves have such errors: use smaller cells.
        """
        return self._array(self.variables["grid_lag"].array, "grid_lag", "rad", ("frequency",))

    def per_source(self) -> FarFieldResult:
        """The far field divided by the source's spectrum: watt and volt for a continuous source of amplitude 1."""
        return FarFieldResult(self.variables, self.excitation, normalised=True)

    def at(self, theta: Any, phi: Any) -> FarFieldResult:
        """The far field at other angles (rad, or "30 deg"), every theta with every phi, from the recorded surface."""
        theta, phi = read_angles("theta", theta), read_angles("phi", phi)
        there = pattern_variables(self.surface, self.exterior, self.frequencies, theta, phi, self._scale)
        return FarFieldResult(self.variables | there, self.excitation, self.normalised)

    def beamwidth(self, phi: Any = 0.0, level_db: float = HALF_POWER) -> xarray.DataArray:
        """Angle (rad) between the points at `level_db` (dB of the peak, below 0) about the main beam in the cut through
        the poles at `phi` (rad, or "90 deg").
        """
        phi, level = read_one("phi", phi, Quantity(ANGLE)), read_one("level_db", level_db, Quantity(NUMBER))
        refuse_degrees("phi", phi)
        if not level < 0.0:
            raise ModelError(f"level_db: given {level:g} dB; give a level below the peak, such as -3 or -10")
        angle = np.radians(np.arange(-180.0, 180.0, 0.25))
        theta, turned = np.abs(angle), np.where(angle < 0, phi + np.pi, phi)
        allowed = allowed_directions(theta, turned, self.exterior.walls)
        rows = np.full((self.frequencies.size, angle.size), np.nan)
        rows[:, allowed] = intensity(*self.towards(theta[allowed], turned[allowed]), self.exterior.impedance)
        step = float(angle[1] - angle[0])
        widths = [step * width_of_beam(power_decibels(np.maximum(row, 1e-300)), level) for row in rows]
        return self._array(np.array(widths), "beamwidth", "rad", ("frequency",))
