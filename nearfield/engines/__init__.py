"""Executes a plan: `ENGINES[name]` makes an engine of each kind."""

from nearfield.engines.cpu.engine import CpuEngine

ENGINES = {"cpu": CpuEngine}
