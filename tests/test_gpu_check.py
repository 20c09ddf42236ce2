"""`make gpu-check` finds what must not be in a compiled kernel."""

from __future__ import annotations

import pytest

from nearfield.engines.cuda.compiler import OPTIONS, Compiler, find_compiler
from nearfield.engines.cuda.cubins import kernel_texts
from nearfield.entry.errors import ModelError
from scripts import gpu_check


def compiler() -> Compiler | None:
    try:
        return find_compiler()
    except ModelError:
        return None


@pytest.mark.parametrize(
    ("kernel", "fault"),
    [
        (gpu_check.Kernel("poles_single", 81, 0, 0), "81 registers, budget 80"),
        (gpu_check.Kernel("poles_double", 137, 0, 0), "137 registers, budget 136"),
        (gpu_check.Kernel("poles_single", 80, 8, 0), "8 bytes of local memory"),
        (gpu_check.Kernel("poles_single", 80, 0, 4), "4 bytes spilled"),
    ],
)
def test_a_fault_of_a_kernel_is_named(kernel, fault):
    assert kernel.faults() == [fault]
    assert gpu_check.Kernel("poles_double", 136, 0, 0).faults() == []


def test_what_was_not_checked_is_said_loudly(capsys):
    assert gpu_check.skip("no compiler") == 0
    assert capsys.readouterr().out == "GPU KERNELS WERE NOT COMPILED: no compiler\n"


@pytest.mark.skipif(
    compiler() is None or gpu_check.disassembler() is None,
    reason="NVRTC is not here; `make gpu-check` installs it",
)
@pytest.mark.parametrize("contracted", [False, True])
def test_contraction_is_found_in_what_the_compiler_made(contracted):
    options = tuple(option.replace("false", "true") if contracted else option for option in OPTIONS)
    cubin, log = compiler().compiled("poles.cu", kernel_texts(), "sm_90", options)
    assert {kernel.name for kernel in gpu_check.kernels_of(log)} == {"poles_single", "poles_double", "poles_sixteen"}
    assert bool(gpu_check.fused_in(cubin, gpu_check.disassembler())) == contracted
