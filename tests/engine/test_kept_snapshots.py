"""Snapshots that are kept in memory: each stays where it was recorded, so that a run needs no more than it keeps."""

from __future__ import annotations

import subprocess
import sys

CHILD = """
import nearfield as nf
from nearfield.engines.cpu.engine import CpuEngine

def kilobytes(name):
    lines = open("/proc/self/status", encoding="utf-8").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))

corner = (32e-3, 32e-3, 32e-3)
simulation = nf.Simulation(
    nf.Grid.uniform(1e-3, (32, 32, 32)),
    sources=[nf.PointCurrent((16e-3, 16e-3, 16e-3), "z", nf.Gaussian(20e9))],
    monitors=[nf.Snapshot("all", (0, 0, 0), corner, every=1)],
    steps=130,
)
engine = CpuEngine(simulation._setup().plan, 1)
engine.advance(1)
begun = kilobytes("VmRSS")
for _ in range(129):
    engine.advance(1)
print(kilobytes("VmHWM") - begun, 129 * 6 * 32**3 * 4 // 1024)
"""


def test_snapshots_that_are_kept_do_not_grow_by_copying():
    said = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True).stdout
    most, kept = map(int, said.split())
    # a list that doubles held the 128 snapshots before beside their copy: 1.99 of what is kept
    assert 0.9 * kept < most < 1.25 * kept
