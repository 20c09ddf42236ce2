"""Entries that conduct on a surface: thin sheets, whose inside no cell resolves."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, model_validator

from nearfield.materials import Medium, complex_frequency, from_library
from nearfield.quantities import Inductance, PositiveConductivity, PositiveLength, Resistance
from nearfield.schema import Schema


class ResistiveSheet(Schema):
    """What a shape without thickness is made of, if it is not metal: tangential E drives a current per width

        K = E / (resistance + j w inductance)

    Give the sheet's resistance, or a film's conductivity and thickness, of which it is 1/(conductivity thickness). With
    an inductance it is a Drude sheet; graphene of weight D and scattering rate gamma has pi gamma/D and pi/D. A Sheet,
    a flat Polygon or a flat Layout lies in the nearest grid plane; its outline is kept below the size of a cell.

    >>> import nearfield as nf
    >>> screen = nf.Structure(nf.Sheet((0, 0, 0), (1e-2, 1e-2, 0)), nf.ResistiveSheet("377 ohm"))
    >>> print(round(nf.ResistiveSheet(conductivity=1e6, thickness="20 nm").ohms_per_square, 6))
    50.0
    """

    kind: Literal["resistive-sheet"] = "resistive-sheet"
    resistance: Resistance | None = None
    """Resistance of a square (ohm)."""
    inductance: Inductance = 0.0
    """Inductance of a square (H), in series with it."""
    conductivity: PositiveConductivity | None = None
    """Or: of a film (S/m) ..."""
    thickness: PositiveLength | None = None
    """... of this thickness (m), small against a cell and the skin depth."""
    name: str | None = None
    """What messages and plots call it."""

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
        return 1.0 / (self.conductivity * self.thickness) if self.resistance is None else self.resistance

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


def surface_medium(value: Any) -> Any:
    """The entry that a table of its kind stands for; any other value as it is."""
    return ResistiveSheet(**value) if isinstance(value, dict) and value.get("kind") == "resistive-sheet" else value


def _material(value: Any) -> Any:
    return surface_medium(from_library(value))


AnyMaterial = Annotated[Medium | ResistiveSheet, BeforeValidator(_material)]
