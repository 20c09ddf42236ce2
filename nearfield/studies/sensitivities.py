"""Derivatives of S-parameters with respect to sizes and media, from the runs that drive the ports and no others."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.faces import time_factor
from nearfield.analysis.network import frequency_list
from nearfield.analysis.sparameters import excited_enough, told_apart
from nearfield.analysis.spectra import frequency_axis
from nearfield.discretization.discretization import Discretization
from nearfield.discretization.excitations import port_waveform
from nearfield.entry.errors import ModelError
from nearfield.studies.impossible import refuse_all_weak, weak
from nearfield.studies.pattern_slopes import far_field_variables, recorded_at, towards_of, wave_runs
from nearfield.studies.probe_slopes import adjoint_runs, probe_slopes, probe_variables, probes_of
from nearfield.studies.reciprocity import Exchange
from nearfield.studies.round_rims import said_of_round_rims
from nearfield.studies.sample_fields import SampleFields
from nearfield.studies.touched import Models, Touched, neighbours, sides_of, touched
from nearfield.studies.varied import Varied, alike, making, varied
from nearfield.studies.whole_run import run_whole
from nearfield.trust.cut_off import PREFIX, record_name

if TYPE_CHECKING:
    import xarray

    from nearfield.results import Result
    from nearfield.simulation import Simulation

POINTS, FEWEST = 101, 11  # frequencies, where none are given
MISSING = 0.01  # of derivatives that records without their ends may lack without a word
HELD = 4e7  # spectra of samples to hold then, some 2 GB at work


def sensitivities(
    make: Callable[..., Simulation] | str | Path,
    parameters: Mapping[str, Any] | Sequence[str],
    frequencies: Any = None,
    threads: int | None = None,
    output: str | Path | None = None,
    steps: Mapping[str, Any] | None = None,
    probes: Sequence[str] = (),
    far_fields: Sequence[Sequence[Any]] = (),
) -> xarray.Dataset:
    """How S-parameters change with sizes and media of structures: one run a port, whatever the number of parameters.

    make: a function of the parameters that gives a `Simulation`, or a model file with `[parameters]`. parameters: the
    values at which derivatives are taken, numbers (SI) or texts ("15 mm"); of a model file also names alone. A
    parameter that is an expression of another moves with it; names of both are refused, values for both give partial
    derivatives. frequencies: Hz; left out, 101 over the band of the pulses, on large models fewer, down to 11. output:
    a file for the run's result. steps: by how much a parameter is changed to see which coefficients it moves (SI or
    text); left out, so much that bodies move by 0.002 of a cell (flat metal along the axes and boxes of media by a
    tenth), or 1e-5 of its value where none moves. probes: names of monitors `Probe` whose spectra are derived too, by
    one further run each. far_fields: ("pattern", theta, phi, "theta") each, a monitor `FarField`, a direction and the
    part of E (or "phi"), by one further run each; an automatic grid then stays.

    Variables: `sparameters` (frequency, to, source), `derivative` (parameter, frequency, to, source) per SI unit of the
    parameter, and of each parameter its `value`, `unit`, `step`; with probes `field` (probe, frequency, source), as of
    a port's source of amplitude 1, and `field_derivative` (parameter, probe, frequency, source); with far fields
    `far_field` (toward, frequency, source), E times r exp(+j k r), the `realized_gain` (linear) of that part, and
    `far_field_derivative` (parameter, toward, frequency, source). Derivatives are those of the model on its grid (an
    automatic one goes with the bodies): to 0.5 % between lumped ports, 1 % where waves are measured on a line, at
    probes and of far fields; by sizes of round and turned flat metal they are rough (attribute `round_rims` says by how
    much). Metal must be followed through cells (`metal = "conformal"`, or "auto" where that chooses
    it). Error: `ModelError` for what moves ports, sources or elements or changes a guide at its port, for dispersive
    media and skin effect where the parameter acts, for closed axes with phases, for other monitors.

    >>> import nearfield as nf
    >>> def filled(permittivity):
    ...     lines = tuple(float(n) * 1e-3 for n in range(13))
    ...     block = nf.Structure(nf.Box((3e-3, 3e-3, 0), (9e-3, 9e-3, 4e-3)), nf.Medium(permittivity))
    ...     port = nf.LumpedPort("feed", (6e-3, 6e-3, 0), (6e-3, 6e-3, 1e-3), "z")
    ...     return nf.Simulation(nf.Grid(lines, lines, lines), [block], nf.Boundaries(all=nf.CPML(3), z_low=nf.PEC),
    ...                          ports=[port], waveform=nf.Gaussian("10 GHz"), steps=400)
    >>> found = nf.sensitivities(filled, {"permittivity": 4.0}, frequencies=[5e9, 8e9])
    >>> found.derivative.dims
    ('parameter', 'frequency', 'to', 'source')
    """
    build, values = making(make, parameters)
    given = varied(values, steps or {}, build)
    model, pairs = alike(build, given, stays=bool(far_fields))
    heard, towards = probes_of(model, probes), towards_of(model, far_fields)
    _refuse_symmetry(model, {"probes": heard, "far_fields": towards})
    at = Discretization(model)
    _refuse_kinds(at)
    compared: list[Models] = [(at, Discretization(more), Discretization(less)) for more, less in pairs]
    changes = [_changes(models, each) for models, each in zip(compared, given)]
    fields = SampleFields(at.grid, at.coefficients.active, _wanted(changes))
    f = _frequencies(frequencies, at, fields.samples)
    refuse_all_weak("sensitivities", model, f)
    held = ~np.any([weak(port_waveform(model, port), f) for port in model._channels], axis=0)
    recorded = model.model_copy(update={"monitors": (*recorded_at(model, towards, f), *fields.monitors(f))})
    result = run_whole(recorded, threads, output)
    runs = [fields.read(result.excitation(name), at.coefficients) for name in result.ports]
    currents, moments = adjoint_runs(model, heard, fields, at.coefficients, f, threads)
    lights, far = wave_runs(model, at, towards, fields, f, threads)
    waves, slopes, field_slopes = incident_waves(result, at, f), [], []
    for each, parts, models in zip(given, changes, compared):
        exchange = Exchange(models, f)
        sums = (exchange.of(part, sides, [*runs, *currents, *lights]) for part, sides in zip(parts, sides_of(parts)))
        made = np.asarray(sum(sums)) / each.step
        slopes.append(_turned(made[:, : len(runs), : len(runs)], waves, held))
        if heard or towards:
            field_slopes.append(probe_slopes(made, np.concatenate((moments, far)), result, f))
    found = _dataset(result, given, f, np.stack(slopes)).assign_attrs(parameters=json.dumps(result.parameters))
    if (cut_off := said_of_ends(result)) is not None:
        found.attrs["cut_off"] = cut_off
        warnings.warn(cut_off, stacklevel=2)
    if (rough := said_of_round_rims(given, compared)) is not None:
        found.attrs["round_rims"] = rough
        warnings.warn(rough, stacklevel=2)
    if heard:
        own = np.stack(field_slopes)[:, : len(heard)]
        names = {"probe": [each.name for each in heard]}
        found = found.assign_coords(names).assign(probe_variables(result, heard, f, own))
    if towards:
        own = np.stack(field_slopes)[:, len(heard) :]
        names = {"toward": [each.name for each in towards]}
        found = found.assign_coords(names).assign(far_field_variables(result, towards, f, own))
    return found


def said_of_ends(result: Result) -> str | None:
    """What records that were cut off make of derivatives; None where that is little.

    The derivative of what rings like exp(-a t) goes on as t exp(-a t): of a record that ends at the part L of its peak
    it lacks L (1 + ln(1/L)).
    """
    levels = {entry.value: entry for entry in result.trust if entry.name.startswith(f"{PREFIX}port ")}
    known = [level for level in levels if level is not None and np.isfinite(level)]
    left = 10.0 ** (max(known, default=-np.inf) / 20.0)
    missing = left * (1.0 - np.log(min(left, 1.0))) if left > 0.0 else 0.0
    if missing < MISSING:
        return None
    return (
        f"the record of {record_name(levels[max(known)])} ends at {max(known):.0f} dB of its peak: near resonances S "
        f"errs by some {percent(left)}, its derivatives by {percent(min(missing, 1.0))}; give more `steps`, or a "
        "smaller `decay`"
    )


def percent(part: float) -> str:
    """A share in two digits."""
    return f"{100 * part:.0f} %" if part >= 0.095 else f"{100 * part:.2g} %"


def incident_waves(result: Result, model: Discretization, frequencies: np.ndarray) -> np.ndarray:
    """Waves into each port in the run of each, (frequency, port, run), as products of V and I at one time have them.

    V of a lumped port is the mean over a step, cos(w dt/2) of the value.
    """
    lumped = [port.kind == "lumped" for port in model.simulation._channels]
    scale = np.where(lumped, time_factor(frequencies, model.time_step)[:, None] ** -0.5, 1.0)
    waves = [
        [result.excitation(run).waves(port, frequencies).a.values for run in result.ports] for port in result.ports
    ]
    found: np.ndarray = np.moveaxis(np.array(waves), -1, 0) * scale[:, :, None]
    return found


def _turned(made: np.ndarray, waves: np.ndarray, held: np.ndarray) -> np.ndarray:
    """dS of 2 A^T dS A = made, (frequency, port, port); NaN where a pulse is not `held` or holds too little."""
    drive = np.abs(np.diagonal(waves, axis1=1, axis2=2))
    good = np.all([excited_enough(column) for column in drive.T], axis=0)
    good &= held & told_apart(waves, range(waves.shape[1]))
    found = np.full(made.shape, complex(np.nan, np.nan))
    left = np.linalg.solve(waves[good].transpose(0, 2, 1), made[good])
    found[good] = 0.5 * np.linalg.solve(waves[good].transpose(0, 2, 1), left.transpose(0, 2, 1)).transpose(0, 2, 1)
    return found


def _refuse_kinds(model: Discretization) -> None:
    """Error: the grid's operator is not symmetric sample by sample."""
    if model.simulation.boundaries.complex_fields:
        raise ModelError("sensitivities: a Bloch phase makes another run the adjoint one; use `sweep`")
    if model.simulation.averaging == "tensor":
        raise ModelError('sensitivities: averaging = "tensor" joins samples; use "diagonal", or `sweep`')


