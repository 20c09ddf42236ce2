"""The modes of a model's waveguide ports as the grid carries them, without a run: cut-off, wave number, impedance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.network import frequency_list
from nearfield.analysis.open_line import OpenLine
from nearfield.analysis.spectra import frequency_axis
from nearfield.discretization.excitations import band_of, port_waveform
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import quantity
from nearfield.guides.line_impedance import DEFINITION, line_impedance

if TYPE_CHECKING:
    import xarray

    from nearfield.discretization.discretization import Discretization

POINTS = 201  # frequencies where none are given


@dataclass(frozen=True)
class PortMode:
    """A port's mode: its name in results, family, cut-off (Hz), and in the middle of its pulse's band the wavelength.

    `cutoff_frequency` is 0 of waves without one (TEM, quasi-TEM), NaN where it is not known.
    `guide_wavelength` (m) is 0 below the cut-off, `line_impedance` (ohm) that of the TEM or quasi-TEM wave between two
    conductors, NaN of others.
    """

    port: str
    mode: str
    family: str
    cutoff_frequency: float
    frequency: float
    guide_wavelength: float
    line_impedance: float

    def described(self) -> str:
        """One line of a table."""
        if self.cutoff_frequency > 0.0:
            cutoff = quantity(self.cutoff_frequency, "Hz")
        elif self.cutoff_frequency == 0.0:
            cutoff = "none"
        else:
            cutoff = "below band" if self.guide_wavelength else "above band"
        length = quantity(self.guide_wavelength, "m") if self.guide_wavelength else "below cut-off"
        impedance = f", line of {self.line_impedance:.4g} ohm" if np.isfinite(self.line_impedance) else ""
        length += f" at {quantity(self.frequency, 'Hz')}"
        return f"  {self.port[:24]:24} {self.mode:8} {cutoff:>13}  {length}{impedance}"


def port_modes(setup: Discretization) -> tuple[PortMode, ...]:
    """All modes of the waveguide ports."""
    found = []
    for port in setup.simulation._channels:
        if port.kind != "waveguide":
            continue
        mode, line = port._placed(setup.context).mode, port._placed(setup.context).line
        middle = 0.5 * sum(mode_band(setup, port))
        beta = propagation(line, np.array([middle]))[0].imag
        length, family = 2 * np.pi / beta if beta > 0.0 else 0.0, getattr(mode, "family", "hybrid")
        cutoff = line.cutoff_frequency
        if isinstance(line, OpenLine):
            impedance, family = float(line.impedances(np.array([middle]))[0]), "open"
        else:
            impedance = line_impedance(mode, line, middle)
            if np.isnan(cutoff) and beta > 0.0:
                cutoff = mode.cutoff_below(setup.time_step)
        found.append(PortMode(port.name, port.modes[0], family, cutoff, middle, length, impedance))
    return tuple(found)


def mode_band(setup: Discretization, port: Any) -> tuple[float, float]:
    """The band (Hz) of a port's pulse; that of the run for a port that is not excited and has none."""
    model = setup.simulation
    idle = port.name not in setup.excitations and port.waveform is None and model.waveform is None
    return band_of(model) if idle else port_waveform(model, port).band


def guide_modes(setup: Discretization, frequencies: Any = None) -> xarray.Dataset:
    """See `Simulation.guide_modes`."""
    import xarray

    ports = {port.name: port for port in setup.simulation._channels if port.kind == "waveguide"}
    if not ports:
        raise ModelError("this model has no waveguide port, and modes are those of its ports; give it a WaveguidePort")
    if frequencies is None:
        bands = [mode_band(setup, port) for port in ports.values()]
        band = frequency_axis((min(low for low, _ in bands), max(high for _, high in bands)), POINTS)
        frequencies = band[band > 0]
    f = frequency_list(frequencies)
    facts, lines = port_modes(setup), [port._placed(setup.context).line for port in ports.values()]
    with np.errstate(divide="ignore", invalid="ignore"):
        impedances = [2.0 / (on - back) for on, back in (line.admittances(f) for line in lines)]
    data = {
        "mode": ("port", [one.mode for one in facts]),
        "family": ("port", [one.family for one in facts]),
        "cutoff_frequency": ("port", [one.cutoff_frequency for one in facts], {"units": "Hz"}),
        "line_impedance": ("port", [one.line_impedance for one in facts], {"units": "ohm", "definition": DEFINITION}),
        "characteristic_impedance": (("port", "frequency"), characteristic(facts, lines, f), {"units": "ohm"}),
        "propagation_constant": (("port", "frequency"), [propagation(line, f) for line in lines], {"units": "1/m"}),
        "impedance": (("port", "frequency"), impedances, {"units": "ohm"}),
        "power_within": (("port", "frequency"), [line.inside(f) for line in lines], {"units": ""}),
    }
    return xarray.Dataset(data, {"port": list(ports), "frequency": ("frequency", f, {"units": "Hz"})})


def characteristic(facts: tuple[PortMode, ...], lines: list, frequencies: np.ndarray) -> list[np.ndarray]:
    """Impedance (ohm) of each line of conductors: of an open one power over squared current; NaN of others."""
    return [
        line.impedances(frequencies)
        if isinstance(line, OpenLine)
        else np.full(frequencies.size, one.line_impedance or np.nan)
        for one, line in zip(facts, lines)
    ]


def propagation(line: Any, frequencies: np.ndarray) -> np.ndarray:
    """alpha + j beta (1/m)."""
    return -np.log(line.per_cell(frequencies)) / line.cell
