"""Expressions of model files, `"= width / 2 + 1 mm"`: a grammar of their own on Python's syntax trees, without `eval`.

    expression = number | number unit | name | -expression | expression + - * / // % ** expression
               | function(expression, ...) | (expression)

Each value carries its dimension: lengths add to lengths, numbers to angles, and an angle's sine is a number. `floor`,
`ceil`, `//` and `%` take a quotient that differs from a whole number by rounding alone (16 units in the last place) for
that number.
"""

from __future__ import annotations

import ast
import difflib
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from nearfield.entry.constants import (
    VACUUM_IMPEDANCE,
    VACUUM_PERMEABILITY,
    VACUUM_PERMITTIVITY,
    VACUUM_SPEED,
)
from nearfield.entry.dimensions import NONE, RADIAN, Powers, Value, near_whole, powers_of, product, unit_text
from nearfield.entry.quantities import DIMENSIONS, NUMBER_AND_UNIT, Dimension, Quantity, shown

LONGEST = 500  # characters of an expression
MARK = "="  # opens an expression in a text
UNITS = {unit: kind for kind in DIMENSIONS for unit in (*kind.exponents, *kind.factors) if not unit.startswith("1/")}
ANY_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
WITH_UNIT = re.compile(rf"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*(?:{ANY_UNIT}))(?![\w(])")
CONSTANTS = {
    "pi": Value(math.pi),
    "c0": Value(VACUUM_SPEED, powers_of("m/s")),
    "eps0": Value(VACUUM_PERMITTIVITY, powers_of("F/m")),
    "mu0": Value(VACUUM_PERMEABILITY, powers_of("H/m")),
    "eta0": Value(VACUUM_IMPEDANCE, powers_of("ohm")),
}


def whole_quotient(left: float, right: float) -> float:
    """How many times right goes into left, rounded down."""
    return float(math.floor(near_whole(left / right)))


def remainder(left: float, right: float) -> float:
    """What `whole_quotient` leaves; 0 where it leaves rounding alone."""
    return 0.0 if near_whole(left / right).is_integer() else left % right


