"""Physical quantities as a user writes them: `12.45e-3`, `"12.45 mm"`, or a pint quantity; kept as floats in SI.

    class Thing(Schema):
        height: PositiveLength
        corner: Position

A string is a number and a unit of the right dimension. Powers of ten are joined to the decimal exponent before the
text becomes a float, so that `"12.45 mm"` and `12.45e-3` are the same number to the last bit.
"""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import numpy as np
from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from nearfield.entry.dimensions import Computed, near_whole, unit_text
from nearfield.entry.errors import ModelError
from nearfield.entry.masked import unmasked
from nearfield.entry.messages import shown

NUMBER_AND_UNIT = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d{1,4}))?\s*(.*?)\s*", re.ASCII | re.DOTALL)
MICRO = ("u", "\u00b5", "\u03bc")  # ASCII, micro sign, Greek letter
OHM = ("ohm", "\u03a9", "\u2126")  # ASCII, Greek letter, ohm sign
PREFIXES = {"f": -15, "p": -12, "n": -9, **dict.fromkeys(MICRO, -6), "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12}


def scaled(unit: str, prefixes: str) -> dict[str, int]:
    """Decimal exponents of a unit with the given prefixes (`u` stands for all spellings of micro)."""
    letters = ["", *(letter for prefix in prefixes for letter in (MICRO if prefix == "u" else (prefix,)))]
    return {letter + unit: PREFIXES[letter] for letter in letters}


@dataclass(frozen=True, eq=False)
class Dimension:
    """One kind of quantity: its SI unit, the units with their decimal exponents, and the others with their factors."""

    name: str  # "a length"
    unit: str
    pint_unit: str
    example: str
    exponents: Mapping[str, int] = field(default_factory=dict)
    factors: Mapping[str, float] = field(default_factory=dict)

    def units(self) -> str:
        """The allowed units, ASCII spellings only."""
        return ", ".join(unit for unit in (*self.exponents, *self.factors) if unit.isascii())

    def allowed(self) -> str:
        """The allowed numbers and strings, for messages and for the reference."""
        if not self.unit:
            return "a number"
        return f'a number in {self.unit}, or a string such as "{self.example}" with a unit of {self.units()}'


LARGEST, SMALLEST = 1e60, 1e-60  # of any number but 0: the product of five such numbers is still a number
DEGREE = math.pi / 180
INCHES = {"in": 0.0254, "inch": 0.0254, "mil": 0.0254e-3, "ft": 0.3048}
OHMS = {unit: exponent for ohm in OHM for unit, exponent in scaled(ohm, "mkM").items()}
WAVE_NUMBERS = {"rad/m": 0, "1/m": 0, "rad/cm": 2, "1/cm": 2, "rad/mm": 3, "1/mm": 3, "rad/um": 6, "1/um": 6}
RATES = {"1/s": 0, "1/ms": 3, "1/us": 6, "1/ns": 9, "1/ps": 12, "1/fs": 15}
CONDUCTIVITIES = {"S/m": 0, "mS/m": -3, "S/cm": 2, "kS/m": 3, "MS/m": 6}
LENGTH = Dimension("a length", "m", "meter", "12.45 mm", {**scaled("m", "mpnuk"), "cm": -2}, INCHES)
FREQUENCY = Dimension("a frequency", "Hz", "hertz", "7.5 GHz", scaled("Hz", "kMGT"))
TIME = Dimension("a time", "s", "second", "10 ns", scaled("s", "munpf"))
RESISTANCE = Dimension("a resistance", "ohm", "ohm", "50 ohm", OHMS)
INDUCTANCE = Dimension("an inductance", "H", "henry", "1.2 nH", scaled("H", "munpf"))
CAPACITANCE = Dimension("a capacitance", "F", "farad", "2 pF", scaled("F", "munpf"))
CURRENT = Dimension("a current", "A", "ampere", "1 mA", scaled("A", "munk"))
VOLTAGE = Dimension("a voltage", "V", "volt", "1 V", scaled("V", "munk"))
CONDUCTIVITY = Dimension("a conductivity", "S/m", "siemens/meter", "5.8e7 S/m", CONDUCTIVITIES)
OHMS_PER_METRE = {f"{ohm}/m": 0 for ohm in OHM}
MAGNETIC_CONDUCTIVITY = Dimension("a magnetic conductivity", "ohm/m", "ohm/meter", "10 ohm/m", OHMS_PER_METRE)
CURRENT_MOMENT = Dimension("a current moment", "A m", "ampere*meter", "1 A m", {"A m": 0, "A mm": -3, "mA mm": -6})
VOLTAGE_MOMENT = Dimension("a voltage moment", "V m", "volt*meter", "1 V m", {"V m": 0, "V mm": -3, "mV mm": -6})
SHEET_CURRENT = Dimension("a current per width", "A/m", "ampere/meter", "1 A/m", {"A/m": 0, "mA/m": -3, "kA/m": 3})
ELECTRIC_FIELDS = {"V/m": 0, "mV/m": -3, "kV/m": 3, "MV/m": 6}
ELECTRIC_FIELD = Dimension("an electric field", "V/m", "volt/meter", "1 V/m", ELECTRIC_FIELDS)
ANGLE = Dimension("an angle", "rad", "radian", "30 deg", {"rad": 0, "mrad": -3}, {"deg": DEGREE, "\u00b0": DEGREE})
WAVE_NUMBER = Dimension("a wave number", "rad/m", "radian/meter", "100 rad/m", WAVE_NUMBERS)
RATE = Dimension("a rate", "1/s", "1/second", "20 1/ns", RATES)
DIMENSIONS = tuple(value for value in list(vars().values()) if isinstance(value, Dimension))
NUMBER = Dimension("a number", "", "dimensionless", "1.5")


@dataclass(frozen=True)
class Quantity:
    """Annotation of a float field: its dimension and its sign, "", "positive" or "non-negative"."""

    dimension: Dimension
    sign: str = ""

    def read(self, value: Any) -> float:
        """The value in SI; ValueError says what was given and what is allowed."""
        kind = type(value)
        if kind is str:
            number = self.read_text(value)
        elif kind is Computed:
            number = self.read_computed(value)
        elif kind is float or kind is int or isinstance(value, (float, np.floating, np.integer)):
            try:
                number = float(value)
            except OverflowError:
                raise ValueError(f"{self.dimension.name} must be finite; the number given is too large") from None
        else:
            number = self.read_object(value)
        if not math.isfinite(number):
            raise ValueError(f"{self.dimension.name} must be finite, given {shown(value)}")
        if number and not SMALLEST <= abs(number) <= LARGEST:
            limit = f"at most {LARGEST:g}" if abs(number) > LARGEST else f"0, or at least {SMALLEST:g},"
            unit = f" {self.dimension.unit}" if self.dimension.unit else ""
            raise ValueError(
                f"given {shown(value)}; needs {limit}{unit} in size: products of such numbers have no value"
            )
        if (self.sign == "positive" and not number > 0) or (self.sign == "non-negative" and number < 0):
            wanted = "positive" if self.sign == "positive" else "zero or positive"
            raise ValueError(f"must be {wanted}, given {shown(value)}")
        return number

    def read_text(self, text: str) -> float:
        """A number and a unit, joined before rounding."""
        match = NUMBER_AND_UNIT.fullmatch(text) if len(text) < 200 else None
        if match is None:
            raise ValueError(f"given {shown(text)}; allowed: {self.dimension.allowed()}")
        mantissa, exponent, unit = match.groups()
        decimal = self.dimension.exponents.get(unit)
        if decimal is not None:
            return float(f"{mantissa}e{decimal + int(exponent) if exponent else decimal}")
        factor = self.dimension.factors.get(unit)
        if factor is None:
            raise ValueError(self.wrong_unit(text, unit))
        return float(f"{mantissa}e{exponent or 0}") * factor

    def read_computed(self, value: Computed) -> float:
        """The value of an expression, if it has this dimension."""
        if not value.suits(self.dimension.unit):
            given = f"given {shown(value)}, in {unit_text(value.powers)}"
            raise ValueError(f"{given}, which is not {self.dimension.name}; allowed: {self.dimension.allowed()}")
        return float(value)

    def read_object(self, value: Any) -> float:
        """A pint quantity or a zero-dimensional array; nothing else."""
        if callable(getattr(value, "to", None)) and hasattr(value, "magnitude"):
            try:
                return float(value.to(self.dimension.pint_unit).magnitude)
            except Exception as error:  # pint's own error class, without importing pint
                raise ValueError(f"given {shown(value)}, which is not {self.dimension.name} ({error})") from None
        if hasattr(value, "__array__") and np.ndim(value) == 0 and np.asarray(value).dtype.kind in "fiu":
            return float(value)
        what = type(value).__name__
        raise ValueError(f"given {shown(value)} ({what}); allowed: {self.dimension.allowed()}")

    def wrong_unit(self, text: str, unit: str) -> str:
        """The message for a unit of another dimension, and the units that are allowed."""
        allowed = f"allowed: {self.dimension.allowed()}"
        if not unit:
            return f"given {shown(text)}, a string without a unit; {allowed}"
        if not self.dimension.unit:
            return f"given {shown(text)}, but this number has no unit; {allowed}"
        for other in DIMENSIONS:
            if unit in other.exponents or unit in other.factors:
                given = f"given {shown(text)}, but {unit} is the unit of {other.name}"
                return f"{given}, not {self.dimension.name}; {allowed}"
        known = {name.lower(): name for name in (*self.dimension.exponents, *self.dimension.factors)}
        near = difflib.get_close_matches(unit.lower(), known, n=1)
        hint = f" (did you mean {known[near[0]]}?)" if near else ""
        return f"given {shown(text)} with the unknown unit {unit[:20]!r}{hint}; {allowed}"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": ["number", "string"], "description": self.dimension.allowed()}


@dataclass(frozen=True)
class ComplexQuantity(Quantity):
    """Annotation of a complex field: a complex number, [real part, imaginary part], or a real number."""

    def read(self, value: Any) -> complex:  # type: ignore[override]
        """The value in SI; ValueError says what was given and what is allowed."""
        if isinstance(value, (complex, np.complexfloating)):
            value = [value.real, value.imag]
        if not isinstance(value, (list, tuple)):
            return complex(super().read(value))
        if len(value) != 2:
            raise ValueError(f"given {shown(value)}; allowed: [real part, imaginary part], or a real number")
        return complex(*(super(ComplexQuantity, self).read(part) for part in value))


@dataclass(frozen=True)
class AlongAxes(Quantity):
    """Annotation of a constant of a medium: one number, or three, along the axes x, y and z of the grid."""

    least: float = 0.0
    most: float = math.inf

    def read(self, value: Any) -> float | tuple[float, float, float]:  # type: ignore[override]
        """The value, or three; of three equal ones the one. ValueError says what was given and what is allowed."""
        value = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(value, (list, tuple)):
            return self._within(value)
        if len(value) != 3 or any(isinstance(each, (list, tuple)) for each in value):
            raise ValueError(
                f"given {shown(value)}; allowed: one number, or three, along x, y and z of the grid. Tensors with "
                "other entries are not possible: turn the model until the medium's axes are those of the grid"
            )
        along = tuple(self._within(each) for each in value)
        return along[0] if along[0] == along[1] == along[2] else along  # type: ignore[return-value]

    def _within(self, value: Any) -> float:
        number = super().read(value)
        if not self.least <= number <= self.most:
            raise ValueError(f"given {shown(value)}; allowed: {self.least:g} to {self.most:g}")
        return number

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        one = super().__get_pydantic_json_schema__(schema, handler)
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 3, "maxItems": 3}]}


