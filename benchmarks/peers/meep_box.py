"""Meep on the empty box: point source in the middle, metal walls or a 10-cell PML. Start under mpirun for more cores.

Prints one JSON object. The step loop alone is timed, after five steps that allocate.
"""

import argparse
import json
import time

import meep

RESOLUTION = 10  # cells per unit length; the unit is arbitrary here


def simulation(cells, boundary):
    side = cells / RESOLUTION
    pulse = meep.GaussianSource(1.0, fwidth=1.0)
    return meep.Simulation(
        cell_size=meep.Vector3(side, side, side),
        resolution=RESOLUTION,
        eps_averaging=False,
        boundary_layers=[meep.PML(10 / RESOLUTION)] if boundary == "cpml" else [],
        sources=[meep.Source(pulse, component=meep.Ez, center=meep.Vector3())],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--boundary", choices=["pec", "cpml"], default="pec")
    given = parser.parse_args()
    box = simulation(given.cells, given.boundary)
    box.init_sim()
    for _ in range(5):
        box.fields.step()
    start = time.perf_counter()
    for _ in range(given.steps):
        box.fields.step()
    seconds = time.perf_counter() - start
    if meep.am_master():
        print(
            json.dumps(
                {
                    "code": "Meep",
                    "precision": "double",
                    "cells": given.cells**3,
                    "steps": given.steps,
                    "threads": meep.count_processors(),
                    "boundary": given.boundary,
                    "seconds": seconds,
                    "mcells_per_second": given.cells**3 * given.steps / seconds / 1e6,
                }
            )
        )


if __name__ == "__main__":
    main()
