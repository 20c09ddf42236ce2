"""Tables of measured media as text files: a line of column names with units, then numbers."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.entry.constants import VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.entry.messages import shown
from nearfield.entry.quantities import FREQUENCY, LENGTH

COLUMNS = {
    "frequency": ("frequency", "freq", "f"),
    "wavelength": ("wavelength", "lambda", "wl"),
    "n": ("n", "index"),
    "k": ("k", "kappa"),
    "eps_real": ("eps_real", "permittivity", "eps", "eps_r", "epsilon", "dk"),
    "eps_imag": ("eps_imag", "loss_factor"),
    "loss_tangent": ("loss_tangent", "tan_delta", "df"),
    "conductivity": ("conductivity", "sigma"),
}
KNOWN = (
    "frequency or wavelength with a unit, as frequency_GHz or 'wavelength (um)'; then n and k, or eps_real with "
    "one of eps_imag, loss_tangent, conductivity (S/m)"
)
LARGEST_FILE = 2**22  # bytes
UNITS = {"frequency": FREQUENCY, "wavelength": LENGTH}


def read_table(path: str | Path) -> dict[str, Any]:
    """The arguments `frequency`, and `n` and `k` or `permittivity`, of `fit_medium`, from a file. Error: ModelError."""
    path = Path(path)
    lines = [line.split("#")[0].strip() for line in text_of(path).splitlines()]
    rows = {number: split(line) for number, line in enumerate(lines, 1) if line}
    head = rows.pop(min(rows)) if rows else []
    if not head or any(is_number(cell) for cell in head):
        raise ModelError(f"{path}: the first line names no columns; allowed: {KNOWN}")
    columns = [column(path, cell) for cell in head]
    names = [name for name, _ in columns]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ModelError(f"{path}: two columns hold the {twice[0]}; keep one")
    for number, row in rows.items():
        if len(row) != len(columns) or not all(is_number(cell) for cell in row):
            raise ModelError(
                f"{path}: line {number}, {shown(' '.join(row))}, is not {len(columns)} numbers, one for each of the "
                f"columns {', '.join(head)}"
            )
    values = np.array([[float(cell) for cell in row] for row in rows.values()]).reshape(-1, len(columns))
    return arguments(path, {name: factor * values[:, n] for n, (name, factor) in enumerate(columns)})


def text_of(path: Path) -> str:
    """The content of a text file."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device might never end
            kind = "a folder" if path.is_dir() else "no ordinary file"
            raise ModelError(f"{path} is {kind}; give a table as text: column names, then numbers")
        if path.stat().st_size > LARGEST_FILE:
            raise ModelError(f"{path} has {path.stat().st_size / 2**20:.0f} MiB; a table has a few thousand rows")
        return path.read_text(encoding="utf-8-sig")
    except ModelError:
        raise
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}. Give a readable table as text") from None
    except ValueError:  # not UTF-8
        raise ModelError(f"{path} is not text in UTF-8; give a table: column names, then numbers") from None


def arguments(path: Path, found: dict[str, np.ndarray]) -> dict[str, Any]:
    """The columns as `fit_medium` takes them."""
    if ("frequency" in found) == ("wavelength" in found):
        raise ModelError(f"{path}: needs one column of frequency or wavelength; allowed: {KNOWN}")
    if "wavelength" in found:
        with np.errstate(divide="ignore"):
            axis = VACUUM_SPEED / found.pop("wavelength")
    else:
        axis = found.pop("frequency")
    if "n" in found and not set(found) - {"n", "k"}:
        return {"frequency": axis, **found}
    losses = set(found) - {"eps_real"}
    if "eps_real" not in found or "n" in found or "k" in found or len(losses) > 1:
        raise ModelError(f"{path}: the columns {', '.join(found) or 'given'} make no permittivity; allowed: {KNOWN}")
    real = found["eps_real"]
    loss = found.get("eps_imag", 0.0 * real)
    if "loss_tangent" in found:
        loss = real * found["loss_tangent"]
    if "conductivity" in found:
        loss = found["conductivity"] / (2 * np.pi * axis * VACUUM_PERMITTIVITY)
    for name in losses - {"eps_imag"}:
        if (found[name] < 0).any():
            raise ModelError(f"{path}: {name} is below 0 somewhere; a passive medium only absorbs")
    if "loss_tangent" in losses and (loss < 0).any():
        raise ModelError(
            f"{path}: eps_real is below 0 somewhere, where a loss tangent says no loss; give the column eps_imag"
        )
    return {"frequency": axis, "permittivity": real - 1j * loss}


def split(row: str) -> list[str]:
    """The cells of a line: parted by commas, semicolons or tabs where there are any, by blanks otherwise."""
    parts = re.split(r"[,;\t]", row) if re.search(r"[,;\t]", row) else row.split()
    return [part.strip().strip('"') for part in parts]


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number."""
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def column(path: Path, cell: str) -> tuple[str, float]:
    """Name of a column, and the factor that brings it to SI."""
    text = re.sub(r"[\s_(\[\])]+", "_", cell.strip()).strip("_")
    for name, spellings in COLUMNS.items():
        if text.lower() in spellings and name in UNITS:
            other = f"{cell}_{'GHz' if name == 'frequency' else 'um'}"
            raise ModelError(f"{path}: column {cell!r} has no unit; write {other}, or another of {UNITS[name].units()}")
        if text.lower() in spellings:
            return name, 1.0
        head, _, unit = text.rpartition("_")
        if name in UNITS and head.lower() in spellings:
            powers = {known: 10.0**exponent for known, exponent in UNITS[name].exponents.items()}
            for known, factor in (powers | dict(UNITS[name].factors)).items():
                if known.lower() == unit.lower():
                    return name, factor
            raise ModelError(f"{path}: column {cell!r} has the unit {unit!r}; allowed: {UNITS[name].units()}")
        if name == "conductivity" and text.lower() in ("conductivity_s/m", "sigma_s/m"):
            return name, 1.0
    raise ModelError(f"{path}: no column is called {shown(cell)}; allowed: {KNOWN}")
