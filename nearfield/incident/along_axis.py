"""Setting up the wave along an axis: its one-dimensional grid from the model's, layers included.

Over the whole cross-section of the grid (a periodic cell, walls that fit) the wave is that of the medium before the box
alone: what is behind its one face reflects into the scattered field, whatever varies over the cross-section there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Triple
from nearfield.grid.boundaries import CPML, cpml_profile
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.incident.box import Beam, open_faces
from nearfield.incident.crossings import Crossing, Reads
from nearfield.incident.face import WaveFace
from nearfield.incident.line import FORWARD, IncidentLine, LinePoles, LineProfile
from nearfield.lowering.context import Context
from nearfield.plan.incident_faces import IncidentFaces
from nearfield.plan.planning import inverse_lengths, unit_length

BEGUN = 1e-6  # of a signal's peak; less is not missed in single precision
LONG = 1e3  # times the way from the line's start to the box, within which a signal that never ends has its peak
LOOKED_AT = 4001  # moments at which the peak is looked for
END = 44  # cells past either end of the line ...
LAYER = CPML(cells=40, alpha_maximum=0.0)  # ... that the CPML takes


@dataclass(frozen=True)
class Column:
    """The model along the axis, the whole grid: cell lengths, `Coefficients.parts_at` at the nodes and between them."""

    cells: np.ndarray
    electric: np.ndarray
    magnetic: np.ndarray


def column(context: Context, axis: int, polarised: int, first: Triple, last: Triple) -> Column:
    """Along an edge of the box, where bodies do not stand: its lower ones, but upper ones off the walls where the
    lower lie on walls; for E along the axis `polarised`."""
    grid = context.grid
    numbers = np.arange(grid.cells[axis] + 1)
    ends = zip(first, last, grid.cells)
    beside = [low or (high - (a == polarised) if high < count else 0) for a, (low, high, count) in enumerate(ends)]
    index = [np.full(numbers.size, at) for at in beside]
    index[axis] = numbers
    electric = context.coefficients.parts_at(polarised, *index)
    across = 3 + ({0, 1, 2} - {axis, polarised}).pop()
    magnetic = context.coefficients.parts_at(across, *(values[:-1] for values in index))
    return Column(grid.primary(axis), electric, magnetic)


def incident_line(context: Context, beam: Beam, axis: int, polarised: int) -> IncidentLine:
    """The wave of an axis. Error: the way there is not plain."""
    grid, direction = context.grid, int(beam.travels[axis])
    found = column(context, axis, polarised, beam.first, beam.last)
    low, high = context.boundaries.interior(grid)[axis]
    forward, whole = direction == FORWARD, over_the_cell(grid, beam, axis)
    entry = beam.first[axis] if forward else beam.last[axis]
    real = (entry, high) if forward else (low, entry)  # nodes of the line that are the grid's
    before = (low + 1, entry) if forward else (entry + 1, high)
    front = _front(beam.who, axis, found, entry - direction, entry - forward, slice(*before))
    beside = found.cells[entry - 1 if forward else entry]
    model = _model_row(context, axis, found, front, real, forward)
    rows = [_uniform_row(beside, front, real[1] - real[0]), _front_row(model[0], front) if whole else model]
    profile = _profile(context, *zip(*rows))
    index = 1.0 / float(np.sqrt(front[0][1] * front[1][1]))
    shift = 2 * beside * index / VACUUM_SPEED  # it starts one node before the line's entry, which is one before the box
    end = beam.end + float(np.sum(found.cells)) * index / VACUUM_SPEED
    start, first, last = (n + END - real[0] for n in (entry - direction, *nodes_read(grid, beam, axis)))
    step, excitation = context.time_step, beam.excitation
    entries = direction, start, first, last, excitation, end, lead_in(beam, shift, step)
    return IncidentLine(profile, lambda t: beam.signal(t + shift), step, *entries)


def lead_in(beam: Beam, shift: float, time_step: float) -> int:
    """Steps by which the line runs ahead: those in which the signal that it launches `shift` (s) early has begun.

    Where it has less than `BEGUN` of its peak before the first step, as pulses with their own delay, none.
    """
    early = shift - time_step * np.arange(int(shift / time_step) + 1)
    whole = beam.signal(np.linspace(0.0, min(beam.end, LONG * shift), LOOKED_AT))
    begun = np.flatnonzero(np.abs(beam.signal(early)) > BEGUN * np.abs(whole).max())
    return int(begun[-1]) + 1 if begun.size else 0


def over_the_cell(grid: YeeGrid, beam: Beam, axis: int) -> bool:
    """Whether the wave enters through one face, over the whole cross-section; what is behind that is all total."""
    return [a for a, _ in open_faces(grid, beam.first, beam.last)] == [axis]


def nodes_read(grid: YeeGrid, beam: Beam, axis: int) -> tuple[int, int]:
    """First and last node at which faces read the line."""
    if not over_the_cell(grid, beam, axis):
        return beam.first[axis], beam.last[axis]
    entry = beam.first[axis] if beam.travels[axis] > 0 else beam.last[axis]
    return entry, entry


def _front(who: str, axis: int, found: Column, node: int, half: int, before: slice) -> tuple[np.ndarray, np.ndarray]:
    """The parts of E and of H before the box, where the wave comes from."""
    electric, magnetic = found.electric[:, node], found.magnetic[:, half]
    others = found.electric[:, before]
    uniform = np.allclose(others, electric[:, None], rtol=1e-9)
    if electric[1] == 0.0 and node in (0, found.electric.shape[1] - 1):
        raise ModelError(
            f"{who}: its box begins one cell from the {AXES[axis]} wall that the wave comes from, on which E is zero, "
            "so that no sample shows the medium there; let it begin two cells from the wall"
        )
    if electric[1] == 0.0:
        raise ModelError(
            f"{who}: metal lies one cell before its box along {AXES[axis]}, where the wave comes from, and no wave "
            "passes it; let the box begin before the metal, or move the metal into it"
        )
    lossless = all(parts[0] == 1.0 and not parts[3::2].any() for parts in (electric, magnetic))
    if not lossless or not uniform:
        raise ModelError(
            f"{who}: the medium between its box and the {AXES[axis]} face that the wave comes from is lossy, "
            "dispersive or layered; a plane wave needs a uniform lossless one there. Let the box begin before the "
            "first layer"
        )
    return electric, magnetic


def _uniform_row(cell: float, front: tuple[np.ndarray, np.ndarray], count: int) -> tuple:
    """(cell lengths, dual lengths, parts of nodes, of half nodes) in the medium before the box alone."""
    cells = np.full(count + 2 * END, cell)
    electric, magnetic = (np.repeat(values[:, None], cells.size + 1, axis=1) for values in front)
    return cells, np.full(cells.size + 1, cell), electric, magnetic


def _front_row(cells: np.ndarray, front: tuple[np.ndarray, np.ndarray]) -> tuple:
    """The row of a model's cells, filled with the medium before the box."""
    dual = np.concatenate((cells[:1], 0.5 * (cells[1:] + cells[:-1]), cells[-1:]))
    electric, magnetic = (np.repeat(values[:, None], cells.size + 1, axis=1) for values in front)
    return cells, dual, electric, magnetic