def _refuse_symmetry(model: Simulation, wanted: Mapping[str, Sequence[Any]]) -> None:
    """Error: fields are asked for beside planes of symmetry, in which what they are derived by has no mirror image."""
    for what in (name for name, each in wanted.items() if each and any(model.symmetry.kinds)):
        raise ModelError(f"{what}: their derivatives are not known beside planes of symmetry; leave symmetry out")


def _changes(models: Models, parameter: Varied) -> list[Touched]:
    """The samples that a parameter touches. Error: none."""
    found = touched(models, parameter.leap)
    if not found:
        raise ModelError(
            f"parameter {parameter.name}: a step of {parameter.step:.3g} {parameter.unit} changes nothing on the grid. "
            f'Metal on whole cells takes no part of one (metal = "conformal" follows it; it is "{models[0].metal}" '
            "here), nor does metal thinner than a cell; `check` lists what is moved. Or no entry depends on it"
        )
    return found


def _wanted(changes: Sequence[Sequence[Touched]]) -> list[tuple[int, np.ndarray]]:
    """The samples, by component, that have to be recorded."""
    parts = [part for parts in changes for part in parts]
    wanted = [(part.component, part.index[:, ~part.dead]) for part in parts]
    return wanted + [(component, index) for part in parts for component, index, _, _ in neighbours(part)]


def _frequencies(given: Any, model: Discretization, samples: int) -> np.ndarray:
    """The frequencies (Hz) that are given, or over the band as many as memory holds for so many samples."""
    if given is not None:
        return np.unique(frequency_list(given))
    points = int(np.clip(HELD / max(samples, 1) / max(len(model.simulation._channels), 1), FEWEST, POINTS))
    band = frequency_axis(model.band, points)
    return band[band > 0]


def _dataset(result: Result, given: Sequence[Varied], frequencies: np.ndarray, slopes: np.ndarray) -> xarray.Dataset:
    import xarray

    ports = list(result.ports)
    scattering = result.sparameters_at(frequencies).sel(to=ports, source=ports)
    across = ("parameter",)
    return xarray.Dataset(
        {
            "sparameters": scattering,
            "derivative": (("parameter", *scattering.dims), slopes, {"units": "per SI unit of the parameter"}),
            "value": (across, [each.value for each in given]),
            "unit": (across, [each.unit for each in given]),
            "step": (across, [each.step for each in given]),
        },
        {"parameter": [each.name for each in given]},
    )
