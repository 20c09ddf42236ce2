"""The cards of this machine, as `doctor` and `machine` list them, or why the engine `cuda` cannot use any."""

from __future__ import annotations

from typing import Any

from nearfield.engines.cuda.compiler import find_compiler
from nearfield.engines.cuda.device import usable_card
from nearfield.engines.cuda.driver import dotted, find_driver
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import memory


def cards_here() -> dict[str, Any]:
    """gpu: the card that runs take, or None. cards: all that the driver shows. cards_reason: why none can be used."""
    found: dict[str, Any] = {"gpu": None, "cards": [], "cards_reason": ""}
    try:
        driver = find_driver()
        found["cards"] = [
            {
                "name": card.name,
                "architecture": card.target,
                "memory_bytes": card.memory,
                "memory_bytes_per_second": card.memory_rate,
                "multiprocessors": card.multiprocessors,
                "bus": card.bus,
                "driver": dotted(driver.version),
            }
            for card in driver.cards
        ]
        card, compiler = usable_card().card, find_compiler(driver.version)
        found["gpu"] = f"{card}, driver for CUDA {dotted(driver.version)}, NVRTC {dotted(compiler.version)}"
    except ModelError as error:
        found["cards_reason"] = str(error)
    return found


def card_text(found: dict[str, Any]) -> str:
    """The card that runs take and how many more there are; or why there is none."""
    if found["gpu"] is None:
        cards = ", ".join(f"{card['name']} ({memory(card['memory_bytes'])})" for card in found["cards"])
        return f"{cards or 'none'}, not needed: runs use the processor ({found['cards_reason']})"
    more = len(found["cards"]) - 1
    return found["gpu"] + (f"; {more} more, chosen by CUDA_VISIBLE_DEVICES" if more else "")
