"""Executes a plan: `ENGINES[name]` makes an engine of each kind, all by the protocols of protocol.py."""

from collections.abc import Callable

from nearfield.engines.choice import AUTO, Choice, chosen_engine, engine_named
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cuda.engine import CudaEngine
from nearfield.engines.protocol import LocalEngine
from nearfield.engines.reference.engine import ReferenceEngine

__all__ = ["AUTO", "ENGINES", "UNDIVIDED", "Choice", "chosen_engine", "engine_named"]

ENGINES: dict[str, Callable[..., LocalEngine]] = {"cpu": CpuEngine, "cuda": CudaEngine, "reference": ReferenceEngine}
"""cpu: rows of cells, threads, SIMD, tiles in time. cuda: kernels on a device. reference: the oracle of the tests, in
NumPy."""
UNDIVIDED = {
    "cuda": "which keeps all of a rank's cells on one device",
    "reference": "which is one thread of NumPy for checks of small models",
}
"""Engines that take no tiles, no domains, and why; threads are for the make-believe device."""
