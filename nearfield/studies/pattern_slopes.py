"""Derivatives of far fields in given directions, from one further run each: a plane wave comes from there.

A current moment p far away, across the direction r to it, makes at the origin a plane wave of E_0 = -j w mu p/(4 pi)
times exp(-j k r)/r, a factor that the far field leaves out as well. So the run of such a wave, with the ports' sources
silent, is that of a current at a probe (`probe_slopes`) of the moment p = -4 pi E_0/(j w mu). E_0 is the field at the
origin of the grid's own wave, with which the far field is taken (`analysis.farfield`), so that the sum is exact on the
grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.farfield import unit_vectors
from nearfield.entry.constants import VACUUM_PERMEABILITY
from nearfield.entry.errors import ModelError
from nearfield.entry.messages import shown
from nearfield.entry.quantities import ANGLE, Quantity
from nearfield.entry.triples import Triple, triple
from nearfield.grid.yee import is_half
from nearfield.incident.plane_wave import PlaneWave
from nearfield.monitors.radiation import FarField
from nearfield.sources.sources import SOURCES
from nearfield.sources.waveforms import GaussianDerivative
from nearfield.studies.whole_run import run_whole

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization
    from nearfield.results import Result
    from nearfield.simulation import Simulation
    from nearfield.studies.sample_fields import SampleFields, Spectra

POLARISATIONS = ("theta", "phi")
FORM = '("pattern", "90 deg", "0 deg", "theta"): a monitor FarField, the angles theta and phi, and the part of E'


@dataclass(frozen=True)
class Toward:
    """A far field's part along theta or phi in one direction (rad)."""

    monitor: FarField
    theta: float
    phi: float
    polarisation: str

    @property
    def name(self) -> str:
        """How the dataset calls it."""
        return label(self.monitor.name, self.theta, self.phi, self.polarisation)


def label(monitor: str, theta: float, phi: float, polarisation: str) -> str:
    """The name of a direction in datasets: "pattern theta at 90, 0 deg"."""
    return f"{monitor} {polarisation} at {np.degrees(theta):g}, {np.degrees(phi):g} deg"


def towards_of(model: Simulation, wanted: Sequence[Sequence[Any]]) -> list[Toward]:
    """The directions that are asked for. Error: one is not understood, or the monitor is no far field."""
    known = {monitor.name: monitor for monitor in model.monitors if isinstance(monitor, FarField)}
    found = []
    for given in wanted:
        if isinstance(given, str) or len(given) != 4 or given[3] not in POLARISATIONS:
            raise ModelError(f"far_fields: given {shown(given)}; give {FORM}, {' or '.join(POLARISATIONS)}")
        if given[0] not in known:
            raise ModelError(f"far_fields: {given[0]!r} is no monitor FarField; there is: {', '.join(known) or 'none'}")
        try:
            theta, phi = (Quantity(ANGLE).read(angle) for angle in given[1:3])
        except ValueError as error:
            raise ModelError(f"far_fields: {given[0]!r}: {error}") from None
        found.append(Toward(known[given[0]], theta, phi, given[3]))
    return found


def recorded_at(model: Simulation, towards: Sequence[Toward], frequencies: np.ndarray) -> tuple[Any, ...]:
    """The monitors of the model, the far fields that are asked for at these frequencies."""
    named = {toward.monitor.name for toward in towards}
    return tuple(_at(each, frequencies) if each.name in named else each for each in model.monitors)


def _at(monitor: Any, frequencies: np.ndarray) -> Any:
    return monitor.model_copy(update={"frequencies": tuple(frequencies.tolist())})


