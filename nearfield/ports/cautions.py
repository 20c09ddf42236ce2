"""Warnings about sources in metal, ports without metal at their ends, and lines that go on behind their port."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nearfield.grid.yee import AXES

if TYPE_CHECKING:
    from nearfield.lowering.context import Context
    from nearfield.ports.ports import MicrostripPort

BEHIND = 3  # cells behind a microstrip port's sheet in which its strip must have ended

Edges = Sequence[tuple[int, np.ndarray, np.ndarray, np.ndarray]]  # component, i, j, k


def idle_sources(sources: Iterable[tuple[str, Edges]], context: Context) -> Iterator[str]:
    """Currents that flow in metal alone, where no field answers."""
    for who, edges in sources:
        if edges and all(np.asarray(context.coefficients.is_metal(*part)).all() for part in edges):
            yield f"{who} lies in a conductor, where no field answers it, and has no effect; move it out"


def floating_circuits(
    ports: Sequence[tuple[str, Edges]], elements: Sequence[tuple[str, Edges]], context: Context
) -> Iterator[str]:
    """Ports and elements of which one end touches neither metal nor another circuit, so that no current can flow on."""
    met = Counter(node for _, edges in (*ports, *elements) for node in _nodes_of(edges))
    for circuits, lost in ((ports, "it feeds nothing there"), (elements, "no current comes to it there")):
        for who, edges in circuits:
            for part in edges:
                component, *index = part
                axis = component % 3
                for end, node in (("lower", int(index[axis].min())), ("upper", int(index[axis].max()) + 1)):
                    joined = any(met[at] > 1 and at[axis] == node for at in _nodes_of([part]))
                    if not joined and not touches_metal(context, axis, node, index):
                        yield (
                            f"{who}: its {end} end at {AXES[axis]}={context.grid.lines[axis][node]:.6g} m touches no "
                            f"metal, so {lost}; let it span the gap between two conductors"
                        )


def _nodes_of(edges: Edges) -> set[tuple[int, ...]]:
    """The nodes at the ends of edges."""
    found: set[tuple[int, ...]] = set()
    for component, *index in edges:
        start = np.stack(np.broadcast_arrays(*index), axis=-1).reshape(-1, 3)
        both = np.concatenate((start, start + np.eye(3, dtype=start.dtype)[component % 3]))
        found |= set(map(tuple, both.tolist()))
    return found


def lines_drawn_on(ports: Iterable[MicrostripPort], context: Context) -> Iterator[str]:
    """Microstrip ports whose strip goes on behind their sheet."""
    for port in ports:
        (along, sign), block = port._heading, port._block(context)
        axis, node = block.component, int(block.index[along][0])
        index = [np.unique(part) for part in block.index]
        index[axis] = index[axis][-1:] + 1
        behind = np.arange(node - BEHIND, node) if sign > 0 else np.arange(node, node + BEHIND)
        index[along] = behind[(behind >= 0) & (behind < context.grid.cells[along])]
        i, j, k = (part.ravel() for part in np.meshgrid(*index, indexing="ij"))
        if i.size and np.asarray(context.coefficients.is_metal(along, i, j, k)).any():
            yield (
                f"port {port.name!r}: metal goes on at the strip's height behind its sheet at {AXES[along]}="
                f"{context.grid.lines[along][node]:.6g} m, so that as much power is launched there as into the "
                "structure, and what that line's end returns enters again: S is wrong by some 1 % and the run lasts "
                "many times as long. Let the strip end at the sheet, or give the line a WaveguidePort with "
                'shape = "open", which launches one way on a line that goes on into the CPML'
            )


def touches_metal(context: Context, axis: int, node: int, index: Sequence[np.ndarray]) -> bool:
    """Whether any edge that meets the nodes of a port's end is metal or lies on a PEC wall."""
    columns = [np.unique(index[a]) if a != axis else np.array([node]) for a in range(3)]
    for other in range(3):
        reach = list(columns)
        reach[other] = np.unique(np.concatenate((columns[other] - 1, columns[other])))
        shape = context.grid.component_shape(other)
        reach = [values[(values >= 0) & (values < shape[a])] for a, values in enumerate(reach)]
        i, j, k = (part.ravel() for part in np.meshgrid(*reach, indexing="ij"))
        if i.size and np.asarray(context.coefficients.is_metal(other, i, j, k)).any():
            return True
    return False
