"""Whole files of every kind that the program reads, the command that reads each, and ways of damaging them."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import nearfield as nf

GRID = 'grid = {kind = "uniform", spacing = "1 mm", cells = [8, 8, 8]}\nsteps = 4\nboundaries = {all = "pec"}\n'
ODD_TEXT = (
    b"1e308",
    b"-1e308",
    b"nan",
    b"inf",
    b"1e-320",
    b"0",
    b"-1",
    b"9" * 400,
    b"",
    b"x",
    b"[]",
    b"{}",
    b"\x00",
    b"\xff",
)
ODD_VALUES = (
    *(
        None,
        True,
        0,
        -1,
        1e308,
        -1e308,
        1e-320,
        10**30,
        9e59,
        -9e59,
        2e-60,
        2e9,
        1e-12,
        "",
        "x",
        "1e308 m",
        "nan",
        [],
        {},
        [[]],
        [1e308] * 3,
    ),
    *({"kind": []}, {"kind": {}}, {"kind": 3}, {"kind": "x"}, {"kind": ["box"]}, "x" * 300),
)


@dataclass(frozen=True)
class Kind:
    """A kind of file: `write` puts a whole one into a folder, `arguments` are those of the command that reads it."""

    name: str
    write: Callable[[Path], None]
    arguments: Callable[[Path], list[str]]


def body(folder: Path, shape: str) -> list[str]:
    """A model with one body out of a file."""
    (folder / "model.toml").write_text(f"{GRID}structures = [{{shape = {shape}, medium = {{permittivity = 2}}}}]\n")
    return ["check", str(folder / "model.toml")]


def of_shape(name: str, shape: str, write: Callable[[Path], None]) -> Kind:
    return Kind(name, lambda folder: write(folder / name), lambda folder: body(folder, shape))


def voxels_npy(path: Path) -> None:
    numbers = np.zeros((3, 4, 5), "<i2")
    numbers[1:, 1:3] = 7
    np.save(path, numbers)


def voxels_h5(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("tissue", data=np.arange(60, dtype="<i2").reshape(3, 4, 5), chunks=(3, 2, 5), compression=1)
        file.create_dataset("note", data="a head")


def triangles(path: Path) -> None:
    import trimesh

    trimesh.creation.box((2e-3, 2e-3, 2e-3)).apply_translation((4e-3,) * 3).export(path)


def layout(path: Path) -> None:
    import gdstk

    library = gdstk.Library()
    library.new_cell("top").add(gdstk.rectangle((1000, 1000), (5000, 3000), layer=1))
    library.write_gds(path)


def samples(path: Path) -> None:
    times = np.linspace(0, 1e-9, 30)
    np.savetxt(path, np.column_stack([times, np.sin(1e10 * times) ** 2]))


def sampled(folder: Path) -> list[str]:
    source = 'kind = "point-current", position = ["4 mm", "4 mm", "4 mm"], axis = "z"'
    waveform = '{kind = "samples", file = "pulse.txt"}'
    (folder / "model.toml").write_text(f"{GRID}sources = [{{{source}, waveform = {waveform}}}]\n")
    return ["check", str(folder / "model.toml")]


def result(path: Path) -> None:
    mm = 1e-3
    source = nf.PointCurrent((2 * mm,) * 3, "z", nf.Gaussian(15e9))
    probe = nf.Probe("tip", (2.2 * mm,) * 3)
    walls = nf.Boundaries(all=nf.PEC)
    model = nf.Simulation(
        nf.Grid.uniform(mm, (4, 4, 4)), boundaries=walls, steps=30, sources=[source], monitors=[probe]
    )
    model.run(output=path, threads=1)


def glass(path: Path) -> None:
    frequencies = np.linspace(1.0, 20.0, 12)
    rows = np.column_stack([frequencies, 2 + 1 / (1 + (frequencies / 9) ** 2), 0.01 * frequencies])
    np.savetxt(path, rows, header="frequency_GHz eps_real eps_imag", comments="")


def scalar(path: Path) -> None:
    x = np.linspace(0, 6, 8)
    np.save(path, np.sin(x)[:, None, None] * np.cos(x)[None, :, None] * np.ones(6))


KINDS = [
    of_shape("body.npy", '{kind = "voxels", file = "body.npy", spacing = "1 mm"}', voxels_npy),
    of_shape("body.h5", '{kind = "voxels", file = "body.h5", spacing = "1 mm"}', voxels_h5),
    of_shape("body.stl", '{kind = "mesh", file = "body.stl", unit = "m"}', triangles),
    of_shape("body.ply", '{kind = "mesh", file = "body.ply", unit = "m"}', triangles),
    of_shape("body.obj", '{kind = "mesh", file = "body.obj", unit = "m"}', triangles),
    of_shape(
        "body.gds", '{kind = "layout", file = "body.gds", layer = 1, axis = "z", lower = 0, upper = "2 mm"}', layout
    ),
    Kind("pulse.txt", lambda folder: samples(folder / "pulse.txt"), sampled),
    Kind(
        "glass.txt",
        lambda folder: glass(folder / "glass.txt"),
        lambda folder: ["fit-medium", str(folder / "glass.txt")],
    ),
    Kind(
        "field.npy", lambda folder: scalar(folder / "field.npy"), lambda folder: ["elements", str(folder / "field.npy")]
    ),
    Kind(
        "result.h5",
        lambda folder: result(folder / "result.h5"),
        lambda folder: ["show", str(folder / "result.h5"), "--json"],
    ),
]


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The bytes of a file with something wrong: bits, runs of bytes, words of text, its end."""
    changed = bytearray(content)
    way = draw.randrange(6)
    if way == 0:
        return bytes(changed[: draw.randrange(len(changed))])
    if way == 1:
        at = draw.randrange(len(changed))
        changed[at : at + draw.randint(1, 9)] = draw.randbytes(draw.randint(0, 9))
        return bytes(changed)
    if way == 2:  # a word of text, or a number of eight bytes
        words = [n for n in range(len(changed)) if changed[n] in b" \n,:("]
        if words:
            at = draw.choice(words) + 1
            end = next((n for n in range(at, len(changed)) if changed[n] in b" \n,:)"), len(changed))
            changed[at:end] = draw.choice(ODD_TEXT)
            return bytes(changed)
    if way == 3:
        at = draw.randrange(max(1, len(changed) - 8))
        changed[at : at + 8] = struct.pack("<d", draw.choice((1e308, float("nan"), float("inf"), -1.0, 0.0)))
        return bytes(changed)
    head = min(len(changed), 600) if way == 4 else len(changed)  # headers, then anywhere
    for _ in range(draw.choice((1, 1, 2, 8))):
        changed[draw.randrange(head)] ^= 1 << draw.randrange(8)
    return bytes(changed)


def retyped(values: object, draw: random.Random) -> None:
    """One value anywhere in a model, among them kinds, replaced by one of another type, in place."""
    places = list(places_in(values))
    table, name = draw.choice(places)
    odd = draw.choice(ODD_VALUES)
    if odd is not None:
        table[name] = odd
    else:
        del table[name]


def places_in(value):
    """Every (table or list, key or index) inside a value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in list(pairs):
        yield value, name
        yield from places_in(inner)
