"""Tangential fields on flat faces, as monitors record them: the input of the power flux and the far field."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.grid.yee import AXES
from nearfield.records.records import Variables


@dataclass(frozen=True)
class Face:
    """Spectra of the tangential fields on one face, last two axes in the order b, c.

    electric = E_b (frequency, half b, node c), E_c (frequency, node b, half c);
    magnetic = H_b (frequency, node b, half c), H_c (frequency, half b, node c); `nodes` are coordinates (m) along b, c;
    `beside` the lengths of the cells below and above the plane, between which H was interpolated; `time_factor` =
    cos(w dt/2), by which H was multiplied when it was averaged in time, (frequency,).
    """

    axis: int
    outward: int
    position: float
    beside: tuple[float, float]
    nodes: tuple[np.ndarray, np.ndarray]
    electric: tuple[np.ndarray, np.ndarray]
    magnetic: tuple[np.ndarray, np.ndarray]
    time_factor: np.ndarray


def time_factor(frequencies: np.ndarray, time_step: float) -> np.ndarray:
    """cos(w dt/2): the mean of a sinusoid half a step before and after, over its value."""
    return np.cos(np.pi * np.asarray(frequencies, dtype=float) * time_step)


def read_faces(variables: Variables) -> list[Face]:
    """The faces that `surface_variables` wrote."""
    suffixes = dict.fromkeys(name[3:] for name in variables if name[0] in "EH" and name[2:3] == "_")
    return [_read_face(variables, suffix) for suffix in suffixes]


def _read_face(variables: Variables, suffix: str) -> Face:
    axis = AXES.index(suffix[0])
    b, c = (axis + 1) % 3, (axis + 2) % 3

    def field(letter: str, component: int) -> np.ndarray:
        values = variables[f"{letter}{AXES[component]}_{suffix}"].array
        return values if b < c else values.swapaxes(1, 2)

    attributes = variables[f"E{AXES[b]}_{suffix}"].attributes
    below, above = map(float, attributes["cells_beside"])
    return Face(
        axis,
        int(attributes["outward"]),
        float(attributes["position"]),
        (below, above),
        (variables[AXES[b]].array, variables[AXES[c]].array),
        (field("E", b), field("E", c)),
        (field("H", b), field("H", c)),
        time_factor(variables["frequency"].array, float(attributes["time_step"])),
    )
