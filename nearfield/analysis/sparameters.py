"""Scattering parameters of N ports from their recorded voltages and currents, one excitation at a time.

A waveguide port gives the waves of its mode (guided_line.py). The waves of other ports are a = (V + Z I)/(2 sqrt(Z)),
into the structure, and b = (V - Z I)/(2 sqrt(Z)), out of it, with the port's reference impedance Z (ohm, real). When
every port has been excited, S = B A^-1 with one column of A and B for each excitation: reflections of imperfect
terminations cancel. With fewer excitations a column is b/a of its own excitation, as if the other ports were matched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.guided_record import line_of, modal_spectrum
from nearfield.analysis.open_line import OpenLine
from nearfield.analysis.spectra import fourier_integral, frequency_axis, highest_held
from nearfield.analysis.touchstone import touchstone_text
from nearfield.entry.errors import ModelError
from nearfield.entry.whole_file import unwritable, write_whole
from nearfield.records import regions
from nearfield.records.records import RunRecord, Variable, Variables

if TYPE_CHECKING:
    import xarray

RETURNED = "returned_waves"  # variable of S that one excitation of several made
TOUCHSTONE = re.compile(r"\.s(\d+)p", re.IGNORECASE)
APART = 1e-5  # least over largest singular value of incident waves that tell S; rounding of their sums is 1e-6
DRIVE_FLOOR = 1e-3  # -60 dB of the incident wave's peak: below, recordings in single precision say too little


def port_spectra(variables: Variables, frequencies: np.ndarray, prefix: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Spectra of a port's voltage (V s) and current (A s), each from its own times; the power is Re(V conj(I))/2.

    `prefix` "terminal_" takes the voltage and current at the feeding sheet of a microstrip port.
    """
    return (
        modal_spectrum(variables, f"{prefix}voltage", frequencies, fourier_integral),
        modal_spectrum(variables, f"{prefix}current", frequencies, fourier_integral),
    )


