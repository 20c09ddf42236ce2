"""A mode of an open line, launched and measured within the rectangle of its port.

The mode is that of the endless plane (outspread.py), so its E and n x H within the rectangle, divided by the part of
the power there, measure a wave on the line without error. Cut off at the border, though, the currents that launch it
would leave charges there, h at nodes and e at cells, whose fields grow as 1/w; so both are led along the border first,
by the differences of a potential that takes the charges from its nodes, or cells (`without_charges`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nearfield.analysis.open_line import OpenLine
from nearfield.guides.loaded_mode import LoadedMode, Own, loaded_mode
from nearfield.guides.modes import differences, flat_edges
from nearfield.guides.open_currents import line_currents
from nearfield.guides.outspread import Outspread, alone, outspread
from nearfield.guides.section import Section, Traces

SMOOTH = 5e-3  # as that of loaded_mode: fields of open lines are not analytic at 0, and their border is cut anyway
GUIDED = 0.8  # least part of a guided mode's power within the rectangle
EASED = 1e-9  # part of a matrix's mean diagonal added to it: potentials that touch no metal are known to a constant


@dataclass(frozen=True)
class OpenMode(LoadedMode):
    """The profiles are those within the rectangle, `launched` E and H those that launch them.

    `within`: the part of the power there, `currents`: in the conductors over the modal one (open_currents.py), at each
    frequency.
    """

    launched: tuple[np.ndarray, np.ndarray]
    within: np.ndarray
    currents: np.ndarray

    def line(self, cell: float, time_step: float) -> OpenLine:
        """The line of the mode along cells of this length (m)."""
        numbers = self.frequencies, self.squares, self.drives, self.electric_parts, self.magnetic_parts
        return OpenLine(*numbers, cell, time_step, self.within, self.currents)

    @property
    def traces(self) -> Traces:
        """Its samples in the plane, and their weights."""
        electric, magnetic = self.launched
        return replace(super().traces, shares=(magnetic.T, electric.T))


def open_mode(section: Section, number: int, band: tuple[float, float], time_step: float, who: str) -> OpenMode:
    """The mode that has the number-th largest wave number in the middle of the band (Hz).

    Errors: those of loaded_mode; a mode that no line or core guides.
    """
    wide = outspread(section)
    own = Own(wide.inside, SMOOTH, GUIDED, alone(wide))
    mode = loaded_mode(wide.section, number, band, time_step, who, own)
    electric, magnetic = mode.electric[:, wide.inside], mode.magnetic[:, wide.inside]
    e, h = mode.electric_parts @ electric, mode.magnetic_parts @ magnetic
    within = np.sum(e * h * section.edges.area, axis=1)
    parts = vars(mode) | {"section": section, "electric": electric, "magnetic": magnetic}
    launched = without_charges(wide, mode.electric, mode.magnetic)
    return OpenMode(**parts, launched=launched, within=within, currents=line_currents(wide, mode))


def without_charges(wide: Outspread, electric: np.ndarray, magnetic: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E and H within the rectangle, ended such that the currents that launch them leave no charges at its border."""
    own = np.zeros(electric.shape[1], bool)
    own[wide.inside] = True
    return (
        ended(wide.section, own & ~wide.border, electric, te=True)[:, own],
        ended(wide.section, own, magnetic, te=False)[:, own],
    )


def ended(section: Section, kept: np.ndarray, profiles: np.ndarray, te: bool) -> np.ndarray:
    """Profiles that end beyond the kept edges, changed by differences of a potential on cells (TE) or nodes such that
    their sum about each of these stays as it is."""
    from scipy.sparse import diags, identity
    from scipy.sparse.linalg import splu

    area, live, _ = flat_edges(section)
    live = np.flatnonzero(live)
    area, alive = area[live], np.flatnonzero((section.cells if te else section.live_n).ravel())
    operator = differences(section, te)[0][live][:, alive]
    found = np.zeros_like(profiles)
    found[:, kept] = profiles[:, kept]
    touched = np.flatnonzero(np.abs(operator[kept]).sum(axis=0))
    if not touched.size:  # no potential acts on the kept edges: between walls a cell apart
        return found
    inner, outer = operator[kept][:, touched], operator[~kept][:, touched]
    missing = outer.T @ (area[~kept, None] * profiles.T[~kept])
    matrix = inner.T @ diags(area[kept]) @ inner
    matrix = matrix + EASED * matrix.diagonal().mean() * identity(matrix.shape[0])
    found[:, kept] += (inner @ splu(matrix.tocsc()).solve(missing)).T
    return found
