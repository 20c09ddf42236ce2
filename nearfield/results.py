"""Results of a run, in memory or in a file: labelled arrays in SI, with the facts that are needed to trust them.

Time dependence exp(+j w t); spectra are F(f) = integral F(t) exp(-j 2 pi f t) dt of the run, so a field spectrum has
the unit V/m s, unless `per_source()` has divided it by the spectrum of the source's waveform.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.fields import FieldResult
from nearfield.analysis.spectra import source_spectrum
from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import FREQUENCY, Quantity, read_row
from nearfield.records.records import ExcitationRecord, MonitorRecord, RunRecord, Variable, labelled

__all__ = ["ExcitationRecord", "FieldResult", "MonitorRecord", "Result", "RunRecord", "Variable", "open_result"]

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes

    from nearfield.grid.yee import YeeGrid
    from nearfield.trust.entries import Trust


class ExcitationResult:
    """Recordings while one port, or the sources, were on: `excitation["monitor"]`."""

    def __init__(self, name: str, record: ExcitationRecord, impedances: dict[str, float], normalised: bool = False):
        self.name = name
        self.record = record
        self.impedances = impedances
        self.normalised = normalised

    @property
    def monitors(self) -> tuple[str, ...]:
        """Names of the monitors."""
        return tuple(self.record.monitors)

    @property
    def energy(self) -> xarray.DataArray:
        """Field energy (J) over time (s) of the part that is stepped, as of vacuum in cells of one size: for decay."""
        return labelled(self.record.energy, "energy")

    def __repr__(self) -> str:
        held = ", ".join(self.record.monitors) or "no monitor"
        return f"<nearfield.ExcitationResult {self.name!r}{', per source' if self.normalised else ''}: {held}>"

    def port(self, name: str) -> xarray.Dataset:
        """Recordings of a port: `voltage` (V) and `current` (A, into the structure) over their own times (s)."""
        from nearfield.pictures.arrays import PortSignals

        variables = self.record.ports[known(name, self.record.ports, "port")]
        arrays = {key: (value.dims, value.array, value.attributes) for key, value in variables.items()}
        data = {key: array for key, array in arrays.items() if key not in array[0]}
        return PortSignals(data, {dim: arrays[dim] for dims, *_ in data.values() for dim in dims if dim in arrays})

    def waves(self, port: str, frequencies: Any) -> xarray.Dataset:
        """Waves into (`a`) and out of (`b`) the structure at a port, at the given frequencies (Hz, or "10 GHz").

        (abs(a)^2 - abs(b)^2)/2 is the power that passes the port into the structure, as a `Flux` there counts it. Those
        of a waveguide port are its mode's, at its reference plane; unit sqrt(W) s, of `per_source` sqrt(W) over the
        source's unit.
        """
        import xarray

        from nearfield.analysis.sparameters import port_waves

        variables = self.record.ports[known(port, self.record.ports, "port")]
        f = read_row("frequencies", frequencies, Quantity(FREQUENCY))
        both = port_waves(variables, f, self.impedances.get(port, np.nan), port == self.name)
        scale = 1 / self.source(f) if self.normalised else 1.0
        units = {"units": "sqrt(W) per unit of the source" if self.normalised else "sqrt(W) s"}
        found = {name: (("frequency",), wave * scale, units) for name, wave in zip("ab", both)}
        return xarray.Dataset(found, {"frequency": ("frequency", f, {"units": "Hz"})})

    def per_source(self) -> ExcitationResult:
        """Results with every spectrum divided by the source's, as of a continuous source of amplitude 1.

        F(f) / S(f) for fields and abs(S(f))**2 for powers, S(f) the spectrum of the waveform as it was used. A
        PointCurrent of moment 1e-3 A m then stands for a sinusoidal one of peak moment 1e-3 A m, power in watt.
        """
        return ExcitationResult(self.name, self.record, self.impedances, normalised=True)

    def source(self, frequencies: Any) -> np.ndarray:
        """The spectrum S(f) of the waveform, as it was used, at the given frequencies (Hz, or "10 GHz")."""
        return source_spectrum(self.record.waveform, read_row("frequencies", frequencies, Quantity(FREQUENCY)))

    def port_powers(self, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Power spectra (W s^2) that the excited port passed into the structure, Re(V I*)/2, and could at most.

        V and I are at one time: where they are recorded half a step apart, as a waveguide port's, times cos(w dt/2).

        The second is abs(V + R I)^2/(8 R), R the port's reference impedance, and is nan where that is not known, or
        half the square of the wave that a waveguide port without one sends in. Of a microstrip port both are taken at
        its feeding sheet: what its line radiates counts as the antenna's.
        """
        if self.name not in self.record.ports:
            raise ModelError(
                f"gain and efficiency need an excited port, but excitation {self.name!r} has none; use directivity and "
                "radiated_power, or feed the antenna by a port"
            )
        from nearfield.analysis.faces import time_factor
        from nearfield.analysis.open_line import OpenLine
        from nearfield.analysis.sparameters import line_of, port_spectra, port_waves

        variables, impedance = self.record.ports[self.name], self.impedances.get(self.name, np.nan)
        prefix = "terminal_" if "terminal_voltage" in variables else ""
        voltage, current = port_spectra(variables, frequencies, prefix)
        line: Any = line_of(variables)
        if line is not None:
            a, b = (0.5 * np.abs(wave) ** 2 for wave in port_waves(variables, frequencies, impedance, excited=True))
            if isinstance(line, OpenLine):
                return a - b, a
            return 0.5 * time_factor(frequencies, line.time_step) * (voltage * current.conj()).real, a
        available = np.abs(voltage + impedance * current) ** 2 / (8 * impedance)
        return 0.5 * (voltage * current.conj()).real, available

    def __getitem__(self, name: str) -> Any:
        monitor = self.record.monitors[known(name, self.record.monitors, "monitor")]
        return PRESENTED.get(monitor.kind, _series)(self, monitor)


