"""Media: how strongly matter answers the fields, and how much it absorbs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from nearfield.plan import VACUUM_SPEED
from nearfield.quantities import Conductivity, MagneticConductivity, PositiveNumber
from nearfield.schema import Schema

MEDIA_WORDS = ("pec", "pmc")  # perfect electric and magnetic conductor; every other word is a key of Simulation.media


class Medium(Schema):
    """An isotropic medium without dispersion; vacuum where nothing is given.

    dD/dt = curl H - conductivity E - J with D = permittivity eps0 E, and likewise
    dB/dt = -curl E - magnetic_conductivity H - M with B = permeability mu0 H.

    >>> import nearfield as nf
    >>> nf.Medium(permittivity=2.25).index
    1.5
    """

    permittivity: Annotated[PositiveNumber, Field(ge=1e-2, le=1e9)] = 1.0
    """Relative permittivity, 0.01 to 1e9."""
    permeability: Annotated[PositiveNumber, Field(ge=1e-2, le=1e9)] = 1.0
    """Relative permeability, 0.01 to 1e9."""
    conductivity: Conductivity = 0.0
    """Electric conductivity (S/m), zero or positive."""
    magnetic_conductivity: MagneticConductivity = 0.0
    """Magnetic loss (ohm/m), zero or positive."""
    name: str | None = None
    """What messages and plots call it."""

    @property
    def index(self) -> float:
        """Refractive index of the medium without its losses."""
        return (self.permittivity * self.permeability) ** 0.5

    def wavelength(self, frequency: float) -> float:
        """Wavelength (m) at a frequency (Hz) of the medium without its losses."""
        return VACUUM_SPEED / (self.index * frequency)

    def label(self) -> str:
        """The name, or the numbers where it has none."""
        if self.name:
            return self.name
        if self == Medium():
            return "vacuum"
        parts = [f"eps_r {self.permittivity:.6g}"]
        if self.permeability != 1.0:
            parts.append(f"mu_r {self.permeability:.6g}")
        if self.conductivity:
            parts.append(f"{self.conductivity:.4g} S/m")
        if self.magnetic_conductivity:
            parts.append(f"{self.magnetic_conductivity:.4g} ohm/m")
        return ", ".join(parts)
