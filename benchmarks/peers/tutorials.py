"""Nearfield and openEMS on cases of openEMS's tutorials, in turn, with both answers beside theory.

    .venv/bin/python benchmarks/peers/tutorials.py [--case waveguide sphere patch notch crlh]

Each case is drawn once for each code, through its public interface and as its users draw it (`cases/`). Where no closed
form is exact, theory is the value at cells of no size, extrapolated from runs of each code on finer grids, the mean of
both. Writes benchmarks/results/peers-tutorials.json, where a case replaces what the file holds of it, and the table of
benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent), str(FOLDER / "cases")]
import page  # noqa: E402  (found through the line above)
import theory  # noqa: E402
from machine import commit  # noqa: E402
from paired import RESULTS, write  # noqa: E402

from nearfield.studies.extrapolation import extrapolated  # noqa: E402

OPENEMS_PYTHON = "/usr/bin/python3"
INSTALL = "apt-get install --no-install-recommends python3-openems"
REPORT = re.compile(r"Time for (\d+) iterations with ([\d.e+]+) cells : ([\d.]+) sec")
Answers = dict[str, Any]
MM = 1e-3


@dataclass(frozen=True)
class Case:
    """How often each code runs a tutorial, what is read from a run, and what theory says of it.

    Of the quantities in `converged` theory is the value that runs on several grids extrapolate to. `metal`: None is the
    default.
    """

    title: str
    script: str
    summary: Callable[[Answers], dict[str, float]]
    known: dict[str, float]
    metal: tuple[str | None, ...] = (None,)
    converged: tuple[str, ...] = ()


def waveguide(answers: Answers) -> dict[str, float]:
    """Largest abs(S11) in dB, largest deviation of abs(S21) from 1, largest relative error of beta."""
    frequency, distance = np.array(answers["frequency"]), answers["distance"]
    beta = theory.guide_phase_constant(frequency, 10.7 * MM)
    turns = np.round(np.mean(beta * distance - np.array(answers["phase"])) / (2 * np.pi))
    found = (np.array(answers["phase"]) + 2 * np.pi * turns) / distance
    return {
        "S11 (dB)": max(answers["s11_db"]),
        "abs(S21) - 1": float(np.abs(np.array(answers["s21_abs"]) - 1).max()),
        "beta, relative error": float(np.abs(found / beta - 1).max()),
    }


def sphere(answers: Answers) -> dict[str, float]:
    """Differences from Mie's series in dB: root mean square and largest."""

    def difference(found: list[float], exact: np.ndarray) -> np.ndarray:
        return 10 * np.log10(np.array(found) / exact)

    back = np.array([theory.sphere_cross_section(f, 0.2, np.array([np.pi]))[0] for f in answers["frequency"]])
    around = theory.sphere_cross_section(500e6, 0.2, np.radians(answers["angle"]))
    one, other = difference(answers["monostatic"], back), difference(answers["bistatic"], around)
    return {
        "backwards, 50 to 1000 MHz, rms (dB)": float(np.sqrt(np.mean(one**2))),
        "backwards, largest (dB)": float(np.abs(one).max()),
        "around at 500 MHz, rms (dB)": float(np.sqrt(np.mean(other**2))),
    }


def patch(answers: Answers) -> dict[str, float]:
    return {
        "dip of S11 (GHz)": answers["resonance"] / 1e9,
        "its depth (dB)": answers["depth_db"],
        "directivity (dBi)": answers["directivity_dbi"],
        "efficiency": answers["efficiency"],
    }


def notch(answers: Answers) -> dict[str, float]:
    return {
        "notch (GHz)": answers["notch"] / 1e9,
        "its depth (dB)": answers["depth_db"],
        "abs(S11)^2 + abs(S21)^2, least": answers["lowest_power"],
        "abs(S11)^2 + abs(S21)^2, most": answers["highest_power"],
        "impedance of the line (ohm)": answers["line_impedance"],
    }


def crlh(answers: Answers) -> dict[str, float]:
    waves = (np.array(answers[name]) @ [1, 1j] for name in ("s11", "s21", "impedance"))
    s11, s21, impedance = waves
    found = theory.tanks(np.array(answers["frequency"]), s11, s21, impedance)
    power = np.abs(s11) ** 2 + np.abs(s21) ** 2
    return {
        "series resonance (GHz)": found["series_frequency"] / 1e9,
        "shunt resonance (GHz)": found["shunt_frequency"] / 1e9,
        "CL (pF)": found["left_capacitance"] * 1e12,
        "LR (nH)": found["right_inductance"] * 1e9,
        "CR (pF)": found["right_capacitance"] * 1e12,
        "LL (nH)": found["left_inductance"] * 1e9,
        "abs(S11)^2 + abs(S21)^2, most": float(power.max()),
    }


