"""How fast a closed surface tells which points it holds and how far it is, on a lattice and point by point.

    .venv/bin/python benchmarks/solids.py --rings 160 --cells 320 --pairs 5

The surface is a ball with bumps, of 4 x rings^2 triangles. Taken in turn: all threads, one thread; rates in million
points a second. `prepared` are the seconds that the triangles take to be sorted.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from paired import in_turn, parser, spread, write

from nearfield.bodies.closed_surface import ClosedSurface, hole

SEED = 5


def ball(rings: int) -> tuple[np.ndarray, np.ndarray]:
    """Corners and triangles of a ball whose radius swings by a fifth."""
    segments = 2 * rings
    theta, phi = np.meshgrid(
        np.linspace(0, np.pi, rings + 2)[1:-1], 2 * np.pi * np.arange(segments) / segments, indexing="ij"
    )
    radius = 1.0 + 0.2 * np.sin(5 * phi) * np.sin(theta) * np.cos(7 * theta)
    points = radius * np.stack((np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)))
    corners = np.concatenate((points.reshape(3, -1).T, [[0, 0, 1.0], [0, 0, -1.0]]))
    number = np.arange(rings * segments).reshape(rings, segments)
    a, b, c, d = number[:-1], np.roll(number, -1, 1)[:-1], number[1:], np.roll(number, -1, 1)[1:]
    first, last = number[0], number[-1]
    faces = [
        (a, c, d),
        (a, d, b),
        (np.full(segments, len(corners) - 2), first, np.roll(first, -1)),
        (np.roll(last, -1), last, np.full(segments, len(corners) - 1)),
    ]
    return corners, np.concatenate([np.stack([n.ravel() for n in face], axis=1) for face in faces])


def main() -> int:
    made = parser(__doc__, cells=320, steps=None)
    made.add_argument("--rings", type=int, default=160, help="rings of triangles; four times its square are made")
    given = made.parse_args()
    corners, triangles = ball(given.rings)
    assert hole(corners, triangles) is None
    begun = time.perf_counter()
    core = ClosedSurface(corners, triangles)._core
    prepared = time.perf_counter() - begun
    line = [np.linspace(low, high, given.cells) for low, high in zip(corners.min(axis=0), corners.max(axis=0))]
    near = [part[:: max(2, given.cells // 100)] for part in line]
    single = np.random.default_rng(SEED).uniform(corners.min(axis=0), corners.max(axis=0), (given.cells**2 * 10, 3)).T
    single = [np.ascontiguousarray(part) for part in single]
    core.distance(*(part[:1] for part in single), lattice=False, threads=given.threads)
    asked = {
        "inside, lattice": (core.inside, line, True, given.cells**3),
        "inside, single points": (core.inside, single, False, single[0].size),
        "distance, lattice": (core.distance, near, True, near[0].size ** 3),
        "distance, single points": (core.distance, single, False, single[0].size),
    }
    rows = []
    for name, (ask, at, lattice, count) in asked.items():

        def rate(threads: int, ask=ask, at=at, lattice=lattice, count=count) -> float:
            begun = time.perf_counter()
            ask(*at, lattice=lattice, threads=threads)
            return count / (time.perf_counter() - begun) / 1e6

        pair = in_turn(given.pairs, lambda rate=rate: rate(given.threads), lambda rate=rate: rate(1))
        rows.append({"name": name, "points": count, **pair})
        median = np.median(pair["first"])
        print(f"{name:25} {median:8.1f} million a second, {spread(pair)} times one thread", flush=True)
    write("solids", given, triangles=len(triangles), prepared=round(prepared, 3), rates=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
