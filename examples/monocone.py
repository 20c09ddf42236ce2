"""The antenna of examples/monocone.toml: its STL file, made from plain geometry, and its impedance from theory.

.venv/bin/python -m examples.monocone          # run, compare, draw
.venv/bin/python -m examples.monocone --stl    # write examples/monocone.stl again
"""

from __future__ import annotations

import math
import struct
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

import nearfield as nf
from examples import figures

C = 299792458.0
ETA = 376.730313412  # ohm
HALF_ANGLE = math.radians(47.0)  # 50 ohm: eta/(2 pi) ln cot(47 deg/2)
LENGTH = 30e-3  # m, from the apex to the rim; the radius of the cap
GAP = 0.5e-3  # m, between the ground and the cut tip: the feed
FINE = 4e-3  # m, how far the finest cells reach
SEGMENTS = 64  # round the axis
RINGS = 12  # from the rim to the top of the cap
FOLDER = Path(__file__).resolve().parent
STL = FOLDER / "monocone.stl"
FIGURE = FOLDER.parent / "docs" / "images" / "monocone.png"
BAND = np.linspace(2e9, 10e9, 81)  # Hz


def triangles() -> np.ndarray:
    """Corners (n, 3, 3; mm) of the body, a surface of revolution about z: cut tip, cone, spherical cap."""
    angles = HALF_ANGLE * np.linspace(1.0, 0.0, RINGS + 1)
    profile = [(0.0, GAP), (GAP * math.tan(HALF_ANGLE), GAP), *zip(LENGTH * np.sin(angles), LENGTH * np.cos(angles))]
    turn = 2.0 * math.pi * np.arange(SEGMENTS + 1) / SEGMENTS
    found = []
    for (r0, z0), (r1, z1) in pairwise(profile):
        for a, b in zip(turn, [*turn[1:-1], turn[0]]):
            low, low_next, high, high_next = (
                (1e3 * r * math.cos(at), 1e3 * r * math.sin(at), 1e3 * z)
                for r, z in ((r0, z0), (r1, z1))
                for at in (a, b)
            )
            if r0 > 0.0:
                found.append((low, low_next, high_next))
            if r1 > 1e-9:
                found.append((low, high_next, high))
    return np.array(found)


def write_stl(path: Path = STL) -> None:
    """The body as a binary STL file: 80 bytes, the number of triangles, then for each normal, corners, two bytes."""
    corners = triangles().astype("<f4")
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    records = [n.astype("<f4").tobytes() + c.tobytes() + b"\0\0" for n, c in zip(normals, corners)]
    path.write_bytes(b"monocone, mm".ljust(80) + struct.pack("<I", len(records)) + b"".join(records))


def half_line(cell: float, reach: float, layer: int) -> list[float]:
    """Grid lines from 0 on (m): fine at the feed, growing to cells five times as large, past `reach`, then a CPML."""
    lines, step = [cell * n for n in range(round(FINE / cell) + 1)], cell
    while lines[-1] < reach:
        step = min(1.15 * step, 5.0 * cell)
        lines.append(round(lines[-1] + step, 6))
    return [*lines, *(round(lines[-1] + n * step, 6) for n in range(1, layer + 1))]


def model(cell: float = 0.25e-3, space: float = 15e-3) -> nf.Simulation:
    """The antenna on a perfect ground, with so many metres of space about it; `cell` at the feed."""
    across, up = (half_line(cell, reach + space, 8) for reach in (LENGTH * math.sin(HALF_ANGLE), LENGTH))
    across = [*(-place for place in across[:0:-1]), *across]
    port = cell * math.floor(math.sqrt(0.5) * GAP * math.tan(HALF_ANGLE) / cell)  # its corners lie under the tip
    return nf.Simulation(
        title="Monocone from an STL file",
        grid=nf.Grid(across, across, up),
        structures=[nf.Structure(nf.Mesh(str(STL), "mm"), nf.PEC, name="cone")],
        boundaries=nf.Boundaries(all=nf.CPML(8), z_low=nf.PEC),
        ports=[nf.LumpedPort("feed", (-port, -port, 0.0), (port, port, GAP), "z")],
        waveform=nf.Gaussian(12e9),
        decay=1e-5,
    )


