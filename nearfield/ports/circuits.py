"""Lumped R, L and C in discrete time: what becomes part of the medium of an edge, and what keeps states of its own.

A conductance and a capacitance in parallel with an edge are a loss and a permittivity of that edge: Yee's own update
treats them by the trapezoidal rule, so they go into its coefficients (`EdgeLoad`) and cost nothing. Whatever holds an
inductor, or a capacitor in series with something, is a series branch R-L-C with the inductor's current and the
capacitor's charge as states at whole steps n dt, driven by the mean edge voltage over a step (`CircuitTerm`). The
trapezoidal rule is A-stable: no choice of values and time step can make a passive branch feed energy into the field.

The branch current flows along the edge's + axis and is driven by u = length (E_new + E_old)/2 - v.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Connection = Literal["series", "parallel"]


@dataclass(frozen=True)
class DiscreteBranch:
    """One step of a branch: I = admittance u + output . x, x <- transition x + input u; I and u at half steps."""

    admittance: float
    output: np.ndarray  # (2,)
    input: np.ndarray  # (2,)
    transition: np.ndarray  # (2, 2)

    def replay(self, voltage: np.ndarray) -> np.ndarray:
        """The branch's current (A) under voltages u (V) at successive half steps, from rest."""
        (a, b), (c, d) = self.transition.tolist()
        (drive_0, drive_1), (out_0, out_1) = self.input.tolist(), self.output.tolist()
        x0 = x1 = 0.0
        current = np.empty(len(voltage))
        for n, u in enumerate(np.asarray(voltage, dtype=float).tolist()):
            current[n] = self.admittance * u + out_0 * x0 + out_1 * x1
            x0, x1 = a * x0 + b * x1 + drive_0 * u, c * x0 + d * x1 + drive_1 * u
        return current


@dataclass(frozen=True)
class SeriesBranch:
    """A resistor, an inductor and a capacitor in series; 0 ohm, 0 H and no capacitor (a short) when left out."""

    resistance: float = 0.0  # ohm
    inductance: float = 0.0  # H
    capacitance: float | None = None  # F

    def discretised(self, time_step: float) -> DiscreteBranch:
        """The trapezoidal rule for L dI/dt + R I + q/C = u, dq/dt = I.

        With the means I = (i' + i)/2 and q + dt I/2 over a step from (i, q) to (i', q'):
            (2 L/dt + R + dt/(2 C)) I = u + 2 L/dt i - q/C,  i' = 2 I - i,  q' = q + dt I.
        Without an inductor its current is no state (it would alternate for ever); its row is zero.
        """
        inertia = 2.0 * self.inductance / time_step
        elastance = 0.0 if self.capacitance is None else 1.0 / self.capacitance
        admittance = 1.0 / (inertia + self.resistance + 0.5 * time_step * elastance)
        output = admittance * np.array([inertia, -elastance])
        transition = np.zeros((2, 2))
        drive = np.zeros(2)
        if self.inductance > 0.0:
            transition[0] = 2.0 * output
            transition[0, 0] -= 1.0
            drive[0] = 2.0 * admittance
        if self.capacitance is not None:
            transition[1] = time_step * output
            transition[1, 1] += 1.0
            drive[1] = time_step * admittance
        return DiscreteBranch(admittance, output, drive, transition)


@dataclass(frozen=True)
class Circuit:
    """A lumped two-pole as the engine takes it: a conductance and a capacitance in the edges' medium, and a branch.

    `sourced` tells which of them carries the Thevenin source in series: "conductance", "branch" or None.
    """

    conductance: float = 0.0  # S
    capacitance: float = 0.0  # F
    branch: SeriesBranch | None = None
    sourced: Literal["conductance", "branch"] | None = None

    def current(self, voltage: np.ndarray, source: np.ndarray, time_step: float) -> np.ndarray:
        """The current (A) out of the upper terminal at half steps: what the engine's own recursion gave, in double.

        `voltage` (V, upper against lower terminal) stands at whole steps dt, 2 dt, ..., zero before; `source` (V) and
        the result at the half steps before them.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverged, which says so
            before = np.concatenate(([0.0], voltage[:-1]))
            mean = 0.5 * (voltage + before)
            current = self.conductance * ((source if self.sourced == "conductance" else 0.0) - mean)
            current = current - self.capacitance * (voltage - before) / time_step
            if self.branch is not None:
                driven = (source if self.sourced == "branch" else 0.0) - mean
                current = current + self.branch.discretised(time_step).replay(driven)
            return current


def two_pole(
    resistance: float | None, inductance: float | None, capacitance: float | None, connection: Connection
) -> Circuit:
    """The circuit of R, L and C in series or in parallel; None leaves an element out.

    A source stands in series with the resistance: in a series connection with everything; in a parallel one with the
    resistor alone, inductor and capacitor lying across the terminals.

    >>> two_pole(50.0, None, 1e-12, "parallel")
    Circuit(conductance=0.02, capacitance=1e-12, branch=None, sourced='conductance')
    """
    elements = (resistance, inductance, capacitance)
    if connection == "parallel" or sum(value is not None for value in elements) == 1:
        return Circuit(
            conductance=0.0 if resistance is None else 1.0 / resistance,
            capacitance=capacitance or 0.0,
            branch=None if inductance is None else SeriesBranch(inductance=inductance),
            sourced=None if resistance is None else "conductance",
        )
    return Circuit(branch=SeriesBranch(resistance or 0.0, inductance or 0.0, capacitance), sourced="branch")
