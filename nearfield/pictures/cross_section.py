"""The radar cross-section of a model in a plane wave: bistatic in the wave's two planes, and monostatic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.levels import power_decibels
from nearfield.pictures.cuts import COARSEST, FINEST, PER_LOBE
from nearfield.pictures.style import COLOURS, DASHES, blank, headline, panel_title, picked, quantity, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_FREQUENCIES = 3
DYNAMIC_RANGE = 60.0  # dB below the largest value that is drawn


@styled
def draw_cross_section(far_field: Any, title: str = "Radar cross-section", note: str = "") -> Any:
    """Bistatic cuts (E-plane solid, H-plane dashed) and the monostatic cross-section over frequency; the axes."""
    notes = far_field.variables["incident"].attributes
    travels, electric = (np.array(notes[key], dtype=float) for key in ("travels", "electric"))
    shown = picked(far_field.frequencies.size, MOST_FREQUENCIES)
    several = far_field.frequencies.size > 2
    figure = blank(10.6 if several else 7.2, 4.6)
    panels = figure.subplots(1, 1 + several, squeeze=False)[0]
    _bistatic(panels[0], far_field, travels, electric, shown)
    if several:
        back = power_decibels(far_field.monostatic_cross_section.values)
        panels[1].plot(far_field.frequencies / 1e9, back, "o-", markersize=3)
        panels[1].set(xlabel="frequency (GHz)", ylabel="dBsm")
        panel_title(panels[1], "Monostatic")
    headline(figure, title, note)
    return panels


def _bistatic(axes: Axes, far_field: Any, travels: np.ndarray, electric: np.ndarray, shown: list[int]) -> None:
    """The cross-section over the angle from forward, in the two planes of the wave, fine enough for its lobes."""
    lobe = min(far_field.lobe_width(number) for number in shown)
    angle = np.linspace(0.0, np.pi, 1 + int(np.ceil(np.pi / np.clip(lobe / PER_LOBE, FINEST, COARSEST))))
    top = -np.inf
    for plane, (label, across) in enumerate((("E-plane", electric), ("H-plane", np.cross(travels, electric)))):
        ways = np.outer(np.cos(angle), travels) + np.outer(np.sin(angle), across)
        theta, phi = np.arctan2(np.hypot(ways[:, 0], ways[:, 1]), ways[:, 2]), np.arctan2(ways[:, 1], ways[:, 0])
        values = power_decibels(bistatic(far_field, theta, phi))
        top = max(top, float(values[shown].max()))
        for number, at in enumerate(shown):
            text = quantity(float(far_field.frequencies[at]), "Hz") + f", {label}"
            axes.plot(np.degrees(angle), values[at], color=COLOURS[number], linestyle=DASHES[plane], label=text)
    axes.set(xlabel="angle from the forward direction (degrees)", ylabel="radar cross-section (dBsm)")
    if np.isfinite(top):
        axes.set_ylim(top - DYNAMIC_RANGE, top + 5.0)
    axes.set_xticks(range(0, 181, 30))
    axes.legend(fontsize=8)
    panel_title(axes, "Bistatic")


def bistatic(far_field: Any, theta: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Radar cross-section (m^2) at paired angles, (frequency, directions)."""
    return far_field.radar(*far_field.towards(theta, phi))
