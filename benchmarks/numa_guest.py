"""Where threads, pages and blocks lie on an emulated machine of two NUMA nodes: with a policy, without, crosswise.

    .venv/bin/python benchmarks/numa_guest.py

Runs scripts/numa_guest and keeps its lines. What Fig. 7 of Zhao, Chen and Yu compares are pages on the node of the
thread that updates them, with a NUMA policy and without; their shares are here, and what they cost is not: an emulator
has no distances, so that times mean nothing in it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from argparse import Namespace

from machine import ROOT
from paired import parser, write

LINE = re.compile(r"^(?P<what>\S.*?)\s{2,}(?P<found>\S.*?)\s{2,}(?P<verdict>ok|NOT AS IT MUST BE)$")


def main() -> int:
    given = parser(__doc__, cells=None, steps=None).parse_args()
    done = subprocess.run([ROOT / "scripts" / "numa_guest"], capture_output=True, text=True, check=False)
    lines = [match.groupdict() for line in done.stdout.splitlines() if (match := LINE.match(line.strip()))]
    if done.returncode or not lines:
        print(done.stderr.strip() or f"the guest ended with {done.returncode}", file=sys.stderr)
        return done.returncode or 1
    write("numa_guest", Namespace(output=given.output), lines=lines)
    print(f"{len(lines)} lines, {sum(line['verdict'] == 'ok' for line in lines)} as they must be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