CASES = {
    "waveguide": Case(
        "WR-42 guide, TE10, 20 to 26 GHz",
        "waveguide",
        waveguide,
        {"S11 (dB)": -np.inf, "abs(S21) - 1": 0.0, "beta, relative error": 0.0},
    ),
    "sphere": Case(
        "metal sphere, differences from Mie's series",
        "sphere",
        sphere,
        {
            "backwards, 50 to 1000 MHz, rms (dB)": 0.0,
            "backwards, largest (dB)": 0.0,
            "around at 500 MHz, rms (dB)": 0.0,
        },
        metal=("auto", "staircase"),
    ),
    "patch": Case(
        "patch antenna on a small board",
        "antenna",
        patch,
        {"half a wave of its line (GHz)": theory.patch_resonance(32 * MM, 40 * MM, 1.524 * MM, 3.38) / 1e9},
        converged=("dip of S11 (GHz)",),
    ),
    "notch": Case(
        "microstrip notch filter",
        "notch",
        notch,
        {
            "stub a quarter wave long from the line's middle (GHz)": theory.notch_bounds(0.6, 0.254, 3.66, 12.0)[0]
            / 1e6,
            "stub a quarter wave long from the line's edge (GHz)": theory.notch_bounds(0.6, 0.254, 3.66, 12.0)[1] / 1e6,
            "impedance of the line (ohm)": theory.microstrip(0.6, 0.254, 3.66)[0],
            "abs(S11)^2 + abs(S21)^2, most": 1.0,
        },
        converged=("notch (GHz)",),
    ),
    "crlh": Case(
        "unit cell of a CRLH line",
        "crlh",
        crlh,
        {"abs(S11)^2 + abs(S21)^2, most": 1.0},
        converged=("series resonance (GHz)", "shunt resonance (GHz)"),
    ),
}


def run(case: Case, code: str, finer: float, threads: int, metal: str | None = None) -> dict[str, Any]:
    """One run: cells, steps, seconds of the time-stepping loop, and what was read from it."""
    interpreter = sys.executable if code == "nearfield" else OPENEMS_PYTHON
    command = [interpreter, str(FOLDER / "cases" / f"{code}_{case.script}.py")]
    command += ["--refine", str(finer), "--threads", str(threads), *(("--metal", metal) if metal else ())]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"code"')]
    if done.returncode or not lines:
        sys.exit(f"{' '.join(command)}\nended with exit code {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
    found = json.loads(lines[-1])
    if code == "openems":
        report = REPORT.search(done.stdout + done.stderr)
        assert report, "openEMS reports its steps and time"
        found |= {"steps": int(report[1]), "seconds": float(report[3])}
    quantities = case.summary(found.pop("answers"))
    row = {"code": found.pop("code"), "finer": finer, **found, "quantities": quantities}
    values = ", ".join(f"{name} {value:.5g}" for name, value in quantities.items())
    print(f"  {row['code']} {metal or ''} x{finer:g}: {row['cells']:,} cells, {row['steps']:,} steps, "
          f"{row['seconds']:.1f} s: {values}", flush=True)  # fmt: skip
    return row


def limits(case: Case, rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of each converged quantity the value at cells of no size by each code that ran on two grids, and the mean, which
    stands for theory."""
    found: dict[str, dict[str, Any]] = {}
    for name in case.converged:
        each: dict[str, Any] = {}
        for code in ("Nearfield", "openEMS"):
            series = [row for row in rows if row["code"] == code]
            if len(series) < 2:
                continue
            limit = extrapolated([1 / row["finer"] for row in series], [row["quantities"][name] for row in series])
            each[code] = {"value": limit.value, "uncertainty": limit.uncertainty}
        if each:
            found[name] = each | {"theory": float(np.mean([one["value"] for one in each.values()]))}
    return found


def measure(case: Case, given: argparse.Namespace, kept: dict[str, Any]) -> dict[str, Any]:
    """All runs of a case, the codes in turn; of a code that does not run now, what the file holds."""
    print(case.title, flush=True)
    rows = []
    for finer in sorted({1.0, *given.finer}) if case.converged else [1.0]:
        if "nearfield" in given.code:
            rows += [run(case, "nearfield", finer, given.threads, metal) for metal in case.metal]
        if "openems" in given.code:
            rows.append(run(case, "openems", finer, given.threads))
    rows += [row for row in kept.get("runs", ()) if row["code"].lower() not in given.code]
    theirs = {name: value for name, value in case.known.items() if np.isfinite(value)}
    return {"title": case.title, "commit": commit(), "theory": theirs, "limits": limits(case, rows), "runs": rows}


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--case", nargs="+", choices=sorted(CASES), default=list(CASES))
    made.add_argument("--code", nargs="+", choices=("nearfield", "openems"), default=["nearfield", "openems"])
    made.add_argument("--finer", nargs="+", type=float, default=[1.0, 1.4], help="grids to extrapolate from, 1 the own")
    made.add_argument("--threads", type=int, default=2)
    made.add_argument("--output", type=Path, default=RESULTS, help="folder of the JSON file")
    given = made.parse_args()
    missing = subprocess.run([OPENEMS_PYTHON, "-c", "import openEMS"], capture_output=True).returncode
    if missing and "openems" in given.code:
        print(f"openEMS is not installed for {OPENEMS_PYTHON}; run: {INSTALL}", file=sys.stderr)
        return 2
    path = given.output / "peers-tutorials.json"
    kept = json.loads(path.read_text(encoding="utf-8"))["cases"] if path.exists() else {}
    for name in given.case:
        kept[name] = measure(CASES[name], given, kept.get(name, {}))
        write("peers-tutorials", given, cases={each: kept[each] for each in CASES if each in kept})
    if path == page.RESULT:
        page.PAGE.write_text(page.written(page.PAGE.read_text("utf-8"), json.loads(path.read_text("utf-8"))), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
