"""Whether messages of ranks leave from the memory of their devices: as wished, else where MPI says that it takes it."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass, field
from typing import Any

from nearfield.entry.errors import ModelError

VARIABLE = "NEARFIELD_MESSAGES"
ALLOWED = ("direct", "staged")
KINDS = "mpi_memory_alloc_kinds"  # key of a communicator's info: MPI 4.1, section 11.4.3
CUDA = 0  # MPIX_GPU_SUPPORT_CUDA in MPICH's mpi.h


@dataclass(frozen=True)
class DeviceMemory:
    """Bytes on a device, by their address there; they stay as long as their owner."""

    address: int
    nbytes: int
    owner: object = field(repr=False)


@dataclass(frozen=True)
class Answer:
    """Whether MPI says that it takes the memory of cards, and where it says so or does not."""

    takes: bool
    source: str

    def __str__(self) -> str:
        says = "says" if self.takes else "does not say"
        return f"MPI {says} that it takes the memory of cards ({self.source})"


def messages_are_direct(in_process: bool, on_host: bool = False) -> bool:
    """Whether messages leave from the memory of a device; else they pass through the host.

    in_process: the device's memory is this process's, which every MPI can read. on_host: messages are made on the host.
    Errors: the wish is unknown, or direct messages cannot be had.
    """
    wished = os.environ.get(VARIABLE, "")
    if wished not in ("", *ALLOWED):
        raise ModelError(
            f"{VARIABLE}={wished} is no way for messages; allowed: {', '.join(ALLOWED)}, or unset for direct ones "
            "where MPI says that it takes the memory of cards"
        )
    if wished == "direct" and on_host:
        raise ModelError(
            f'{VARIABLE}=direct cannot be had with overlap "host-buffer", whose messages are made on the host; leave '
            'the variable out, or take overlap "split"'
        )
    if wished == "staged" or on_host:
        return False
    if in_process:
        return True
    answer = answer_of_mpi()
    if wished and not answer.takes:
        raise ModelError(
            f"{VARIABLE}=direct cannot be had: {answer}, and one that does not would read the host's memory at a "
            f"card's address; start the ranks by an MPI built with CUDA, or leave {VARIABLE} out, and messages pass "
            "through the host"
        )
    return answer.takes


def answer_of_mpi() -> Answer:
    """What the MPI of this process says of cards, by the kinds of memory that it names or by functions of its own."""
    from mpi4py import MPI

    info = MPI.COMM_WORLD.Get_info()
    kinds = info.Get(KINDS) or ""
    info.Free()
    if names_cards(kinds):
        return Answer(True, f"{KINDS}={kinds}")
    asked = answer_of_library(MPI.__file__)  # functions of the library that it is linked with are found too
    return Answer(asked.takes, f"{KINDS}={kinds}; {asked.source}")


def names_cards(kinds: str) -> bool:
    """Whether kinds of memory in MPI's spelling, "system,cuda:device", have that of CUDA's devices among them."""
    each = [kind.strip().split(":") for kind in kinds.split(",")]
    return any(kind == "cuda" and (not restricted or "device" in restricted) for kind, *restricted in each)


def answer_of_library(path: str) -> Answer:
    """What the functions of Open MPI and MPICH that tell of CUDA answer, in a library that is loaded."""
    try:
        library: Any = ctypes.CDLL(path)
    except OSError:
        return Answer(False, "its library cannot be asked")
    answers = {}
    if query := getattr(library, "MPIX_Query_cuda_support", None):
        answers["MPIX_Query_cuda_support"] = query() == 1
    if query := getattr(library, "MPIX_GPU_query_support", None):
        flag = ctypes.c_int(0)
        answers["MPIX_GPU_query_support"] = query(CUDA, ctypes.byref(flag)) == 0 and flag.value == 1
    said = [f"{name} says {'yes' if yes else 'no'}" for name, yes in answers.items()]
    return Answer(any(answers.values()), ", ".join(said) or "it has no function to ask")
