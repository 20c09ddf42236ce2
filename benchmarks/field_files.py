"""Field files of every format and codec with the fields of a real run: seconds, bytes; and h5py with gzip beside them.

    .venv/bin/python benchmarks/field_files.py --cells 100 --snapshots 5 --pairs 5

Six components of a point source's wave in an open box. Single-file HDF5 with zstd, compressed in threads, is taken in
turn with h5py writing the same arrays in the same chunks with its gzip (level 4) in a loop, each until the disk has it;
then every format and codec once, with its bytes beside the uncompressed ones.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from paired import in_turn, parser, spread, write

import nearfield as nf
from nearfield.entry.triples import Triple
from nearfield.formats.bounds import Bound
from nearfield.formats.codecs import Codec
from nearfield.formats.description import Block, FieldDescription, of_points
from nearfield.formats.opening import open_field_file
from nearfield.formats.sizes import predicted_size

CELL = 1e-3
COMPONENTS = ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")
CODECS = ("none", "zlib", "zlib:4", "zstd", "zstd:3", "lz4", "bitshuffle")


def fields(cells: int, snapshots: int, threads: int) -> dict[str, np.ndarray]:
    """Each component (time, x, y, z) at Yee's indices, while a pulse leaves the middle of the box."""
    every, corner = max(cells // 2, 1), cells * CELL
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(CELL, (cells,) * 3),
        steps=every * snapshots,
        sources=[nf.PointCurrent((corner / 2,) * 3, "z", nf.Gaussian(12e9), moment=1e-3)],
        monitors=[nf.Snapshot("all", (0, 0, 0), (corner,) * 3, every=every)],
    )
    found = simulation.run(threads=threads)["all"]
    return {name: np.ascontiguousarray(found[name].values[:, :cells, :cells, :cells]) for name in COMPONENTS}


def described(arrays: dict[str, np.ndarray], **storage: Any) -> FieldDescription:
    """The full record of these arrays."""
    count, *shape = next(iter(arrays.values())).shape
    return of_points(tuple(CELL * np.arange(n) for n in shape), count, COMPONENTS, **storage)


def ours(
    folder: Path, arrays: dict[str, np.ndarray], threads: int, **storage: Any
) -> tuple[float, int, FieldDescription]:
    """Seconds until the disk has everything, bytes, and what they hold."""
    description, path = described(arrays, **storage), folder / "fields"
    begun = time.perf_counter()
    with open_field_file(path, description, threads) as file:
        for snapshot in range(description.snapshots):
            for name in COMPONENTS:
                file.write(Block(name, snapshot, snapshot, 1e-12 * snapshot, arrays[name][snapshot]))
            file.flush()
    return time.perf_counter() - begun, path.stat().st_size, description


def plain(folder: Path, arrays: dict[str, np.ndarray], chunk: Triple) -> float:
    """Seconds of h5py that writes the same in the same chunks with gzip, a snapshot at a time."""
    path = folder / "plain.h5"
    begun = time.perf_counter()
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            shape = values.shape[1:]
            file.create_dataset(
                name, (0, *shape), "f4", maxshape=(None, *shape), chunks=(1, *chunk), compression="gzip"
            )
        for snapshot in range(len(arrays["Ex"])):
            for name, values in arrays.items():
                file[name].resize(snapshot + 1, 0)
                file[name][snapshot] = values[snapshot]
            file.flush()
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    return time.perf_counter() - begun


def kinds(arrays: dict[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    """What is timed once: a name, and how it is stored."""
    bound = Bound(absolute=1e-4 * float(np.abs(arrays["Ez"]).max()))
    found = {f"hdf5 {codec}": {"codec": Codec.parse(codec)} for codec in CODECS}
    found |= {
        "hdf5 zstd, half": {"codec": Codec.parse("zstd"), "precision": "half"},
        "hdf5 zstd, 1e-4 of the largest Ez": {"codec": Codec.parse("zstd"), "bound": bound},
        "hdf5 zstd, relative 1e-3": {"codec": Codec.parse("zstd"), "bound": Bound(relative=1e-3)},
        "vtkhdf zlib": {"format": "vtkhdf", "codec": Codec.parse("zlib")},
        "binary": {"format": "binary"},
        "ascii": {"format": "ascii"},
    }
    return found


def main() -> int:
    made = parser(__doc__, cells=100, steps=None)
    made.add_argument("--snapshots", type=int, default=5)
    given = made.parse_args()
    arrays = fields(given.cells, given.snapshots, given.threads)
    raw, rows = sum(values.nbytes for values in arrays.values()), []
    chunk = described(arrays).chunk("Ez")
    with tempfile.TemporaryDirectory(dir=given.output if given.output.is_dir() else None) as place:
        folder = Path(place)
        pair = in_turn(
            given.pairs,
            lambda: raw / 1e6 / ours(folder, arrays, given.threads, codec=Codec.parse("zstd"))[0],
            lambda: raw / 1e6 / plain(folder, arrays, chunk),
        )
        plain_bytes = (folder / "plain.h5").stat().st_size
        print(
            f"hdf5 zstd over h5py's gzip in a loop: {spread(pair)} times the rate; "
            f"{plain_bytes / raw:.3f} of the bytes left by gzip",
            flush=True,
        )
        for name, storage in kinds(arrays).items():
            seconds, size, description = ours(folder, arrays, given.threads, **storage)
            rows.append(
                {
                    "name": name,
                    "seconds": round(seconds, 4),
                    "mb_per_second": round(raw / 1e6 / seconds, 1),
                    "bytes": size,
                    "share": round(size / raw, 4),
                    "predicted_bytes": predicted_size(description).bytes,
                }
            )
            print(
                f"{name:36} {seconds:8.3f} s {raw / 1e6 / seconds:8.0f} MB/s  {size / raw:6.3f} of the bytes",
                flush=True,
            )
    write("field_files", given, raw_bytes=raw, comparison=pair | {"plain_bytes": plain_bytes}, files=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
