"""Which engine a user's choice means here: "auto" takes a card where one can be used, else the CPU; both give the same
bits."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nearfield.engines.cuda.device import VARIABLE, device, usable_card
from nearfield.engines.cuda.sizes import refuse_full
from nearfield.entry.errors import ModelError
from nearfield.machine.transport import started

if TYPE_CHECKING:
    from nearfield.plan.plan import Plan

AUTO = "auto"
NAMES = ("cpu", "cuda", "reference")


@dataclass(frozen=True)
class Choice:
    """The engine's name, and why it is this one; `why` is empty where the user named it."""

    name: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.name} (auto: {self.why})" if self.why else self.name


def chosen_engine(choice: str, plan: Plan | None = None, only_cpu: str = "") -> Choice:
    """The engine for a choice, of a plan where it is known. Error: none of that name, or its device lacks something.

    `only_cpu`: what else is asked that the CPU engine alone does, in words; "auto" then is the CPU.
    """
    if choice not in (AUTO, *NAMES):
        raise ModelError(f"engine {choice!r} is unknown; there are {AUTO}, {', '.join(NAMES)}")
    if plan is not None and plan.storage != "full":
        choice = refuse_narrow(choice)
    if choice == AUTO:
        return _automatic(plan, only_cpu)
    if choice == "cuda":
        found = device()
        if plan is not None:
            refuse_full(found, plan, found.free_memory())
    return Choice(choice)


def refuse_narrow(choice: str) -> str:
    """The engine for fields in 16 bits, which is "cuda". Error: another one is asked for, or several ranks share the
    run."""
    if choice not in (AUTO, "cuda"):
        raise ModelError(
            f'storage "16-bit" cannot be had with engine "{choice}", which keeps fields as wide as the precision; take '
            'engine "cuda", or storage "full"'
        )
    if started() > 1:
        raise ModelError(
            f'storage "16-bit" is for one rank, and here are {started()}: halos travel as wide as the precision; start '
            'it without a launcher, or take storage "full"'
        )
    return "cuda"


def engine_named(choice: str) -> str:
    """Name of the engine for a user's choice, "auto" among them. Error: as of `chosen_engine`."""
    return chosen_engine(choice).name


def _automatic(plan: Plan | None, only_cpu: str) -> Choice:
    if os.environ.get(VARIABLE):  # the make-believe device is for those who ask for it
        return Choice("cpu", f"{VARIABLE} is set, and no card is looked for")
    if started() > 1:
        return Choice("cpu", 'cards take part in a run of several ranks where engine "cuda" is asked for')
    if only_cpu:
        return Choice("cpu", f"{only_cpu} is for the CPU")
    try:
        card = usable_card()
        if plan is not None:
            refuse_full(card, plan, card.free_memory())
    except ModelError as error:
        return Choice("cpu", str(error))
    return Choice("cuda", f"{card.card}, driver for CUDA {'.'.join(map(str, card.driver.version))}")
