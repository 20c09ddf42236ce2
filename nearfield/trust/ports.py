"""Passivity, reciprocity, and what the terminations of other ports send back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nearfield.analysis.guided_record import line_of
from nearfield.analysis.sparameters import RETURNED
from nearfield.entry.levels import decibels
from nearfield.entry.wording import quantity
from nearfield.records.records import RunRecord
from nearfield.trust.balance import port_balance
from nearfield.trust.entries import Recorded, Trust, judged

ACTIVE = 1.01, 1.02  # sqrt(power out over power in): 1 % for the line's own dispersion, 2 % for a signal cut off
UNEQUAL = 0.01, 0.02  # |Sij - Sji|
SPOILED = 0.01, 0.05  # of the wave sent in: the error of S as b/a of one excitation
DECAYS = 1e-6  # of a wave in a cell: less is rounding of one that travels
SILENT = 1e-3  # below this part of the wave sent in the other ports are not worth a warning


def port_trust(result: Recorded) -> Iterator[Trust]:
    """Entries from the S-parameters; none without ports."""
    variables = result.record.sparameters
    if not variables:
        return
    matrix, frequency = variables["sparameters"].array, variables["frequency"].array
    to, source = ([str(name) for name in variables[dim].array] for dim in ("to", "source"))
    carries = carrying(result.record, to, frequency)
    outgoing = _outgoing(result, matrix, frequency, to, source, carries)
    for column, name in enumerate(source):
        if not carries[:, column].any():
            continue
        largest, at = largest_finite(np.sqrt(outgoing[:, column]), frequency)
        text = f"largest sqrt(power out over power in) over the band{at}; a passive structure has at most 1"
        if name in result.record.excitations or np.isfinite(largest):
            yield judged(f"passivity, {name} driven", largest, *ACTIVE, text)
    driven = [name for name in source if name in to and np.isfinite(matrix[:, :, source.index(name)]).any()]
    if len(driven) > 1:
        rows, columns = [to.index(name) for name in driven], [source.index(name) for name in driven]
        both = carries[:, rows, None] & carries[:, None, columns]
        square = np.where(both, matrix[:, rows][:, :, columns], np.nan)
        with np.errstate(invalid="ignore"):
            largest, at = largest_finite(np.abs(square - np.swapaxes(square, 1, 2)), frequency)
        text = f"largest |Sij - Sji| over the band{at}; media without magnetisation are reciprocal"
        yield judged("reciprocity", largest, *UNEQUAL, text)
    for name, total, _ in _returned(result.record):
        text = "of the wave sent in at most, by which S as b/a of this excitation errs; drive all ports for less"
        yield judged(f"waves sent back by other ports, {name} driven", total, *SPOILED, text)
    for name in driven:
        if carries[:, source.index(name)].any():
            yield from port_balance(result, name, outgoing[:, source.index(name)])


def carrying(record: RunRecord, ports: list[str], frequency: np.ndarray) -> np.ndarray:
    """Whether a wave of each port carries power by itself, (frequency, port): below the cut-off of its mode it decays
    along the guide, and S of it is a ratio of amplitudes that may exceed 1."""
    found = np.ones((frequency.size, len(ports)), dtype=bool)
    known = {name: port for run in record.excitations.values() for name, port in run.ports.items()}
    for column, name in enumerate(ports):
        line = line_of(known[name]) if name in known else None
        if line is not None:
            found[:, column] = np.abs(np.abs(line.per_cell(frequency)) - 1.0) < DECAYS
    return found


def _outgoing(
    result: Recorded,
    matrix: np.ndarray,
    frequency: np.ndarray,
    to: list[str],
    source: list[str],
    carries: np.ndarray,
) -> np.ndarray:
    """Power out of all ports over that into all ports (frequency, source), NaN below the cut-off of the source: where
    S is b/a of one excitation, what the terminations of other ports send back goes in as well."""
    outgoing: np.ndarray = np.sum(np.abs(matrix) ** 2, axis=1, where=carries[:, :, None])
    outgoing[~carries] = np.nan
    spoiled = {name for name, total, _ in _returned(result.record) if total > SILENT}
    for column, name in enumerate(source):
        if name in spoiled and name in result.record.excitations:
            waves = [result.excitation(name).waves(port, frequency) for port in to]
            powers = ([np.abs(wave[kind].values) ** 2 for wave in waves] for kind in "ab")
            into, out = (np.sum(carries.T * each, axis=0) for each in powers)
            with np.errstate(invalid="ignore", divide="ignore"):
                outgoing[:, column] = np.where(np.isfinite(outgoing[:, column]), out / into, np.nan)
    return outgoing


def _returned(record: RunRecord) -> Iterator[tuple[str, float, list[tuple[str, float]]]]:
    """Where S is b/a of one excitation: its port, what all other ports send back at most, and each of them, sorted."""
    if not record.sparameters or RETURNED not in record.sparameters:
        return
    ports = [str(name) for name in record.sparameters["to"].array]
    for source, column in enumerate(record.sparameters[RETURNED].array.T):
        if np.isfinite(column).all():
            each = [(ports[n], float(column[n])) for n in np.argsort(-column) if n != source and column[n] > 0]
            yield ports[source], float(column.sum()), each


def returned_warnings(record: RunRecord) -> list[str]:
    """A warning for each excitation whose S the terminations of other ports spoil."""
    warnings = []
    for name, total, each in _returned(record):
        if total > SILENT:
            levels = ", ".join(f"{port!r} {level:.2g} ({decibels(level):.0f} dB)" for port, level in each)
            warnings.append(
                f"S-parameters of {name!r} are b/a of this excitation alone, and the terminations of other ports send "
                f"back up to {levels} of the wave sent in: S may be wrong by as much. Leave `excitations` out: with "
                "all ports driven it is removed"
            )
    return warnings


def largest_finite(values: np.ndarray, frequency: np.ndarray) -> tuple[float, str]:
    """The largest finite value of an array (frequency, ...) and words for where it is; NaN and none without any."""
    rows = np.where(np.isfinite(values), values, -np.inf).reshape(len(values), -1)
    at = int(rows.max(axis=1).argmax()) if rows.size else 0
    largest = float(rows[at].max()) if rows.size else -np.inf
    return (largest, f", at {quantity(float(frequency[at]), 'Hz')}") if np.isfinite(largest) else (float("nan"), "")
