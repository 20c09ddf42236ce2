"""Where a waveguide port lies on the grid, and its mode there; what cannot be there is refused."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.grid.boundaries import CPML
from nearfield.grid.folds import Fold
from nearfield.grid.yee import AXES, SAMPLE_TOLERANCE
from nearfield.guides.counted import counted_mode
from nearfield.guides.loaded_mode import LoadedMode, loaded_mode
from nearfield.guides.modes import Mode, guide_mode
from nearfield.guides.names import COUNTED_SHAPES, ModeName
from nearfield.guides.open_mode import open_mode
from nearfield.guides.section import MARGIN, Section, guide_section
from nearfield.guides.terms import PlacedPort
from nearfield.guides.window import Place
from nearfield.lowering.context import Context
from nearfield.machine.transport import agreed
from nearfield.sources.edges import snapped

if TYPE_CHECKING:
    from nearfield.guides.port import WaveguidePort

LOSSIEST = 0.05  # largest loss tangent of a filling; its modes are reflected by a quarter of it
MIRRORED = 1e-6  # most that a mode may differ from its mirror image, relative to its largest E


def port_place(context: Context, port: WaveguidePort) -> Place:
    """Its window on the grid. Errors: in or next to a CPML or wall, complex fields, a plane of symmetry along it, a
    reference plane outside the grid."""
    grid, who, axis = context.grid, port._label, port._along
    if context.boundaries.complex_fields:
        raise ModelError(
            f"{who}: a Bloch phase makes the fields complex, and the waves of a port are real; use 'periodic' faces"
        )
    if grid.mirrors[axis]:
        raise ModelError(
            f"{who}: a plane of symmetry across {AXES[axis]} would mirror the port, and both would act as one; leave "
            "the plane out, or turn it along the guide"
        )
    spans = list(snapped(grid, port.lower, port.upper, who))
    node = spans[axis][0]
    low, high = context.boundaries.interior(grid)[axis]
    if not low < node < high:
        line = grid.lines[axis]
        raise ModelError(
            f"{who}: its plane {AXES[axis]}={line[node]:.6g} m lies on a wall or in a CPML; allowed: "
            f"{line[low + 1]:.6g} to {line[high - 1]:.6g} m. Move it inside, or enlarge the grid"
        )
    _refuse_far_plane(grid.lines[axis], port)
    across = (axis + 1) % 3, (axis + 2) % 3
    for a in (a for a in across if grid.mirrors[a]):
        plane, cell = grid.lines[a][grid.cells[a] // 2], float(grid.primary(a).min())
        if abs(port.lower[a] + port.upper[a] - 2.0 * plane) <= SAMPLE_TOLERANCE * cell:  # both ends to the same side
            first = min(spans[a][0], grid.cells[a] - spans[a][1])
            spans[a] = first, grid.cells[a] - first
        if sum(spans[a]) != grid.cells[a]:
            raise ModelError(
                f"{who}: the plane of symmetry across {AXES[a]} does not halve its opening, and what lies below the "
                "plane is no port of its own; let the opening reach as far below the plane as above, or leave it out"
            )
    if port.shape == "open":
        _refuse_border(context, port, spans)
    margin = 0 if port.shape == "open" else MARGIN
    window = [(max(0, low - margin), min(grid.cells[a], high + margin)) for a, (low, high) in enumerate(spans)]
    (u0, u1), (v0, v1) = (window[a] for a in across)
    return Place(axis, node, (u0, v0), (u1, v1))


def _refuse_far_plane(line: np.ndarray, port: WaveguidePort) -> None:
    plane, slack = port.reference_plane, SAMPLE_TOLERANCE * (line[1] - line[0])
    if plane is not None and not line[0] - slack <= plane <= line[-1] + slack:
        raise ModelError(
            f"{port._label}: reference_plane {AXES[port._along]}={plane:.6g} m lies outside the grid, {line[0]:.6g} to "
            f"{line[-1]:.6g} m; give the coordinate (m) of a plane across this guide, such as a face of what it feeds"
        )


def placed_port(context: Context, port: WaveguidePort) -> PlacedPort:
    """The port with its first mode, found by the first rank: last bits differ between processors."""
    place, opening = port_place(context, port), (port.lower, port.upper, port.direction, port.shape, port.inner_radius)

    def mode() -> Mode | LoadedMode:
        section = context.once(opening, lambda: guide_section(context, port._label, place, port._opening))
        return _mode(context, port, section)

    found = context.once((opening, port.modes[0]), lambda: agreed(context.ranks, mode, at_root=True))
    return PlacedPort.of(context, port.modes[0], found, port._sign, port.reference_plane)


def _mode(context: Context, port: WaveguidePort, section: Section) -> Mode | LoadedMode:
    place, name, who = section.place, ModeName.read(port.modes[0]), port._label
    mode: Mode | LoadedMode
    if port.shape not in COUNTED_SHAPES:
        lines = [context.grid.lines[a][low : high + 1] for a, low, high in zip(place.across, place.first, place.last)]
        given = AXES.index(name.polarisation) if name.polarisation else min(place.across)
        angle = 0.5 * np.pi * place.across.index(given)
        mode = guide_mode(section, tuple(lines), port._opening, name, angle, who)
    elif port.shape == "open":
        band = context.minimum_frequency, context.maximum_frequency
        key, step = (name.n, fingerprint(section)), context.time_step
        mode = replace(context.once(key, lambda: open_mode(section, name.n, band, step, who)), section=section)
    elif section.filling.exact:
        mode = counted_mode(section, name.n, who)
    else:
        band = context.minimum_frequency, context.maximum_frequency
        mode = loaded_mode(section, name.n, band, context.time_step, who)
    _refuse_mirrored(context, port, mode)
    _refuse_loss(context, port, section)
    return mode


def fingerprint(section: Section) -> bytes:
    """A number that sections have in common whose modes are the same: those of both ends of a line."""
    filling = section.filling
    parts = *section.live, section.live_n, *section.primary, *section.dual, *filling.electric, *filling.magnetic
    return sha256(b"".join(part.tobytes() for part in (*parts, filling.open_u, filling.open_v))).digest()


def loss_tangent(context: Context, section: Section) -> float:
    """Largest tangent of the loss angle of a guide's filling, in the middle of the band."""
    middle = 0.5 * (context.minimum_frequency + context.maximum_frequency)
    return section.filling.loss / float(np.tan(np.pi * middle * context.time_step))


