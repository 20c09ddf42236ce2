"""Executes a plan: `ENGINES[name]` makes an engine of each kind, all by the protocols of protocol.py."""

from collections.abc import Callable

from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cuda.device import device
from nearfield.engines.cuda.engine import CudaEngine
from nearfield.engines.protocol import LocalEngine
from nearfield.engines.reference.engine import ReferenceEngine
from nearfield.entry.errors import ModelError

ENGINES: dict[str, Callable[..., LocalEngine]] = {"cpu": CpuEngine, "cuda": CudaEngine, "reference": ReferenceEngine}
"""cpu: rows of cells, threads, SIMD, tiles in time. cuda: kernels on a device. reference: the oracle of the tests, in
NumPy."""
AUTO = "cpu"  # what the choice "auto" means here
UNDIVIDED = {
    "cuda": "which keeps the whole model on one device",
    "reference": "which is one thread of NumPy for checks of small models",
}
"""Engines that take no tiles, domains or ranks, and why; threads are for the make-believe device."""


def engine_named(choice: str) -> str:
    """Name of the engine for a user's choice, "auto" among them. Error: no such engine, or no device for it."""
    name = AUTO if choice == "auto" else choice
    if name not in ENGINES:
        raise ModelError(f"engine {choice!r} is unknown; there are auto, {', '.join(ENGINES)}")
    if name == "cuda":
        device()
    return name
