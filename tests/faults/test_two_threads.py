"""Two threads of one process run models with field files at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from checkpointed import tiny

import nearfield as nf


@pytest.mark.slow
def test_neither_of_two_threads_meets_the_ring_of_the_other(tmp_path):
    cut = nf.Snapshot("cut", (0, 0, 0), (4e-3, 4e-3, 4e-3), every=2, file=nf.FieldFile())
    simulation = tiny(steps=60).model_copy(update={"monitors": (cut,)})

    def ran(folder: Path) -> nf.Result:
        return simulation.run(output=folder / "result.h5", threads=1)

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(ran, [tmp_path / "one", tmp_path / "other"])
    assert one.status == other.status == "done"
    assert np.array_equal(one["cut"]["Ez"].values, other["cut"]["Ez"].values)
