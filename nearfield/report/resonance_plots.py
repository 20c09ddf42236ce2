"""Resonances in a recorded signal: its spectrum once the source has ended, with the modes marked and listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.resonances import read_band, resonances, samples_of
from nearfield.entry.errors import NearfieldError
from nearfield.entry.levels import decibels
from nearfield.pictures.modes import LOWEST, draw_modes
from nearfield.pictures.style import figure_of, quantity
from nearfield.report.signals import case_title

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from nearfield.discretization.model import Model
    from nearfield.results import Result

PADDING = 8  # length with zeros over the length of the signal; more makes peaks smoother
MOST_ROWS = 40


@dataclass(frozen=True)
class Ringing:
    """A probe's modes in a band (Hz), and its spectrum there in dB of the largest value."""

    probe: str
    band: tuple[float, float]
    modes: xarray.Dataset
    frequency: np.ndarray
    level: np.ndarray


def asked_for(simulation: Model | None) -> dict[str, tuple[float, float]]:
    """The probes of a model that name a band for resonances, with it (Hz)."""
    monitors = simulation.monitors if simulation is not None else ()
    bands = {each.name: getattr(each, "resonances", None) for each in monitors}
    return {name: band for name, band in bands.items() if band}


def ringing(result: Result, probe: str, band: tuple[Any, Any]) -> Ringing:
    """The modes of the first excitation. Error: ModelError, see `nearfield.resonances`."""
    low, high = read_band(band)
    modes = resonances(result, (low, high), probe=probe)
    values, step, _, _ = samples_of(result, None, probe, None, None)
    size = PADDING * values.size
    spectrum = np.fft.fftshift(np.abs(np.fft.fft(values * np.hanning(values.size), size)))
    frequency = np.fft.fftshift(np.fft.fftfreq(size, step))
    inside = (frequency >= low) & (frequency <= high)
    frequency, spectrum = frequency[inside], spectrum[inside]
    level = decibels(np.maximum(spectrum, 1e-300) / max(spectrum.max(initial=0.0), 1e-300))
    return Ringing(probe, (low, high), modes, frequency, np.maximum(level, LOWEST))


def ringings(result: Result, bands: Mapping[str, tuple[float, float]], remarks: list[str]) -> list[Ringing]:
    """The resonances at each of these probes; a remark for each probe that has no usable signal."""
    found = []
    for probe, band in bands.items():
        try:
            found.append(ringing(result, probe, band))
        except NearfieldError as error:
            remarks.append(f"Resonances at {probe} could not be found: {error}")
    return found


def resonance_figure(result: Result, rings: Ringing) -> Figure:
    """The spectrum of the signal after the source has ended, each mode a line."""
    note = f"probe {rings.probe} from {quantity(rings.modes.attrs['time_origin'], 's')} on, Hann window; lines: modes"
    title = case_title(result, "Resonances")
    return figure_of(draw_modes(rings.modes, None, (rings.frequency, rings.level), title, note))


def rows(modes: xarray.Dataset) -> list[dict[str, str]]:
    """The modes for a table, the strongest of many."""
    kept = np.sort(np.argsort(-np.abs(modes.amplitude.values))[:MOST_ROWS])
    unit = modes.amplitude.attrs["units"]
    return [_row(modes.isel(mode=int(number)), unit) for number in kept]


def _row(mode: xarray.Dataset, unit: str) -> dict[str, str]:
    sure = mode.quality_factor_error.item() < mode.quality_factor.item()
    quality = f"{mode.quality_factor.item():.5g}" if sure else "beyond what the record tells"
    return {
        "frequency": quantity(mode.frequency.item(), "Hz", 8),
        "±": quantity(mode.frequency_error.item(), "Hz", 2),
        "Q": quality,
        "± ": f"{mode.quality_factor_error.item():.2g}" if sure else "",
        f"amplitude ({unit})" if unit else "amplitude": f"{abs(mode.amplitude.item()):.4g}",
        "±  ": f"{mode.amplitude_error.item():.2g}",
    }
