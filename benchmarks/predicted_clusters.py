"""Weak and strong scaling of 1 to 4096 nodes on three networks, by `nearfield predict --network`, kept as a file.

    .venv/bin/python benchmarks/predicted_clusters.py          seconds

Nothing is measured here. Docs take their numbers from the file.
"""

from __future__ import annotations

import sys

from paired import parser, write

from nearfield.predict.network import SHIPPED, load_network
from nearfield.predict.scaling import load_scaled_node, scale

NODES = ("eight-cards", "one-card", "two-cpus")
COUNTS = (1, 8, 64, 512, 4096)
SHOWN = ("scaling", "precision", "nodes", "devices", "step", "mcells_per_second", "efficiency", "unhidden_efficiency")


def main() -> int:
    made = parser(__doc__, cells=512, steps=None)
    given = made.parse_args()
    found = {
        f"{node}, {kind}": [
            {name: each.as_dict()[name] for name in (*SHOWN, "boxes", "limit")}
            for each in scale(load_scaled_node(node), load_network(kind), max(COUNTS), given.cells, 4 * given.cells)
            if each.nodes in COUNTS
        ]
        for node in NODES
        for kind in SHIPPED
    }
    for name in ("threads", "pairs"):
        delattr(given, name)
    write("predicted_clusters", given, predicted=found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
