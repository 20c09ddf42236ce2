"""NVIDIA's driver on this machine and its cards, or why none can be used."""

from __future__ import annotations

import os
from dataclasses import dataclass

from nearfield.entry.errors import ModelError
from nearfield.entry.wording import memory
from nearfield.machine.compiled import core

VARIABLE = "NEARFIELD_CUDA_DRIVER"  # path of another library in the driver's place, for tests
LIBRARY = "libcuda.so.1"  # comes with NVIDIA's driver
OLDEST = (12, 0)  # CUDA of the driver; kernels are C++20, which compilers before 12.0 do not know
SMALLEST = (7, 5)  # architecture; kernels are checked from it on, by `make gpu-check`


@dataclass(frozen=True)
class Card:
    """A card: its place among those that the driver shows, name, architecture (major, minor) and memory in bytes."""

    number: int
    name: str
    architecture: tuple[int, int]
    memory: int
    multiprocessors: int
    memory_rate: float  # bytes a second at most, by clock and width
    bus: str  # its place on the PCI bus
    node: int = -1  # NUMA node that it is on; -1: the system does not say

    @property
    def target(self) -> str:
        """The architecture as compilers name it."""
        return f"sm_{self.architecture[0]}{self.architecture[1]}"

    def __str__(self) -> str:
        return f"{self.name} ({self.target}, {memory(self.memory)})"


@dataclass(frozen=True)
class Driver:
    """A driver that was loaded: its path, the CUDA that it knows, the cards that it shows."""

    path: str
    version: tuple[int, int]
    cards: tuple[Card, ...]

    @property
    def card(self) -> Card:
        """The card that a run takes: the first one shown; CUDA_VISIBLE_DEVICES chooses another."""
        return self.cards[0]

    def free_memory(self) -> int:
        """Bytes that are free on the card now. Error: the driver refuses to say."""
        devices = core().devices
        try:
            return int(devices.free_memory(self.path, self.card.number))
        except devices.CardError as error:
            raise ModelError(f"the card {self.card.name} cannot be used: {error}") from None


def find_driver() -> Driver:
    """The driver here, with at least one card that kernels can be made for. Error: there is none, and why."""
    path, devices = os.environ.get(VARIABLE) or LIBRARY, core().devices
    try:
        number = int(devices.driver_version(path))
        version = (number // 1000, number % 1000 // 10)
        if version < OLDEST:
            raise ModelError(
                f"the NVIDIA driver here is too old: it knows CUDA {dotted(version)}, needed is {dotted(OLDEST)} or "
                "later; update the driver"
            )
        cards = tuple(Card(n, **each) for n, each in enumerate(devices.cards(path)))
    except devices.NoDriver as error:
        raise ModelError(f"no NVIDIA driver was found here that can be used ({error})") from None
    except devices.CardError as error:
        raise ModelError(f"the NVIDIA driver here does not work: {error}") from None
    if not cards:
        raise ModelError("the NVIDIA driver here shows no card; look at `nvidia-smi` and at CUDA_VISIBLE_DEVICES")
    if cards[0].architecture < SMALLEST:
        raise ModelError(
            f"the card {cards[0].name} has architecture {dotted(cards[0].architecture)}; kernels are made for "
            f"{dotted(SMALLEST)} and later; choose another card by CUDA_VISIBLE_DEVICES"
        )
    return Driver(path, version, cards)


def dotted(version: tuple[int, ...]) -> str:
    """A version as it is written."""
    return ".".join(map(str, version))
