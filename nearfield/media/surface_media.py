"""Entries that conduct on a surface: thin sheets and good conductors, whose inside no cell resolves."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from nearfield.entry.constants import VACUUM_PERMEABILITY
from nearfield.entry.quantities import (
    Inductance,
    PositiveConductivity,
    PositiveLength,
    PositiveNumber,
    Read,
    Resistance,
)
from nearfield.entry.schema import Schema, tag
from nearfield.media.materials import Frequencies, Medium, complex_frequency, from_library


class ResistiveSheet(Schema):
    """A sheet without thickness that is not metal: tangential E drives a current per width

        K = E / (resistance + j w inductance)

    Give the sheet's resistance, or a film's conductivity and thickness, of which it is 1/(conductivity thickness). With
    an inductance it is a Drude sheet; graphene of weight D and scattering rate gamma has pi gamma/D and pi/D. A Sheet,
    a flat Polygon or a flat Layout lies in the nearest grid plane; its outline is kept below the size of a cell.

    >>> import nearfield as nf
    >>> screen = nf.Structure(nf.Sheet((0, 0, 0), (1e-2, 1e-2, 0)), nf.ResistiveSheet("377 ohm"))
    >>> print(round(nf.ResistiveSheet(conductivity=1e6, thickness="20 nm").ohms_per_square, 6))
    50.0
    """

    kind: Literal["resistive-sheet"] = tag("resistive-sheet")
    resistance: Resistance | None = None
    """Resistance of a square (ohm)."""
    inductance: Inductance = 0.0
    """Inductance of a square (H), in series with it."""
    conductivity: PositiveConductivity | None = None
    """Or: of a film (S/m) ..."""
    thickness: PositiveLength | None = None
    """... of this thickness (m), small against a cell and the skin depth."""
    name: str | None = None
    """Name in messages and plots."""

    @model_validator(mode="after")
    def _conducts(self) -> ResistiveSheet:
        film = self.conductivity is not None, self.thickness is not None
        if film[0] != film[1] or film[0] == (self.resistance is not None):
            raise ValueError(
                "give either resistance (ohm per square), or both conductivity (S/m) and thickness (m) of a film"
            )
        if self.resistance == 0.0 and self.inductance == 0.0:
            raise ValueError('a sheet without resistance and inductance is metal; give the medium "pec"')
        return self

    @property
    def ohms_per_square(self) -> float:
        """The resistance of a square (ohm)."""
        if self.resistance is None:
            return 1.0 / (self.conductivity * self.thickness)  # type: ignore[operator]  # both are given then
        return self.resistance

    @property
    def dispersive(self) -> bool:
        """Whether its impedance depends on frequency."""
        return self.inductance > 0.0

    def impedance(self, frequency: float | np.ndarray) -> np.ndarray:
        """Complex impedance of a square (ohm) at frequencies (Hz)."""
        return self.ohms_per_square + complex_frequency(frequency) * self.inductance

    def label(self) -> str:
        """The name, or the numbers where it has none."""
        reactive = f" + jw {self.inductance:.4g} H" if self.inductance else ""
        return self.name or f"{self.ohms_per_square:.6g} ohm{reactive} per square"


class Conductor(Schema):
    """Metal of finite conductivity, far thicker than its skin depth: "pec" but for the impedance of its surface

        Zs = roughness (1 + j) sqrt(w mu/(2 conductivity))

    in which currents lose power and waves are slowed. Fields do not enter it. Over the band of the excitations, of at
    most three decades, Zs is that within 0.4 %; below, its resistance stays what it is at the lower end.

    >>> import nearfield as nf
    >>> copper = nf.Conductor(conductivity=5.8e7)
    >>> print(copper.impedance(10e9).round(5))
    (0.02609+0.02609j)
    """

    kind: Literal["conductor"] = tag("conductor")
    conductivity: PositiveConductivity
    """Electric conductivity (S/m)."""
    permeability: Annotated[PositiveNumber, Field(ge=1, le=1e6)] = 1.0
    """Relative permeability."""
    roughness: Annotated[PositiveNumber, Field(ge=1, le=10)] = 1.0
    """Factor of a rough surface in the impedance; up to about 2 where it is rough against the skin depth."""
    name: str | None = None
    """Name in messages and plots."""

    @property
    def dispersive(self) -> bool:
        """Whether its impedance depends on frequency."""
        return True

    @property
    def root(self) -> float:
        """Zs over sqrt(s), ohm s^(1/2)."""
        return self.roughness * (VACUUM_PERMEABILITY * self.permeability / self.conductivity) ** 0.5

    def impedance(self, frequency: float | np.ndarray) -> np.ndarray:
        """Complex Zs (ohm) at frequencies (Hz)."""
        return self.root * np.sqrt(complex_frequency(frequency))

    def skin_depth(self, frequency: Frequencies) -> Any:
        """sqrt(2/(w mu conductivity)) (m) at a frequency (Hz), or an array of them at several."""
        half = 0.5 * complex_frequency(frequency).imag  # w/2
        return (half * VACUUM_PERMEABILITY * self.permeability * self.conductivity) ** -0.5

    def label(self) -> str:
        """The name, or the numbers where it has none."""
        rough = f", rough by {self.roughness:.3g}" if self.roughness != 1.0 else ""
        return self.name or f"conductor of {self.conductivity:.4g} S/m{rough}"


KINDS = {"resistive-sheet": ResistiveSheet, "conductor": Conductor}


def is_metal(medium: Any) -> bool:
    """Whether fields stay out of it."""
    return isinstance(medium, Conductor) or medium == "pec"


def surface_medium(value: Any) -> Any:
    """The entry that a table of its kind stands for; any other value as it is."""
    kind = value.get("kind") if isinstance(value, dict) else None
    return KINDS[kind](**value) if isinstance(kind, str) and kind in KINDS else value


def _material(value: Any) -> Any:
    return surface_medium(from_library(value))


AnyMaterial = Annotated[Read[Medium | ResistiveSheet | Conductor], BeforeValidator(_material)]
