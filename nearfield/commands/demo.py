"""`nearfield demo`: the line-fed patch of Sheen et al. 1990, and what was found beside what was published."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nearfield.analysis.network import dips
from nearfield.commands.console import CODE_OF_STATUS, console, output_folder
from nearfield.commands.run import RESULT_NAME, readable, run_into, summary_of
from nearfield.commands.tables import columns
from nearfield.entry.attempts import Attempts
from nearfield.entry.errors import ModelError
from nearfield.entry.levels import decibels
from nearfield.entry.wording import uncertain
from nearfield.model_file import load
from nearfield.report.show import write_files
from nearfield.run.options import RunOptions

if TYPE_CHECKING:
    from nearfield.results import Result

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "patch_antenna.toml"
CONVERGENCE = EXAMPLE.parent / "results" / "patch_antenna_convergence.json"  # of the script of that name
PORT = "feed"
MAIN_DIP, TOLERANCE = 7.5e9, 0.15e9  # Hz; Sheen et al., IEEE Trans. MTT 38, 849 (1990)
MAIN_BAND = 5e9, 9e9  # Hz, where the main dip is looked for
RESONANCE_LEVEL = 0.71  # abs(S11): 3 dB, half of the power taken
MOST_REFLECTION = 1.01  # abs(S11) of a passive antenna, and 1 % for the line's own dispersion


@dataclass(frozen=True)
class Row:
    """One line of the comparison; `passed` is None where nothing was published."""

    quantity: str
    published: str
    found: str
    passed: bool | None


def run_demo(output: Path | None, threads: int | None, as_json: bool) -> int:
    """Run the example, compare, and say PASS or FAIL."""
    if not EXAMPLE.exists():
        raise ModelError(
            f"the demo's model {EXAMPLE} is missing: it is part of the source repository, not of an installed package. "
            "Run the demo in a clone, or start from `nearfield new patch` (docs/first-hour.md)"
        )
    simulation = load(EXAMPLE)
    folder = output_folder(EXAMPLE, output)
    with console(as_json) as out:
        result = run_into(simulation, folder, RunOptions(threads), out)
        rows = compare(result) if result.status == "done" else []
        attempts = Attempts(out.warn)
        files = write_files(result, simulation, folder / RESULT_NAME, EXAMPLE.stem, checks=rows, attempts=attempts)
        code = CODE_OF_STATUS[result.status] or int(any(row.passed is False for row in rows))
        summary = summary_of(result, folder, files)
        answer = {"model": str(EXAMPLE), **summary, "comparison": [asdict(row) for row in rows], "exit_code": code}
        out.answer(answer, f"{readable(summary)}\n{table(rows)}")
    return code


def compare(result: Result) -> list[Row]:
    """Rows of the comparison with the published antenna."""
    parameters = result.sparameters.sel(to=PORT, source=PORT)
    frequency, level = parameters.frequency.values, np.abs(parameters.values)
    known = np.isfinite(level)
    frequency, level = frequency[known], level[known]
    all_dips = dips(frequency, level)
    main = [dip for dip in all_dips if MAIN_BAND[0] < dip[0] < MAIN_BAND[1]]
    dip = min(main, key=lambda entry: entry[1], default=(np.nan, np.nan))
    further = [f for f, depth in all_dips if MAIN_BAND[1] <= f <= 20e9 and depth < RESONANCE_LEVEL]
    highest = float(level[(frequency > 1e9) & (frequency < 20e9)].max(initial=0.0))
    others = ", ".join(f"{f / 1e9:.2f}" for f in further)
    rows = [
        Row("main dip of S11", "7.5 GHz +- 0.15", f"{dip[0] / 1e9:.3f} GHz", bool(abs(dip[0] - MAIN_DIP) <= TOLERANCE)),
        Row("its depth", "not tabulated", f"{decibels(dip[1]):.1f} dB", None),
        Row("further resonances to 20 GHz", "several", f"{others or 'none'} GHz", len(further) > 1),
        Row("largest abs(S11), 1 to 20 GHz", "passive: at most 1", f"{highest:.4f}", highest <= MOST_REFLECTION),
    ]
    rows += converged()
    best = result["pattern"].directivity_dbi.isel(frequency=0)
    where = f"directivity at {float(best.frequency) / 1e9:.4g} GHz"
    return [*rows, Row(where, "not published", f"{float(best.max()):.2f} dBi", None)]


def converged() -> list[Row]:
    """What finer grids said of the main dip: these cells are coarse, and the number on the screen is theirs."""
    if not CONVERGENCE.exists():
        return []
    file = json.loads(CONVERGENCE.read_text(encoding="utf-8"))
    known = file["values"]
    stated = uncertain(known["value"], known["uncertainty"], known["unit"])
    finer = ", ".join(f"{run['value'] / 1e9:.3f} at 1/{run['refinement']:g}" for run in known["runs"][1:])
    return [
        Row(f"main dip with finer cells, at commit {file['commit']}", "", f"{finer} GHz", None),
        Row("main dip at cells of no size, as they say", "7.5 GHz +- 0.15", stated, None),
    ]


def table(rows: list[Row]) -> str:
    """The comparison on the screen."""
    if not rows:
        return "no comparison: the run did not end"
    verdicts = {True: "PASS", False: "FAIL", None: ""}
    cells = [(row.quantity, row.published, row.found, verdicts[row.passed]) for row in rows]
    return "\n" + columns([("", "published", "found", ""), *cells], left=4)
