"""Warnings about sources in metal, circuits without metal at their ends or that ring, lines that go on behind ports."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.wording import quantity
from nearfield.grid.yee import AXES
from nearfield.lowering.one_sided import silent
from nearfield.metal.circuit_ends import column_ends, touched

if TYPE_CHECKING:
    from nearfield.lowering.context import Context
    from nearfield.ports.circuits import Circuit
    from nearfield.ports.ports import MicrostripPort

LEAST_QUALITY = 10.0  # of L and C in series, from which currents between columns of edges are said to ring
BEHIND = 3  # cells behind a microstrip port's sheet in which its strip must have ended

Edges = Sequence[tuple[int, np.ndarray, np.ndarray, np.ndarray]]  # component, i, j, k


def idle_sources(sources: Iterable[tuple[str, Edges]], context: Context) -> Iterator[str]:
    """Currents that flow in metal alone, where no field answers."""
    for who, edges in sources:
        if edges and all(silent(context, part[0], np.stack(part[1:])).all() for part in edges):
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
                shared = {at[axis] for at in _nodes_of([part]) if met[at] > 1}
                for nodes, _, way in column_ends(axis, index):
                    end, node = "upper" if way > 0 else "lower", int(nodes[0, axis])
                    held = touched(context.grid, nodes, context.coefficients.is_metal)
                    touching = 1.0 if node in shared else float(held.mean())
                    where = f"{end} end at {AXES[axis]}={context.grid.lines[axis][node]:.6g} m"
                    if touching == 0.0:
                        yield (
                            f"{who}: its {where} touches no metal, so {lost}; let it span the gap between two "
                            "conductors"
                        )
                    elif touching < 1.0:
                        yield (
                            f"{who}: {100 * (1 - touching):.0f} % of its columns touch no metal at its {where}, but "
                            "the current is shared among all; let it be no wider than the conductors that it joins"
                        )


def ringing_columns(circuits: Iterable[tuple[str, Circuit, Edges]]) -> Iterator[str]:
    """Series L and C on several columns, which pass a current from one to the other that no field damps."""
    for who, circuit, edges in circuits:
        branch = circuit.branch
        if branch is None or not branch.inductance or not branch.capacitance:
            continue
        ends = (next(column_ends(component % 3, index))[0] for component, *index in edges)
        columns = {at for nodes in ends for at in map(tuple, nodes.tolist())}
        reactance = math.sqrt(branch.inductance / branch.capacitance)
        if len(columns) > 1 and LEAST_QUALITY * branch.resistance < reactance:
            ringing = 0.5 / math.pi / math.sqrt(branch.inductance * branch.capacitance)
            cure = reactance / LEAST_QUALITY
            yield (
                f"{who}: its L and C in series lie on {len(columns)} columns of edges, between which they ring at "
                f"{quantity(ringing, 'Hz')} with next to no loss, so that the run lasts long and its records are cut "
                f"off; let it lie on one column (a line from end to end), or give it {quantity(cure, 'ohm')} or more"
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
