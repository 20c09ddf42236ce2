"""What a type checker says of a user's script: entries by position and by name pass, wrong ones are found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
ROOT = Path(__file__).resolve().parents[1]
RIGHT = """
import numpy as np
import nearfield as nf

box = nf.Box((0, 0, 0), ("1 mm", 2e-3, 3))
named = nf.Box(lower=[0, 0, 0], upper=np.ones(3))
wire = nf.Wire([(0, 0, 0), (0, 0, "5 mm")], radius="0.1 mm")
port = nf.LumpedPort("feed", (0, 0, 0), (0, 0, "1 mm"), "z", "75 ohm", waveform=nf.Gaussian("5 GHz"))
guide = nf.WaveguidePort("in", (0, 0, 0), (1, 1, 0), direction="+z", modes="TE10")
half: float = port.resistance / 2
sim = nf.Simulation(
    nf.Grid.uniform("1 mm", (20, 20, 20)),
    [nf.Structure(box, "pec"), nf.Structure(wire, nf.Medium(2.2, poles=[nf.Debye(4.0, "8 ps")]))],
    boundaries=nf.Boundaries(nf.CPML(8), z_low=nf.PEC),
    sources=[nf.PlaneWave((0, 0, 0), (1, 1, 1), "+x", "z", nf.Ricker(5e9))],
    ports=(port,),
    monitors=[nf.FieldDFT("cut", (0, 0, 0), (1, 1, 0), "7 GHz"), nf.Probe("p", (0, 0, 0), "Ez")],
    media={"slab": nf.Medium(4)},
    steps=10,
)
result: nf.Result = sim.run(threads=1)
"""
WRONG = {  # line by line: what is wrong, and a part of what the checker says
    'nf.LumpedPort("feed", (0, 0, 0), (0, 0, 1), "w")': "expected \"Literal['x', 'y', 'z']\"",
    "nf.Box((0, 0, 0))": 'Missing positional argument "upper"',
    "nf.Box((0, 0, 0), (1, 1, 1), 3)": "Too many arguments",
    "nf.Sphere((0, 0, 0), radius=1, colour=2)": 'Unexpected keyword argument "colour"',
    "nf.Simulation(nf.Box((0, 0, 0), (1, 1, 1)))": "expected",
    "nf.Box((0, 0, 0), (1, 1, 1)).lower_corner": 'has no attribute "lower_corner"',
    "nf.Bax((0, 0, 0), (1, 1, 1))": 'has no attribute "Bax"',
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Lines that mypy prints for both scripts, as a user would run it beside an installed package."""
    folder = tmp_path_factory.mktemp("types")
    (folder / "right.py").write_text(RIGHT, encoding="utf-8")
    (folder / "wrong.py").write_text("\n".join(["import nearfield as nf", *WRONG]) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--ignore-missing-imports", "right.py", "wrong.py"]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True).stdout.splitlines()


def test_a_type_checker_passes_entries_by_position_and_by_name(checked):
    assert [line for line in checked if not line.startswith(("wrong.py", "Found"))] == []


def test_a_type_checker_finds_what_is_wrong_in_a_users_script(checked):
    for number, said in enumerate(WRONG.values(), start=2):
        assert any(line.startswith(f"wrong.py:{number}:") and said in line for line in checked), (number, checked)