def _model_row(context: Context, axis: int, found: Column, front: tuple, real: tuple[int, int], forward: bool) -> tuple:
    """The row of a model: nothing lies behind a wall, more of the last layer behind that layer."""
    begin, stop = real
    beyond = (found.cells[max(begin - 1, 0) if forward else begin], found.cells[stop - 1 if forward else stop])
    cells = np.concatenate((np.full(END, beyond[0]), found.cells[begin:stop], np.full(END, beyond[1])))
    dual = np.concatenate((cells[:1], 0.5 * (cells[1:] + cells[:-1]), cells[-1:]))
    electric, magnetic = (np.zeros((len(parts), cells.size + 1)) for parts in (found.electric, found.magnetic))
    electric[:, END : END + stop - begin + 1] = found.electric[:, begin : stop + 1]
    magnetic[:, END : END + stop - begin] = found.magnetic[:, begin:stop]
    top = END + stop - begin  # place of the node `stop`
    ends = (("low", slice(0, END), slice(0, END)), ("high", slice(top + 1, None), slice(top, None)))
    for side, nodes, halves in ends:
        low = side == "low"
        if low == forward:
            electric[:, nodes], magnetic[:, halves] = front[0][:, None], front[1][:, None]
        elif isinstance(context.boundaries.face(axis, side), CPML):
            electric[:, nodes] = found.electric[:, begin + 1 if low else stop - 1][:, None]
            magnetic[:, halves] = found.magnetic[:, begin if low else stop - 1][:, None]
        elif context.boundaries.face(axis, side) == "pmc":
            dual[END if low else top] *= 0.5
    magnetic[:, -1] = 0.0
    return cells, dual, electric, magnetic


