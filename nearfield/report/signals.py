"""What a result holds over time and over frequency, as figures; None where it holds nothing of the kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.pictures import style
from nearfield.pictures.curves import MOST_CURVES, draw_energy, draw_signals, draw_spectra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nearfield.results import ExcitationResult, Result

SIGNAL_KINDS = {"probe": "Probe", "voltage": "Voltage", "current": "Current"}
SPECTRUM_POINTS = 400


def case_title(result: Result, what: str) -> str:
    """The title of a picture: its subject and the model."""
    return f"{what} · {result.title}" if result.title.strip() else what


@style.styled
def port_signals(result: Result) -> Figure | None:
    """Voltage and current at the ports over time, one column for each excitation (at most two are shown)."""
    names = [name for name in result.excitations if result.excitation(name).record.ports]
    if not names:
        return None
    shown = names[:2]
    figure = style.blank(8.0 if len(shown) == 1 else 10.6, 5.2)
    panels = figure.subplots(2, len(shown), squeeze=False, sharex="col")
    for column, name in enumerate(shown):
        excitation = result.excitation(name)
        series = {port: excitation.port(port) for port in list(excitation.record.ports)[:MOST_CURVES]}
        for row, key in enumerate(("voltage", "current")):
            found = {port: data[key] for port, data in series.items() if key in data}
            draw_signals(found, panels[row][column], label=key.capitalize())
        panels[0][column].set_xlabel("")
        if len(shown) > 1:
            style.panel_title(panels[0][column], f"{name} driven", 45)
    note = "voltage and current into the structure  ·  excitation " + style.listed(shown)
    note += f" of {len(names)}" if len(names) > len(shown) else ""
    return style.headline(figure, case_title(result, "Port signals"), note)


def signal_groups(excitation: ExcitationResult) -> dict[tuple[str, str], dict[str, Any]]:
    """The recorded signals by kind and unit."""
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for name, monitor in excitation.record.monitors.items():
        if monitor.kind in SIGNAL_KINDS:
            array = excitation[name]
            groups.setdefault((SIGNAL_KINDS[monitor.kind], str(array.attrs.get("units", ""))), {})[name] = array
    return groups


@style.styled
def recorded_signals(result: Result) -> Figure | None:
    """Probes, voltages and currents of the first excitation over time; a panel for each kind and unit."""
    groups = signal_groups(result.excitation()) if result.excitations else {}
    if not groups:
        return None
    figure = style.blank(8.0, 1.2 + 2.3 * len(groups))
    panels = figure.subplots(len(groups), 1, squeeze=False)[:, 0]
    for axes, ((kind, _), arrays) in zip(panels, groups.items()):
        draw_signals(arrays, axes, label=next(iter(arrays)) if len(arrays) == 1 else kind)
    left_out = sum(max(0, len(arrays) - MOST_CURVES) for arrays in groups.values())
    note = f"excitation {result.excitation().name}" + (f"  ·  {left_out} more in the result file" if left_out else "")
    return style.headline(figure, case_title(result, "Recorded signals"), note)


@style.styled
def signal_spectra(result: Result) -> Figure | None:
    """Spectra of probes, voltages and currents of a model without ports, over the band of its source's pulse."""
    if not result.excitations or result.ports:
        return None
    from nearfield.analysis.spectra import spectrum

    excitation = result.excitation()
    groups, band = signal_groups(excitation), pulse_band(excitation)
    if not groups or band is None:
        return None
    figure = style.blank(8.0, 1.2 + 2.6 * len(groups))
    panels = figure.subplots(len(groups), 1, squeeze=False)[:, 0]
    for axes, ((kind, _), arrays) in zip(panels, groups.items()):
        with np.errstate(invalid="ignore", over="ignore"):
            found = {name: spectrum(array, band) for name, array in list(arrays.items())[:MOST_CURVES]}
        draw_spectra(found, axes, label=next(iter(found)) if len(found) == 1 else kind)
    note = f"excitation {excitation.name}  ·  of the whole record, where the pulse is within 20 dB of its strongest"
    return style.headline(figure, case_title(result, "Spectra of signals"), note)


def pulse_band(excitation: ExcitationResult) -> np.ndarray | None:
    """Frequencies (Hz) at which the waveform of the source is within 20 dB of its largest; None without a waveform."""
    waveform = excitation.record.waveform
    if waveform is None or waveform["time"].array.size < 3:
        return None
    time, value = waveform["time"].array, waveform["value"].array
    size = 8 * time.size
    level, frequency = np.abs(np.fft.rfft(value, size)), np.fft.rfftfreq(size, float(time[1] - time[0]))
    inside = frequency[level >= 0.1 * level.max(initial=0.0)]
    return np.linspace(inside[0], inside[-1], SPECTRUM_POINTS) if inside.size > 1 else None


@style.styled
def flux_spectra(result: Result) -> Figure | None:
    """Energy through the flux monitors over frequency, first excitation."""
    if not result.excitations:
        return None
    excitation = result.excitation()
    names = [name for name, monitor in excitation.record.monitors.items() if monitor.kind == "flux"]
    if not names:
        return None
    title, note = case_title(result, "Power through surfaces"), f"excitation {excitation.name}"
    axes = draw_spectra({name: excitation[name] for name in names}, title=title, note=note, label="Power spectrum")
    return style.figure_of(axes)


@style.styled
def energy_decay(result: Result) -> Figure | None:
    """Field energy over time, in dB of its peak, one curve for each excitation (at most six)."""
    excitations = {name: result.excitation(name) for name in result.excitations}
    energies = {name: each.energy for name, each in excitations.items() if "energy" in each.record.energy}
    if not any(array.size for array in energies.values()):
        return None
    title = case_title(result, "Decay of the field energy")
    return style.figure_of(draw_energy(energies, title=title, note=f"run {result.status}"))
