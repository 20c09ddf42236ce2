"""Media: how strongly matter answers the fields, and how much it absorbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field, field_validator, model_validator

from nearfield.entry.constants import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import (
    CONDUCTIVITY,
    FREQUENCY,
    MAGNETIC_CONDUCTIVITY,
    NUMBER,
    AlongAxes,
    Frequency,
    NonNegativeNumber,
    PositiveFrequency,
    Quantity,
    Read,
    read_one,
    readings,
)
from nearfield.entry.schema import Schema
from nearfield.entry.wording import counted
from nearfield.media.loss_tangent import conductivity_of, poles_of
from nearfield.media.poles import AnyPole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEDIA_WORDS = ("pec", "pmc")  # perfect electric and magnetic conductor; every other word is a key of Simulation.media
Frequencies = float | str | Sequence[float | str] | np.ndarray  # Hz, or texts with a unit
LIBRARY = "library:"  # opens the name of a medium of the library wherever a medium is wanted
MOST_POLES = 64  # poles of a medium; a fit of measured values takes ten
LOOKED_AT = 200  # frequencies at which the shortest wave of a band is looked for
CONSTANTS = ("permittivity", "permeability", "conductivity", "magnetic_conductivity")
NAMES = ("x", "y", "z")
DIAGONAL = 1e-12  # part of a turned tensor's largest entry, up to which others are rounding

Along = tuple[float, float, float]
Relative = Annotated[Read[float | Along], AlongAxes(NUMBER, "positive", 1e-2, 1e9)]


def along_axes(constant: float | Along) -> Along:
    """A constant of a medium along x, y and z."""
    return constant if isinstance(constant, tuple) else (constant, constant, constant)


class Medium(Schema):
    """A linear medium; vacuum where nothing is given.

    dD/dt = curl H - conductivity E - J with D = eps0 (permittivity + chi) E, where chi is the sum of the `poles`, and
    dB/dt = -curl E - magnetic_conductivity H - M likewise, with `magnetic_poles`. Time dependence exp(+j w t): losses
    make the imaginary parts negative. Each of the four constants is one number, or three along the axes x, y and z of
    the grid (a laminate, a uniaxial crystal); poles act alike along all of them.

    >>> import nearfield as nf
    >>> nf.Medium(permittivity=2.25).index
    1.5
    >>> nf.Medium(permittivity=(9.4, 9.4, 11.6)).along("z").permittivity
    11.6
    >>> print(nf.Medium(4.9, poles=[nf.Debye(75.2, "9.231 ps")]).relative_permittivity(10e9).round(2))
    (61.17-32.64j)
    """

    permittivity: Relative = 1.0
    """Relative permittivity, 0.01 to 1e9, or three along x, y and z; far above the frequencies of all poles."""
    permeability: Relative = 1.0
    """Relative permeability, 0.01 to 1e9; likewise."""
    conductivity: Annotated[Read[float | Along], AlongAxes(CONDUCTIVITY, "non-negative")] = 0.0
    """Electric conductivity (S/m), zero or positive, or three."""
    magnetic_conductivity: Annotated[Read[float | Along], AlongAxes(MAGNETIC_CONDUCTIVITY, "non-negative")] = 0.0
    """Magnetic loss (ohm/m), zero or positive, or three."""
    name: str | None = None
    """Name in messages and plots."""
    poles: Annotated[Read[tuple[AnyPole, ...]], Field(max_length=MOST_POLES)] = ()
    """Terms of the permittivity that depend on frequency: `Debye`, `Drude`, `Lorentz`, `PoleResidue`, at most 64."""
    magnetic_poles: Annotated[Read[tuple[AnyPole, ...]], Field(max_length=MOST_POLES)] = ()
    """Terms of the permeability that depend on frequency, likewise."""
    valid_band: tuple[Frequency, PositiveFrequency] | None = None
    """Lowest and highest frequency (Hz) for which the constants hold; `check` warns of a run that leaves it."""
    loss_tangent: NonNegativeNumber | None = None
    """Loss over storage of the permittivity, as data sheets state it; it becomes a conductivity, or poles."""
    loss_frequency: PositiveFrequency | None = None
    """Frequency (Hz) of the loss tangent: it becomes the conductivity that has it there, and falls as 1/f beside it."""
    loss_band: tuple[PositiveFrequency, PositiveFrequency] | None = None
    """Or: lowest and highest frequency (Hz) between which it is constant within 3 %, by Debye poles; `permittivity` is
    then that at their geometric mean."""

    @field_validator("poles", "magnetic_poles", mode="before")
    @classmethod
    def _one_or_many(cls, value):
        if isinstance(value, list):
            return tuple(value)
        return value if isinstance(value, (tuple, str)) or value is None else (value,)

    @field_validator("valid_band")
    @classmethod
    def _rising(cls, band):
        if band is not None and band[0] > band[1]:
            raise ValueError(f"{band[0]:.6g} to {band[1]:.6g} Hz given; give the lower frequency first")
        return band

    @model_validator(mode="after")
    def _loss(self) -> Medium:
        """The medium with conductivity or poles in place of its loss tangent."""
        if self.loss_tangent is None:
            if self.loss_frequency is not None or self.loss_band is not None:
                raise ValueError("loss_frequency or loss_band is given without a loss_tangent")
            return self
        if (self.loss_frequency is None) == (self.loss_band is None):
            given = "both are given" if self.loss_band else "neither is given"
            raise ValueError(f"loss_tangent holds at a loss_frequency, or over a loss_band; {given}")
        if self.conductivity or self.poles:
            raise ValueError("loss_tangent stands in place of conductivity and poles; give it, or these")
        made: dict[str, Any]
        if self.loss_frequency is not None:
            at = self.loss_tangent, self.loss_frequency
            each = tuple(conductivity_of(*at, along) for along in along_axes(self.permittivity))
            made = {"conductivity": each if isinstance(self.permittivity, tuple) else each[0]}
        elif isinstance(self.permittivity, tuple):
            raise ValueError(
                "poles act alike along all axes, so a permittivity along each has no loss_band; give the "
                "loss_frequency in the middle of the band"
            )
        elif self.loss_band is not None:
            instant, poles = poles_of(self.loss_tangent, self.loss_band, self.permittivity)
            made = {"permittivity": instant, "poles": poles, "valid_band": self.valid_band or self.loss_band}
        stated = dict.fromkeys(("loss_tangent", "loss_frequency", "loss_band"))
        before = super()._as_stated()
        self.__dict__.update(made | stated | {"_stated": before})  # what is saved is what runs
        self.model_fields_set.difference_update(stated)
        self.model_fields_set.update(made)
        return self

    def _as_stated(self) -> dict[str, Any]:
        """With the loss tangent as it was stated, not what it became."""
        return self.__dict__.get("_stated") or super()._as_stated()

    def model_copy(self, *, update: dict[str, Any] | None = None, deep: bool = False) -> Medium:
        """pydantic's copy with other values, which stand beside what a loss tangent became."""
        copy = super().model_copy(update=update, deep=deep)
        if update:
            copy.__dict__.pop("_stated", None)
        return copy

    @property
    def index(self) -> float:
        """Refractive index without losses and poles; with constants along axes the largest of waves along these."""
        if self.anisotropic:
            return max(wave.index for wave in self._waves())
        return (along_axes(self.permittivity)[0] * along_axes(self.permeability)[0]) ** 0.5

    @property
    def anisotropic(self) -> bool:
        """Whether a constant differs along x, y and z."""
        return any(isinstance(getattr(self, name), tuple) for name in CONSTANTS)

    def along(self, axis: str) -> Medium:
        """The isotropic medium that fields along "x", "y" or "z" see. Error: ModelError for another axis."""
        if axis not in NAMES:
            raise ModelError(f"given {axis!r}; a medium has constants along 'x', 'y' and 'z'")
        number = NAMES.index(axis)
        return self._seen(number, number, f"along {axis}")

    def _seen(self, electric: int, magnetic: int, how: str) -> Medium:
        """The isotropic medium of E and of H along two axes (0, 1, 2)."""
        if not self.anisotropic:
            return self
        axes = (electric, magnetic, electric, magnetic)
        constants = {name: along_axes(getattr(self, name))[axis] for name, axis in zip(CONSTANTS, axes)}
        return self.model_copy(update=constants | {"name": f"{self.label()}, {how}"})

    def _waves(self, *axes: int) -> tuple[Medium, ...]:
        """The isotropic media that waves along axes (0, 1, 2; all, if none is named) go through, by where E points."""
        if not self.anisotropic:
            return (self,)
        pairs = ((axis, (axis + turn) % 3, (axis - turn) % 3) for axis in axes or (0, 1, 2) for turn in (1, 2))
        return tuple(self._seen(e, h, f"waves along {NAMES[axis]} with E along {NAMES[e]}") for axis, e, h in pairs)

    def _turned(self, matrix: np.ndarray) -> Medium:
        """The medium turned with its body by an orthogonal matrix. ValueError: its axes leave those of the grid."""
        made: dict[str, Any] = {}
        for name in (each for each in CONSTANTS if isinstance(getattr(self, each), tuple)):
            given: np.ndarray = np.array(getattr(self, name))
            tensor = matrix @ np.diag(given) @ matrix.T
            found = np.diag(tensor)
            if np.abs(tensor - np.diag(found)).max() > DIAGONAL * given.max():
                raise ValueError(
                    f"the {name} {getattr(self, name)} of {self.label()} turns with its body, and its axes would leave "
                    "those of the grid; allowed are turns by quarters, turns about an axis that both others are alike "
                    "beside, and isotropic media"
                )
            made[name] = tuple(float(given[np.argmin(np.abs(given - value))]) for value in found)
        return self.model_copy(update=made) if made else self

    @property
    def dispersive(self) -> bool:
        """Whether it has poles."""
        return bool(self.poles or self.magnetic_poles)

    def relative_permittivity(self, frequency: Frequencies) -> np.ndarray:
        """Complex relative permittivity at one or several frequencies (Hz, or "2.4 GHz"), losses and poles included.

        Error: ModelError for a frequency that is not positive, and for constants along axes: ask `along("x")`.
        """
        return response(complex_frequency(frequency), *self._half(False))

    def relative_permeability(self, frequency: Frequencies) -> np.ndarray:
        """Complex relative permeability at frequencies (Hz), as `relative_permittivity`."""
        return response(complex_frequency(frequency), *self._half(True))

    def _poles(self, magnetic: bool) -> tuple[AnyPole, ...]:
        return self.magnetic_poles if magnetic else self.poles

    def _half(self, magnetic: bool) -> tuple[float, float, tuple[AnyPole, ...]]:
        """(value at infinite frequency, loss (1/s), poles) of the permittivity, or of the permeability."""
        if self.anisotropic:
            raise ModelError(f'{self.label()} has constants along x, y and z; take medium.along("x"), "y" or "z"')
        permittivity, permeability, conductivity, magnetic_conductivity = (
            along_axes(getattr(self, name))[0] for name in CONSTANTS
        )
        if magnetic:
            return permeability, magnetic_conductivity / VACUUM_PERMEABILITY, self.magnetic_poles
        return permittivity, conductivity / VACUUM_PERMITTIVITY, self.poles

    def index_at(self, frequency: float, low: float = 0.0) -> float:
        """Factor by which a wave is shorter than in vacuum, or decays faster, at a frequency (Hz): abs(n).

        Of a medium without poles, its index without losses. With poles, the largest f abs(n) of the band from `low`
        (Hz) on, over the frequency: a resonance below it can have the shorter waves.
        """
        if self.anisotropic:
            return max(wave.index_at(frequency, low) for wave in self._waves())
        if not self.dispersive or not frequency > 0.0:
            return self.index
        band = np.linspace(0.0, frequency, LOOKED_AT + 1)[1:]
        band = band[band >= min(low, frequency)]
        square = self.relative_permittivity(band) * self.relative_permeability(band)
        return float(np.max(np.sqrt(np.abs(square)) * band) / frequency)

    def wave_index_at(self, frequency: float, low: float = 0.0) -> float:
        """`index_at` where a wave goes further than it is long, 2 pi times; 1 in a medium that keeps waves out."""
        if self.anisotropic:
            return max(wave.wave_index_at(frequency, low) for wave in self._waves())
        if not self.dispersive or not frequency > 0.0:
            return self.index
        square = self.relative_permittivity(frequency) * self.relative_permeability(frequency)
        index = np.sqrt(complex(square))
        return self.index_at(frequency, low) if abs(index.imag) < abs(index.real) else 1.0

    def wavelength(self, frequency: float | str) -> float:
        """Wavelength (m) at a frequency (Hz, or "2.4 GHz"), by `index_at`. Error: ModelError, it is not positive."""
        number = read_one("frequency", frequency, Quantity(FREQUENCY, "positive"))
        return VACUUM_SPEED / (self.index_at(number) * number)

    def plot(self, low: Any = "100 MHz", high: Any = "100 GHz", ax: Axes | None = None) -> Axes:
        """Relative permittivity and its loss between two frequencies (Hz, or as "10 GHz"), on matplotlib's axes."""
        from nearfield.pictures.media import draw_medium
        from nearfield.pictures.style import shown

        first, last = (Quantity(FREQUENCY).read(end) for end in (low, high))
        if not 0 < first < last:
            raise ModelError(f"given {low!r} to {high!r}; a medium is drawn between two frequencies above 0, rising")
        return shown(draw_medium)(self, np.geomspace(first, last, LOOKED_AT), ax)

    def label(self) -> str:
        """The name, or the numbers where it has none."""
        if self.name:
            return self.name
        if self == Medium():
            return "vacuum"
        parts = [f"eps_r {written(self.permittivity, 6)}"]
        if self.permeability != 1.0:
            parts.append(f"mu_r {written(self.permeability, 6)}")
        if self.conductivity:
            parts.append(f"{written(self.conductivity, 4)} S/m")
        if self.magnetic_conductivity:
            parts.append(f"{written(self.magnetic_conductivity, 4)} ohm/m")
        for poles, kind in ((self.poles, "pole"), (self.magnetic_poles, "magnetic pole")):
            if poles:
                parts.append(counted(len(poles), kind))
        return ", ".join(parts)


