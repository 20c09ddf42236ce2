"""Surface currents on metal sheets, from the fields recorded on their plane: J = n x (H above - H below).

On the grid's plane k of normal z, Hx lies at (i, j+1/2, k-1/2) and (i, j+1/2, k+1/2), Hy likewise at (i+1/2, j): their
jumps are Jy = Hx(above) - Hx(below) and Jx = -(Hy(above) - Hy(below)), A/m, with the displacement current of one cell,
which beside metal is smaller by (kh)^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.analysis.fields import FieldResult
from nearfield.records.records import HALF


@dataclass(frozen=True)
class SheetCurrents:
    """Magnitude of the surface current (A/m, or A s/m of a spectrum) at the centres of a plane's cells.

    `values` (frequency, across, up) over `across` and `up` (m), on the plane across `axis` at `position` (m).
    """

    axis: int
    position: float
    across: np.ndarray
    up: np.ndarray
    values: np.ndarray


def sheet_currents(field: FieldResult) -> SheetCurrents | None:
    """The currents on the plane of a recorded spectrum; None where it holds no plane with both tangential H."""
    stored = field.variables
    flat = [axis for axis in range(3) if "xyz"[axis] in stored and stored["xyz"[axis]].array.size == 1]
    if len(flat) != 1 or "frequency" not in stored:
        return None
    axis = flat[0]
    normal, (across, up) = "xyz"[axis], [side for side in "xyz" if side != "xyz"[axis]]
    names = [f"H{across}", f"H{up}"]
    if not set(names) <= set(field) or any(stored[name].array.shape[1 + axis] != 2 for name in names):
        return None
    jumps = {
        name: np.diff(field[name].transpose("frequency", normal, across, up).values, axis=1)[:, 0] for name in names
    }
    # H across lies at (node, half) of (across, up), H up at (half, node): both to the centres of cells
    along_up = 0.5 * (jumps[names[0]][:, :-1] + jumps[names[0]][:, 1:])
    along_across = 0.5 * (jumps[names[1]][:, :, :-1] + jumps[names[1]][:, :, 1:])
    values = np.sqrt(np.abs(along_up) ** 2 + np.abs(along_across) ** 2)
    columns, rows = (stored[side + HALF].array for side in (across, up))
    return SheetCurrents(axis, float(stored[normal].array[0]), columns, rows, values)
