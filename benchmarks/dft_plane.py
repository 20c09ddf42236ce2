"""The empty box with a running Fourier transform of a whole plane at 20 frequencies against the same without, in turn.

    .venv/bin/python benchmarks/dft_plane.py --cells 200 --steps 200 --pairs 5

A plane along the rows holds whole rows, one across them a sample of each; components off the plane are recorded on
both sides of it. `dft_stride`: steps between samples, chosen from the band.
"""

from __future__ import annotations

import sys

from paired import parser, write

from nearfield.measure.bench import Timed
from nearfield.measure.bench_features import dft_plane, row, vacuum

PLANES = {"along the rows": 0, "across the rows": 2}
COMPONENTS = {"six components": None, "E alone": ("Ex", "Ey", "Ez")}


def main() -> int:
    given = parser(__doc__).parse_args()
    reference = Timed(vacuum(given.cells, given.steps, "single"), given.threads)
    rows = []
    for plane, normal in PLANES.items():
        for what, components in COMPONENTS.items():
            model = dft_plane(normal, components)(given.cells, given.steps, "single")
            timed = Timed(model, given.threads)
            found = row(f"{plane}, {what}", timed, reference, given.steps, given.pairs)
            rows.append(found)
            slower = [100 * (1 / found[share] - 1) for share in ("share_of_vacuum", "highest_share", "lowest_share")]
            print(
                f"plane {found['name']:32} every {found['dft_stride']} steps: slower by {slower[0]:.1f} % "
                f"({slower[1]:.1f} to {slower[2]:.1f})",
                flush=True,
            )
    write("dft_plane", given, comparisons=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
