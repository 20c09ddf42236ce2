"""The calls of core/cuda/driver.hpp beside NVIDIA's own header: names that drivers export, arguments, constants."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CALL = re.compile(r'X\((\w+), "(\w+)",\s*((?:[^()\\]|\\\n)*)\)')
KEPT_BESIDE_A_LATER_ONE = {"cuEventElapsedTime"}  # _v2 since CUDA 12.8; drivers go on exporting the first
CONSTANTS = {
    "multiprocessor_count": "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT",
    "memory_kilohertz": "CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE",
    "memory_bits": "CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH",
    "major_of": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
    "minor_of": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR",
    "block_memory_at_most": "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "out_of_memory": "CUDA_ERROR_OUT_OF_MEMORY",
    "no_device": "CUDA_ERROR_NO_DEVICE",
    "not_found": "CUDA_ERROR_NOT_FOUND",
    "not_ready": "CUDA_ERROR_NOT_READY",
    "local_size_bytes": "CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES",
    "register_count": "CU_FUNC_ATTRIBUTE_NUM_REGS",
    "most_block_memory": "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
    "block_memory_share": "CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT",
    "apart_from_stream_0": "CU_STREAM_NON_BLOCKING",
    "without_timing": "CU_EVENT_DISABLE_TIMING",
    "capture_of_this_thread": "CU_STREAM_CAPTURE_MODE_THREAD_LOCAL",
}
COMPARED = """#include <cuda.h>
#include <cstddef>
#include <type_traits>
using Address = unsigned long long;
// Pointers stand for pointers and handles, numbers for numbers and enumerations of their size.
template <class A, class B>
constexpr bool alike = std::is_pointer_v<A> ? std::is_pointer_v<B> : !std::is_pointer_v<B> && sizeof(A) == sizeof(B);
template <class Ours, class Theirs>
struct Same : std::false_type {};
template <class R, class... A, class S, class... B>
    requires(sizeof...(A) == sizeof...(B))
struct Same<R(A...), S(B...)> : std::bool_constant<(alike<R, S> && ... && alike<A, B>)> {};
#define NAME_OF(name) #name
#define NAME(name) NAME_OF(name)
constexpr bool equal(const char* a, const char* b) { return *a == *b && (!*a || equal(a + 1, b + 1)); }
"""


def header() -> Path | None:
    """The folder of cuda.h in NVIDIA's wheel."""
    found = importlib.util.find_spec("nvidia")
    for folder in (found and found.submodule_search_locations) or ():
        for path in sorted(Path(folder).glob("*/include/cuda.h")):
            return path.parent
    return None


def compiled(text: str, folder: Path, include: Path) -> str:
    """What a C++ compiler says of a text; nothing where it takes it."""
    source = folder / "calls.cpp"
    source.write_text(text)
    command = [shutil.which("g++") or "c++", "-std=c++20", "-fsyntax-only", "-I", str(include), str(source)]
    return subprocess.run(command, capture_output=True, text=True).stderr


def calls() -> list[tuple[str, str, str]]:
    """Name here, name in the library, arguments."""
    text = (ROOT / "core/cuda/driver.hpp").read_text()
    found = [(name, symbol, " ".join(words.replace("\\", " ").split())) for name, symbol, words in CALL.findall(text)]
    assert len(found) == text.count('", ') >= 40
    return found


def checks(found: list[tuple[str, str, str]]) -> str:
    lines = []
    for _, symbol, words in found:
        name = re.sub(r"(_v\d|WithFlags)$", "", symbol)
        lines.append(f'static_assert(Same<int({words}), std::remove_pointer_t<decltype(&{name})>>(), "{symbol}");')
        if symbol not in KEPT_BESIDE_A_LATER_ONE:
            lines.append(f'static_assert(equal(NAME({name}), "{symbol}"), "{symbol} has another name");')
    return "\n".join(lines) + "\n"


def constants() -> str:
    """The numbers of the files that talk to the driver."""
    text = "".join((ROOT / f"core/cuda/{name}.cpp").read_text() for name in ("driver", "card_device", "pinned"))
    lines = []
    for name, theirs in CONSTANTS.items():
        (value,) = set(re.findall(rf"\b{name} = (\d+)[,;]", text))
        lines.append(f'static_assert({theirs} == {value}, "{name}");')
    return "\n".join(lines) + "\n"


pytestmark = pytest.mark.skipif(
    header() is None or not (shutil.which("g++") or shutil.which("c++")),
    reason="cuda.h or a C++ compiler is not here; `make gpu-check` installs the former",
)


def test_calls_and_constants_are_those_of_nvidias_header(tmp_path):
    assert compiled(COMPARED + checks(calls()) + constants(), tmp_path, header()) == ""


@pytest.mark.parametrize(
    ("symbol", "was", "wrong"),
    [
        ("cuMemAlloc_v2", "Address*, std::size_t", "Address*, unsigned"),
        ("cuStreamWaitEvent", "void*, void*, unsigned", "void*, void*"),
        ("cuCtxSetCurrent", "void*", "int"),
    ],
)
def test_a_wrong_argument_is_found(symbol, was, wrong, tmp_path):
    found = [each for each in calls() if each[1] == symbol]
    assert [each[2] for each in found] == [was]
    said = compiled(COMPARED + checks([(found[0][0], symbol, wrong)]), tmp_path, header())
    assert f"static assertion failed: {symbol}" in said


def test_a_name_without_its_version_is_found(tmp_path):
    said = compiled(COMPARED + checks([("allocate", "cuMemAlloc", "Address*, std::size_t")]), tmp_path, header())
    assert "cuMemAlloc has another name" in said
