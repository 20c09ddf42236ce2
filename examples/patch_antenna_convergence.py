"""The main dip of the patch on finer cells, and at cells of no size: some five minutes on two cores.

.venv/bin/python -m examples.patch_antenna_convergence
"""

from __future__ import annotations

from pathlib import Path

import nearfield as nf
from examples import figures

MODEL = Path(__file__).with_suffix("").with_name("patch_antenna.toml")
QUANTITY = "S11 dip between 5 GHz and 9 GHz"
REFINEMENTS = 1, 2, 3


def main() -> None:
    found = nf.converge(nf.load(MODEL), QUANTITY, REFINEMENTS, report=lambda run: print(run, flush=True))
    gigahertz = {
        "dips": [run.value / 1e9 for run in found.runs],
        "value": found.value / 1e9,
        "uncertainty": found.uncertainty / 1e9,
    }
    figures.keep(__file__, {**found.json_data(), "gigahertz": gigahertz})


if __name__ == "__main__":
    main()
