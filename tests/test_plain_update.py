"""benchmarks/peers/card_box.py: the update that other array libraries are timed by is the one that Nearfield makes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from nearfield.engines import ENGINES
from nearfield.measure.bench import box

PEERS = Path(__file__).resolve().parents[1] / "benchmarks" / "peers"
sys.path.insert(0, str(PEERS))
import card_box  # noqa: E402  (found through the line above)


def test_a_plain_update_of_arrays_makes_the_fields_of_the_box():
    """In double; what is left is the order of two factors, a rounding a step."""
    cells, steps = 9, 12
    plan = box(cells, steps, precision="double", sources=()).replace(courant=0.99)._setup().plan
    engine = ENGINES["cpu"](plan, threads=1)
    made = np.random.default_rng(3)
    fields = [made.standard_normal(shape) * (n > 2) for n, shape in enumerate(card_box.shapes(cells))]
    for component in range(3, 6):
        view = engine.state(component)
        view[...] = fields[component][tuple(slice(0, extent) for extent in view.shape)]
    # H on the far walls, which no E reads, is not stored by the engine
    engine.advance(steps)
    for _ in range(steps):
        card_box.advance(fields, card_box.SPEED)
    for component in range(6):
        view = engine.state(component)
        part = fields[component][tuple(slice(0, extent) for extent in view.shape)]
        inside = tuple(slice(1, extent - 1) for extent in view.shape)
        assert np.abs(view[inside] - part[inside]).max() < 1e-13 * np.abs(part).max() * steps


def test_its_rate_comes_as_one_json_object_and_a_library_that_is_not_there_is_named():
    def run(peer: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(PEERS / "card_box.py"), "--peer", peer, "--cells", "12", "--steps", "3"]
        return subprocess.run(command, capture_output=True, text=True)

    found = json.loads(run("numpy").stdout)
    assert found["cells"] == 12**3 and found["lowest"] <= found["mcells_per_second"] <= found["highest"]
    without = run("cupy")
    assert without.returncode == 2 and "cupy is not installed" in without.stderr