if TYPE_CHECKING:
    Value = TypeVar("Value")
    Read: TypeAlias = Value | Any  # a field holds a Value, and may be given as text with a unit, a list, an array
    Several = Sequence[Value]
else:

    class Read:
        """`Read[X]`: an X."""

        def __class_getitem__(cls, kind: Any) -> Any:
            return kind

    class Several:
        """`Several[X]`: a tuple of X."""

        def __class_getitem__(cls, kind: Any) -> Any:
            return tuple[kind, ...]


def read_one(label: str, value: Any, quantity: Quantity) -> float:
    """A value in SI, given as a number or as text with a unit. Error: `ModelError`."""
    unmasked(label, value)
    try:
        return quantity.read(value)
    except ValueError as error:
        raise ModelError(f"{label}: {error}") from None


def read_row(label: str, values: Any, quantity: Quantity) -> np.ndarray:
    """One or several values in SI, (n,), given as numbers, as texts with units, or as an array. Error: `ModelError`."""
    unmasked(label, values)
    if isinstance(values, range) or (hasattr(values, "__array__") and not hasattr(values, "magnitude")):
        values = np.asarray(values)
    return np.array([read_one(label, each, quantity) for each in several(values)], dtype=float)


def read_angles(name: str, angles: Any) -> np.ndarray:
    """One or several angles in rad, (n,), given in rad or as "30 deg". Error: `ModelError`, of bare degrees too."""
    found = read_row(name, angles, Quantity(ANGLE))
    refuse_degrees(name, float(np.abs(found).max(initial=0.0)))
    return found


