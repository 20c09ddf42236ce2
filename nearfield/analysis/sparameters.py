"""Scattering parameters of N ports from their recorded voltages and currents, one excitation at a time.

A waveguide port gives the waves of its mode (guided_line.py). Of others,
with a port's reference impedance Z (ohm, real) the waves are a = (V + Z I)/(2 sqrt(Z)), into the structure, and
b = (V - Z I)/(2 sqrt(Z)), out of it. When every port has been excited, S = B A^-1 with one column of A and B for each
excitation: what imperfect terminations send back in cancels. With fewer excitations a column is b/a of its own
excitation, as if the other ports were matched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.guided_record import line_of, modal_spectrum
from nearfield.analysis.spectra import fourier_integral, frequency_axis
from nearfield.analysis.touchstone import touchstone_text
from nearfield.entry.errors import ModelError
from nearfield.entry.whole_file import write_whole
from nearfield.records.records import Variable, Variables

if TYPE_CHECKING:
    import xarray

    from nearfield.records.records import RunRecord

__all__ = [
    "frequency_axis",
    "input_impedance",
    "port_spectra",
    "port_waves",
    "renormalised",
    "scattering",
    "scattering_variables",
    "write_touchstone",
]

DRIVE_FLOOR = 1e-3  # -60 dB of the incident wave's peak: below, recordings in single precision say too little


def port_spectra(variables: Variables, frequencies: np.ndarray, prefix: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Spectra of a port's voltage (V s) and current (A s), each from its own times; the power is Re(V conj(I))/2.

    `prefix` "terminal_" takes those at the feeding sheet of a microstrip port.
    """
    names = f"{prefix}voltage", f"{prefix}current"
    voltage, current = (modal_spectrum(variables, name, frequencies, fourier_integral) for name in names)
    return voltage, current


def port_waves(variables: Variables, frequencies: np.ndarray, impedance: float) -> tuple[np.ndarray, np.ndarray]:
    """Waves into (a) and out of (b) the structure at a port, in sqrt(W) s: abs(a)^2 - abs(b)^2 is Re(V conj(I)).

    Of a waveguide port they are those of its mode at its reference plane, and the impedance is not looked at.
    """
    voltage, current = port_spectra(variables, frequencies)
    line = line_of(variables)
    if line is not None:
        return line.waves(voltage, current, frequencies, variables["voltage"].attributes["cells"])
    scale = 0.5 / np.sqrt(impedance)
    return scale * (voltage + impedance * current), scale * (voltage - impedance * current)


def scattering_matrix(incident: np.ndarray, outgoing: np.ndarray, excited: Sequence[int]) -> np.ndarray:
    """S (frequency, to, source) from waves (frequency, port, excitation); `excited` is each excitation's port.

    All ports excited: S = B A^-1. Otherwise S[:, :, source] = b/a_source of its own excitation. Columns of ports that
    were not excited, and frequencies at which an excitation held no energy, are NaN.
    """
    points, ports, _ = incident.shape
    scattering = np.full((points, ports, ports), complex(np.nan, np.nan))
    valid = np.ones(points, dtype=bool)
    for column, port in enumerate(excited):
        drive = np.abs(incident[:, port, column])
        good = np.isfinite(drive) & (drive > DRIVE_FLOOR * drive.max(initial=0.0))
        valid &= good
        scattering[good, :, port] = outgoing[good, :, column] / incident[good, port, column, None]
    if sorted(excited) == list(range(ports)):
        solved = np.linalg.solve(incident[valid].transpose(0, 2, 1), outgoing[valid].transpose(0, 2, 1))
        scattering[valid] = solved.transpose(0, 2, 1)
        scattering[~valid] = np.nan
    return scattering


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
    shape = (len(frequencies), len(names), len(excitations))
    incident, outgoing = np.zeros(shape, dtype=complex), np.zeros(shape, dtype=complex)
    for column, excitation in enumerate(excitations):
        for row, name in enumerate(names):
            waves = port_waves(records[excitation][name], frequencies, impedances[name])
            incident[:, row, column], outgoing[:, row, column] = waves
    matrix = scattering_matrix(incident, outgoing, [names.index(name) for name in excitations])
    complete = len(excitations) == len(names)
    method = (
        "S = B A^-1 from all excitations"
        if complete
        else (f"b/a of each excitation ({', '.join(excitations)}); the other ports end in their own terminations")
    )
    label = np.array(names)
    return {
        "frequency": Variable(("frequency",), np.asarray(frequencies, dtype=float), {"units": "Hz"}),
        "to": Variable(("to",), label, {"units": ""}),
        "source": Variable(("source",), label.copy(), {"units": ""}),
        "sparameters": Variable(("frequency", "to", "source"), matrix, {"units": "", "method": method}),
        "reference_impedance": Variable(("to",), np.array([*impedances.values()], dtype=float), {"units": "ohm"}),
    }


def scattering_variables(
    record: RunRecord, bands: Sequence[tuple[float, float]], impedances: Mapping[str, float], time_step: float
) -> Variables:
    """The S-parameters of a finished run over the band of its excitations, as `scattering` gives them.

    `bands` (Hz) are those of the waveforms of the excited ports, `impedances` (ohm) those of all ports, in order.

    1001 frequencies from the lowest to the highest useful one of the excited ports' waveforms, or up to 4001 where a
    long run resolves more (one over its length).
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
    for 50 ohm. Waves of a guide's mode stay as they are. Ports that were not excited are left out (they stay in their
    terminations, as a comment says), and so are frequencies without energy. A suffix other than .sNp becomes the
    right one.
    """
    names = [str(name) for name in sparameters["to"].values]
    values = np.asarray(sparameters.transpose("frequency", "to", "source").values)
    frequencies = np.asarray(sparameters["frequency"].values, dtype=float)
    kept = [n for n in range(len(names)) if np.isfinite(values[:, n, n]).any()]
    values = values[:, kept][:, :, kept]
    valid = np.isfinite(values).all(axis=(1, 2))
    if not kept or not valid.any():
        raise ModelError("there is no S-parameter to write: no port was excited at a frequency where it held energy")
    reference = np.array([(impedances or {}).get(names[n], 50.0) for n in kept])
    guided = np.isnan(reference)  # waves of modes have unit power whatever the number in the file
    lumped = reference[~guided]
    common = float(lumped[0]) if lumped.size and np.ptp(lumped) == 0.0 else 50.0
    reference[guided] = common
    if np.ptp(reference):
        values = values.copy()
        values[valid] = renormalised(values[valid], reference, np.full(len(kept), common))
    comments = [f"port {number} = {names[n]}" for number, n in enumerate(kept, start=1)]
    comments += [f"the waves of {names[n]} are those of a waveguide's mode" for n, mode in zip(kept, guided) if mode]
    left = [name for n, name in enumerate(names) if n not in kept]
    comments += [f"{name} was not excited and stays in its own termination" for name in left]
    path = Path(path).with_suffix(f".s{len(kept)}p")
    text = touchstone_text(frequencies[valid], values[valid], common, comments)
    write_whole(path, text.encode("ascii", "replace"))
    return path