def _profile(context: Context, cells, dual, electric, magnetic) -> LineProfile:
    """Both rows with the CPML at their ends."""
    unit = unit_length(context.grid)
    scale = VACUUM_SPEED * context.time_step / unit
    parts: tuple[list, list] = ([], [])
    for row in range(2):
        electric[row][:, [0, -1]] = 0.0  # behind the CPML
        line = np.concatenate(([0.0], np.cumsum(cells[row])))
        across = np.array([0.0, 1.0])
        nodes, halves = cpml_profile(LAYER, LAYER, YeeGrid((line, across, across)), 0, context.time_step)
        for part, stretch, lengths, (stay, drive) in (
            (parts[0], nodes, dual[row], electric[row][:2]),
            (parts[1], halves, cells[row], magnetic[row][:2]),
        ):
            columns = (inverse_lengths(lengths * stretch.kappa, unit), stretch.decay, stretch.drive / scale)
            missing = stay.size - lengths.size
            inverse, decay, psi_drive = (np.append(values, np.zeros(missing)) for values in columns)
            part.append((stay, drive * scale, inverse, decay, psi_drive))
    poles = (*line_poles(context, False, electric[1]), *line_poles(context, True, magnetic[1]))
    on_nodes, between = (tuple(np.stack(rows) for rows in zip(*part)) for part in parts)
    return LineProfile(on_nodes, between, poles)


def line_poles(context: Context, magnetic: bool, parts: np.ndarray) -> list[LinePoles]:
    """The dispersive media of a half step where they weigh anything on row 1."""
    found = []
    for number, medium in enumerate(context.coefficients.remembering(magnetic)):
        stay, weight = parts[2 + 2 * number : 4 + 2 * number]
        at = np.flatnonzero(weight)
        if at.size:
            found.append(LinePoles(medium, at, np.stack((stay[at], weight[at]))))
    return found


@dataclass(frozen=True)
class AxisFace(WaveFace):
    """Samples that read the line of a wave along an axis; `part`: of its field, along theirs."""

    axis: int
    first: int  # node of the line's first column

    def columns(self, across: Reads) -> tuple[np.ndarray, np.ndarray]:
        """One each."""
        column = across.source[self.axis] - self.first + (self.crossing.component < 3)
        return column[:, None], np.ones((column.size, 1))


def axis_terms(context: Context, beam: Beam, axis: int, found: Sequence[Sequence[Crossing]]) -> list[IncidentFaces]:
    """The terms of a wave along an axis, for E and for H."""
    line = incident_line(context, beam, axis, int(np.argmax(np.abs(beam.electric))))
    parts = np.concatenate((beam.electric, np.cross(np.eye(3)[axis], beam.electric)))  # of its E and H, by component
    terms, (first, _) = [], nodes_read(context.grid, beam, axis)
    for half in found:
        kept = [each for each in half if parts[each.read] != 0.0]
        faces = tuple(AxisFace(context, each, line, float(parts[each.read]), axis, first) for each in kept)
        if faces:
            terms.append(IncidentFaces(half[0].component, faces, 1, line))
    return terms
