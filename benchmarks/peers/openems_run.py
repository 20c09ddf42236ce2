"""What the openEMS scripts share: openEMS reports through C, so it runs in a child process whose output is read."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

REPORT = re.compile(r"Time for (\d+) iterations with ([\d.e+]+) cells : ([\d.]+) sec")
DUMPED = re.compile(r"dumped (\d+) bytes")


def run(solver, threads, place=None):
    """Run openEMS in this process; its report and the bytes of its dumps go to stdout, its files away."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        solver.Run(folder, numThreads=threads, verbose=0)
        print(f"dumped {sum(file.stat().st_size for file in Path(folder).glob('*.h5'))} bytes", flush=True)


def report(cells, **facts):
    """Start this script again as `--child`, and print as JSON what openEMS says of its time-stepping loop."""
    done = subprocess.run([sys.executable, *sys.argv, "--child"], capture_output=True, text=True)
    found = REPORT.search(done.stdout + done.stderr)
    if not found:
        sys.exit("openEMS did not report a speed:\n" + (done.stdout + done.stderr)[-2000:])
    steps, seconds = int(found[1]), float(found[3])
    print(
        json.dumps(
            {
                "code": "openEMS",
                "precision": "single",
                "cells": cells,
                "steps": steps,
                **facts,
                "seconds": seconds,
                "dumped_bytes": int(DUMPED.search(done.stdout)[1]),
                "mcells_per_second": cells * steps / seconds / 1e6,
            }
        )
    )