def written(constant: float | Along, digits: int) -> str:
    """A constant in messages: `3.4`, or `(3.4, 3.4, 2.9)`."""
    if isinstance(constant, tuple):
        return f"({', '.join(f'{value:.{digits}g}' for value in constant)})"
    return f"{constant:.{digits}g}"


def complex_frequency(frequency: Frequencies) -> np.ndarray:
    """s = j 2 pi f. Error: ModelError for a frequency that is not positive and finite."""
    given = readings(FREQUENCY, frequency, "frequency")
    if not ((given > 0.0) & np.isfinite(given)).all():
        raise ModelError(f"frequency {frequency!r} Hz: a medium answers at positive, finite frequencies only")
    return 2j * np.pi * given


def response(s: np.ndarray, instant: float, loss: float, poles: Sequence) -> np.ndarray:
    """instant + loss/s + the sum of the poles."""
    return sum((pole.susceptibility(s) for pole in poles), instant + loss / s)


def from_library(value: Any) -> Any:
    """The medium that `"library:gold"` stands for; any other value as it is."""
    if not isinstance(value, str) or not value.startswith(LIBRARY):
        return value
    from nearfield.media.library import library

    return library[value.removeprefix(LIBRARY)]


AnyMedium = Annotated[Read[Medium], BeforeValidator(from_library)]
