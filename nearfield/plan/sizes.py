"""Memory, traffic and output of a run, from shapes alone, before any field is allocated."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from nearfield.plan.plan import unit_stride_axis

if TYPE_CHECKING:
    from nearfield.entry.triples import Triple
    from nearfield.plan.term import Term

LANES = 16  # cells of a block of the core's layout, core/layout.hpp
BYTES_OF = {"single": 4, "double": 8}
HDF5_OVERHEAD = 20_000  # model text, facts and grid of a small result; this and the next two measured on examples
HDF5_ENTRY = 3_500  # groups, attributes and coordinates of a monitor or port
HDF5_DERIVED = 180_000  # what is derived at the end of a run: spectra of ports, statistics of elements
HDF5_PATTERN = 65_000  # of a far field
HDF5_DIRECTION = 32  # of each direction and frequency of one: two complex values


def blocks(samples: int) -> int:
    """Blocks of a row."""
    return -(-samples // LANES)


def record_bytes(active: Triple, cpml: tuple[tuple[int, int], ...], precision: str) -> int:
    """Bytes of the record of one row: six fields, and the CPML states of its own axis; core/layout.hpp."""
    unit = unit_stride_axis(active)
    nc, (low, high) = active[unit], cpml[unit]
    after_low = min(blocks(nc), blocks(low))
    before_high = max(after_low, (nc - high) // LANES if high else blocks(nc))
    return (6 * LANES * (blocks(nc) + 2) + 4 * LANES * (after_low + blocks(nc) - before_high)) * BYTES_OF[precision]


def domain_bytes(active: Triple, cpml: tuple[tuple[int, int], ...], precision: str) -> int:
    """Memory of the fields, CPML states and row index of one domain; the formula of core/layout.hpp.

    `active` samples and `cpml` planes (low, high) along x, y, z. Coefficients of many media come on top.
    """
    unit = unit_stride_axis(active)
    a, b = (unit + 1) % 3, (unit + 2) % 3
    na, nb, nc = active[a], active[b], active[unit]
    slabs = (sum(cpml[a]) * nb + sum(cpml[b]) * na) * 4 * LANES * blocks(nc) * BYTES_OF[precision]
    index = 2 * 4 * na * nb
    return record_bytes(active, cpml, precision) * (na + 2) * (nb + 2) + slabs + index


def state_bytes(active: Triple, cpml: tuple[tuple[int, int], ...], precision: str) -> int:
    """Bytes of the fields and CPML states as a checkpoint holds them: no padding of rows, no layers around the box."""
    slabs = sum(4 * sum(planes) * math.prod(active) // n for planes, n in zip(cpml, active))
    return (6 * math.prod(active) + slabs) * BYTES_OF[precision]


def traffic_bytes_per_cell(cells: Triple, cpml: tuple[tuple[int, int], ...], precision: str) -> float:
    """Bytes that one step moves between memory and core, per cell: 12 values, and 8 in each CPML slab of a cell."""
    size = BYTES_OF[precision]
    in_slabs = sum(sum(cpml[axis]) / cells[axis] for axis in range(3))
    return 12.0 * size + 8.0 * size * in_slabs


def term_bytes(terms: Iterable[Term], steps: int, precision: str) -> tuple[int, int]:
    """Bytes of memory and of output of all terms."""
    terms, size = list(terms), BYTES_OF[precision]
    memory = sum(term.memory_bytes(steps, size) for term in terms)
    return memory, sum(term.recorded_bytes(steps, size) for term in terms)


def phase_error_per_wavelength(cell: float, time_step: float, frequency: float, speed: float) -> float:
    """Degrees by which a wave along an axis lags in one wavelength, where cells have the given length (m).

    Yee's dispersion along an axis: sin(w dt/2)/(v dt) = sin(k d/2)/d, error 360 (k v/w - 1). Infinite where the grid
    carries no such wave (Taflove and Hagness, Computational Electrodynamics, 3rd ed., chapter 4).
    """
    if not frequency > 0:
        return 0.0
    omega = 2 * math.pi * frequency
    sine = cell / (speed * time_step) * math.sin(min(0.5 * omega * time_step, 0.5 * math.pi))
    if sine >= 1:
        return math.inf
    return 360.0 * (2 / cell * math.asin(sine) * speed / omega - 1)