def _refuse_loss(context: Context, port: WaveguidePort, section: Section) -> None:
    tangent = loss_tangent(context, section)
    if tangent > LOSSIEST:
        raise ModelError(
            f"{port._label}: what fills the guide at the port has a loss tangent of {tangent:.2g} in the middle of the "
            f"pulse's band; allowed: {LOSSIEST:g}, since modes are those without the loss, whose waves a lossy guide "
            f"reflects by some {20 * np.log10(tangent / 4):.0f} dB. Let the guide begin with a medium that loses less"
        )


def _refuse_border(context: Context, port: WaveguidePort, spans: list[tuple[int, int]]) -> None:
    """Refuse a rectangle of an open line that reaches into a CPML, or to a wall that is not metal."""
    for axis, (low, high) in enumerate(context.boundaries.interior(context.grid)):
        line, last = context.grid.lines[axis], context.grid.cells[axis]
        for side, node, end, past in (("low", spans[axis][0], low, -1), ("high", spans[axis][1], high, 1)):
            name, face = f"{AXES[axis]}_{side}", context.boundaries.face(axis, side)
            if axis == port._along or (node not in (0, last) and past * (node - end) <= 0):
                continue
            if isinstance(face, CPML):
                raise ModelError(
                    f"{port._label}: its rectangle reaches {AXES[axis]}={line[node]:.6g} m, in the CPML at {name}, "
                    f"which begins at {line[end]:.6g} m; let it end there or before"
                )
            if face != "pec":
                raise ModelError(
                    f"{port._label}: its rectangle reaches the wall {name}, which is no metal; allowed are rectangles "
                    "that end on PEC, or inside the grid. Of half a line behind a PMC wall give the whole, with "
                    "`symmetry`"
                )


def _refuse_mirrored(context: Context, port: WaveguidePort, mode: Mode | LoadedMode) -> None:
    """Refuse a mode that the planes of symmetry do not mirror onto itself."""
    largest = max(np.abs(part).max() for part in mode.pictured)
    for number, axis in enumerate(mode.section.place.across):
        kind = context.grid.mirrors[axis]
        if not kind:
            continue
        for component, part in zip(mode.section.place.across, mode.pictured):
            parity = Fold.of(context.grid, component, axis, context.grid.cells[axis]).parity
            if np.abs(np.flip(part, number) - parity * part).max() > MIRRORED * largest:
                other = "a magnetic" if kind == "electric" else "an electric"
                raise ModelError(
                    f"{port._label}: its mode {port.modes[0]} has no {kind} plane of symmetry across {AXES[axis]}; "
                    f"{other} one there may fit, another mode, or in a round guide another axis of polarisation"
                )