def wave_runs(
    model: Simulation,
    at: Discretization,
    towards: Sequence[Toward],
    fields: SampleFields,
    frequencies: np.ndarray,
    threads: int | None,
) -> tuple[list[Spectra], np.ndarray]:
    """Spectra of the samples in a plane wave from each direction, and the moment -p for which it stands, (each, f)."""
    spectra, moments = [], np.zeros((len(towards), frequencies.size), complex)
    for number, toward in enumerate(towards):
        monitor = _at(toward.monitor, frequencies)
        first, last = _inside(at, toward)
        _refuse_outside(fields, first, last, toward)
        lower, upper = (triple(float(line[n]) for line, n in zip(at.grid.lines, nodes)) for nodes in (first, last))
        away, *parts = (vector[0] for vector in unit_vectors(np.array([toward.theta]), np.array([toward.phi])))
        electric = parts[POLARISATIONS.index(toward.polarisation)]
        pulse = GaussianDerivative(float(np.mean(frequencies)))
        wave = PlaneWave(
            lower=lower,
            upper=upper,
            direction=tuple((-away).tolist()),
            polarisation=tuple(electric.tolist()),
            waveform=pulse,
            name=toward.name,
        )
        alone = {"sources": (wave,), "excitations": (SOURCES,), "monitors": (monitor, *fields.monitors(frequencies))}
        run = run_whole(model.model_copy(update=alone), threads).excitation(SOURCES)
        spectra.append(fields.read(run, at.coefficients))
        seen = run[monitor.name]
        permeability = VACUUM_PERMEABILITY * seen.exterior.permeability
        moments[number] = 4 * np.pi * seen.incident() / (2j * np.pi * frequencies * permeability)
    return spectra, moments


def _inside(at: Discretization, toward: Toward) -> tuple[Triple, Triple]:
    """The nodes of a box a cell within the far field's surface, and on the walls that it lies on."""
    first, last = toward.monitor._box(at.context)
    low = triple(n + (n > 0) for n in first)
    return low, triple(n - (n < cells) for n, cells in zip(last, at.grid.cells))


def _refuse_outside(fields: SampleFields, first: Triple, last: Triple, toward: Toward) -> None:
    """Error: a sample that the parameter touches lies outside the box of the wave."""
    for region in fields.regions:
        for axis in range(3):
            ends = region.lower[axis], region.upper[axis] - 1 + is_half(region.component, axis)
            if ends[0] < first[axis] or ends[1] > last[axis]:
                raise ModelError(
                    f"far_fields: a parameter changes what lies outside the surface of {toward.monitor.name!r}, or "
                    "within a cell of it; let the surface enclose the bodies that change"
                )


def far_field_variables(
    result: Result, towards: Sequence[Toward], frequencies: np.ndarray, slopes: np.ndarray | None = None
) -> dict[str, Any]:
    """The variables of a dataset: fields for a source of amplitude 1, gains, and derivatives without the far field's
    scale (parameter, each, frequency, source)."""
    dims, unit = ("toward", "frequency", "source"), {"units": "V, as of a source of amplitude 1"}
    fields, gains, scales = seen_towards(result, towards, frequencies)
    found: dict[str, Any] = {"far_field": (dims, fields, unit), "realized_gain": (dims, gains, {"units": "1"})}
    if slopes is not None:
        found["far_field_derivative"] = ("parameter", *dims), scales * slopes
    return found


def seen_towards(
    result: Result, towards: Sequence[Toward], frequencies: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Far fields for a source of amplitude 1, partial realized gains (linear) and the scales of the far field, each
    (toward, frequency, source)."""
    table = []
    for toward in towards:
        for name in result.ports:
            run = result.excitation(name)
            seen = run[toward.monitor.name].at(toward.theta, toward.phi)
            field = getattr(seen, f"e_{toward.polarisation}").values[:, 0, 0]
            power = 2 * np.pi * np.abs(field) ** 2 / seen.exterior.impedance
            table.append((field / run.source(frequencies), power / run.port_powers(frequencies)[1], seen._scale))
    shape = len(towards), len(result.ports), 3, frequencies.size
    fields, gains, scales = np.moveaxis(np.array(table).reshape(shape), (2, 1), (0, 3))
    return fields, gains.real, scales.real
