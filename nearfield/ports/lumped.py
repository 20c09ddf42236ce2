"""A lumped circuit shared among the Yee edges of a block: what it adds to their medium, and what the engine steps.

Every edge carries the circuit with its impedances multiplied by part/share (its part of the voltage over its column's
share of the current), so that a uniform field sees exactly the circuit that was asked for. With V the mean over the
columns of -sum E length, and I the mean over the layers of the current through all columns, V and I obey the circuit's
own equations exactly, whatever the field: both are the sums of the edges' equations with these weights.
"""

from __future__ import annotations

import numpy as np

from nearfield.coefficients.edge_loads import EdgeLoad
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.lowering.context import Context
from nearfield.plan.excitations import Waveform
from nearfield.plan.recorders import Functional
from nearfield.plan.terms import CircuitTerm, CurrentTerm
from nearfield.plan.turns import lagging
from nearfield.ports.circuits import Circuit
from nearfield.sources.edges import EdgeBlock
from nearfield.sources.sources import current_term


def edge_loads(circuit: Circuit, block: EdgeBlock) -> list[EdgeLoad]:
    """The circuit's conductance and capacitance as conductivity (S/m) and relative permittivity of the edges."""
    if circuit.conductance == 0.0 and circuit.capacitance == 0.0:
        return []
    scale = block.share * block.total_length / block.area  # 1/m: two-pole -> bulk
    conductivity, permittivity = circuit.conductance * scale, circuit.capacitance / VACUUM_PERMITTIVITY * scale
    return [EdgeLoad(block.component, block.i, block.j, block.k, conductivity, permittivity)]


def circuit_terms(
    context: Context, circuit: Circuit, block: EdgeBlock, waveform: Waveform | None
) -> list[CurrentTerm | CircuitTerm]:
    """The source's current and the branch with states; the waveform is the source's voltage (V), upper terminal +."""
    terms: list[CurrentTerm | CircuitTerm] = []
    if waveform is not None and circuit.sourced == "conductance":
        density = circuit.conductance * block.share / block.area
        terms += current_term(context, block.component, (block.i, block.j, block.k), density, waveform)
    if circuit.branch is not None:
        terms.append(branch_term(context, circuit, block, waveform if circuit.sourced == "branch" else None))
    return terms


def branch_term(context: Context, circuit: Circuit, block: EdgeBlock, waveform: Waveform | None) -> CircuitTerm:
    """The series branch, one column each edge; in metal its feedback is zero and the edge stays dead."""
    branch = circuit.branch.discretised(context.time_step)
    _, drive = context.coefficients.at(block.component, block.i, block.j, block.k)
    held = np.asarray(drive) != 0.0
    share_over_part = (block.share / block.part)[held]
    count = share_over_part.size
    admittance = branch.admittance * share_over_part
    voltage_factor = 0.5 * block.length[held]
    feedback = np.asarray(drive)[held] * VACUUM_IMPEDANCE * VACUUM_SPEED * context.time_step / block.area[held]
    return CircuitTerm(
        component=block.component,
        i=block.i[held],
        j=block.j[held],
        k=block.k[held],
        admittance=admittance,
        voltage_factor=voltage_factor,
        feedback=feedback,
        inverse=1.0 / (1.0 + feedback * admittance * voltage_factor),
        drive=-block.part[held] if waveform is not None else np.zeros(count),
        output=np.tile(branch.output, (count, 1)),
        input=np.outer(share_over_part, branch.input),
        transition=np.tile(branch.transition, (count, 1, 1)),
        waveform=waveform,
    )


def functional(context: Context, component: np.ndarray, index: np.ndarray, weight: np.ndarray) -> Functional:
    """A recorded weighted sum; samples on high walls, where the component is zero for good, are left out.

    `index` has shape (3, n), one row an axis.
    """
    component, index, weight = lagging(context.grid, component, tuple(index), weight)
    index = np.stack(index)
    held = (index < np.array(context.active)[:, None]).all(axis=0)
    i, j, k = index[:, held]
    return Functional(component[held], i, j, k, weight[held])


def voltage_functional(context: Context, block: EdgeBlock) -> Functional:
    """The block's voltage (V), upper terminal against lower: the mean over its columns of -sum E length."""
    index = np.stack((block.i, block.j, block.k))
    return functional(context, np.full(block.i.size, block.component), index, -block.share * block.length)
