"""Memory that a run takes, before it starts: a warning where less is free, a refusal where there is none such."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nearfield.engines import engine_named
from nearfield.engines.cpu.pole_sizes import pole_bytes
from nearfield.engines.cuda.device import device
from nearfield.engines.cuda.sizes import device_bytes
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import memory
from nearfield.machine.group_memory import free_memory, group_memory
from nearfield.machine.system_files import memory_whole
from nearfield.machine.transport import agreed
from nearfield.output.field_sizes import features_with_files, ring_bytes
from nearfield.plan.sizes import BYTES_OF, domain_bytes, term_bytes
from nearfield.run.surface_costs import surfaces

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

NUMPY_NUMBERS = 54  # numbers a cell that the reference engine holds at most: fields, their copies, dense coefficients
MOST_NUMBERS = 200  # a cell, of the fields and poles of any model met so far: five poles on everything hold 120


@dataclass(frozen=True)
class Memory:
    """Bytes of a run's parts."""

    fields: int  # with coefficients, poles and what surfaces remember, of the compiled engine
    terms: int  # of sources, ports and monitors
    total: int  # with rings of field files and what is collected at the end, on the engine that makes the steps
    setup: int = 0  # more than these while coefficients are made
    device: int = 0  # on a card or the make-believe device
    device_free: int | None = None  # None: no card


def memory_of(setup: Discretization, surface_bytes: int, engine: str | None = None) -> Memory:
    """The memory of a run on the model's own engine unless one is given; `surface_bytes`: see `surfaces`."""
    plan, precision = setup.plan, setup.simulation.precision
    parts = 1 + plan.complex_fields
    fields = domain_bytes(plan.active, plan.cpml, precision) * parts + pole_bytes(plan) + surface_bytes
    terms, at_end = recorder_bytes(setup)
    held = {
        "cpu": fields,
        "cuda": fields,  # the host's mirror
        "reference": math.prod(plan.cells) * parts * NUMPY_NUMBERS * BYTES_OF[precision],
    }
    rings = ring_bytes(setup) if features_with_files(setup) else 0
    name = engine_named(engine or setup.simulation.engine)
    total, making = terms + at_end + rings + held[name], setup.coefficients.making_bytes(plan.storage_axes[0])
    if name != "cuda":
        return Memory(fields, terms, total, making)
    there, needed = device().free_memory(), device_bytes(plan)
    return Memory(fields, terms, total + (0 if there else needed), making, needed, there)


def recorder_bytes(setup: Discretization) -> tuple[int, int]:
    """Bytes of all terms while the run goes on, and what comes to them at its end: what was recorded, as the engine
    gives it, and as the result of each excitation."""
    terms, recorded = term_bytes(setup.terms, setup.expected_steps, setup.simulation.precision)
    return terms, recorded * (1 + max(1, len(setup.excitations)))


def too_much_memory(run: int, setup: int = 0) -> Iterator[str]:
    """A warning where the run and its set-up take more memory than is free here, or than this machine has, which `run`
    refuses. Error: more than the control group grants.
    """
    group, needed = group_memory(), run + setup
    if group is not None and needed >= group.free:
        raise ModelError(
            f"needs {memory(needed)} of memory, but the control group of this process ({group.group}) grants "
            f"{memory(group.limit)}, of which {memory(group.free)} are left, and the kernel ends what exceeds it; use "
            "fewer cells or monitors, or ask for more memory where this process was started"
        )
    free, whole = free_memory(), memory_whole()
    if whole is not None and needed >= whole:
        yield f"{beyond_machine(needed, whole)}; `run` refuses it here"
    elif free is not None and needed >= free:
        yield f"needs {memory(needed)} of memory, {memory(free)} are free here; use fewer cells or monitors"


def beyond_machine(needed: int, whole: int) -> str:
    """What is said of a run that takes more memory than a machine has in all."""
    return (
        f"needs {memory(needed)} of memory, but this machine has {memory(whole)} in all; use fewer cells, monitors "
        "that keep less (`every`, smaller boxes, or `file`, which leaves fields on disk), a machine with more, or "
        "ranks on several hosts"
    )


def too_full(needed: Memory) -> Iterator[str]:
    """A warning where a card has less memory than the run takes on it, which `run` refuses."""
    if needed.device_free is not None and needed.device > needed.device_free:
        yield (
            f"needs {memory(needed.device)} on the card, {memory(needed.device_free)} are free there, so that `run` "
            "would refuse it; use fewer cells, or the engine cpu"
        )


def short_of_memory(setup: Discretization, engine: str | None = None) -> list[str]:
    """The warning of a run, whose ranks share its memory evenly. Errors: more than the machine has, and that of
    `too_much_memory`.

    Media are looked at only where it may not fit.
    """
    plan, precision, free = setup.plan, setup.simulation.precision, free_memory()
    hosts = setup.ranks.hosts
    sharers = hosts.count(hosts[setup.ranks.rank])
    numbers = math.prod(plan.cells) * (1 + plan.complex_fields) * MOST_NUMBERS
    most = numbers * BYTES_OF[precision] + sum(recorder_bytes(setup))
    most += setup.coefficients.making_bytes(plan.storage_axes[0], most=True)
    short = free is not None and most * sharers >= free * setup.ranks.size
    if not setup.ranks.any(short):
        return []
    needed = memory_of(setup, surfaces(setup).bytes, engine)
    run, making = (each * sharers // setup.ranks.size for each in (needed.total, needed.setup))

    def told() -> list[str]:
        found, whole = list(too_much_memory(run, making)), memory_whole()
        if whole is not None and run + making >= whole:
            raise ModelError(beyond_machine(run + making, whole))
        return found

    return agreed(setup.ranks, told)


def refuse_short_of_memory(setup: Discretization, engine: str | None = None) -> None:
    """Error: the run and its set-up take more memory than this machine, or its control group, has free."""
    for why in short_of_memory(setup, engine):
        raise ModelError(why)
