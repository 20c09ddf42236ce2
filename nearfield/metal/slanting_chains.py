"""The wires of a model that run along no axis: their factors, what they touch, what they ask of the time step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Wire
from nearfield.entry.errors import ModelError
from nearfield.grid.yee import YeeGrid
from nearfield.metal.patches import pair
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.slanting_wires import Pairs, slanting_factors
from nearfield.metal.wire_ends import Conducts, Edges, conducting
from nearfield.metal.wire_path import WirePath, path_of, text_of

LARGEST = 0.3  # largest radius in shortest cells about the wire
NEAR_END = 4  # edges from the end of a wire within which others may lie beside it
TOGETHER = 30  # edges of a wire within which it may lie beside itself, at bends


class SlantingWire(NamedTuple):
    """A wire along no axis: radius (m), name in messages, its edges, `slack_of`."""

    radius: float
    label: str
    path: WirePath
    slack: float


class Factors(NamedTuple):
    """Numbers of the wires' own edges, of edges that meet them with p, of faces about them with q, once for each place;
    by how much q may exceed p."""

    metal: np.ndarray
    edges: Pairs
    faces: Pairs
    slack: float


def slack_of(wires: Iterable[Wire]) -> float:
    """By how much factors of 1/mu may exceed those of eps: 1 along axes, 2 in planes across them, 3 elsewhere.

    At a corner of the chain a step of the wire is as many edges long as it goes along axes.
    """
    return float(max((wire._slants for wire in wires), default=0) or 1)


def shorter_step(bodies: Sequence[FilledShape]) -> float:
    """Factor of the longest stable time step with the wires of a model."""
    return slack_of(body.shape for body in bodies if isinstance(body.shape, Wire)) ** -0.5


def slanting_wire(wire: Wire, name: str | None, grid: YeeGrid) -> SlantingWire:
    """A wire on its edges. Errors: a radius over `LARGEST` cells."""
    path, label = path_of(wire, grid), f"wire {name!r}" if name else text_of(wire)
    assert wire.radius is not None
    cell = path.shortest_cell(grid)
    if wire.radius > LARGEST * cell * (1.0 + 1e-9):
        raise ModelError(
            f"{label}: radius {wire.radius:.6g} m exceeds {LARGEST:g} of the shortest cell about it, {cell:.6g} m, "
            "the largest that a wire along no axis can have; use larger cells there, or draw a Cylinder"
        )
    return SlantingWire(wire.radius, label, path, slack_of([wire]))


def edges_of(samples: SampleNumbers, wire: SlantingWire) -> np.ndarray:
    """Numbers of its edges in order."""
    return samples.number(wire.path.axis, wire.path.edges)


def touched_nodes(samples: SampleNumbers, wires: Sequence[SlantingWire]) -> dict[int, tuple[float, str]]:
    """Radius and label of the thinnest wire at each node of wires."""
    found: dict[int, tuple[float, str]] = {}
    for wire in wires:
        for node in samples.node(wire.path.nodes).tolist():
            found[node] = min(found.get(node, (np.inf, "")), (wire.radius, wire.label))
    return found


def all_factors(
    samples: SampleNumbers, wires: Sequence[SlantingWire], gaps: Sequence[Edges], conducts: Conducts
) -> Factors:
    """The factors of all wires. Later bodies may have taken edges away. Errors: wires beside each other."""
    nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    metal, edges, faces = [nothing[0]], [nothing], [nothing]
    circuits = [samples.number(axis, np.stack(np.broadcast_arrays(*at), axis=-1)).ravel() for axis, *at in gaps]
    slack = max((wire.slack for wire in wires), default=1.0)
    _refuse_beside(samples, wires)
    for wire in wires:
        own = edges_of(samples, wire)
        own = own[conducting(samples, own, conducts)]
        on = [_goes_on(samples, wire, end, circuits, conducts) for end in (0, -1)]
        meeting, about = slanting_factors(samples, wire.path, wire.radius, on, slack)
        left = np.isin(about[0], samples.faces_about(own))
        metal.append(own)
        edges.append(meeting)
        faces.append((about[0][left], about[1][left]))
    return Factors(np.concatenate(metal), _together(edges), _together(faces), slack)


def _together(found: Sequence[Pairs]) -> Pairs:
    return pair(np.concatenate(each) for each in zip(*found))


def _goes_on(
    samples: SampleNumbers, wire: SlantingWire, end: int, circuits: Sequence[np.ndarray], conducts: Conducts
) -> bool:
    """Whether metal, a circuit, a wall or an image goes on from an end of a wire."""
    node, grid = wire.path.nodes[end], samples.grid
    own = edges_of(samples, wire)[end]
    others = samples.edges_at(samples.node(node[None])).ravel()
    others = others[(others >= 0) & (others != own)]
    before = wire.path.at[:: 1 if end == 0 else -1][: NEAR_END + 1]
    walls = any(
        np.ptp(before[:, a]) > 0.0  # a wire in a plane of symmetry ends there as elsewhere
        and not grid.closed(a)
        and node[a] in (0, n, *((grid.stepped_from[a],) if grid.stepped_from[a] else ()))
        for a, n in enumerate(grid.cells)
    )
    return bool(walls or conducting(samples, others, conducts).any() or any(np.isin(others, c).any() for c in circuits))


def side_by_side(samples: SampleNumbers, wires: Sequence[SlantingWire]) -> Iterator[tuple[int, int, int]]:
    """Numbers of wires, or of one twice, that share the faces between them but at their ends and bends, and where on
    the first."""
    rows = []
    for number, wire in enumerate(wires):
        count = len(wire.path.axis)
        inner = np.arange(NEAR_END, count - NEAR_END)
        faces = samples.faces_about(edges_of(samples, wire))[NEAR_END : count - NEAR_END].reshape(-1, 4)
        rows.append(np.stack([faces.ravel(), np.full(faces.size, number), np.repeat(inner, 4)], axis=1))
    if not rows:
        return
    face, owner, place = np.concatenate(rows)[np.lexsort(np.concatenate(rows).T[::-1])].T
    both = (np.diff(face) == 0) & (face[1:] >= 0) & ((np.diff(owner) != 0) | (np.diff(place) > TOGETHER))
    for first in np.flatnonzero(both).tolist():
        yield int(owner[first]), int(owner[first + 1]), int(place[first])


def _refuse_beside(samples: SampleNumbers, wires: Sequence[SlantingWire]) -> None:
    """Refuse wires that share the faces between them but at their ends and bends."""
    for number, beyond, place in side_by_side(samples, wires):
        one, other = wires[number], wires[beyond]
        at = ", ".join(f"{value:.6g}" for value in one.path.at[place])
        raise ModelError(
            f"{one.label} and {other.label if other is not one else 'itself'} run one cell apart at ({at}) m; wires "
            "with a radius need two cells between them, because each acts through the samples about it. Refine the "
            "grid there"
        )
