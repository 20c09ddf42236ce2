"""Its place here lets every test import the oracle (`reference`) and the bare plans (`plans`) beside it."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
# They start programs, look at what is left on the machine, or wait for signals: one after another, in one process.
ONE_AT_A_TIME = ("machine", "output", "parallel", "stream", "engine/test_stops", "test_bench", "test_checkpoint_faults",
                 "test_cli", "test_tuning")  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups for `pytest -n 2 --dist loadgroup` (pytest-xdist)."""
    for item in items:
        if item.path.relative_to(HERE).as_posix().startswith(ONE_AT_A_TIME):
            item.add_marker(pytest.mark.xdist_group("one at a time"))