def refuse_degrees(name: str, angle: float, largest: float = 2 * math.pi) -> None:
    """Error: `ModelError` for an angle (rad) larger than any has to be, as degrees taken for radians are."""
    if abs(angle) > largest * (1 + 1e-9):
        raise ModelError(
            f"{name} = {angle:.6g} rad lies beyond {largest:.6g} rad; angles are in rad, for degrees write "
            f'"{angle:.6g} deg" or use numpy.radians'
        )


def three(value: Any) -> Any:
    """A position or three spacings: a sequence of exactly three."""
    if isinstance(value, np.ndarray):
        value = tuple(value.tolist()) if value.ndim == 1 else value
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"needs three values, one each for x, y and z, given {shown(value)}")
    if len(value) != 3:
        raise ValueError(f"needs three values, one each for x, y and z, given {len(value)}: {shown(value)}")
    return value


def file_name(value: Any) -> Any:
    """The name of a file, given as text or as a path."""
    return os.fspath(value) if isinstance(value, os.PathLike) else value


FileName = Annotated[Read[str], BeforeValidator(file_name)]


def several(value: Any) -> Any:
    """A list of values; one value alone counts as a list of one."""
    if isinstance(value, np.ndarray):
        return tuple(np.atleast_1d(value).tolist()) if value.ndim < 2 else value
    return value if isinstance(value, (list, tuple)) else (value,)


