"""Nearfield on the patch antenna of the demo at four times its cells, through its public interface.

Prints one JSON object, with the speed that the result states of the time loop; with `--describe FILE`, writes the model
for another solver instead: grid lines, bodies, port (m).
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from examples.patch_antenna import model as patch_antenna


def model(steps):
    """Halved cells in the plane, the demo's ten cells of CPML, and margins that make it four times its cells."""
    antenna = patch_antenna(margin=23, behind=13, refinement=(2, 2, 1))
    return antenna.model_copy(update={"monitors": (), "steps": steps})


def description(antenna):
    port = antenna.ports[0]
    bodies = [
        {
            "lower": body.shape.lower,
            "upper": body.shape.upper,
            "permittivity": None if body.medium == "pec" else body.medium.permittivity,
        }
        for body in antenna.structures
    ]
    return {
        "lines": [list(line) for line in antenna.grid.resolve(antenna).lines],
        "bodies": bodies,
        "port": {
            "lower": port.lower,
            "upper": port.upper,
            "reference_plane": port.reference_plane,
            "resistance": port.resistance,
        },
        "highest_frequency": antenna.waveform.maximum_frequency,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--describe", type=Path)
    given = parser.parse_args()
    antenna = model(given.steps)
    if given.describe:
        given.describe.write_text(json.dumps(description(antenna)), encoding="utf-8")
        return
    facts = antenna.run(threads=given.threads).facts
    run = facts["runs"]["feed"]
    print(
        json.dumps(
            {
                "code": "Nearfield",
                "precision": facts["precision"],
                "cells": facts["cells"],
                "steps": run["steps"],
                "threads": facts["threads"],
                "schedule": facts["schedule"],
                "tile_depth": facts["tile_depth"],
                "tile_width": facts["tile_width"],
                "seconds": run["seconds"],
                "mcells_per_second": run["mcells_per_second"],
            }
        )
    )


if __name__ == "__main__":
    main()
