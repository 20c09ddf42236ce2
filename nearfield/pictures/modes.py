"""Resonances: each mode a line at its frequency, over the spectrum of the signal that they were found in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.levels import decibels
from nearfield.pictures import style

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

LOWEST = -160.0  # dB below the largest value in the band; less is rounding
MOST_NAMED = 8  # modes with their Q in the picture
Spectrum = tuple[np.ndarray, np.ndarray]  # frequencies (Hz), level (dB of the largest)


@style.styled
def draw_modes(
    modes: xarray.Dataset,
    ax: Axes | None = None,
    spectrum: Spectrum | None = None,
    title: str = "Resonances",
    note: str = "",
) -> Axes:
    """Modes over frequency with the Q of the strongest: on a spectrum, or as stems of their amplitudes in dB."""
    axes = style.panel_for(ax, 8.0, 4.2, title, note)
    frequency, amplitude = modes.frequency.values, np.abs(modes.amplitude.values)
    stems = decibels(np.maximum(amplitude / max(amplitude.max(initial=0.0), 1e-300), 1e-300))
    ends = (frequency.min(initial=np.inf), frequency.max(initial=-np.inf))
    along, level = spectrum if spectrum is not None else (np.array(ends), stems)
    largest = float(np.abs(along[np.isfinite(along)]).max(initial=1.0))
    factor, prefix = style.prefix_of(largest)
    lowest = max(LOWEST, float(level.min(initial=0.0))) - (3.0 if spectrum is not None else 12.0)
    if spectrum is not None:
        axes.plot(factor * along, np.maximum(level, LOWEST), color=style.COLOURS[0], linewidth=1.4)
    else:
        axes.vlines(factor * frequency, lowest, stems, color=style.COLOURS[0], linewidth=2.4)
        axes.plot(factor * frequency, stems, "o", color=style.COLOURS[0], markersize=5)
    _name_modes(axes, factor * frequency, modes.quality_factor.values, np.argsort(-amplitude)[:MOST_NAMED])
    if not modes.sizes["mode"]:
        style.notice(axes, "no resonance exceeds the noise")
    elif spectrum is None:
        pad = 0.05 * float(np.ptp(along)) or 0.05 * largest
        axes.set_xlim(factor * (along.min() - pad), factor * (along.max() + pad))
    else:
        axes.set_xlim(factor * along.min(), factor * along.max())
    axes.set_ylim(lowest, 12.0)
    what = "Spectrum (dB of its largest value)" if spectrum is not None else "Amplitude (dB of the strongest)"
    style.name_axes(axes, f"Frequency ({prefix}Hz)", what)
    return axes


def _name_modes(axes: Axes, places: np.ndarray, qualities: np.ndarray, named: np.ndarray) -> None:
    """A line for each mode, with the Q of those named."""
    for number, (place, quality) in enumerate(zip(places, qualities)):
        axes.axvline(place, color=style.COLOURS[1], linewidth=0.9, zorder=0)
        if number in named:
            text = f"Q {quality:.3g}" if np.isfinite(quality) else "no loss"
            coordinates = {"xycoords": ("data", "axes fraction"), "rotation": 90, "va": "top"}
            style.beside(axes, (place, 1.0), text, (2, -2), fontsize=8, **coordinates)