def known(name: str, among: Mapping[str, Any], what: str) -> str:
    """The name, or a message that lists the names there are."""
    if name not in among:
        raise ModelError(f"no {what} {name!r} in this result; there is: {', '.join(map(repr, among)) or 'none'}")
    return name


def _series(excitation: ExcitationResult, monitor: MonitorRecord) -> xarray.DataArray:
    name = next(name for name, variable in monitor.variables.items() if name not in variable.dims)
    return labelled(monitor.variables, name)


def _snapshot(excitation: ExcitationResult, monitor: MonitorRecord) -> FieldResult:
    if monitor.file is None:
        return FieldResult(monitor.variables)
    from nearfield.formats.reading import stored_fields

    return FieldResult(stored_fields(monitor.file).variables())


def _element_statistics(excitation: ExcitationResult, monitor: MonitorRecord) -> xarray.Dataset:
    """Numbers of elements over time."""
    from nearfield.output.element_file import statistics_in

    return statistics_in(monitor.file)


def _field_dft(excitation: ExcitationResult, monitor: MonitorRecord) -> FieldResult:
    frequencies = monitor.variables["frequency"].array
    return FieldResult(monitor.variables, 1 / excitation.source(frequencies) if excitation.normalised else None)


def _flux(excitation: ExcitationResult, monitor: MonitorRecord) -> xarray.DataArray:
    power = labelled(monitor.variables, "power")
    if excitation.normalised:
        power = power / np.abs(excitation.source(power.frequency)) ** 2
        power.attrs["units"] = "W per squared unit of the source"
    return power


def _far_field(excitation: ExcitationResult, monitor: MonitorRecord) -> Any:
    from nearfield.analysis.pattern import FarFieldResult

    return FarFieldResult(monitor.variables, excitation, excitation.normalised)


PRESENTED = {  # views of monitors by kind; others show their one variable over its coordinates
    "snapshot": _snapshot,
    "elements": _element_statistics,
    "field-dft": _field_dft,
    "flux": _flux,
    "far-field": _far_field,
}


