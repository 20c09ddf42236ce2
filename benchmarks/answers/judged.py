"""What results say of themselves: the trust report of every command, and uncertainties that hold the truth."""

from __future__ import annotations

import io
import json
import math
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from row import Row

import nearfield as nf
from nearfield.cli import main

MM, C = 1e-3, 299792458.0
FIELDS = {"name", "verdict", "value", "limit", "text"}
VERDICTS = {"good", "warn", "bad", "unknown"}
ASKED = {  # of the list that asked for the report -> how its entries begin
    "passivity": "passivity",
    "reciprocity": "reciprocity",
    "power balance": "power balance",
    "energy left": "energy left",
    "truncation of spectra": "left at the end",
    "CPML return": "CPML return",
    "phase error": "numerical phase error",
    "cells a wavelength": "cells per wavelength",
    "cells a skin depth": "cells per skin depth",
    "metal moved": "moved to grid lines",
    "edges uncorrected": "rims of sheets",
    "far-field consistency": "surface consistency",
    "static part": "static field",
    "aliasing": "aliasing of running sums",
    "precision": "rounding",
}


def antenna() -> nf.Simulation:
    """Two ports on a plate of staircase metal off the lines, a lossy block beside it, two far-field surfaces, a DFT."""
    cell = 3 * MM
    middle, top, brine = 15 * cell, 16 * cell, nf.Medium(2.0, conductivity=200.0)
    feeds = [
        nf.LumpedPort(name, (x, middle, 15 * cell), (x, middle, top), "z")
        for name, x in (("a", 12 * cell), ("b", 18 * cell))
    ]
    return nf.Simulation(
        grid=nf.Grid.uniform(cell, (30, 30, 30)),
        boundaries=nf.Boundaries(nf.CPML(6)),
        structures=[
            nf.Structure(nf.Sheet((10.3 * cell, 12.4 * cell, top), (19.6 * cell, 17.7 * cell, top)), nf.PEC),
            nf.Structure(nf.Sheet((9 * cell, 11 * cell, 15 * cell), (21 * cell, 19 * cell, 15 * cell)), nf.PEC),
            nf.Structure(nf.Box((13 * cell, 13 * cell, 18 * cell), (17 * cell, 17 * cell, 20 * cell)), brine),
        ],
        ports=feeds,
        sources=[nf.PointCurrent((8.5 * cell, middle, middle), "x", nf.Gaussian(3e9))],
        excitations=["sources", "a", "b"],
        waveform=nf.Gaussian(3e9),
        monitors=[
            nf.FarField("near", [2e9], (8 * cell,) * 3, (22 * cell,) * 3),
            nf.FarField("far", [2e9], (7 * cell,) * 3, (23 * cell,) * 3),
            nf.Probe("tip", (middle, middle, 21 * cell)),
        ],
        metal="staircase",
        decay=1e-5,
    )


def asked(command: list[str]) -> Any:
    """The JSON that a command prints."""
    with redirect_stdout(io.StringIO()) as data, redirect_stderr(io.StringIO()):
        main(command)
    return json.loads(data.getvalue())


def trust_report() -> list[Row]:
    """E: every entry that was asked for, in `run --json` and `show --json`; `moved` in `check --json`."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "antenna.toml", Path(folder) / "out"
        path.write_text(antenna().to_toml())
        ran = asked(["run", str(path), "--json", "--no-report", "--threads", "2", "--output", str(out)])["trust"]
        shown = asked(["show", str(out / "result.h5"), "--json"])["trust"]
        moved = asked(["check", str(path), "--json"])["moved"]
    names = [entry["name"] for entry in ran]
    missing = [what for what, start in ASKED.items() if not any(name.startswith(start) for name in names)]
    sound = all(FIELDS <= set(entry) and entry["verdict"] in VERDICTS and entry["text"] for entry in ran)
    fields = bool(moved) and all({"what", "from", "to", "effect"} <= set(each) for each in moved)
    return [
        Row(
            "E",
            f"of {len(ASKED)} entries of the trust report, in `run --json`",
            "no report",
            "all",
            f"{len(ASKED) - len(missing)}{', without ' + ', '.join(missing) if missing else ''}; {len(ran)} in all",
            not missing and sound,
        ),
        Row(
            "E",
            "`show --json` of the result",
            "no report",
            "the same list",
            "the same" if shown == ran else "another",
            shown == ran,
        ),
        Row("E", "`check --json`: `moved`", "none", "what, from, to, effect", f"{len(moved)} entries", fields),
    ]


def closed_forms() -> list[Row]:
    """E: the truth within the stated uncertainty, of an empty box and a filled one."""
    rows = []
    for name, size, medium in (
        ("box of 43 x 17 x 31 mm", (43 * MM, 17 * MM, 31 * MM), nf.Medium()),
        ("box of 29 x 12 x 37 mm full of eps_r 3.3", (29 * MM, 12 * MM, 37 * MM), nf.Medium(3.3)),
    ):
        cells = [max(4, round(length / (3.3 * MM))) for length in size]
        at = tuple(0.3 * length for length in size)
        truth = 0.5 * C / math.sqrt(medium.permittivity) * math.hypot(1 / size[0], 1 / size[2])
        simulation = nf.Simulation(
            grid=nf.Grid.uniform([length / count for length, count in zip(size, cells)], cells),
            background=medium,
            boundaries=nf.Boundaries(nf.PEC),
            sources=[nf.PointCurrent(at, "y", nf.Gaussian(1.6 * truth))],
            monitors=[nf.Probe("tip", at, "Ey")],
            duration=100 / truth,
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "box.toml"
            path.write_text(simulation.to_toml())
            words = f"tip resonance between {0.94 * truth:.7g} Hz and {1.06 * truth:.7g} Hz"
            found = asked(["converge", str(path), "--quantity", words, "--refine", "1,2,3", "--json"])
        rows.append(stated(f"TE101 of a {name}", truth / 1e9, found["value"] / 1e9, found["uncertainty"] / 1e9, "GHz"))
        keys = {"quantity", "value", "uncertainty", "order", "runs"}
        assert keys <= set(found), f"`converge --json` lacks {keys - set(found)}"
    return rows


def stated(what: str, truth: float, value: float, uncertainty: float, unit: str) -> Row:
    """Whether the truth lies within the stated uncertainty, and that this is below a tenth."""
    holds = abs(value - truth) <= uncertainty < 0.1 * abs(truth)
    return Row(
        "E",
        f"{what}, by `converge --json`",
        "no uncertainty",
        f"{truth:.5g} {unit}",
        f"{value:.5g} +- {uncertainty:.2g} {unit}",
        holds,
    )


CASES = (trust_report, closed_forms)