OF_NUMBERS: dict[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "log10")},
    "floor": lambda number: math.floor(near_whole(number)),
    "ceil": lambda number: math.ceil(near_whole(number)),
    "round": round,
}
OF_ONE_DIMENSION: dict[str, Callable[..., float]] = {"abs": abs, "min": min, "max": max, "hypot": math.hypot}
ANGLES: dict[str, Callable[..., float]] = {"atan2": math.atan2}
TAKE_ANGLES = ("sin", "cos", "tan", "exp", "log", "log10")
FUNCTIONS = ("sqrt", *OF_NUMBERS, *OF_ONE_DIMENSION, *ANGLES)
OPERATORS: dict[type[ast.operator], tuple[str, Callable[[float, float], float]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", whole_quotient),
    ast.Mod: ("%", remainder),
    ast.Pow: ("**", operator.pow),
}
ALLOWED = f"+ - * / // % **, brackets, numbers with or without a unit, {', '.join((*FUNCTIONS, *CONSTANTS))}"


class ExpressionError(ValueError):
    """What is wrong with an expression, in words."""


def is_expression(value: Any) -> bool:
    """Whether a value of a model file is an expression."""
    return isinstance(value, str) and value.lstrip().startswith(MARK)


def typed(text: str) -> Value:
    """A number with or without a unit of any dimension: "15.9 mm", "3". Error: ExpressionError."""
    match, kind = NUMBER_AND_UNIT.fullmatch(text) if len(text) < 200 else None, _kind(text)
    try:
        if match is None or (match.group(3) and kind is None):
            raise ValueError
        if kind is None:
            return Value(finite(float(text)))
        return Value(finite(Quantity(kind).read_text(text)), powers_of(kind.unit))
    except (ValueError, OverflowError):
        raise ExpressionError(
            f'given {shown(text)}; allowed: a finite number with or without a unit, such as "15.9 mm", 4.4 or "2 GHz"'
        ) from None


def si_unit(given: Any) -> str:
    """The SI unit of a text with a unit, as `typed` reads it: "Hz" of "2 GHz"; "" of other texts and of numbers."""
    kind = _kind(given) if isinstance(given, str) else None
    return kind.unit if kind else ""


def _kind(text: str) -> Dimension | None:
    """The dimension whose unit stands after the number of a text."""
    match = NUMBER_AND_UNIT.fullmatch(text) if len(text) < 200 else None
    unit = match.group(3) if match else ""
    return next((kind for kind in DIMENSIONS if unit in kind.exponents or unit in kind.factors), None)


def finite(number: float) -> float:
    """The number. Error: ExpressionError for infinity and what is no number."""
    if not math.isfinite(number):
        raise ExpressionError("the value is not finite")
    return number


def evaluate(text: str, known: Callable[[str], Value], names: Mapping[str, Any]) -> Value:
    """The value of an expression with its `=`; `known` gives a parameter's value, `names` holds all of them.

    Error: ExpressionError, in words, without the expression itself.
    """
    body = text.lstrip().removeprefix(MARK).strip()
    if len(body) > LONGEST:
        raise ExpressionError(f"has {len(body)} characters; allowed are {LONGEST}")
    found: list[Value] = []

    def taken(match: re.Match[str]) -> str:
        found.append(typed(match.group(1)))
        return f"_{len(found) - 1}"

    try:
        tree = ast.parse(WITH_UNIT.sub(taken, body), mode="eval").body
        return Reader(known, names, found).value(tree)
    except (SyntaxError, RecursionError, MemoryError, ValueError, OverflowError, ZeroDivisionError) as error:
        if isinstance(error, ExpressionError):
            raise
        what = f" ({error})" if isinstance(error, (ArithmeticError, ValueError)) else ""
        raise ExpressionError(f"cannot be worked out{what}; allowed: {ALLOWED}, and parameters") from None


class Reader:
    """Values of syntax trees, with the parameters and the numbers with units that they name."""

    def __init__(self, known: Callable[[str], Value], names: Mapping[str, Any], with_units: list[Value]) -> None:
        self.known, self.names, self.with_units = known, names, with_units

    def value(self, node: ast.expr) -> Value:
        """The value of a node; ExpressionError for what the grammar lacks."""
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as number):
                return Value(finite(float(number)))
            case ast.Name(id=name):
                return self.named(name)
            case ast.UnaryOp(op=ast.UAdd() | ast.USub() as sign, operand=operand):
                inner = self.value(operand)
                return inner if isinstance(sign, ast.UAdd) else Value(-inner.number, inner.powers)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATORS:
                return combined(type(sign), self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
                return called(name, [self.value(argument) for argument in arguments])
            case ast.Call(func=ast.Name(id=name)):
                raise ExpressionError(f"unknown function {name}; allowed: {', '.join(FUNCTIONS)}")
        raise ExpressionError(f"has what expressions do not know; allowed: {ALLOWED}, and parameters")

    def named(self, name: str) -> Value:
        """A parameter, a constant, or a number with its unit."""
        if name.startswith("_"):
            number = int(name[1:]) if name[1:].isdecimal() else len(self.with_units)
            if number < len(self.with_units):
                return self.with_units[number]
        elif name in self.names:
            return self.known(name)
        elif name in CONSTANTS:
            return CONSTANTS[name]
        raise ExpressionError(unknown_name(name, self.names))


def unknown_name(name: str, names: Mapping[str, Any]) -> str:
    """The message for a name that is no parameter."""
    near = difflib.get_close_matches(name, [*names, *CONSTANTS, *FUNCTIONS], n=1)
    hint = f"; did you mean {near[0]}?" if near else "; define it under [parameters]."
    return f"unknown name {shown(name)}{hint} Known: {', '.join(names) or 'no parameter'}"


def combined(kind: type[ast.operator], left: Value, right: Value) -> Value:
    """Left and right under an operator. Error: ExpressionError for dimensions that do not go together."""
    sign, work = OPERATORS[kind]
    if kind is ast.Pow:
        if right.powers != NONE:
            raise ExpressionError(f"an exponent has no unit, given one in {unit_text(right.powers)}")
        number = work(left.number, right.number)
        if isinstance(number, complex):
            raise ExpressionError(f"{left.number:g} ** {right.number:g} is complex")
        return Value(finite(number), product(NONE, left.powers, right.number))
    number = finite(work(left.number, right.number))
    if kind in (ast.Add, ast.Sub, ast.Mod):
        return Value(number, one_dimension(sign, [left, right]))
    return Value(number, product(left.powers, right.powers, 1.0 if kind is ast.Mult else -1.0))


def one_dimension(what: str, values: list[Value]) -> Powers:
    """The dimension that values share; zero has any, and numbers are angles beside one. Error: ExpressionError."""
    kinds = dict.fromkeys(value.powers for value in values if value.number != 0.0 or value.powers != NONE)
    if set(kinds) == {NONE, RADIAN}:
        return RADIAN
    if len(kinds) > 1:
        units = " and ".join(unit_text(kind) for kind in kinds)
        raise ExpressionError(f"{what} takes values of one unit, given {units}; give every number its unit")
    return next(iter(kinds), NONE)


def called(name: str, values: list[Value]) -> Value:
    """A function of values. Error: ExpressionError for dimensions that it does not take."""
    numbers, powers = [value.number for value in values], [value.powers for value in values]
    try:
        if name == "sqrt":
            (inner,) = values
            return Value(math.sqrt(inner.number), product(NONE, inner.powers, 0.5))
        if name in OF_NUMBERS:
            allowed = (NONE, RADIAN) if name in TAKE_ANGLES else (NONE,)
            if any(power not in allowed for power in powers):
                given = ", ".join(unit_text(power) for power in powers)
                what = "a number or an angle" if RADIAN in allowed else "a number"
                raise ExpressionError(f"{name} takes {what}, given {given}; divide by a unit's value")
            return Value(finite(float(OF_NUMBERS[name](*numbers))))
        shared = one_dimension(name, values)
        if name in ANGLES:
            return Value(ANGLES[name](*numbers))
        return Value(finite(float(OF_ONE_DIMENSION[name](*numbers))), shared)
    except TypeError:
        raise ExpressionError(f"{name} does not take {len(values)} values") from None
