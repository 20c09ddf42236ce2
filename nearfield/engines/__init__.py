"""Executes a plan: `ENGINES[name]` makes an engine of each kind, all by the protocols of protocol.py."""

from collections.abc import Callable

from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.protocol import LocalEngine
from nearfield.engines.reference.engine import ReferenceEngine
from nearfield.entry.errors import ModelError

ENGINES: dict[str, Callable[..., LocalEngine]] = {"cpu": CpuEngine, "reference": ReferenceEngine}
"""cpu: rows of cells, threads, SIMD, tiles in time. reference: the oracle of the tests, in NumPy."""
AUTO = "cpu"  # what the choice "auto" means here


def engine_named(choice: str) -> str:
    """Name of the engine for a user's choice, "auto" among them. Error: there is no such engine."""
    name = AUTO if choice == "auto" else choice
    if name not in ENGINES:
        raise ModelError(f"engine {choice!r} is unknown; there are auto, {', '.join(ENGINES)}")
    return name
