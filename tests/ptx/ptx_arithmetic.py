"""What instructions of PTX make of values: arrays with an entry a thread in, an array out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

NUMBERS: dict[str, type] = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "s16": np.int16,
    "u16": np.uint16,
    "b16": np.uint16,
    "s32": np.int32,
    "u32": np.uint32,
    "b32": np.uint32,
    "s64": np.int64,
    "u64": np.uint64,
    "b64": np.uint64,
    "pred": np.bool_,
}
WIDE: dict[type, type] = {np.int32: np.int64, np.uint32: np.uint64}
SMALLEST = np.finfo(np.float32).tiny  # normal number

Values = list[np.ndarray]


def flushed(value: np.ndarray) -> np.ndarray:
    """Denormals as zeros of their sign."""
    return np.where(np.abs(value) < SMALLEST, np.copysign(np.float32(0), value), value)


def quotient(values: Values) -> np.ndarray:
    """Whole numbers, towards zero; divisors of 0 give anything."""
    a, b = values
    b = np.where(b == 0, 1, b)
    down = a // b
    return down + ((down * b != a) & ((a < 0) != (b < 0)))


def remainder(values: Values) -> np.ndarray:
    a, b = values
    return a - quotient(values) * np.where(b == 0, 1, b)


def shifted(operation: Callable[..., np.ndarray]) -> Callable[[Values], np.ndarray]:
    """By the whole width or more nothing is left but the sign."""

    def make(values: Values) -> np.ndarray:
        value, by = values[0], values[1].astype(np.uint64) & 0xFFFFFFFF
        width = 8 * value.dtype.itemsize
        least = operation(value, np.asarray(width - 1, value.dtype))
        least = least if operation is np.right_shift and value.dtype.kind == "i" else np.zeros_like(value)
        return np.where(by < width, operation(value, np.minimum(by, width - 1).astype(value.dtype)), least)

    return make


def of_two(operation: Callable[..., np.ndarray]) -> Callable[[Values], np.ndarray]:
    return lambda values: operation(values[0], values[1])


ARITHMETIC: dict[str, Callable[[Values], np.ndarray]] = {
    "add": of_two(np.add),
    "sub": of_two(np.subtract),
    "mul": of_two(np.multiply),
    "mad": lambda v: v[0] * v[1] + v[2],
    "div": quotient,
    "rem": remainder,
    "min": of_two(np.fmin),  # beside NaN the other one
    "max": of_two(np.fmax),
    "and": of_two(np.bitwise_and),
    "or": of_two(np.bitwise_or),
    "xor": of_two(np.bitwise_xor),
    "not": lambda v: np.invert(v[0]),
    "neg": lambda v: np.negative(v[0]),
    "abs": lambda v: np.abs(v[0]),
    "shl": shifted(np.left_shift),
    "shr": shifted(np.right_shift),
    "mov": lambda v: v[0],
    "cvta": lambda v: v[0],
}
COMPARED: dict[str, Callable[..., np.ndarray]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def compared(relation: str, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Of numbers with a point, "ne" is false beside NaN, and "neu" true."""
    if one.dtype.kind != "f":
        return COMPARED[relation](one, other)
    apart = np.isnan(one) | np.isnan(other)
    if relation.endswith("u"):
        return COMPARED[relation[:-1]](one, other) | apart
    return COMPARED[relation](one, other) & ~apart


def made(parts: tuple[str, ...], values: Values) -> np.ndarray:
    """What an instruction such as ("add", "rn", "ftz", "f32") makes of its values, which have its type."""
    operation, kind = parts[0], NUMBERS[parts[-1]]
    whole = kind not in (np.float32, np.float64)
    if "ftz" in parts:
        values = [flushed(value) if value.dtype == np.float32 else value for value in values]
    with np.errstate(all="ignore"):
        if operation == "setp" and len(values) == 2:
            return compared(parts[1], *values)
        if operation == "selp":
            return np.where(values[2], values[0], values[1])
        if operation == "cvt" and (whole or NUMBERS[parts[-2]] in (np.float16, np.float32, np.float64)):
            value = values[0].astype(NUMBERS[parts[-2]])
        elif "wide" in parts:
            wide = [value.astype(WIDE[kind]) for value in values[:2]]
            value = ARITHMETIC[operation]([*wide, *values[2:]])
        elif operation in ARITHMETIC and (whole or operation not in ("div", "rem")):
            value = ARITHMETIC[operation](values)
        else:
            raise NotImplementedError(".".join(parts))
    return flushed(value) if "ftz" in parts and value.dtype == np.float32 else value
