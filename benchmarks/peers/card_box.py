"""The empty PEC box on a card by a plain update of arrays, as a user of torch or CuPy writes one: six arrays, slices,
no kernel of its own; H random, E at rest. NumPy, on the processor, is what tests hold it against.

Prints one JSON object; `first_seconds` is what the first steps took, compilation included. Exit code 2 where the
library or a card is not there.
"""

import argparse
import json
import sys
import time

SPEED = 0.99 / 3**0.5  # c times the time step, in cells


def advance(fields, speed):
    """One step of all six fields, H as eta0 H. E along the walls is never written: zero where it was zero."""
    ex, ey, ez, hx, hy, hz = fields
    ex[:, 1:-1, 1:-1] += speed * ((hz[:, 1:, 1:-1] - hz[:, :-1, 1:-1]) - (hy[:, 1:-1, 1:] - hy[:, 1:-1, :-1]))
    ey[1:-1, :, 1:-1] += speed * ((hx[1:-1, :, 1:] - hx[1:-1, :, :-1]) - (hz[1:, :, 1:-1] - hz[:-1, :, 1:-1]))
    ez[1:-1, 1:-1, :] += speed * ((hy[1:, 1:-1, :] - hy[:-1, 1:-1, :]) - (hx[1:-1, 1:, :] - hx[1:-1, :-1, :]))
    hx -= speed * ((ez[:, 1:, :] - ez[:, :-1, :]) - (ey[:, :, 1:] - ey[:, :, :-1]))
    hy -= speed * ((ex[:, :, 1:] - ex[:, :, :-1]) - (ez[1:, :, :] - ez[:-1, :, :]))
    hz -= speed * ((ey[1:, :, :] - ey[:-1, :, :]) - (ex[:, 1:, :] - ex[:, :-1, :]))


def shapes(cells):
    """Full Yee shapes, E then H."""
    n, m = cells, cells + 1
    return [(n, m, m), (m, n, m), (m, m, n), (m, n, n), (n, m, n), (n, n, m)]


def of_torch(cells, compiled):
    import torch

    if not torch.cuda.is_available():
        sys.exit(print("torch sees no card", file=sys.stderr) or 2)
    fields = [torch.randn(shape, device="cuda") * (n > 2) for n, shape in enumerate(shapes(cells))]
    step = torch.compile(advance) if compiled else advance
    return fields, step, torch.cuda.synchronize, torch.cuda.get_device_name(), torch.__version__


def of_cupy(cells, compiled):
    import cupy

    made = cupy.random.default_rng(1)
    fields = [made.standard_normal(shape, dtype=cupy.float32) * (n > 2) for n, shape in enumerate(shapes(cells))]
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return fields, advance, cupy.cuda.Device().synchronize, name, cupy.__version__


def of_numpy(cells, compiled):
    import numpy

    made = numpy.random.default_rng(1)
    fields = [made.standard_normal(shape, dtype=numpy.float32) * (n > 2) for n, shape in enumerate(shapes(cells))]
    return fields, advance, lambda: None, "processor", numpy.__version__


PEERS = {"torch": (of_torch, False), "torch-compiled": (of_torch, True), "cupy": (of_cupy, False)}
PEERS["numpy"] = (of_numpy, False)
WARM_UP = 3  # steps


def measured(peer, cells, steps, runs):
    """The median rate of some runs, after a first one that is not counted."""
    made, compiled = PEERS[peer]
    fields, step, wait, device, version = made(cells, compiled)
    seconds = []
    for count in (WARM_UP, *[steps] * runs):
        begun = time.perf_counter()
        for _ in range(count):
            step(fields, SPEED)
        wait()
        seconds.append(time.perf_counter() - begun)
    rates = sorted(cells**3 * steps / each / 1e6 for each in seconds[1:])
    return {
        "code": peer,
        "version": version,
        "device": device,
        "precision": "single",
        "boundary": "pec",
        "cells": cells**3,
        "steps": steps,
        "first_seconds": seconds[0],
        "mcells_per_second": rates[len(rates) // 2],
        "lowest": rates[0],
        "highest": rates[-1],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", choices=sorted(PEERS), required=True)
    parser.add_argument("--cells", type=int, default=512)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    try:
        found = measured(given.peer, given.cells, given.steps, given.runs)
    except ImportError as error:
        sys.exit(print(f"{given.peer} is not installed: {error}", file=sys.stderr) or 2)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
