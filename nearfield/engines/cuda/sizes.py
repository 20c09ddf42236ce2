"""Memory that a plan takes on a device, before it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearfield.engines.cpu.pole_sizes import pole_bytes
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import memory
from nearfield.plan.sizes import BYTES_OF, LANES, blocks, domain_bytes

if TYPE_CHECKING:
    from nearfield.engines.cuda.device import Device
    from nearfield.plan.plan import Plan

KEPT_FREE = 64 * 2**20  # bytes of tables, lists of samples and kernels, beside the fields; a few MiB in most models


def device_bytes(plan: Plan) -> int:
    """Bytes on the device without coefficients: fields, CPML, poles, running Fourier sums, and room for all else."""
    parts, size = 1 + plan.complex_fields, BYTES_OF[plan.precision]
    fields = domain_bytes(plan.active, plan.cpml, plan.precision) * parts + pole_bytes(plan)
    fields -= saved_bytes(plan)
    return fields + sum(box.recorded_bytes(0, size) for box in plan.dft_boxes) + KEPT_FREE


def saved_bytes(plan: Plan) -> int:
    """Bytes that 16-bit storage saves: half of the six fields, with what pads their rows; states stay as they are."""
    if plan.storage == "full":
        return 0
    a, b, c = (plan.active[axis] for axis in plan.storage_axes)
    row = 6 * LANES * (blocks(c) + 2) * (BYTES_OF[plan.precision] - 2)
    return row * (a + 2) * (b + 2) * (1 + plan.complex_fields)


def refuse_full(found: Device, plan: Plan, free: int | None, coefficients: int = 0) -> None:
    """Refuse a plan that does not fit what is free on a card (bytes); `coefficients`: theirs, once they are known."""
    needed = device_bytes(plan) + coefficients
    if free is not None and needed > free:
        raise ModelError(
            f"the card {found.name} is too full: the run needs {memory(needed)} on it, {memory(free)} are free; end "
            'what else runs there (nvidia-smi lists it), use fewer cells, or take engine "cpu"'
        )
