"""How many points of a random field a core labels in a second: by steepest neighbours, by gradient lines, by both.

    .venv/bin/python benchmarks/elements.py --cells 256 --pairs 5

Periodic Gaussian fields of single precision whose shortest half wave has 12 or 32 points. Taken in turn, with one
thread: a method and `trace`, in thousand points a second of a processor, which other work on the machine changes less
than those of a clock; and the share of points that both put in the same element.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from paired import in_turn, parser, spread, write

import nearfield as nf

SEED = 1
HALF_WAVES = (12, 32)  # points


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


def main() -> int:
    given = parser(__doc__, cells=256, steps=None, threads=1).parse_args()
    rows = []
    for half_wave in HALF_WAVES:
        field = random_field(given.cells, half_wave)
        latest: dict[str, nf.Elements] = {}

        def rate(method: str, field=field, latest=latest) -> float:
            begun = time.process_time()
            latest[method] = nf.elements(field, 1.0, "xyz", method, threads=given.threads)
            return field.size / (time.process_time() - begun) / 1e3

        for method in ("discrete", "hybrid"):
            pair = in_turn(given.pairs, lambda method=method, rate=rate: rate(method), lambda rate=rate: rate("trace"))
            one, trace = (ends(latest[name])[latest[name].labels] for name in (method, "trace"))
            same = float(np.mean(one == trace))
            rows.append({"method": method, "half_wave": half_wave, "same": round(same, 6), **pair})
            medians = ", ".join(f"{np.median(pair[name]):.0f}" for name in ("first", "second"))
            print(f"{method:9} {half_wave:3} points: {medians} of trace; {spread(pair)}; {same:.3%} alike", flush=True)
    write("elements", given, elements=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
