"""gprMax on the empty box: Hertzian dipole in the middle, metal walls or a 10-cell PML. Needs gprMax's own Python.

Prints one JSON object. The speed is of the time-stepping loop, as gprMax reports it.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

REPORT = re.compile(r"Time taken: ([\d.]+) seconds")


def model(cells, steps, boundary):
    """The input file: 1 mm cells."""
    side, middle = cells * 1e-3, cells * 0.5e-3
    return "\n".join(
        [
            "#title: box",
            f"#domain: {side} {side} {side}",
            "#dx_dy_dz: 0.001 0.001 0.001",
            f"#time_window: {steps}",
            f"#pml_cells: {0 if boundary == 'pec' else 10}",
            "#waveform: gaussiandot 1 5e9 pulse",
            f"#hertzian_dipole: z {middle} {middle} {middle} pulse",
            f"#rx: {middle} {middle} {middle}",
            "",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--boundary", choices=["pec", "cpml"], default="pec")
    parser.add_argument("--gpu", action="store_true", help="on its first card")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "box.in")
        with open(path, "w", encoding="utf-8") as file:
            file.write(model(given.cells, given.steps, given.boundary))
        done = subprocess.run(
            [sys.executable, "-m", "gprMax", path, *(["-gpu"] if given.gpu else [])],
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": str(given.threads)},
        )
    found = REPORT.search(done.stdout + done.stderr)
    if not found:
        sys.exit("gprMax did not report a time:\n" + (done.stdout + done.stderr)[-2000:])
    seconds = float(found[1])
    print(
        json.dumps(
            {
                "code": "gprMax",
                "precision": "single",
                "cells": given.cells**3,
                "steps": given.steps,
                "threads": given.threads,
                "device": "card" if given.gpu else "processor",
                "boundary": given.boundary,
                "seconds": seconds,
                "mcells_per_second": given.cells**3 * given.steps / seconds / 1e6,
            }
        )
    )


if __name__ == "__main__":
    main()
