"""Whether messages leave from the memory of devices: what MPI says of cards, and what was wished."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nearfield.entry.errors import ModelError
from nearfield.machine import device_messages
from nearfield.machine.device_messages import VARIABLE, Answer, answer_of_library, messages_are_direct, names_cards

YES, NO = Answer(True, "it was built with CUDA"), Answer(False, "it was built without CUDA")
OPEN_MPI = "int MPIX_Query_cuda_support(void) {{ return {answer}; }}"
MPICH = """int MPIX_GPU_query_support(int type, int *is_supported)
{{ *is_supported = type == 0 && {answer}; return {error}; }}"""


def library(folder: Path, text: str) -> str:
    """A library of this C text."""
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler: libraries that answer are not tried")
    (folder / "mpi.c").write_text(text)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "libmpi.so", folder / "mpi.c"], check=True)
    return str(folder / "libmpi.so")


@pytest.mark.parametrize(
    ("kinds", "named"),
    [
        ("", False),
        ("mpi,system", False),
        ("system,cuda", True),
        ("cuda:device, system", True),
        ("system,cuda:host:device", True),
        ("cuda:host,cuda:managed", False),
        ("rocm,level_zero:device", False),
    ],
)
def test_kinds_of_memory_name_that_of_cards_whole_or_by_device(kinds, named):
    assert names_cards(kinds) == named


@pytest.mark.parametrize(
    ("text", "takes", "source"),
    [
        (OPEN_MPI.format(answer=1), True, "MPIX_Query_cuda_support says yes"),
        (OPEN_MPI.format(answer=0), False, "MPIX_Query_cuda_support says no"),
        (MPICH.format(answer=1, error=0), True, "MPIX_GPU_query_support says yes"),
        (MPICH.format(answer=1, error=3), False, "MPIX_GPU_query_support says no"),
        (MPICH.format(answer=0, error=0), False, "MPIX_GPU_query_support says no"),
        ("int MPI_Finalize(void) { return 0; }", False, "it has no function to ask"),
    ],
)
def test_a_library_is_asked_by_the_functions_that_it_has(text, takes, source, tmp_path):
    assert answer_of_library(library(tmp_path, text)) == Answer(takes, source)


def test_a_library_that_cannot_be_loaded_says_nothing(tmp_path):
    assert answer_of_library(str(tmp_path / "none.so")) == Answer(False, "its library cannot be asked")


@pytest.mark.parametrize("answer", [0, 1])
def test_the_mpi_of_this_process_is_asked_in_the_library_that_it_is_linked_with(answer, tmp_path):
    """The module of mpi4py, which has no such function of its own, is taken for one that is linked with another MPI."""
    pytest.importorskip("mpi4py")
    asked = """
import sys
from mpi4py import MPI
from nearfield.machine.device_messages import answer_of_mpi
own = answer_of_mpi()
MPI.__file__ = sys.argv[1]
print(own, answer_of_mpi().takes, sep="\\n")
"""
    path = library(tmp_path, OPEN_MPI.format(answer=answer))
    module = tmp_path / "module.so"
    nothing = tmp_path / "nothing.c"
    nothing.write_text("int nothing(void) { return 0; }")
    linked = ["-Wl,--no-as-needed", path, f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(["cc", "-shared", "-fPIC", "-o", module, nothing, *linked], check=True)
    done = subprocess.run([sys.executable, "-c", asked, module], capture_output=True, text=True, check=False)
    own, takes = done.stdout.splitlines()
    assert own.startswith("MPI ") and "that it takes the memory of cards (mpi_memory_alloc_kinds=" in own
    assert takes == str(bool(answer)), done.stderr


@pytest.mark.parametrize("wished", ["", "direct"])
def test_messages_leave_from_memory_that_mpi_can_read(wished, monkeypatch):
    monkeypatch.setenv(VARIABLE, wished)
    monkeypatch.setattr(device_messages, "answer_of_mpi", lambda: YES)
    assert messages_are_direct(in_process=False)
    monkeypatch.setattr(device_messages, "answer_of_mpi", lambda: NO)
    assert messages_are_direct(in_process=True)


def test_messages_pass_through_the_host_where_mpi_does_not_say_that_it_takes_cards_or_as_wished(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(device_messages, "answer_of_mpi", lambda: NO)
    assert not messages_are_direct(in_process=False)
    assert not messages_are_direct(in_process=True, on_host=True)
    monkeypatch.setenv(VARIABLE, "staged")
    assert not messages_are_direct(in_process=True)


@pytest.mark.parametrize(
    ("wished", "on_host", "words"),
    [
        ("fast", False, ["NEARFIELD_MESSAGES=fast is no way", "allowed: direct, staged, or unset"]),
        ("direct", True, ['overlap "host-buffer"', "made on the host", 'take overlap "split"']),
        ("direct", False, ["MPI does not say", "it was built without CUDA", "start the ranks by an MPI", "leave"]),
    ],
)
def test_a_wish_that_cannot_be_had_is_refused_in_words(wished, on_host, words, monkeypatch):
    monkeypatch.setenv(VARIABLE, wished)
    monkeypatch.setattr(device_messages, "answer_of_mpi", lambda: NO)
    with pytest.raises(ModelError) as refused:
        messages_are_direct(in_process=False, on_host=on_host)
    assert all(word in str(refused.value) for word in words), str(refused.value)
