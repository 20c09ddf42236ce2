"""Its place here lets every test import the bare plans (`plans`) and the comparisons (`agreement`) beside it."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from agreement import ENGINE_NAMES
from stand_in import StandIn, stand_in

from nearfield.engines.cuda.device import device
from nearfield.entry.errors import ModelError

HERE = Path(__file__).parent
ALONE = (
    "engine/test_stops",
    "machine/test_binding",
    "machine/test_pages",
    "machine/test_probe",
    "machine/test_processors",
    "output/test_direct",
    "output/test_field_faults",
    "output/test_field_streams",
    "output/test_output_sweep",
    "parallel/test_cluster",
    "parallel/test_fields_on_cluster",
    "stream",
    "test_checkpoint_faults",
    "test_cli",
    "test_tuning",
)

os.environ.setdefault("NEARFIELD_DEVICE", "host")  # engine "cuda" runs on the make-believe device
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as of what a shell has in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what scripts/quick_tests runs by itself."""
    if item.path.relative_to(HERE).as_posix().startswith(ALONE):
        item.add_marker(pytest.mark.alone)


@pytest.fixture(scope="session", autouse=True)
def card_that_stays_open() -> Iterator[None]:
    """Where tests run on a card (`NEARFIELD_DEVICE` is empty), one device of it through all of them: its driver drops
    the context with the last one, and would make another for each engine, a third of a second each."""
    held = None
    if not os.environ["NEARFIELD_DEVICE"]:
        with suppress(ModelError):
            held = device().opened(1)
    yield
    del held


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> StandIn:
    """A stand-in for a card, its driver and its compiler; engine "cuda" runs on it."""
    base = tmp_path_factory.getbasetemp()
    return stand_in(monkeypatch, base.parent, base / "cubins")


@pytest.fixture(params=["host", "host-backwards", "card"])
def device_name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What engine "cuda" runs on: the make-believe device, both ways, and a card by its driver."""
    if request.param == "card":
        request.getfixturevalue("card")
    else:
        monkeypatch.setenv("NEARFIELD_DEVICE", request.param)
    return request.param


@pytest.fixture(params=[*ENGINE_NAMES, pytest.param("card", marks=pytest.mark.slow)])
def engine_name(request: pytest.FixtureRequest) -> str:
    """Each engine but the oracle, "cuda" also by a card's driver: whatever is asked of one is asked of all."""
    if request.param != "card":
        return request.param
    request.getfixturevalue("card")
    return "cuda"