class Result:
    """A run's results by name: `result["monitor"]`, `result.sparameters`, `result.facts`.

    `result["monitor"]` is that of the first excitation; `result.excitation(name)["monitor"]` names one. `status` is
    "done", "diverged", "interrupted" or "failed": only "done" may be trusted without a look at `facts`.

    >>> import nearfield as nf
    >>> sim = nf.Simulation(
    ...     grid=nf.Grid.uniform(1e-3, (40, 40, 40)),
    ...     sources=[nf.PointCurrent((20e-3, 20e-3, 20.5e-3), "z", nf.GaussianDerivative(10e9), moment=1e-3)],
    ...     monitors=[nf.Flux("out", (15e-3,) * 3, (25e-3,) * 3, [10e9]), nf.FarField("pattern", [10e9])],
    ...     steps=400,
    ... )
    >>> result = sim.run()
    >>> result.status, result.monitors
    ('done', ('out', 'pattern'))
    >>> power = result.per_source()["out"].item()  # W, of a sinusoidal source of peak moment 1e-3 A m
    >>> f"{power:.2f} W"
    '0.44 W'
    >>> f"{result['pattern'].directivity.max().item():.1f}"
    '1.5'
    """

    def __init__(self, record: RunRecord) -> None:
        self.record = record

    @property
    def status(self) -> str:
        """The end of the run: "done", "diverged", "interrupted" or "failed"."""
        return self.record.status

    @property
    def title(self) -> str:
        """The model's title."""
        return self.record.title

    @property
    def facts(self) -> dict[str, Any]:
        """Everything that the run assumed and measured: machine, versions, time step, steps, checks, warnings."""
        return self.record.facts

    @property
    def trust(self) -> tuple[Trust, ...]:
        """How good the numbers are, the worst first: each with name, verdict, value, limit, and what to do.

        Verdicts are "good", "warn", "bad" and "unknown"; docs/trust.md explains the entries.
        """
        from nearfield.trust.result import trust_of

        return trust_of(self)

    @property
    def model_text(self) -> str:
        """The model as TOML; `nearfield.load` reads it from a file."""
        return self.record.model_text

    @property
    def parameters(self) -> dict[str, float | str]:
        """The values of the model's parameters, as they were given: {"length": "15.9 mm"}; empty without any."""
        return tomllib.loads(self.record.model_text).get("parameters", {})

    @property
    def grid(self) -> YeeGrid:
        """The Yee grid: `lines`, `cells`, positions of the components."""
        return self.record.grid

    @property
    def media(self) -> dict[str, dict[str, Any]]:
        """Every medium's constants by name."""
        return self.record.media

    @property
    def excitations(self) -> tuple[str, ...]:
        """Names of the excitations that were run: ports, or `sources`."""
        return tuple(self.record.excitations)

    def excitation(self, name: str | None = None) -> ExcitationResult:
        """Recordings while one port (or `sources`) was on; the first when no name is given."""
        records = self.record.excitations
        if not records:
            raise ModelError(f"this result (status {self.status!r}) holds no excitation: it ended before the first one")
        name = next(iter(records)) if name is None else known(name, records, "excitation")
        return ExcitationResult(name, records[name], self.reference_impedances)

    @property
    def reference_impedances(self) -> dict[str, float]:
        """Reference impedance (ohm) of each port, NaN of the waves of guides; of runs that broke off too."""
        if stated := self.record.facts.get("reference_impedances"):
            return {port: float(impedance) for port, impedance in stated.items()}
        variables = self.record.sparameters or {}
        if "reference_impedance" not in variables:
            return {}
        return {str(p): float(z) for p, z in zip(variables["to"].array, variables["reference_impedance"].array)}

    @property
    def ports(self) -> tuple[str, ...]:
        """Names of the ports."""
        return tuple(dict.fromkeys(name for record in self.record.excitations.values() for name in record.ports))

    @property
    def monitors(self) -> tuple[str, ...]:
        """Names of the monitors."""
        return self.excitation().monitors

    def __getitem__(self, name: str) -> Any:
        return self.excitation()[name]

    def per_source(self) -> ExcitationResult:
        """The first excitation with every spectrum divided by the source's; see `ExcitationResult.per_source`."""
        return self.excitation().per_source()

    @property
    def sparameters(self) -> xarray.DataArray:
        """Scattering parameters, dims frequency (Hz), to, source: wave out of `to` over wave into `source`."""
        if not self.record.sparameters:
            why = "the model has no port" if self.status == "done" else f"it ended {self.status} before any port's"
            raise ModelError(f"this result has no S-parameters: {why}")
        return labelled(self.record.sparameters, "sparameters")

    def sparameters_at(self, frequencies: Any) -> xarray.DataArray:
        """S at other frequencies (Hz, or "9.8 GHz"), from the recorded signals; NaN where the pulse held little."""
        from nearfield.analysis.network import frequency_list
        from nearfield.analysis.sparameters import scattering

        band, wanted = self.sparameters.frequency.values, frequency_list(frequencies)
        records = {name: run.ports for name, run in self.record.excitations.items()}
        both = np.concatenate((wanted, band))  # the peak tells where the pulse held little
        found = scattering(self.reference_impedances, records, both)
        return labelled(found, "sparameters").isel(frequency=slice(wanted.size))

    def write_touchstone(self, path: str | Path) -> Path:
        """Write the S-parameters as a Touchstone file (`.s1p`, `.s2p` ...) and return its path."""
        from nearfield.analysis.sparameters import write_touchstone

        return write_touchstone(path, self.sparameters, self.reference_impedances)

    def to_skrf(self) -> Any:
        """The S-parameters as a `skrf.Network` (scikit-rf): excited ports, each with its own reference impedance.

        Frequencies at which a pulse held no energy are left out; waves of guides' modes get 50 ohm. Error: `ModelError`
        without scikit-rf, or where no port was excited.
        """
        from nearfield.analysis.exchange import skrf_network

        return skrf_network(self.sparameters, self.reference_impedances, self.title)

    def to_pandas(self) -> pandas.DataFrame:
        """The S-parameters as a table: a row a frequency (Hz), complex columns `S(out, in)`."""
        from nearfield.analysis.exchange import s_table

        return s_table(self.sparameters)

    def plot(self, what: str | None = None, ax: Axes | None = None) -> Any:
        """Draw "sparameters", "energy", or a monitor or port by its name, and return matplotlib's axes.

        what: left out, S-parameters where there are any, else a far field, fields, fluxes, signals, the energy. ax:
        axes to draw on; else the figure is pyplot's. Monitors are those of the first excitation; `.plot()` of
        `result.sparameters`, `result["monitor"]` and of what they give takes the same `ax`. Error: `ModelError`.
        """
        from nearfield.pictures.overview import draw_result
        from nearfield.pictures.style import shown

        return shown(draw_result)(self, what, ax)

    def animate(self, monitor: str | None = None, path: str | Path | None = None, **options: Any) -> FuncAnimation:
        """A field in motion: snapshots, or a spectrum through one period; see `FieldResult.animate` for the options.

        monitor: its name; left out, the first Snapshot, else the first FieldDFT. path: `.html`, `.gif`, or `.mp4` where
        ffmpeg is installed. Error: `ModelError` where no field was recorded.
        """
        from nearfield.pictures.overview import field_to_animate

        return field_to_animate(self, monitor).animate(path, **options)

    def _repr_html_(self) -> str:
        from nearfield.pictures.notebook import picture_and_table
        from nearfield.pictures.overview import result_rows

        return picture_and_table(self.title or "Result", result_rows(self), self.plot if self.excitations else None)

    def save(self, path: str | Path) -> Path:
        """Write everything to one HDF5 file, which `open_result` reads."""
        from nearfield.records.hdf5 import write_result

        return write_result(path, self.record)

    def __repr__(self) -> str:
        runs = self.record.excitations.items()
        names = "; ".join(f"{name}: {', '.join(record.monitors) or 'no monitor'}" for name, record in runs)
        title = f" {self.title!r}" if self.title else ""
        return f"<nearfield.Result{title} {self.status}; {names or 'empty'}>"


def open_result(path: str | Path) -> Result:
    """The result that a run left in an HDF5 file, or in a folder as `result.h5`; arrays are read when first used.

    Error: `ModelError` for a missing file or one that Nearfield did not write.

    >>> import nearfield as nf
    >>> sim = nf.Simulation(
    ...     grid=nf.Grid.uniform(1e-3, (9, 9, 9)), boundaries=nf.Boundaries(all=nf.PEC), steps=20,
    ...     sources=[nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", nf.Gaussian(15e9))],
    ...     monitors=[nf.Probe("tip", (5e-3, 5e-3, 5e-3))],
    ... )
    >>> path = sim.run().save("out/small.h5")
    >>> nf.open_result(path)["tip"].sizes["time"]
    20
    """
    from nearfield.records.hdf5 import read_record

    file = Path(path)
    return Result(read_record(file / "result.h5" if file.is_dir() else file))