def hankel_ratio(order: int, x: np.ndarray) -> np.ndarray:
    """x h_n(x) / [x h_n(x)]' of spherical Hankel functions of the second kind, by upward recurrence."""
    before, now = np.exp(-1j * x), 1j * np.exp(-1j * x) * (1.0 - 1j / x)  # x h_0 = j exp(-jx) over j; x h_1 likewise
    for n in range(1, order):
        before, now = now, (2 * n + 1) / x * now - before
    return now / (before - order / x * now)


def legendre(order: int, c: float) -> float:
    """P_n(c)."""
    before, now = 1.0, c
    for n in range(1, order):
        before, now = now, ((2 * n + 1) * c * now - n * before) / (n + 1)
    return now


def expected(frequency: np.ndarray, orders: int = 60) -> np.ndarray:
    """Input impedance (ohm) by the TEM wave of the cone and the odd spherical modes outside: Papas and King, 1949."""
    opening = math.log(1.0 / math.tan(HALF_ANGLE / 2.0))
    wave, x = ETA / (2.0 * math.pi) * opening, 2.0 * math.pi * frequency * LENGTH / C
    admittance = sum(
        (2 * n + 1) / (n * (n + 1)) * legendre(n, math.cos(HALF_ANGLE)) ** 2 * hankel_ratio(n, x) / (1j * ETA)
        for n in range(1, 2 * orders, 2)
    )
    load = opening**2 / (2.0 * math.pi * admittance)
    tangent = 1j * np.tan(x)
    return wave * (load + wave * tangent) / (wave + load * tangent)


def reflected(impedance: np.ndarray) -> np.ndarray:
    """S11 at 50 ohm."""
    return (impedance - 50.0) / (impedance + 50.0)


def found(cell: float = 0.25e-3, space: float = 15e-3) -> np.ndarray:
    """S11 of a run, at the frequencies of BAND."""
    return model(cell, space).run().sparameters.sel(to="feed", source="feed").interp(frequency=BAND).values


def draw(right: np.ndarray, ours: dict[str, np.ndarray]) -> None:
    """The body beside its return loss."""
    import matplotlib

    from nearfield.pictures.style import COLOURS, SETTINGS, blank, headline

    with matplotlib.rc_context(SETTINGS | {"axes.prop_cycle": matplotlib.cycler(color=COLOURS)}):
        figure = blank(11, 4.6)
        headline(figure, "Monocone from an STL file", f"{len(triangles())} triangles, on a perfect ground")
        body = figure.add_subplot(1, 2, 1, projection="3d")
        body.plot_trisurf(*_indexed(triangles()), color=COLOURS[0], edgecolor="white", linewidth=0.1)
        body.set(xlabel="x (mm)", ylabel="y (mm)", zlabel="z (mm)", box_aspect=(44, 44, 30))
        axes = figure.add_subplot(1, 2, 2)
        axes.plot(BAND / 1e9, 20 * np.log10(np.abs(right)), "k", label="theory (Papas and King)")
        for name, values in ours.items():
            axes.plot(BAND / 1e9, 20 * np.log10(np.abs(values)), label=name)
        axes.set(xlabel="frequency (GHz)", ylabel="abs(S11) (dB)", ylim=(-40, 0))
        axes.legend()
        figure.savefig(FIGURE, dpi=110, metadata={"Software": None})


def _indexed(corners: np.ndarray) -> tuple:
    """x, y, triangles and z as plot_trisurf takes them."""
    points, number = np.unique(np.round(corners.reshape(-1, 3), 6), axis=0, return_inverse=True)
    return points[:, 0], points[:, 1], number.reshape(-1, 3), points[:, 2]


def main() -> None:
    """Compare, print, draw."""
    if "--stl" in sys.argv[1:]:
        write_stl()
        return
    right, ours, coarse = reflected(expected(BAND)), found(), found(0.5e-3)
    high = BAND >= 3e9
    values = {
        name: {"low": float(np.abs(s - right)[BAND <= 4e9].max()), "all": float(np.abs(s - right).max())}
        for name, s in (("fine", ours), ("coarse", coarse))
    }
    for name, s in (("found", ours), ("theory", right)):
        values[name] = {"return_loss": float(-20 * np.log10(np.abs(s[high]).max()))}
    for f, a, b in list(zip(BAND, right, ours))[::10]:
        print(f"{f / 1e9:5.1f} GHz  theory {abs(a):.3f}  found {abs(b):.3f}  apart {abs(a - b):.3f}")
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")
    draw(right, {"cells of 0.25 mm at the feed": ours, "0.5 mm": coarse})


if __name__ == "__main__":
    main()
