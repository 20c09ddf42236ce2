"""The studies of memory and processors on a machine of two NUMA nodes, an emulated one: rings, and NUMA policies.

    .venv/bin/python benchmarks/two_nodes.py

Runs `nearfield ring bench` (one stream in all eight placements; two streams isolated, adjacent and crossover; four
streams) and `nearfield bench scaling` (each memory policy, bound and free, as in Fig. 7 of Zhao, Chen and Yu) in the
guest of scripts/numa_guest, as a user of such a machine would. Rings are four times the last-level cache that the
guest's processors report. Pages, bindings, bytes that arrived and bits of fields are real. Rates are an emulator's,
without distances between nodes: what a real machine gains by placement is not among them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from argparse import Namespace
from typing import Any

from machine import ROOT
from paired import RESULTS, parser, write
from two_nodes_page import main as write_page

from nearfield.commands.ring_bench import gain

RINGS = "--bytes {bytes} --blocks 16 --block-bytes 4194304 --json"
FOUR = "A:0,0,0 B:1,1,1 C:0,0,1 D:1,1,0"
MARK = re.compile(r"^== nearfield (.*)$", re.MULTILINE)


def commands(given: Namespace) -> dict[str, str]:
    """What runs in the guest, by its name in the result."""
    ring = RINGS.format(bytes=given.bytes)
    box = f"--case box --cells {given.cells} --steps {given.steps} --rounds 1"
    policies = "--bind numa,none --ranks 1 --threads 4 --memory first-touch,interleave,off"
    return {
        "single": f"ring bench --suite single {ring}",
        "dual": f"ring bench --suite dual {ring}",
        "four": f"ring bench --streams '{FOUR}' {ring}",
        "policies": f"bench scaling {box} {policies} --json",
    }


def answers(console: str) -> list[dict[str, Any]]:
    """The JSON object that each command printed."""
    parts = MARK.split(console)[2::2]
    return [json.loads(part[part.index("{") : part.rindex("}") + 1]) for part in parts]


def main() -> int:
    made = parser(__doc__, cells=64, steps=24)
    made.add_argument("--bytes", default="1e8", help="through each ring, a pass")
    given = made.parse_args()
    named = commands(given)
    done = subprocess.run(
        [ROOT / "scripts" / "numa_guest", *named.values()], stdout=subprocess.PIPE, text=True, check=False
    )
    found = dict(zip(named, answers(done.stdout))) if done.returncode == 0 else {}
    if len(found) < len(named):
        print(f"the guest ended with {done.returncode}: build/numa_guest/console.txt", file=sys.stderr)
        return done.returncode or 1
    rows = [row for name in ("single", "dual", "four") for row in found[name]["rows"]]
    write(
        "two_nodes",
        Namespace(output=given.output),
        commands={name: f"nearfield {line}" for name, line in named.items()},
        rings=rows,
        local_over_remote=gain(found["single"]["rows"])[-1],
        policies=found["policies"]["points"],
        checksums_agree=found["policies"]["checksums_agree"],
    )
    if given.output == RESULTS:
        write_page()
    wrong = [row for row in rows if not row["verified"]]
    print(f"{len(rows)} streams, {len(rows) - len(wrong)} with every byte and page as they must be")
    return int(bool(wrong) or not found["policies"]["checksums_agree"])


if __name__ == "__main__":
    sys.exit(main())
