"""What the Nearfield cases share: arguments, the run, and the line of JSON at its end."""

import argparse
import json

import nearfield as nf


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--refine", type=float, default=1.0, help="how many times smaller the cells are")
    parser.add_argument("--metal", choices=["staircase", "conformal", "auto"], help="left out: the default")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="print what `check` says and stop")
    return parser.parse_args()


def tell(simulation: nf.Simulation, given, answers):
    """Run, then print what `answers(result)` reads."""
    if given.metal:
        simulation = simulation.model_copy(update={"metal": given.metal})
    if given.check:
        print(simulation.check())
        return
    result = simulation.run(threads=given.threads)
    runs = result.facts["runs"].values()
    found = {
        "code": "Nearfield",
        "cells": result.facts["cells"],
        "steps": sum(run["steps"] for run in runs),
        "seconds": sum(run["seconds"] for run in runs),
        "metal": simulation.metal,
        "trust": {entry.name: entry.verdict for entry in result.trust},
        "answers": answers(result),
    }
    print("\n" + json.dumps(found), flush=True)
