"""Its place here lets every test import the oracle (`reference`) and the bare plans (`plans`) beside it."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
ALONE = ("machine", "output", "parallel", "stream", "engine/test_stops", "test_bench", "test_checkpoint_faults",
         "test_cli", "test_tuning")  # fmt: skip


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what scripts/quick_tests runs by itself."""
    if item.path.relative_to(HERE).as_posix().startswith(ALONE):
        item.add_marker(pytest.mark.alone)
