"""The grid edges of wires that have a radius, and the gaps through which these go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.bodies.shapes import Wire
from nearfield.entry.errors import ModelError
from nearfield.grid.moves import cell_beyond
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.metal.patches import next_axes, pair
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.thin_metal import EdgeBox
from nearfield.metal.wire_ends import Conducts, Edges, WireEnd, conducting
from nearfield.metal.wire_lattice import ON_LINE, Charge, edge_factors, shortest_cell

# Of half-wave strips of 0.2 to 0.9 cells, 8 to 22 cells long: their resonances then go with the place of the strip in
# its cell as 0.02 to 0.1 cells of length would (tests/test_narrow_strips.py; 0.1 to 0.3 without).
LOST = 0.12, 2.7
LOST_ROUND = 0.08, 2.5, 1.5  # p + q a + r a^2 of round wires of a cells (tests/test_wires_between_lines.py), less by
LOST_TWICE = 2.4  # so many times the squares of both distances from the line: resonances are then within 0.5 %
MOST_IN_GAP = 2.4  # largest m about a gap of a wire beside its line: that of the thickest wire on its line
LARGEST = 0.5  # largest radius in shortest cells across the wire
Entry = tuple[float, str, bool, Charge]  # of an edge: radius (m), label, whether it is a gap, `Chain.charge`


@dataclass(frozen=True)
class Chain:
    """A wire: radius (m; None: that of metal edges), name in messages, edges, free ends between nodes, its charge."""

    radius: float | None
    label: str
    boxes: Sequence[EdgeBox]
    ends: Sequence[WireEnd] = ()
    charge: Charge = ON_LINE


def chain_of(
    wire: Wire, name: str | None, boxes: Sequence[EdgeBox], ends: Sequence[WireEnd], charge: Charge = ON_LINE
) -> Chain:
    """The chain of a wire, with its label."""
    places = (", ".join(f"{place:.6g}" for place in wire.points[end]) for end in (0, -1))
    label = f"wire {name!r}" if name else "the wire from ({}) to ({}) m".format(*places)
    return Chain(wire.radius, label, boxes, ends, charge)


@dataclass(frozen=True)
class WireEdges:
    """Edges of wires: their numbers, which are gaps, and m of the edges and faces about them.

    `factors`: (edges, 2 axes across in cyclic order, below and above along them); `lost`: cells of wire that a free end
    stands for less where the wire lies beside its edges.
    """

    number: np.ndarray
    gap: np.ndarray
    factors: np.ndarray
    lost: np.ndarray


def wire_edges(
    samples: SampleNumbers,
    chains: Sequence[Chain],
    gaps: Iterable[Edges],
    conducts: Conducts,
    others: Mapping[int, tuple[float, str]],
) -> WireEdges:
    """All edges; where several wires share one, the thinnest counts. Later bodies may have taken some away.

    `others`: radius and label of the wires along no axis at the nodes that they touch; gaps go on from these too.

    Errors: a radius over half a cell, wires one cell apart.
    """
    found: dict[int, Entry] = {}
    for chain in chains:
        if chain.radius is None:
            continue
        drawn = np.concatenate([np.empty(0, dtype=np.int64), *(samples.of_box(box) for box in chain.boxes)])
        for number in drawn[drawn >= 0].tolist():
            entry = chain.radius, chain.label, False, chain.charge
            found[number] = min(found.get(number, (np.inf, "", False, ON_LINE)), entry)
    drawn = np.array(list(found), dtype=np.int64)
    for number in drawn[~conducting(samples, drawn, conducts)].tolist():
        del found[number]
    _go_on(samples, found, gaps, others)
    number = np.array(sorted(found), dtype=np.int64)
    entries = [found[each] for each in number.tolist()]
    round_ = np.array([charge == ON_LINE for *_, charge in entries], dtype=bool)  # strips are apart, and may have gaps
    _refuse_near(samples, number[round_], [name for _, name, _, charge in entries if charge == ON_LINE])
    gap = np.array([gap for _, _, gap, _ in entries], dtype=bool)
    return WireEdges(number, gap, *_factors_about(samples, number, entries))


def _go_on(samples: SampleNumbers, found: dict, gaps: Iterable[Edges], others: Mapping) -> None:
    """Add the gaps that touch wires, or gaps which do; only lines of edges are gaps."""
    lines = [
        samples.number(component, np.stack(index, axis=-1))
        for component, *index in gaps
        if all(np.ptp(part) == 0 for axis, part in enumerate(index) if axis != component)
    ]
    wires = np.array(list(found), dtype=np.int64)
    owners: dict = {node: (*own, True, ON_LINE) for node, own in others.items()}
    owners |= {node: found[edge] for edge, pair in zip(found, samples.ends_of(wires).tolist()) for node in pair}
    pending = True
    while pending:
        pending = False
        for line in lines:
            nodes = samples.ends_of(line).ravel().tolist()
            touched = [own for own in map(owners.get, nodes) if own and _may_go_on(samples, line, own)]
            if touched and line[0] not in found:
                radius, name, _, charge = min(touched)
                if charge.factors:  # edges beside the gap with more would hold what a port of one cell does not
                    bounded = pair(pair(min(MOST_IN_GAP, m) for m in row) for row in charge.factors)
                    charge = charge._replace(factors=bounded)
                found.update((edge, (radius, name, True, charge)) for edge in line.tolist())
                owners.update((node, (radius, name, True, charge)) for node in nodes)
                pending = True


def _may_go_on(samples: SampleNumbers, line: np.ndarray, owner: Entry) -> bool:
    """Whether a gap may have the radius of what it touches: of wires, of strips and rods where that is small enough."""
    (component, *_), (place, *_) = samples.place(line[:1])
    if not owner[3].alone:
        return False
    if owner[3].along in (-1, component):
        return True
    node = pair(int(place[a]) for a in next_axes(int(component)))
    return owner[0] <= LARGEST * shortest_cell(samples.grid, int(component), node)


def _factors_about(samples: SampleNumbers, number: np.ndarray, entries: list) -> tuple[np.ndarray, np.ndarray]:
    """m about each edge, found once for the edges of a straight wire, and what its ends lose."""
    (component, index), known, found = samples.place(number), {}, np.empty((number.size, 2, 2))
    lost = np.zeros(number.size)
    for row, (axis, place, (radius, name, _, charge)) in enumerate(zip(component.tolist(), index.tolist(), entries)):
        node = pair(place[a] for a in next_axes(axis))
        kind = axis, node, radius, charge
        if kind not in known:
            if charge.factors is None or charge.along != axis:
                _refuse_thick(samples.grid, axis, node, radius, name)
                found_here = edge_factors(samples.grid, axis, node, radius, charge)
            else:
                found_here = np.array(charge.factors)
            known[kind] = found_here, _lost(samples.grid, place, radius, charge)
        found[row], lost[row] = known[kind]
    return found, lost


def _lost(grid: YeeGrid, place: Sequence[int], radius: float, charge: Charge) -> float:
    """Cells of wire that a free end stands for less than on its line: the charge beside it has whole edges beyond."""
    if charge.factors is None:
        off, (p, q, r) = {charge.across: charge.mean}, (*LOST, 0.0)
    else:
        off, (p, q, r) = dict(zip(next_axes(charge.along), charge.off)), LOST_ROUND
    lost = before = 0.0
    for axis, distance in off.items():
        if distance:
            cell = cell_beyond(grid, axis, place[axis], 1 if distance > 0.0 else -1)
            square = (distance / cell) ** 2
            lost += (p + q * radius / cell + r * (radius / cell) ** 2) * square * (1.0 - LOST_TWICE * before)
            before = square
    return lost


def _refuse_thick(grid: YeeGrid, axis: int, node: tuple[int, int], radius: float, name: str) -> None:
    cell = shortest_cell(grid, axis, node)
    if radius > LARGEST * cell * (1.0 + 1e-9):
        place = ", ".join(f"{AXES[a]}={grid.lines[a][n]:.6g}" for a, n in zip(next_axes(axis), node))
        raise ModelError(
            f"{name}: radius {radius:.6g} m exceeds half of the shortest cell across it, {cell:.6g} m at {place} m; "
            "its surface would lie past the samples that stand for it. Use larger cells there, or draw a Cylinder"
        )


def _refuse_near(samples: SampleNumbers, number: np.ndarray, names: list[str]) -> None:
    """Refuse parallel wires that share the faces between them."""
    faces = samples.faces_about(number).reshape(-1, 4)
    component, index = samples.place(number)
    keys = np.where(faces < 0, -1, 3 * faces + component[:, None]).ravel()
    order = np.argsort(keys, kind="stable")
    twice = np.flatnonzero((np.diff(keys[order]) == 0) & (keys[order][1:] >= 0))
    if twice.size:
        one, other = order[twice[0]] // 4, order[twice[0] + 1] // 4
        place = ", ".join(f"{line[n]:.6g}" for line, n in zip(samples.grid.lines, index[one]))
        raise ModelError(
            f"{names[one]} and {names[other]} run one cell apart along {AXES[component[one]]} at ({place}) m; parallel "
            "wires with a radius need two cells between them, because each acts through the samples about it. Refine "
            "the grid there, or leave the radius out"
        )
