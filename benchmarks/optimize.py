"""Runs that `nearfield.optimize` takes with derivatives and with a simplex, for a probe-fed patch and a stub's filter.

    python benchmarks/optimize.py [--output FILE.json]

The starts are those of a designer who has closed forms: the resonance lies a few percent off.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nearfield as nf
from nearfield.machine.facts import measured_by

HIGH = 0.8e-3  # of the substrate


def patch(length: float, width: float) -> nf.Simulation:
    """A patch over ground, fed by a probe 2.5 mm beside its middle."""
    board = nf.Structure(nf.Box((-50e-3, -50e-3, 0), (50e-3, 50e-3, HIGH)), nf.Medium(2.2))
    sheet = nf.Sheet((-width / 2, -length / 2, HIGH), (width / 2, length / 2, HIGH))
    return nf.Simulation(
        nf.AutoGrid(12, "9 GHz", lower=(-14e-3, -13e-3, 0), upper=(14e-3, 13e-3, 6e-3)),
        structures=[board, nf.Structure(sheet, nf.PEC)],
        boundaries=nf.Boundaries(all=nf.CPML(6), z_low=nf.PEC),
        ports=[nf.LumpedPort("feed", (0, -2.5e-3, 0), (0, -2.5e-3, HIGH), "z")],
        waveform=nf.ModulatedGaussian("7 GHz", "3 GHz"),
    )


def filter_of_irises(first: float, second: float) -> nf.Simulation:
    """Two irises in a rectangular guide (WR-90), a cavity between them: openings of the first and the second."""
    across, high, thick, apart = 22.86e-3, 10.16e-3, 3e-3, 18e-3
    walls = []
    for place, opening in ((-apart / 2, first), (apart / 2, second)):
        for low, end in ((0.0, (across - opening) / 2), ((across + opening) / 2, across)):
            box = nf.Box((low, 0, place - thick / 2), (end, high, place + thick / 2))
            walls.append(nf.Structure(box, nf.PEC))
    lines = ((0, 20, across), (0, 2, high), (-30, 30, 1.5 * across))
    ports = [("in", -24e-3, "+z"), ("out", 24e-3, "-z")]
    return nf.Simulation(
        nf.Grid(*([n * end / count for n in range(first, count + 1)] for first, count, end in lines)),
        structures=walls,
        boundaries=nf.Boundaries(all=nf.PEC, z=nf.CPML(6)),
        ports=[nf.WaveguidePort(name, (0, 0, z), (across, high, z), way, "TE10") for name, z, way in ports],
        waveform=nf.ModulatedGaussian("10 GHz", "3 GHz"),
        metal="conformal",
    )


CASES: dict[str, tuple[Callable[..., nf.Simulation], dict[str, Any], list[str]]] = {
    "patch": (
        patch,
        {"length": ("11.4 mm", "13.4 mm"), "width": ("12 mm", "18 mm")},
        ["S11 < -18 dB between 7.19 GHz and 7.21 GHz"],
    ),
    "filter": (
        filter_of_irises,
        {"first": ("9 mm", "13 mm"), "second": ("9 mm", "13 mm")},
        ["S11 < -20 dB at 9.5 GHz"],
    ),
}


def main() -> None:
    """Search each case both ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("out/benchmarks/optimize.json"))
    given = parser.parse_args()
    found = {}
    for name, (make, ranges, goals) in CASES.items():
        numbers = {key: tuple(float(each.split()[0]) * 1e-3 for each in ends) for key, ends in ranges.items()}
        found[name] = {"goals": goals}
        for method in ("gradient", "simplex"):
            best = nf.optimize(make, numbers, goals, method=method, runs=60, threads=1)
            found[name][method] = {
                "runs": len(best.attempts),
                "met": best.met,
                "stopped": best.stopped,
                "parameters": best.parameters,
                "levels_db": best.best.levels,
            }
            print(name, method, found[name][method], flush=True)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    stated = measured_by("python benchmarks/optimize.py")
    given.output.write_text(json.dumps({**stated, "cases": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
