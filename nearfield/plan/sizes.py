"""What a run will cost: memory, traffic, output and time, from shapes alone, before any field is allocated."""

from __future__ import annotations

import math
from collections.abc import Iterable

from nearfield.plan.incident_term import IncidentTerm
from nearfield.plan.plan import CircuitTerm, CurrentTerm, DFTBox, Functional, SnapshotBox, Term, unit_stride_axis

LANES = 16  # cells of a block of the core's layout, core/layout.hpp
BYTES_OF = {"single": 4, "double": 8}
KEPT_SAMPLES = 8  # of a running Fourier transform, at most as many as frequencies, core/cpu/operations.hpp
HDF5_OVERHEAD = 200_000  # groups, attributes, model text and grid of a small result; measured on the examples


def blocks(samples: int) -> int:
    """Blocks of a row."""
    return -(-samples // LANES)


def record_bytes(active: tuple[int, int, int], cpml: tuple[tuple[int, int], ...], precision: str) -> int:
    """Bytes of the record of one row: six fields, and the CPML states of its own axis; core/layout.hpp."""
    unit = unit_stride_axis(active)
    nc, (low, high) = active[unit], cpml[unit]
    after_low = min(blocks(nc), blocks(low))
    before_high = max(after_low, (nc - high) // LANES if high else blocks(nc))
    return (6 * LANES * (blocks(nc) + 2) + 4 * LANES * (after_low + blocks(nc) - before_high)) * BYTES_OF[precision]


def domain_bytes(active: tuple[int, int, int], cpml: tuple[tuple[int, int], ...], precision: str) -> int:
    """Memory of the fields, CPML states and row index of one domain; the formula of core/layout.hpp.

    `active` samples and `cpml` planes (low, high) along x, y, z. Coefficients of many media come on top.
    """
    unit = unit_stride_axis(active)
    a, b = (unit + 1) % 3, (unit + 2) % 3
    na, nb, nc = active[a], active[b], active[unit]
    slabs = (sum(cpml[a]) * nb + sum(cpml[b]) * na) * 4 * LANES * blocks(nc) * BYTES_OF[precision]
    index = 2 * 4 * na * nb
    return record_bytes(active, cpml, precision) * (na + 2) * (nb + 2) + slabs + index


def traffic_bytes_per_cell(cells: tuple[int, int, int], cpml: tuple[tuple[int, int], ...], precision: str) -> float:
    """Bytes that one step moves between memory and core, per cell: 12 values, and 8 in each CPML slab of a cell."""
    size = BYTES_OF[precision]
    in_slabs = sum(sum(cpml[axis]) / cells[axis] for axis in range(3))
    return 12.0 * size + 8.0 * size * in_slabs


def samples_in(term: DFTBox | SnapshotBox) -> int:
    """Field samples that a box of one component holds."""
    return math.prod(max(0, upper - lower) for lower, upper in zip(term.lower, term.upper))


def recorded_bytes(term: Term, steps: int, precision: str) -> int:
    """Memory and output of one recording: series in double, boxes in the precision of the fields."""
    size = BYTES_OF[precision]
    if isinstance(term, Functional):
        return 8 * (steps // term.stride)
    if isinstance(term, DFTBox):
        return 2 * size * samples_in(term) * len(term.frequencies)
    if isinstance(term, SnapshotBox):
        return size * samples_in(term) * term.taken(steps)
    return 0


def term_bytes(terms: Iterable[Term], steps: int, precision: str) -> tuple[int, int]:
    """Memory of all terms and what they leave in the output, bytes."""
    memory = output = 0
    for term in terms:
        left = recorded_bytes(term, steps, precision)
        output += left
        memory += left
        if isinstance(term, DFTBox):  # samples kept until they are added, phasors
            kept = min(KEPT_SAMPLES, len(term.frequencies)) * samples_in(term)
            memory += BYTES_OF[precision] * (kept + 2 * len(term.frequencies) * (steps // term.stride))
        if isinstance(term, IncidentTerm):  # at worst; rows that are alike share theirs
            memory += (16 + (4 + BYTES_OF[precision]) * (1 + term.column.shape[1])) * len(term.i)
        if isinstance(term, (CurrentTerm, CircuitTerm, Functional)):
            memory += 256 * len(term.i)  # indices, weights and states of a sample
    return memory, output


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
