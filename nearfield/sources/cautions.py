"""A warning about currents whose pulse does not sum up to zero, so that charge and a static field stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.triples import triple
from nearfield.entry.wording import counted
from nearfield.plan.term import IMAGINARY
from nearfield.plan.turns import turned
from nearfield.sources.edges import dual_area
from nearfield.sources.waveforms import AnyWaveform, ContinuousWave, Samples

if TYPE_CHECKING:
    from nearfield.lowering.context import Context
    from nearfield.plan.terms import CurrentTerm

MOMENTS = 4001  # at which the sum of a pulse is looked at
SMALL = 1e-3  # of the largest charge on the way; its field holds a millionth of the energy, the usual `decay`
ENDS = 1e-6  # of the current, that leaves charge where it ends


def left_over(waveform: AnyWaveform) -> float:
    """What a pulse sums up to over the largest sum on the way: 1 for a Gaussian, 0 without a static part.

    Of a continuous wave the mean of its sum after the ramp, over its swing.
    """
    if isinstance(waveform, ContinuousWave):
        return waveform.sum_after_ramp
    times = waveform.table[0] if isinstance(waveform, Samples) else np.linspace(0.0, waveform.end, MOMENTS)
    values = waveform.value(times)
    sums = np.cumsum(0.5 * (values[1:] + values[:-1]) * np.diff(times))
    return float(abs(sums[-1]) / max(np.abs(sums).max(), 1e-300))


def sudden(waveform: AnyWaveform) -> float:
    """The step with which a pulse begins or ends, over its peak; 0 of a continuous wave, whose end is the run's."""
    if isinstance(waveform, ContinuousWave):
        return 0.0
    if isinstance(waveform, Samples):
        values = waveform.table[1]
        return float(max(abs(values[0]), abs(values[-1])) / np.abs(values).max())
    values = np.abs(waveform.value(np.linspace(0.0, waveform.end, MOMENTS)))
    return float(max(values[0], values[-1]) / max(values.max(), 1e-300))


def static_parts(sources: Iterable[tuple[str, Any]], context: Context) -> Iterator[str]:
    """A warning about sources that leave charge behind where their current ends, and how much of the largest."""
    found = []
    for who, source in sources:
        part = 0.0 if source.kind == "plane-wave" else left_over(source.waveform)
        if part >= SMALL and ends_in_space(source._terms(context), context):
            found.append((part, who, "flux" if source.kind == "magnetic-point-current" else "charge"))
    if found:
        part, who, left = max(found, key=lambda each: each[0])
        others = f" (and {counted(len(found) - 1, 'other source')})" if len(found) > 1 else ""
        yield (
            f"{who}{others}: its pulse does not sum up to zero, and where its current ends {100 * part:.3g} % of the "
            f"largest {left} stays for good, with a static field that never decays; give it a waveform without a "
            "direct part: GaussianDerivative, Ricker or ModulatedGaussian, samples that sum up to zero, or a "
            "ContinuousWave of phase 0 with a ramp of whole cycles"
        )


def ends_in_space(terms: Iterable[CurrentTerm], context: Context) -> bool:
    """Whether currents end outside metal, in a medium that does not conduct: there charge stays."""
    shape = triple(n + 2 for n in context.grid.cells)  # nodes, or cells and one beyond either wall
    nodes, sums, flow = [], [], 0.0
    for term in terms:
        part, component = divmod(term.component, IMAGINARY)
        axis, magnetic, index = component % 3, component >= 3, term.index
        stay, drive = context.coefficients.at(component, *index)
        if (stay < 1.0).any():
            return False
        current = (1j if part else 1.0) * term.weight / drive * dual_area(context.grid, component, *index)
        flow += float(np.abs(current).sum())
        for end, sign in ((0, -1.0), (1, 1.0)):
            place = list(index)
            place[axis] = place[axis] + end - magnetic
            wrapped, angle = turned(context.grid, triple(place))
            nodes.append(np.ravel_multi_index(triple(n + 1 for n in wrapped), triple(n + 1 for n in shape)))
            sums.append(sign * current * np.exp(1j * angle))
        held = outside if magnetic else in_metal
    if not nodes:
        return False
    places, which = np.unique(np.concatenate(nodes), return_inverse=True)
    charge = np.zeros(places.size, dtype=complex)
    np.add.at(charge, which, np.concatenate(sums))
    charged = places[np.abs(charge) > ENDS * flow]
    i, j, k = (n - 1 for n in np.unravel_index(charged, triple(n + 1 for n in shape)))
    return not held(context, np.stack((i, j, k)))


def outside(context: Context, cells: np.ndarray) -> bool:
    """Whether all cells lie beyond the walls."""
    beyond = [(n < 0) | (n >= count) for n, count in zip(cells, context.grid.cells)]
    return bool(np.any(beyond, axis=0).all())


def in_metal(context: Context, nodes: np.ndarray) -> bool:
    """Whether all nodes touch metal or a conducting wall, or lie on a plane of symmetry across which currents go on."""
    grid = context.grid
    held = np.zeros(nodes.shape[1], dtype=bool)
    for axis in range(3):
        if grid.mirrors[axis] == "electric":
            held |= nodes[axis] == grid.stepped_from[axis]
        for step in (0, 1):
            edge = nodes.copy()
            edge[axis] -= step
            inside = (edge[axis] >= 0) & (edge[axis] < grid.cells[axis])
            held[inside] |= np.asarray(context.coefficients.is_metal(axis, *edge[:, inside]), dtype=bool)
    return bool(held.all())
