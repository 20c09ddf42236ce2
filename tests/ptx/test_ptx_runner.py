"""The runner of PTX by small kernels that are written here: what it computes, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_machine import THREADS, Machine
from ptx_memory import Buffers
from ptx_text import Fault, entries

HEAD = """
.extern .shared .align 16 .b8 _ZBytes[];
.visible .entry kernel(
	.param .align 8 .b8 kernel_param_0[8]
)
.maxntid 256
{
	.reg .pred %p<9>;
	.reg .b16 %rs<9>;
	.reg .f32 %f<9>;
	.reg .b32 %r<9>;
	.reg .f64 %fd<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [kernel_param_0];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mad.lo.s32 %r3, %r2, 256, %r1;
	mul.wide.u32 %rd2, %r3, 8;
	add.s64 %rd3, %rd1, %rd2; // 8 bytes a thread
"""
AT = 1 << 40  # address of the buffer


def result(body: str, blocks: int = 1, before: np.ndarray | None = None) -> np.ndarray:
    """The buffer after a kernel of these lines: 8 bytes a thread."""
    content = np.zeros(blocks * THREADS, np.uint64) if before is None else before
    buffers = Buffers([(AT, content.view(np.uint8))])
    kernel = entries(f"{HEAD}{body}\n\tret;\n}}\n")["kernel"]
    Machine(kernel, blocks, AT.to_bytes(8, "little"), 2048, buffers).run()
    return buffers.buffer(AT).view(np.uint64)


def number(body: str) -> int:
    """What all threads make as %rd4."""
    found = result(f"{body}\nst.global.u64 [%rd3], %rd4;")
    assert (found == found[0]).all()
    return int(found.view(np.int64)[0])


WHOLE = "mov.u32 %r4, {}; mov.u32 %r5, {}; {}; cvt.s64.s32 %rd4, %r6;"


@pytest.mark.parametrize(
    ("one", "other", "instruction", "value"),
    [
        (-7, 2, "div.s32", -3),
        (-7, 2, "rem.s32", -1),
        (-7, 1, "shr.s32", -4),
        (-7, 40, "shr.s32", -1),
        (7, 32, "shl.b32", 0),
        (-1, 31, "shr.u32", 1),
        (2147483647, 2, "mul.lo.s32", -2),
        (-7, 2, "min.s32", -7),
    ],
)
def test_whole_numbers_are_as_the_manual_of_ptx_has_them(one, other, instruction, value):
    assert number(WHOLE.format(one, other, f"{instruction} %r6, %r4, %r5").replace("; ", ";\n")) == value


def test_single_precision_flushes_what_goes_in_and_comes_out():
    tiny = f"0f{np.float32(1e-39).view(np.uint32):08X}"
    halved = "mov.f32 %f1, 0f00800000;\nmul.rn.ftz.f32 %f2, %f1, 0fBF000000;\nmov.b32 %r4, %f2;\ncvt.u64.u32 %rd4, %r4;"
    assert number(halved) == 1 << 31  # minus zero
    doubled = f"mov.f32 %f1, {tiny};\nadd.rn.ftz.f32 %f2, %f1, %f1;\nmov.b32 %r4, %f2;\ncvt.u64.u32 %rd4, %r4;"
    assert number(doubled) == 0
    assert (
        number("mov.f64 %fd1, 0d0010000000000000;\nmul.rn.f64 %fd2, %fd1, 0d3FE0000000000000;\nmov.b64 %rd4, %fd2;")
        == 1 << 51
    )


@pytest.mark.parametrize(("relation", "holds"), [("ne", False), ("neu", True), ("lt", False), ("geu", True)])
def test_comparisons_with_nan(relation, holds):
    body = f"mov.f64 %fd1, 0d7FF8000000000000;\nsetp.{relation}.f64 %p1, %fd1, %fd1;\nselp.b64 %rd4, 1, 0, %p1;"
    assert number(body) == holds


def test_pairs_of_registers_are_packed_and_taken_apart():
    found = result(
        """
	mov.b64 %rd4, {%r1, %r2};
	mov.b64 {%r4, _}, %rd4;
	mov.b64 {_, %r5}, %rd4;
	mov.b64 %rd5, {%r5, %r4};
	st.global.b64 [%rd3], %rd5;""",
        blocks=2,
    )
    threads = np.arange(2 * THREADS, dtype=np.uint64)
    assert np.array_equal(found, threads // THREADS | (threads % THREADS) << np.uint64(32))


def test_threads_part_and_meet_again():
    odd = "and.b32 %r4, %r1, 1;\nsetp.eq.s32 %p1, %r4, 0;\n@%p1 bra $EVEN;\nmov.u64 %rd4, 5;\nbra.uni $END;\n"
    found = result(f"{odd}$EVEN:\nmov.u64 %rd4, 7;\n$END:\nadd.s64 %rd5, %rd4, 1;\nst.global.u64 [%rd3], %rd5;")
    assert found[::2].tolist() == [8] * 128 and found[1::2].tolist() == [6] * 128


def exchanged(between: str) -> str:
    """Each thread hands its number to the one before it by the block's memory."""
    there = "shl.b32 %r4, %r1, 2;\nmov.u32 %r5, _ZBytes;\nadd.s32 %r6, %r5, %r4;\nst.shared.u32 [%r6], %r3;\n"
    last = "setp.eq.s32 %p1, %r1, 255;\n@%p1 ret;\n"
    return f"{there}{between}\n{last}ld.shared.u32 %r7, [%r6+4];\ncvt.u64.u32 %rd4, %r7;\nst.global.u64 [%rd3], %rd4;"


def test_a_barrier_makes_an_exchange_safe_and_without_it_there_is_a_race():
    found = result(exchanged("bar.sync 0;"), blocks=2).reshape(2, THREADS)
    assert (found[:, :-1] == np.arange(1, 513).reshape(2, THREADS)[:, :-1]).all()
    with pytest.raises(Fault, match=r"line \d+: ld.shared.u32: a race: .* has read .* written by thread"):
        result(exchanged(""))


FAULTS = {
    "two blocks, one word": ("mul.wide.u32 %rd4, %r1, 8;\nadd.s64 %rd5, %rd1, %rd4;\nst.global.u64 [%rd5], %rd4;",
                             "a race: thread 0 of block 0 has written .* written by thread 0 of block 1"),
    "one instruction, one word": ("st.global.u64 [%rd1], %rd2;", "a race"),
    "read by another": ("ld.global.u64 %rd4, [%rd1];\nst.global.u64 [%rd3], %rd4;", "read by several threads"),
    "past the end": ("st.global.u64 [%rd3+8], %rd2;", "outside of all buffers"),
    "before the start": ("ld.global.u64 %rd4, [%rd3+-8];", "outside of all buffers"),
    "past the block's memory": ("mov.u32 %r4, _ZBytes;\nst.shared.u32 [%r4+2048], %r4;", "outside of the block"),
    "misaligned": ("ld.global.v2.u64 {%rd4, %rd5}, [%rd3];", "misaligned"),
    "a barrier of some": ("setp.lt.s32 %p1, %r1, 9;\n@%p1 ret;\nbar.sync 0;", "not all threads of a block reach"),
    "contracted": ("fma.rn.ftz.f32 %f1, %f2, %f2, %f2;", "is contracted"),
    "contracted later": ("mul.ftz.f32 %f1, %f2, %f2;", "may be contracted"),
    "denormals": ("mul.rn.f32 %f1, %f2, %f2;", "keeps denormals"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(name):
    body, message = FAULTS[name]
    with pytest.raises(Fault, match=message):
        result(body, blocks=2)


def test_atomic_additions_may_meet():
    content = np.zeros(2 * THREADS, np.uint64)
    found = result("mov.u64 %rd4, 3;\natom.global.add.u64 %rd5, [%rd1], %rd4;", 2, content)
    assert found[0] == 3 * 512 and not found[1:].any()


def test_an_unknown_instruction_is_no_silence():
    with pytest.raises(NotImplementedError, match="popc"):
        result("popc.b32 %r4, %r1;")