def not_bool(value: Any) -> Any:
    """Whole numbers: Python counts True as 1, a model must not; 4.0 and NumPy's integers are whole."""
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"given {shown(value)}; allowed: a whole number")
    if isinstance(value, Computed):
        if not value.suits(""):
            raise ValueError(f"given {shown(value)}, in {unit_text(value.powers)}; allowed: a whole number")
        value = near_whole(value)
    if not abs(value) < 2**53:
        raise ValueError(f"given {shown(value)}; allowed: a whole number below 2**53")
    if value != int(value):
        raise ValueError(f"given {shown(value)}; allowed: a whole number")
    return int(value)


def readings(dimension: Dimension, values: Any, label: str) -> np.ndarray:
    """The values in SI of numbers, texts with a unit, or lists of both, as an array. Error: ModelError."""
    quantity = Quantity(dimension)
    try:
        if isinstance(values, str):
            values = quantity.read(values)
        elif isinstance(values, (list, tuple)):
            values = [quantity.read(each) if isinstance(each, str) else each for each in values]
        return np.asarray(values, dtype=float)
    except TypeError:
        raise ModelError(f"{label}: given {shown(values)}; allowed: {dimension.allowed()}") from None
    except ValueError as error:
        raise ModelError(f"{label}: {error}") from None