def port_waves(
    variables: Variables, frequencies: np.ndarray, impedance: float, excited: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Waves into (a) and out of (b) the structure at a port, in sqrt(W) s: (abs(a)^2 - abs(b)^2)/2 is the power.

    For a waveguide port they are the waves of its mode at its reference plane, whatever the impedance; of an open line
    restated for the impedance, unless that is NaN. `excited`: it is this port that launches a.
    """
    voltage, current = port_spectra(variables, frequencies)
    line = line_of(variables)
    if line is not None:
        a, b = line.waves(voltage, current, frequencies, variables["voltage"].attributes["cells"])
        if not isinstance(line, OpenLine):
            return a, b
        a = a / line.excess(frequencies) if excited else a
        return (a, b) if np.isnan(impedance) else line.restated(a, b, frequencies, impedance)
    scale = 0.5 / np.sqrt(impedance)
    return scale * (voltage + impedance * current), scale * (voltage - impedance * current)


def excited_enough(drive: np.ndarray) -> np.ndarray:
    """The frequencies at which the incident wave, of these magnitudes, says anything."""
    known = np.isfinite(drive)
    return known & (drive > DRIVE_FLOOR * drive.max(initial=0.0, where=known))


def told_apart(incident: np.ndarray, excited: Sequence[int]) -> np.ndarray:
    """The frequencies (n,) at which the waves (frequency, port, excitation) of all excitations determine S.

    Where a circuit passes nothing, as a series capacitor at 0 Hz, all sources make one static field, and S is 0/0.
    """
    columns = np.arange(len(excited))
    finite = np.isfinite(incident).all(axis=(1, 2))
    own = np.abs(incident[:, list(excited), columns])
    found = finite & (own > 0.0).all(axis=1)
    sizes = np.linalg.svd(incident[found] / own[found, None, :], compute_uv=False)
    found[found] = sizes[:, -1] > APART * sizes[:, 0]
    return found | ~finite


def scattering_matrix(incident: np.ndarray, outgoing: np.ndarray, excited: Sequence[int]) -> np.ndarray:
    """S (frequency, to, source) from waves (frequency, port, excitation); `excited` is each excitation's port.

    All ports excited: S = B A^-1. Otherwise S[:, :, source] = b/a_source of its own excitation. Columns of ports that
    were not excited, and frequencies at which an excitation held no energy or A has no inverse, are NaN.
    """
    points, ports, _ = incident.shape
    scattering = np.full((points, ports, ports), complex(np.nan, np.nan))
    valid = np.ones(points, dtype=bool)
    for column, port in enumerate(excited):
        drive = np.abs(incident[:, port, column])
        good = excited_enough(drive)
        valid &= good
        scattering[good, :, port] = outgoing[good, :, column] / incident[good, port, column, None]
    if sorted(excited) == list(range(ports)):
        valid &= told_apart(incident, excited)
        solved = np.linalg.solve(incident[valid].transpose(0, 2, 1), outgoing[valid].transpose(0, 2, 1))
        scattering[valid] = solved.transpose(0, 2, 1)
        scattering[~valid] = np.nan
    return scattering


def returned_waves(incident: np.ndarray, excited: Sequence[int]) -> np.ndarray:
    """Largest abs(a_to/a_source) that the other ports' terminations send into the structure, (to, source).

    S as b/a of one excitation errs by the sum over the other ports of S_to,n a_n/a_source, at most the column's sum.
    NaN in columns of ports that were not excited.
    """
    ports = incident.shape[1]
    returned = np.full((ports, ports), np.nan)
    for column, port in enumerate(excited):
        drive = np.abs(incident[:, port, column])
        good = excited_enough(drive)
        ratio = np.abs(incident[good, :, column]) / drive[good, None]
        returned[:, port] = np.max(np.nan_to_num(ratio), axis=0, initial=0.0)
        returned[port, port] = 0.0
    return returned


def scattering(
    impedances: Mapping[str, float], records: Mapping[str, Mapping[str, Variables]], frequencies: np.ndarray
) -> Variables:
    """The S-parameters of a run as labelled arrays, dims frequency (Hz), to, source.

    `impedances` gives every port's reference impedance (ohm), in the order of the result; `records[excitation][port]`
    the variables that the port's `_collect` returned. Excitations that are no port (`sources`) are passed over. The
    attribute `method` says whether imperfect terminations were removed.
    """
    names = list(impedances)
    excitations = [name for name in records if name in impedances]
    waves = np.zeros((2, len(frequencies), len(names), len(excitations)), dtype=complex)
    for column, excitation in enumerate(excitations):
        for row, name in enumerate(names):
            waves[:, :, row, column] = port_waves(
                records[excitation][name], frequencies, impedances[name], name == excitation
            )
    times = [one["time"].array for run in records.values() for one in run.values()]
    waves[:, np.asarray(frequencies) > min(map(highest_held, times), default=np.inf)] = np.nan
    matrix = scattering_matrix(waves[0], waves[1], [names.index(name) for name in excitations])
    method, sent_back = "S = B A^-1 from all excitations", {}
    if len(excitations) < len(names):
        returned = returned_waves(waves[0], [names.index(name) for name in excitations])
        sent_back = {RETURNED: Variable(("to", "source"), returned, {"units": ""})}
        method = (
            f"b/a of each excitation ({', '.join(excitations)}); the other ports end in their own terminations, which "
            f"send back up to {np.nanmax(returned, initial=0.0):.2g} of the wave sent in"
        )
    return (
        sent_back
        | regions.frequency_axis(frequencies)
        | {
            "to": Variable(("to",), np.array(names), {"units": ""}),
            "source": Variable(("source",), np.array(names), {"units": ""}),
            "sparameters": Variable(("frequency", "to", "source"), matrix, {"units": "", "method": method}),
            "reference_impedance": Variable(("to",), np.array([*impedances.values()], dtype=float), {"units": "ohm"}),
        }
    )


def scattering_variables(
    record: RunRecord, bands: Sequence[tuple[float, float]], impedances: Mapping[str, float], time_step: float
) -> Variables:
    """The S-parameters of a finished run over the band of its excitations, as `scattering` gives them.

    `bands` (Hz) belong to the waveforms of the excited ports, `impedances` (ohm) to all ports, in order. There are 1001
    frequencies from the lowest to the highest useful one, or up to 4001 where a long run resolves more (one over its
    length).
    """
    low, high = min(band[0] for band in bands), max(band[1] for band in bands)
    high = min(high, 0.5 / time_step)
    ports = {name: run.ports for name, run in record.excitations.items()}
    times = [variables["time"].array for run in ports.values() for variables in run.values()]
    resolved = (high - low) * max((float(time[-1]) for time in times if time.size), default=0.0)
    points = 1001 if resolved <= 1000 else 2001 if resolved <= 2000 else 4001
    return scattering(impedances, ports, frequency_axis((low, high), points))


def input_impedance(reflection: Any, impedance: float) -> Any:
    """Impedance (ohm) that a port sees, Z (1 + S)/(1 - S), the other ports ended in their reference impedances.

    >>> input_impedance(0.5, 50.0)
    150.0
    """
    return impedance * (1.0 + reflection) / (1.0 - reflection)


def renormalised(matrix: np.ndarray, given: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """S (..., N, N) with reference impedances `given` (N,) restated for `wanted` (N,), all real, ohm.

    The waves mix as a' = c a + d b, b' = d a + c b with c, d = (Z +- Z')/(2 sqrt(Z Z')) port by port, signs such that
    V and I stay the same; S' = (D + C S)(C + D S)^-1.
    """
    given, wanted = np.asarray(given, dtype=float), np.asarray(wanted, dtype=float)
    root = 2.0 * np.sqrt(given * wanted)
    c, d = np.diag((given + wanted) / root), np.diag((given - wanted) / root)
    return (d + c @ matrix) @ np.linalg.inv(c + d @ matrix)


def write_touchstone(
    path: str | Path, sparameters: xarray.DataArray, impedances: Mapping[str, float] | None = None
) -> Path:
    """Write S-parameters (frequency, to, source) as a Touchstone version 1 file and return its path.

    Real and imaginary parts over Hz. The format knows one reference impedance: where the ports' differ, S is restated
    for 50 ohm, which ports without an entry in `impedances` have. Waves of a guide's mode stay as they are. Ports that
    were not excited are left out (they stay in their terminations, as a comment says), and so are frequencies without
    energy; the others come in rising order. To a name that does not end in .sNp the right ending is added. Its folder
    is made. Error: it cannot be written; its N is not the number of excited ports, so that the file would
    lack columns that its name promises.
    """
    names, excited, frequencies, values = known_part(sparameters)
    path = _touchstone_path(Path(path), names, excited)
    reference = np.array([(impedances or {}).get(names[n], 50.0) for n in excited])
    guided = np.isnan(reference)  # waves of modes have unit power whatever the number in the file
    lumped = reference[~guided]
    common = float(lumped[0]) if lumped.size and np.ptp(lumped) == 0.0 else 50.0
    reference[guided] = common
    if np.ptp(reference):
        values = renormalised(values, reference, np.full(len(excited), common))
    comments = [f"port {number} = {names[n]}" for number, n in enumerate(excited, start=1)]
    comments += [f"the waves of {names[n]} are those of a waveguide's mode" for n, mode in zip(excited, guided) if mode]
    rest = [name for n, name in enumerate(names) if n not in excited]
    comments += [f"{name} was not excited and stays in its own termination" for name in rest]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, touchstone_text(frequencies, values, common, comments).encode("ascii", "replace"))
    except OSError as error:
        raise unwritable(path, error, "path") from None
    return path


def excited_ports(values: np.ndarray) -> list[int]:
    """Numbers of the ports that have a column in S (frequency, to, source)."""
    return [n for n in range(values.shape[1]) if np.isfinite(values[:, n, n]).any()]


def known_part(sparameters: xarray.DataArray) -> tuple[list[str], list[int], np.ndarray, np.ndarray]:
    """Names of all ports, numbers of the excited ones, and the frequencies (Hz, rising, each once) at which they held
    energy, with S (frequency, to, source) of the excited ports there. Error: there is none.
    """
    values = np.asarray(sparameters.transpose("frequency", "to", "source").values)
    excited = excited_ports(values)
    frequencies, first = np.unique(np.asarray(sparameters["frequency"].values, dtype=float), return_index=True)
    values = values[first][:, excited][:, :, excited]
    valid = np.isfinite(values).all(axis=(1, 2))
    if not excited or not valid.any():
        raise ModelError("there is no S-parameter to hand on: no port was excited at a frequency where it held energy")
    return [str(name) for name in sparameters["to"].values], excited, frequencies[valid], values[valid]


def _touchstone_path(path: Path, names: list[str], excited: list[int]) -> Path:
    """The path with .sNp. Error: it has another N than ports were excited."""
    if not path.name:
        raise ModelError(f"given {str(path)!r}, which names no file; give one such as antenna.s1p")
    count = len(excited)
    found = TOUCHSTONE.fullmatch(path.suffix)
    if found is None:
        return path.with_name(f"{path.name}.s{count}p")
    if int(found[1]) != count:
        driven, rest = (", ".join(names[n] for n in part) for part in (excited, set(range(len(names))) - set(excited)))
        why = f"{count} of {len(names)} ports were excited ({driven})"
        other = f"; excite {rest} too (leave `excitations` out) for all {len(names)} columns" if rest else ""
        raise ModelError(
            f"given the file name {path.name}; allowed: {path.stem}.s{count}p, because {why} and a Touchstone file "
            "holds a column for each port that its name counts. "
            f"Write {path.stem}.s{count}p or {path.stem}, to which the ending is added{other}"
        )
    return path
