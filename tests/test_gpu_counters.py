"""benchmarks/gpu_counters.py reads what ncu prints: bytes of device memory a cell, by kernel."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
HEAD = '"ID","Process ID","Process Name","Kernel Name","Context","Stream","Metric Name","Metric Unit","Metric Value"'
TALK = ["==PROF== Connected to process 7 (python)", "", '{"mcells_per_second": 50000}']


def row(number: int, kernel: str, metric: str, value: str) -> str:
    return f'"{number}","7","python","{kernel}(HalfStep<float>)","1","7","{metric}","byte","{value}"'


def table(*launches: tuple[str, int, int, int]) -> str:
    """Launches of a kernel: bytes read, bytes written, nanoseconds."""
    lines = [*TALK, HEAD]
    for number, (kernel, read, written, nanoseconds) in enumerate(launches):
        lines += [
            row(number, kernel, "dram__bytes_read.sum", f"{read:,}"),
            row(number, kernel, "dram__bytes_write.sum", f"{written:,}"),
            row(number, kernel, "gpu__time_duration.sum", f"{nanoseconds:,}"),
            row(number, kernel, "launch__registers_per_thread", "64"),
        ]
    return "\n".join(lines)


def counted(folder: Path, *tables: str) -> tuple[int, dict]:
    command = [sys.executable, str(BENCHMARKS / "gpu_counters.py"), "--cells", "10", "--output", str(folder)]
    done = subprocess.run([*command, "--tables", *tables], capture_output=True, text=True)
    return done.returncode, json.loads((folder / "gpu_counters.json").read_text())


def test_bytes_a_cell_are_those_of_launches_of_the_whole_box(tmp_path):
    """A small launch of the same kernel, about a source, is left out; thousands are set off by commas."""
    half = "half_step_electric_single"
    text = table((half, 24_000, 12_000, 9_000), (half, 26_000, 12_000, 9_100), (half, 100, 100, 50), ("tick", 1, 1, 2))
    (tmp_path / "ncu_2.csv").write_text(text)
    code, found = counted(tmp_path, str(tmp_path / "ncu_2.csv"), str(tmp_path / "not_there.csv"))
    assert code == 0 and found["tables"] == ["ncu_2", "not_there"] and str(tmp_path) not in json.dumps(found)
    kernel = next(each for each in found["kernels"] if each["kernel"] == half)
    assert (kernel["launches"], kernel["bytes_per_cell"], kernel["registers"], kernel["table"]) == (2, 37, 64, "ncu_2")


def test_a_tool_that_counted_nothing_is_told(tmp_path):
    (tmp_path / "ncu_2.csv").write_text("==ERROR== ERR_NVGPUCTRPERM - no permission to read counters")
    code, found = counted(tmp_path, str(tmp_path / "ncu_2.csv"))
    assert code == 1 and found["kernels"] == []
