"""Executes a plan: `ENGINES[name]` makes an engine of each kind, all by the protocols of protocol.py."""

from collections.abc import Callable

from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.protocol import LocalEngine
from nearfield.engines.reference.engine import ReferenceEngine

ENGINES: dict[str, Callable[..., LocalEngine]] = {"cpu": CpuEngine, "reference": ReferenceEngine}
"""cpu: rows of cells, threads, SIMD, tiles in time. reference: the oracle of the tests."""
