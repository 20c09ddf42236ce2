"""Sets of processors of any size, and real threads bound to real processors."""

from __future__ import annotations

import errno
import os
import sys
import threading

import numpy as np
import pytest

from nearfield import _core
from nearfield.machine.processors import Bound, allowed, aside, binding_refused, bound
from nearfield.machine.system_files import numbers_in, ranges

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="binding is Linux's")
MINE = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def sets_of(processors: int) -> list[list[int]]:
    random = np.random.default_rng(processors)
    some = sorted(random.choice(processors, processors // 3, replace=False).tolist())
    return [[], [0], [processors - 1], [63, 64, 1023, 1024], some, list(range(processors))]


@pytest.mark.parametrize("processors", [1728, 4096])
def test_bitmaps_hold_any_processor(processors):
    for numbers in sets_of(processors):
        bitmap = _core.machine.bitmap_of(numbers)
        assert _core.machine.numbers_in(bitmap) == numbers
        assert sum(word << 64 * n for n, word in enumerate(bitmap)) == sum(1 << number for number in numbers)


@pytest.mark.parametrize("processors", [1728, 4096])
def test_lists_of_the_kernel_name_the_same_processors(processors):
    for numbers in sets_of(processors)[1:]:
        assert sorted(numbers_in(ranges(numbers))) == numbers


def test_a_bound_thread_runs_on_its_processor_and_leaves_the_others_alone():
    def work(processor: int) -> tuple[list[int], int, tuple[tuple[int, ...], ...]]:
        _core.machine.bind_this_thread([processor])
        told = allowed([threading.get_native_id()])
        return _core.machine.allowed_processors(), _core.machine.current_processor(), told

    for processor in MINE:
        assert aside(lambda: work(processor)) == ([processor], processor, ((processor,),))  # noqa: B023
    assert _core.machine.allowed_processors() == MINE


def test_no_processors_leave_a_thread_as_it_is():
    _core.machine.bind_this_thread([])
    assert _core.machine.allowed_processors() == MINE


@pytest.mark.parametrize("absent", [MINE[-1:] and MINE[-1] + 1, 1727, 4095])
@pytest.mark.parametrize("beside", [True, False], ids=["beside one that is there", "alone"])
def test_a_processor_that_is_not_there_is_refused(absent, beside):
    # the kernel would take the set with one that is there, and drop the other in silence
    wanted = [MINE[0], absent] if beside else [absent]
    with pytest.raises(OSError, match=str(absent)) as refused:
        aside(lambda: _core.machine.bind_this_thread(wanted))
    assert refused.value.errno == errno.EINVAL
    assert str(absent) in binding_refused([(MINE[0],), tuple(wanted)])


def test_a_binding_that_can_be_had_is_not_refused():
    assert binding_refused([(processor,) for processor in MINE]) == ""
    assert _core.machine.allowed_processors() == MINE


def test_a_thread_that_is_no_more_may_run_nowhere():
    assert allowed([2**22 + 1]) == ((),)


def test_who_bound_this_process_is_told():
    def narrowed(environment: dict[str, str]) -> Bound:
        os.sched_setaffinity(0, MINE[:1])
        return bound(environment=environment)

    if len(MINE) > 1:
        found = aside(lambda: narrowed({}))
        assert found.processors == (MINE[0],) and set(found.reachable) >= set(MINE)
        assert found.by == "taskset, numactl or the like" and not found.by_launcher
        assert aside(lambda: narrowed({"SLURM_PROCID": "3"})).by == "srun"
        hydra = aside(lambda: narrowed({"PMI_RANK": "0", "MPI_LOCALRANKID": "0", "SLURM_PROCID": "0"}))
        assert hydra.by == "mpiexec (Hydra)" and hydra.by_launcher
    assert Bound((0, 1), (0, 1), (0, 1), "srun").by == ""
    assert Bound((0, 1), (0, 1), (0, 1, 2)).by.startswith("a control group")
    assert Bound((4, 5, 6, 9), (4, 5, 6, 9, 10), tuple(range(64))).words() == (
        "processors 4-6,9 of 0-63, bound by taskset, numactl or the like"
    )
