"""`nearfield bench scaling` and `bench output` over two hosts: namespaces behind a Gigabit link each, as root.

    .venv/bin/python benchmarks/emulated_hosts.py

The machine is probed first, alone and between the hosts: rates stand beside those that its profile predicts. A host has
one core. Field files of both hosts go to this machine's one disk. Bits are compared over all rows of `scaling`.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Any

from emulated_hosts_page import main as write_page
from machine import ROOT, on_hosts
from paired import RESULTS, parser, write

HOSTS = ("host1", "host2")
POLICIES = "--ranks 1 --threads 1 --bind core,none --memory first-touch,interleave,off"


def commands(given: Namespace) -> dict[str, str]:
    """What runs on the head, by its name in the result, in a folder with the file `hosts` and the folder `fields`."""
    return {
        "alone": "probe --json",
        "between": "probe mpi --json",
        "scaling": f"bench scaling --hosts hosts --case box --cells {given.cells} --steps {given.steps} "
        f"--rounds {given.pairs} {POLICIES} --json",
        "output": f"bench output --hosts hosts --seconds {given.seconds} --output fields --json",
    }


def answers(named: dict[str, str], folder: Path) -> dict[str, Any] | None:
    """The JSON object that each command printed; None where one failed."""
    (folder / "hosts").write_text("".join(f"{host}\n" for host in HOSTS))
    (folder / "fields").mkdir()
    nearfield = shlex.join([sys.executable, "-m", "nearfield"])
    script = " && ".join(f"echo {name} >&2 && {nearfield} {line} > {name}.json" for name, line in named.items())
    cluster = [*on_hosts(len(HOSTS), "1gbit"), "bash", "-c"]
    own = os.environ | {"XDG_CACHE_HOME": str(folder / "profiles")}
    done = subprocess.run([*cluster, f"cd {shlex.quote(str(folder))} && {script}"], env=own, check=False)
    if done.returncode:
        print(f"the cluster ended with {done.returncode}", file=sys.stderr)
        return None
    return {name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in named}


def main() -> int:
    made = parser(__doc__, cells=256, steps=100)
    made.add_argument("--seconds", type=int, default=150, help="that `bench output` may take")
    given = made.parse_args()
    named = commands(given)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        found = answers(named, Path(folder))
    if found is None:
        return 1
    write(
        "emulated_hosts",
        given,
        commands={name: f"nearfield {line}" for name, line in named.items()},
        messages=found["between"]["mpi"]["matrix"],
        scaling=found["scaling"]["points"],
        checksums_agree=found["scaling"]["checksums_agree"],
        output=found["output"]["cases"],
        output_left_out=len(found["output"]["left_out"]),
    )
    if given.output == RESULTS:
        write_page()
    return int(not found["scaling"]["checksums_agree"])


if __name__ == "__main__":
    sys.exit(main())