Number = Annotated[Read[float], Quantity(NUMBER)]
PositiveNumber = Annotated[Read[float], Quantity(NUMBER, "positive")]
NonNegativeNumber = Annotated[Read[float], Quantity(NUMBER, "non-negative")]
Length = Annotated[Read[float], Quantity(LENGTH)]
PositiveLength = Annotated[Read[float], Quantity(LENGTH, "positive")]
NonNegativeLength = Annotated[Read[float], Quantity(LENGTH, "non-negative")]
Frequency = Annotated[Read[float], Quantity(FREQUENCY, "non-negative")]
PositiveFrequency = Annotated[Read[float], Quantity(FREQUENCY, "positive")]
Time = Annotated[Read[float], Quantity(TIME)]
PositiveTime = Annotated[Read[float], Quantity(TIME, "positive")]
NonNegativeTime = Annotated[Read[float], Quantity(TIME, "non-negative")]
Resistance = Annotated[Read[float], Quantity(RESISTANCE, "non-negative")]
PositiveResistance = Annotated[Read[float], Quantity(RESISTANCE, "positive")]
Inductance = Annotated[Read[float], Quantity(INDUCTANCE, "non-negative")]
PositiveInductance = Annotated[Read[float], Quantity(INDUCTANCE, "positive")]
Capacitance = Annotated[Read[float], Quantity(CAPACITANCE, "non-negative")]
PositiveCapacitance = Annotated[Read[float], Quantity(CAPACITANCE, "positive")]
Current = Annotated[Read[float], Quantity(CURRENT)]
Voltage = Annotated[Read[float], Quantity(VOLTAGE)]
Conductivity = Annotated[Read[float], Quantity(CONDUCTIVITY, "non-negative")]
PositiveConductivity = Annotated[Read[float], Quantity(CONDUCTIVITY, "positive")]
MagneticConductivity = Annotated[Read[float], Quantity(MAGNETIC_CONDUCTIVITY, "non-negative")]
CurrentMoment = Annotated[Read[float], Quantity(CURRENT_MOMENT)]
VoltageMoment = Annotated[Read[float], Quantity(VOLTAGE_MOMENT)]
SheetCurrent = Annotated[Read[float], Quantity(SHEET_CURRENT)]
ElectricField = Annotated[Read[float], Quantity(ELECTRIC_FIELD)]
Angle = Annotated[Read[float], Quantity(ANGLE)]
NonNegativeRate = Annotated[Read[float], Quantity(RATE, "non-negative")]
ComplexRate = Annotated[Read[complex], ComplexQuantity(RATE)]
WaveNumber = Annotated[Read[float], Quantity(WAVE_NUMBER)]

Whole = Annotated[int, BeforeValidator(not_bool)]  # add pydantic.Field(ge=..., le=...) where it is used
Position = Annotated[Read[tuple[Length, Length, Length]], BeforeValidator(three)]
Spacing = Annotated[Read[tuple[PositiveLength, PositiveLength, PositiveLength]], BeforeValidator(three)]
Lengths = Annotated[Read[tuple[Length, ...]], BeforeValidator(several)]
Frequencies = Annotated[Read[tuple[PositiveFrequency, ...]], BeforeValidator(several)]
Times = Annotated[Read[tuple[Time, ...]], BeforeValidator(several)]
Angles = Annotated[Read[tuple[Angle, ...]], BeforeValidator(several)]
