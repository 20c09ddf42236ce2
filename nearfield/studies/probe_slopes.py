"""Derivatives of the spectra that probes record, from one further run a probe: a current of its own flows there.

With a moment p where the probe stands, and the ports' sources silent, the sums of `reciprocity` between that run and
the run of a port give what a change of coefficients does to the probe's field E: -dE p; of a magnetic current +dH p.
Ports stay out of it: their sources and resistances do not change. Source: Nikolova, Tam, Bakr, IEEE Trans. MTT 52, 1263
(2004), adjoint-variable method; the sum is exact on the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.spectra import spectrum
from nearfield.entry.errors import ModelError
from nearfield.monitors.paths import Probe
from nearfield.sources.sources import SOURCES, MagneticPointCurrent, PointCurrent
from nearfield.sources.waveforms import GaussianDerivative
from nearfield.studies.whole_run import run_whole

if TYPE_CHECKING:
    from nearfield.coefficients.coefficients import Coefficients
    from nearfield.results import Result
    from nearfield.simulation import Simulation
    from nearfield.studies.sample_fields import SampleFields, Spectra


def probes_of(model: Simulation, names: Sequence[str]) -> list[Probe]:
    """The monitors that these names say. Error: one is not there, or is no probe."""
    there = {monitor.name: monitor for monitor in model.monitors}
    known = {name: monitor for name, monitor in there.items() if isinstance(monitor, Probe)}
    for name in names:
        if name not in known:
            kind = f"a {there[name].kind} monitor" if name in there else "not there"
            raise ModelError(
                f"probes: {name!r} is {kind}; sensitivities follow the field at a point, by monitors Probe (of this "
                f"model: {', '.join(known) or 'none'}), and far fields by far_fields; vary a flux or a plane by `sweep`"
            )
    return [known[name] for name in names]


def adjoint_runs(
    model: Simulation,
    probes: Sequence[Probe],
    fields: SampleFields,
    coefficients: Coefficients,
    frequencies: np.ndarray,
    threads: int | None,
) -> tuple[list[Spectra], np.ndarray]:
    """Spectra of the samples with a current at each probe, and the current's moment, signed, (probe, frequency)."""
    pulse = GaussianDerivative(float(np.mean(frequencies)))
    spectra, moments = [], []
    for probe in probes:
        axis: Any = probe.component[1]
        kind, sign = (PointCurrent, -1.0) if probe.component[0] == "E" else (MagneticPointCurrent, 1.0)
        current = kind(position=probe.position, axis=axis, waveform=pulse, name=probe.name)
        alone = {"sources": (current,), "excitations": (SOURCES,), "monitors": tuple(fields.monitors(frequencies))}
        run = run_whole(model.model_copy(update=alone), threads).excitation(SOURCES)
        spectra.append(fields.read(run, coefficients))
        moments.append(sign * run.source(frequencies))
    return spectra, np.array(moments, complex).reshape(len(probes), frequencies.size)


def probed(result: Result, probes: Sequence[Probe], frequencies: np.ndarray) -> np.ndarray:
    """What probes record in the run of each port for a source of amplitude 1: (probe, frequency, source)."""
    runs = [result.excitation(name) for name in result.ports]
    values = [
        [spectrum(run[probe.name], frequencies).values / run.source(frequencies) for run in runs] for probe in probes
    ]
    found: np.ndarray = np.array(values, complex).reshape(len(probes), len(runs), frequencies.size).swapaxes(1, 2)
    return found


def probe_variables(
    result: Result, probes: Sequence[Probe], frequencies: np.ndarray, slopes: np.ndarray | None = None
) -> dict[str, Any]:
    """The variables of a dataset of `sensitivities`: fields at probes and, where known, their derivatives."""
    dims, units = ("probe", "frequency", "source"), {"units": "V/m or A/m, as of a source of amplitude 1"}
    found: dict[str, Any] = {"field": (dims, probed(result, probes, frequencies), units)}
    if slopes is not None:
        found["field_derivative"] = (("parameter", *dims), slopes)
    return found


def probe_slopes(made: np.ndarray, moments: np.ndarray, result: Result, frequencies: np.ndarray) -> np.ndarray:
    """d of `probed` from the sums (frequency, run, run) of ports' runs, then probes', a unit of the parameter."""
    ports = len(result.ports)
    drive = np.array([result.excitation(name).source(frequencies) for name in result.ports])  # (source, frequency)
    between = np.moveaxis(made[:, ports:, :ports], 1, 0)  # (probe, frequency, source)
    found: np.ndarray = between / moments[:, :, None] / drive.T[None]
    return found
