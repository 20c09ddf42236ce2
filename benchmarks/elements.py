"""How many points of a random field a core labels in a second: by steepest neighbours, by gradient lines, by both.

    .venv/bin/python benchmarks/elements.py --cells 256 --pairs 5
    .venv/bin/python benchmarks/elements.py --cells 256 --pairs 5 --scaling     one thread and two, by the clock
    .venv/bin/python benchmarks/elements.py --cells 128 --pairs 5 --peer        a textbook code on the same field
    .venv/bin/python benchmarks/elements.py --cells 128 --pairs 5 --chunks      points whose ends a thread keeps

Periodic Gaussian fields of single precision whose shortest half wave has 12 or 32 points. Taken in turn, with one
thread: a method and `trace`, in thousand points a second of a processor, which other work on the machine changes less
than those of a clock; and the share of points that both put in the same element. `--scaling` needs a quiet machine.
"""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
from element_peer import path_compression
from paired import in_turn, parser, spread, write

import nearfield as nf
from nearfield.dissipation.elements import CHUNK, Request, analysed

SEED = 1
HALF_WAVES = (12, 32)  # points
CHUNKS = (16, 64, 256, 4096, 65536)
Rows = list[dict[str, Any]]


def random_field(points: int, half_wave: int) -> np.ndarray:
    """A periodic field without waves shorter than two such half waves."""
    wave = np.fft.fftfreq(points, 1 / points)
    square = wave[:, None, None] ** 2 + wave[:, None] ** 2 + wave**2
    spectrum = np.fft.fftn(np.random.default_rng(SEED).standard_normal((points,) * 3))
    spectrum[square > (points / (2 * half_wave)) ** 2] = 0
    return np.fft.ifftn(spectrum).real.astype(np.float32)


def ends(found: nf.Elements) -> np.ndarray:
    """Of each element, the points of its extrema and the shift between them, in one number."""
    shift = (found.shift + 4) @ np.array([81, 9, 1])
    high, low = found.maxima.index[found.maximum], found.minima.index[found.minimum]
    return (high * found.labels.size + low) * 729 + shift


def rate(work: Callable[[], object], points: int, clock: Callable[[], float] = time.process_time) -> float:
    """Thousand points a second."""
    begun = clock()
    work()
    return points / (clock() - begun) / 1e3


def methods(given: Namespace) -> Rows:
    """Each method and `trace` in turn."""
    rows: Rows = []
    for half_wave in HALF_WAVES:
        field = random_field(given.cells, half_wave)
        latest: dict[str, nf.Elements] = {}

        def label(method: str, field=field, latest=latest) -> None:
            latest[method] = nf.elements(field, 1.0, "xyz", method, threads=given.threads)

        for method in ("discrete", "hybrid"):
            pair = in_turn(
                given.pairs,
                lambda method=method, label=label: rate(lambda: label(method), given.cells**3),
                lambda label=label: rate(lambda: label("trace"), given.cells**3),
            )
            one, trace = (ends(latest[name])[latest[name].labels] for name in (method, "trace"))
            same = float(np.mean(one == trace))
            rows.append({"method": method, "half_wave": half_wave, "same": round(same, 6), **pair})
            medians = ", ".join(f"{np.median(pair[name]):.0f}" for name in ("first", "second"))
            print(f"{method:9} {half_wave:3} points: {medians} of trace; {spread(pair)}; {same:.3%} alike", flush=True)
    return rows


def scaling(given: Namespace) -> Rows:
    """Two threads and one in turn, by the clock."""
    field = random_field(given.cells, HALF_WAVES[-1])
    rows: Rows = []
    for method in ("discrete", "trace", "hybrid"):

        def timed(threads: int, method: str = method) -> float:
            return rate(lambda: nf.elements(field, 1.0, "xyz", method, threads=threads), field.size, time.perf_counter)

        pair = in_turn(given.pairs, lambda timed=timed: timed(2), lambda timed=timed: timed(1))
        rows.append({"method": method, "half_wave": HALF_WAVES[-1], "threads": [2, 1], **pair})
        print(f"{method:9} two threads over one: {spread(pair)}", flush=True)
    return rows


def peer(given: Namespace) -> Rows:
    """`discrete` and the textbook code in turn, one thread each; the share of points with the same extrema."""
    rows: Rows = []
    for half_wave in HALF_WAVES:
        field = random_field(given.cells, half_wave)
        pair = in_turn(
            given.pairs,
            lambda field=field: rate(lambda: nf.elements(field, 1.0, "xyz", "discrete", threads=1), field.size),
            lambda field=field: rate(lambda: path_compression(field), field.size),
        )
        found = nf.elements(field, 1.0, "xyz", "discrete", threads=1)
        high, low = path_compression(field)
        labels = found.labels.ravel()
        ours = found.maxima.index[found.maximum[labels]], found.minima.index[found.minimum[labels]]
        same = float(np.mean((ours[0] == high) & (ours[1] == low)))
        rows.append({"peer": "path compression, NumPy", "half_wave": half_wave, "same": round(same, 6), **pair})
        print(f"peer, {half_wave} points: {spread(pair)} times its rate; {same:.3%} alike", flush=True)
    return rows


def chunks(given: Namespace) -> Rows:
    """`trace` with blocks of other sizes and of the usual one in turn."""
    field = random_field(given.cells, HALF_WAVES[0])
    rows: Rows = []
    for chunk in CHUNKS:

        def timed(chunk: int) -> float:
            request = Request(1.0, "xyz", "trace", given.threads, None, chunk)
            return rate(lambda: analysed(field, request), field.size)

        pair = in_turn(given.pairs, lambda chunk=chunk, timed=timed: timed(chunk), lambda timed=timed: timed(CHUNK))
        rows.append({"method": "trace", "half_wave": HALF_WAVES[0], "chunk": chunk, "usual": CHUNK, **pair})
        print(f"blocks of {chunk} points over {CHUNK}: {spread(pair)}", flush=True)
    return rows


STUDIES = {"scaling": scaling, "peer": peer, "chunks": chunks}


def main() -> int:
    arguments = parser(__doc__, cells=256, steps=None, threads=1)
    for name, study in STUDIES.items():
        arguments.add_argument(f"--{name}", action="store_true", help=study.__doc__)
    arguments.add_argument(
        "--under-load", action="store_true", help="other work was on the machine: say so in the file"
    )
    given = arguments.parse_args()
    chosen = {name: study for name, study in STUDIES.items() if getattr(given, name)}
    facts = {"under_load": True} if given.under_load else {}
    for name, study in chosen.items():
        write(f"elements-{name}", given, elements=study(given), **facts)
    if not chosen:
        write("elements", given, elements=methods(given), **facts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
