"""A lumped circuit shared among the Yee edges of a block: what it adds to their medium, and what the engine steps.

Every edge carries the circuit with its impedances multiplied by part/share (its part of the voltage over its column's
share of the current), so that a uniform field sees exactly the circuit that was asked for. With V the mean over the
columns of -sum E length, and I the mean over the layers of the current through all columns, V and I obey the circuit's
own equations exactly, whatever the field: both are the sums of the edges' equations with these weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.coefficients.edge_loads import EdgeLoad
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.lowering.context import Context
from nearfield.plan.excitations import Waveform
from nearfield.plan.recorders import Functional
from nearfield.plan.term import Term
from nearfield.plan.terms import CircuitTerm
from nearfield.plan.turns import lagging
from nearfield.ports.circuits import Circuit, DiscreteBranch
from nearfield.sources.edges import EdgeBlock
from nearfield.sources.sources import current_term


@dataclass(frozen=True)
class PlacedCircuit:
    """A circuit on its edges of a model's grid: placed once, then loads, terms and voltage are read off it."""

    circuit: Circuit
    block: EdgeBlock

    def loads(self) -> list[EdgeLoad]:
        """The circuit's conductance and capacitance as conductivity (S/m) and relative permittivity of the edges."""
        circuit, block = self.circuit, self.block
        if circuit.conductance == 0.0 and circuit.capacitance == 0.0:
            return []
        scale = block.share * block.total_length / block.area  # 1/m: two-pole -> bulk
        conductivity, permittivity = circuit.conductance * scale, circuit.capacitance / VACUUM_PERMITTIVITY * scale
        return [EdgeLoad(block.component, block.i, block.j, block.k, conductivity, permittivity)]

    def terms(self, context: Context, waveform: Waveform | None) -> list[Term]:
        """The source's current, and the branch with states; `waveform`: the source's voltage (V), upper terminal +."""
        circuit, block = self.circuit, self.block
        terms: list[Term] = []
        if waveform is not None and circuit.sourced == "conductance":
            density = circuit.conductance * block.share / block.area
            terms += current_term(context, block.component, block.index, density, waveform)
        if circuit.branch is not None:
            source = waveform if circuit.sourced == "branch" else None
            terms.append(branch_term(context, circuit.branch.discretised(context.time_step), block, source))
        return terms

    def voltage(self, context: Context) -> Functional:
        """Its voltage (V), upper terminal against lower: the mean over its columns of -sum E length."""
        block = self.block
        component, weight = np.full(block.i.size, block.component), -block.share * block.length
        return functional(context, component, np.stack(block.index), weight)


def branch_term(context: Context, branch: DiscreteBranch, block: EdgeBlock, waveform: Waveform | None) -> CircuitTerm:
    """The series branch, one column each edge; in metal its feedback is zero and the edge stays dead."""
    drive = np.asarray(context.coefficients.at(block.component, block.i, block.j, block.k)[1])
    alive = drive != 0.0
    share_over_part = (block.share / block.part)[alive]
    count = share_over_part.size
    admittance = branch.admittance * share_over_part
    voltage_factor = 0.5 * block.length[alive]
    feedback = drive[alive] * VACUUM_IMPEDANCE * VACUUM_SPEED * context.time_step / block.area[alive]
    i, j, k = (part[alive] for part in block.index)
    return CircuitTerm(
        component=block.component,
        i=i,
        j=j,
        k=k,
        admittance=admittance,
        voltage_factor=voltage_factor,
        feedback=feedback,
        inverse=1.0 / (1.0 + feedback * admittance * voltage_factor),
        drive=-block.part[alive] if waveform is not None else np.zeros(count),
        output=np.tile(branch.output, (count, 1)),
        input=np.outer(share_over_part, branch.input),
        transition=np.tile(branch.transition, (count, 1, 1)),
        waveform=waveform,
    )


def functional(context: Context, component: np.ndarray, index: np.ndarray, weight: np.ndarray) -> Functional:
    """A recorded weighted sum; samples on high walls, where the component is zero for good, are left out.

    `index` has shape (3, n), one row an axis.
    """
    component, places, weight = lagging(context.grid, component, tuple(index), weight)
    inside = (np.stack(places) < np.array(context.active)[:, None]).all(axis=0)
    i, j, k = (place[inside] for place in places)
    return Functional(component[inside], i, j, k, weight[inside])
