"""The radar cross-section of a model in a plane wave: bistatic in the wave's two planes, and monostatic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nearfield.analysis.network import power_decibels
from nearfield.pictures.style import COLOURS, DASHES, blank, headline, panel_title, picked, quantity, styled
from nearfield.report.plots import case_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nearfield.results import Result

MOST_FREQUENCIES = 3
DYNAMIC_RANGE = 60.0  # dB below the largest value that is drawn
STEP = 2.0  # degrees


@styled
def cross_section_figure(result: Result, name: str) -> Figure | None:
    """Bistatic cuts (E-plane solid, H-plane dashed) and the monostatic cross-section; None without a plane wave."""
    far_field = result[name]
    if "incident" not in far_field.variables:
        return None
    notes = far_field.variables["incident"].attributes
    travels, electric = (np.array(notes[key], dtype=float) for key in ("travels", "electric"))
    angle = np.radians(np.arange(0.0, 180.0 + STEP, STEP))
    shown = picked(far_field.frequencies.size, MOST_FREQUENCIES)
    several = far_field.frequencies.size > 2
    figure = blank(10.6 if several else 7.2, 4.6)
    panels = figure.subplots(1, 1 + several, squeeze=False)[0]
    top = -np.inf
    for plane, (label, across) in enumerate((("E-plane", electric), ("H-plane", np.cross(travels, electric)))):
        ways = np.outer(np.cos(angle), travels) + np.outer(np.sin(angle), across)
        theta, phi = np.arctan2(np.hypot(ways[:, 0], ways[:, 1]), ways[:, 2]), np.arctan2(ways[:, 1], ways[:, 0])
        values = power_decibels(bistatic(far_field, theta, phi))
        top = max(top, float(values[shown].max()))
        for number, at in enumerate(shown):
            text = quantity(float(far_field.frequencies[at]), "Hz") + f", {label}"
            panels[0].plot(np.degrees(angle), values[at], color=COLOURS[number], linestyle=DASHES[plane], label=text)
    panels[0].set(xlabel="angle from the forward direction (degrees)", ylabel="radar cross-section (dBsm)")
    if np.isfinite(top):
        panels[0].set_ylim(top - DYNAMIC_RANGE, top + 5.0)
    panels[0].set_xticks(range(0, 181, 30))
    panels[0].legend(fontsize=8)
    panel_title(panels[0], "Bistatic")
    if several:
        back = power_decibels(far_field.monostatic_cross_section.values)
        panels[1].plot(far_field.frequencies / 1e9, back, "o-", markersize=3)
        panels[1].set(xlabel="frequency (GHz)", ylabel="dBsm")
        panel_title(panels[1], "Monostatic")
    return headline(figure, case_title(result, "Radar cross-section"), f"monitor {name}")


def bistatic(far_field, theta: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Radar cross-section (m^2) at paired angles, (frequency, directions)."""
    return far_field.radar(*far_field.towards(theta, phi))
