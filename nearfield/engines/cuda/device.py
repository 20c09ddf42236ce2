"""Which device kernels run on: the make-believe one of `NEARFIELD_DEVICE`, or a card where one can be used."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

from nearfield.engines.cuda import compiler as nvrtc
from nearfield.engines.cuda import driver as nvidia
from nearfield.engines.cuda.compiler import Compiler, find_compiler
from nearfield.engines.cuda.cubins import cubins
from nearfield.engines.cuda.driver import Card, Driver, dotted, find_driver
from nearfield.entry.errors import ModelError
from nearfield.machine.compiled import core

VARIABLE = "NEARFIELD_DEVICE"
HOST = {"host": "forwards", "host-backwards": "backwards"}  # names of the make-believe device, and its order of blocks
OTHERWISE = f'give engine "cpu" (the same bits), or set {VARIABLE}=host for the same kernels on this processor, slowly'


class Device(Protocol):
    """A device that an engine can be made on: its name in results, what is known of it, and itself.

    in_process: its memory is that of this process, which every MPI can read.
    """

    @property
    def name(self) -> str: ...
    @property
    def in_process(self) -> bool: ...
    def facts(self) -> dict[str, Any]: ...
    def opened(self, threads: int, urgent: bool = False) -> Any: ...
    def free_memory(self) -> int | None: ...


@dataclass(frozen=True)
class MakeBelieve:
    """This processor with a memory of its own; `order`: in which it makes blocks of threads."""

    order: str
    name: str = "host"
    in_process: bool = True

    def facts(self) -> dict[str, Any]:
        return {}

    def opened(self, threads: int, urgent: bool = False) -> Any:
        """The core's device. `threads`: of the processor. It makes one thing after the other, urgent or not."""
        return core().devices.HostDevice(self.order, threads)

    def free_memory(self) -> None:
        """None: it is the machine's, which is looked at anyway."""


@dataclass(frozen=True)
class UsableCard:
    """A card with a driver and a compiler that fit it and each other."""

    driver: Driver
    compiler: Compiler
    in_process: bool = False

    @property
    def card(self) -> Card:
        return self.driver.card

    @property
    def name(self) -> str:
        return self.card.name

    def facts(self) -> dict[str, Any]:
        """Architecture, driver and compiler, as results state them."""
        return {
            "card": self.card.target,
            "card_memory": self.card.memory,
            "driver": dotted(self.driver.version),
            "nvrtc": dotted(self.compiler.version),
        }

    def opened(self, threads: int, urgent: bool = False) -> Any:
        """The core's device, with its kernels loaded; `urgent`: on a stream of the highest priority.

        Error: the driver refuses, or the card is full.
        """
        devices = core().devices
        try:
            kernels = cubins(self.compiler, self.card.target)
            return devices.CardDevice(self.driver.path, self.card.number, kernels, urgent)
        except devices.CardError as error:
            raise ModelError(f"the card {self.name} cannot be used: {error}; {OTHERWISE}") from None

    def free_memory(self) -> int:
        return self.driver.free_memory()


def device() -> Device:
    """The device for this process. Error: there is none, or `NEARFIELD_DEVICE` names another than are allowed."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted in HOST:
        return MakeBelieve(HOST[wanted])
    if wanted:
        raise ModelError(
            f"{VARIABLE}={wanted} is not a device; allowed: {', '.join(HOST)}, or unset for a card; {OTHERWISE}"
        )
    try:
        return usable_card()
    except ModelError as error:
        raise ModelError(f'engine "cuda" needs a card: {error}; {OTHERWISE}') from None


def opened(number: int) -> Any:
    """The core's device: a card by its number among those shown, or the make-believe one. Errors: as of `device`."""
    found = device()
    if isinstance(found, UsableCard):
        found = replace(found, driver=replace(found.driver, cards=(found.driver.cards[number],)))
    return found.opened(1)


def usable_card() -> UsableCard:
    """The card of this machine, ready for kernels. Error: there is none, or what it lacks."""
    return _usable_card(*(os.environ.get(name) for name in (nvidia.VARIABLE, nvrtc.VARIABLE)))


@lru_cache(maxsize=4)
def _usable_card(*_: str | None) -> UsableCard:
    """What was found is kept for these variables; what was missing is looked for again."""
    driver = find_driver()
    compiler, (major, minor) = find_compiler(driver.version), driver.card.architecture
    if 10 * major + minor not in compiler.architectures:
        known = ", ".join(f"sm_{number}" for number in compiler.architectures)
        raise ModelError(
            f"NVRTC {dotted(compiler.version)} makes no code for {driver.card} (only {known}); install another version "
            "of nvidia-cuda-nvrtc, or choose another card by CUDA_VISIBLE_DEVICES"
        )
    return UsableCard(driver, compiler)
