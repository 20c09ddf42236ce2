"""Paraboloids of 480, 720 and 1200 mm in the laptop's cells: figures for the page of examples/reflector.py.

    .venv/bin/python -m examples.reflector_larger [FOLDER]

Some 40 minutes of two cores and as much of one for the patterns, 5 GiB. With a FOLDER results are kept there, and taken
from there where they are.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import nearfield as nf
from examples import figures
from examples.reflector import LAPTOP, LARGER, WIDE, WIDEST, Size, compared, model

SIZES = {  # the size, and the box of the horn alone, whose pattern knows nothing of the dish
    "larger": (LARGER, LARGER),
    "wide": (WIDE, replace(LAPTOP, diameter=WIDE.diameter)),
    "widest": (WIDEST, replace(LAPTOP, diameter=WIDEST.diameter)),
}


def run(simulation: nf.Simulation, folder: Path | None) -> nf.Result:
    """The result in a folder, else of a run, which keeps it there."""
    file = folder and folder / "result.h5"
    if file and file.exists():
        return nf.open_result(file)
    return simulation.run(output=file)


def figures_of(size: Size, box: Size, folder: Path | None) -> dict[str, Any]:
    """What a size comes to beside aperture theory, and what it takes."""
    alone = run(model(box, mirror=False), folder and folder / "horn")
    result = run(model(size), folder and folder / "reflector")
    values, _ = compared(result, alone, size)
    check = model(size).check()
    values |= {"cells": check.total_cells, "gibibytes": check.memory_bytes / 2**30}
    values["minutes"] = result.facts["runs"]["in"]["seconds"] / 60
    return values


def main() -> None:
    """Run horns and reflectors, compare, keep the figures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    values = {name: figures_of(*sizes, folder and folder / name) for name, sizes in SIZES.items()}
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")


if __name__ == "__main__":
    main()
