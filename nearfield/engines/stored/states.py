"""States of the CPU engine by name and in global order: views of the core's registry, whatever its storage axes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product

import numpy as np

from nearfield.engines.protocol import FIELDS, NamedState
from nearfield.engines.stored.poles import EnginePoles
from nearfield.engines.stored.psi import slab_states
from nearfield.engines.stored.turn import Turn
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan

Registry = Mapping[str, tuple[int, np.ndarray]]

PLANES = 16  # across x, of poles' states in one piece
KNOWN = re.compile(r"(imaginary )?([EH][012]|psi (electric|magnetic) [abc])")  # names in the registry of states


def field(plan: Plan, registry: Registry, component: int) -> np.ndarray:
    """Writable view of one component in its active shape, axes x, y, z."""
    part, stored = divmod(plan.storage_component(component), 6)
    _, array = registry["imaginary " * part + f"{'EH'[stored // 3]}{stored % 3}"]
    return Turn(plan.storage_axes).seen(array)


def named_states(plan: Plan, registry: Registry, poles: EnginePoles) -> Iterator[NamedState]:
    """Fields, psi and poles. Error: the registry has other states."""
    if unknown := [name for name in registry if not KNOWN.fullmatch(name)]:
        raise NotImplementedError(f"a checkpoint would lose {', '.join(unknown)}")
    for component, name in enumerate(FIELDS[: 6 * (1 + plan.complex_fields)]):
        view = field(plan, registry, component)
        yield NamedState(name, plan.box, partial(_read, view), partial(_write, view))
    parts = ("", "imaginary ")[: 1 + plan.complex_fields]
    for part, position, half in product(parts, range(3), ("electric", "magnetic")):
        kind = f"{part}psi {half}"
        if f"{kind} {'abc'[position]}" in registry:
            yield from slab_states(plan, kind, position, registry[f"{kind} {'abc'[position]}"][1])
    yield from pole_states(plan, poles)


def _read(view: np.ndarray, box: Box) -> np.ndarray:
    return view[box.slices()]


def _write(view: np.ndarray, values: np.ndarray) -> None:
    view[...] = values


def pole_states(plan: Plan, poles: EnginePoles) -> Iterator[NamedState]:
    """Memories of dispersive media, some planes at a time."""
    for component, medium, whole in poles.boxes():
        part, name = "imaginary " * (component >= 6), FIELDS[component % 6]
        for first in range(whole.lower[0], whole.upper[0], PLANES):
            last = min(first + PLANES, whole.upper[0])
            box = Box((first, *whole.lower[1:]), (last, *whole.upper[1:]))
            yield NamedState(
                f"{part}poles of medium {medium} {name}",
                box,
                partial(poles.states, component, medium),
                partial(poles.set_states, component, medium, box),
                (plan.pole_media[medium].states,),
                sparse=True,
            )
