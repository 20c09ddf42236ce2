"""A WR-90 waveguide with an inductive iris, and one with a right-angle bend in the E-plane, beside mode matching.

    .venv/bin/python -m examples.iris [PICTURE]

Prints |S| on two grids beside the exact one and, with a name, draws the picture of examples/iris.md.
"""

from __future__ import annotations

import sys

import numpy as np
import xarray

import nearfield as nf

C = 299792458.0
WIDTH, HEIGHT = 22.86e-3, 10.16e-3
CELL = 0.635e-3  # m: 36 x 16 cells across
APERTURE, THICKNESS = 12.7e-3, 2.54e-3  # of the iris
REACH = 30  # cells from a port to what it looks at
BAND = (7.5e9, 12.5e9)
PULSE = nf.ModulatedGaussian(10e9, 5.6e9)
LAYER = nf.CPML(12)


def iris(fine: int = 1) -> nf.Simulation:
    """The iris in a guide along z, in cells of `CELL` over `fine`; both reference planes on the metal's faces."""
    cell, ends = CELL / fine, (LAYER.cells + 4 * fine) * CELL / fine
    faces = ends + REACH * CELL, ends + REACH * CELL + THICKNESS
    length = faces[1] + REACH * CELL + ends
    side = 0.5 * (WIDTH - APERTURE)
    blocks = ((0, side), (WIDTH - side, WIDTH))
    ports = [
        nf.WaveguidePort(name, (0, 0, z), (WIDTH, HEIGHT, z), way, "TE10", reference_plane=plane)
        for name, z, way, plane in (("in", ends, "+z", faces[0]), ("out", length - ends, "-z", faces[1]))
    ]
    return nf.Simulation(
        title="WR-90 iris", grid=nf.Grid.uniform(cell, cells(WIDTH, HEIGHT, length, cell)), waveform=PULSE,
        boundaries=nf.Boundaries(nf.PEC, z_low=LAYER, z_high=LAYER), ports=ports,
        structures=[nf.Structure(nf.Box((x0, 0, faces[0]), (x1, HEIGHT, faces[1])), nf.PEC) for x0, x1 in blocks],
        symmetry=nf.Symmetry(x="magnetic", y="electric"), decay=1e-9, metal="conformal",
    )  # fmt: skip


def bend(fine: int = 1) -> nf.Simulation:
    """A guide that comes along z and leaves along y, its corner square; reference planes on the corner's open sides."""
    cell, ends = CELL / fine, (LAYER.cells + 4 * fine) * CELL / fine
    corner = ends + REACH * CELL  # z where the corner begins
    deep, high = corner + HEIGHT, HEIGHT + REACH * CELL + ends
    return nf.Simulation(
        title="WR-90 bend", grid=nf.Grid.uniform(cell, cells(WIDTH, high, deep, cell)), waveform=PULSE,
        boundaries=nf.Boundaries(nf.PEC, z_low=LAYER, y_high=LAYER),
        structures=[nf.Structure(nf.Box((0, HEIGHT, 0), (WIDTH, high, corner)), nf.PEC)],
        ports=[
            nf.WaveguidePort("in", (0, 0, ends), (WIDTH, HEIGHT, ends), "+z", "TE10", reference_plane=corner),
            nf.WaveguidePort("out", (0, high - ends, corner), (WIDTH, high - ends, deep), "-y", "TE10",
                             reference_plane=HEIGHT),
        ],
        symmetry=nf.Symmetry(x="magnetic"), decay=1e-9, metal="conformal",
    )  # fmt: skip


def cells(x: float, y: float, z: float, cell: float) -> tuple[int, int, int]:
    """How many cells a box takes."""
    return tuple(round(length / cell) for length in (x, y, z))


def exact_iris(frequencies: np.ndarray, modes: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """(S11, S21) of TE10 at the iris's faces: TE_m0 modes of guide and aperture, matched where they meet.

    With a magnetic or an electric wall in the iris's middle the aperture's modes see tanh or coth of half their way.
    """
    m = np.arange(1, 2 * modes, 2)
    n = np.arange(1, 2 * max(1, round(modes * APERTURE / WIDTH)), 2)
    kx, ka = np.pi * m / WIDTH, np.pi * n / APERTURE
    # overlap of sqrt(2/a) cos(kx x) and sqrt(2/d) cos(ka x), odd numbers, about the middle
    ends = np.sin(np.add.outer(kx, ka) * APERTURE / 2) / np.add.outer(kx, ka)
    overlap = 2 / np.sqrt(WIDTH * APERTURE) * (ends + half_width_sinc(np.subtract.outer(kx, ka), APERTURE / 2))
    overlap *= np.outer((-1.0) ** (m // 2), (-1.0) ** (n // 2))
    found = []
    for k in 2 * np.pi * np.asarray(frequencies) / C:
        outside, inside = (np.sqrt((part**2 - k**2).astype(complex)) for part in (kx, ka))
        reflected = []
        for half in (np.tanh(inside * THICKNESS / 2), 1 / np.tanh(inside * THICKNESS / 2)):
            matrix = np.diag(inside * half) + overlap.T @ (outside[:, None] * overlap)
            voltage = np.linalg.solve(matrix, 2 * overlap[0] * outside[0])
            reflected.append(overlap[0] @ voltage - 1)
        found.append((0.5 * (reflected[0] + reflected[1]), 0.5 * (reflected[0] - reflected[1])))
    return tuple(np.array(found).T)


def half_width_sinc(k: np.ndarray, half: float) -> np.ndarray:
    """sin(k half)/k."""
    return half * np.sinc(k * half / np.pi)


def exact_bend(frequencies: np.ndarray, modes: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """(S11, S21) of TE10 at the corner's sides, from one scalar with zero slope on the metal.

    With sin(pi x/a) across, H along x obeys the wave equation in the plane of the bend with the guide's wave number. In
    the corner it is a sum of waves with cosines along y, and as many along z, for any slopes on its two open sides.
    """
    n = np.arange(modes)
    k_n = np.pi * n / HEIGHT
    norm = np.sqrt(np.where(n == 0, 1, 2) / HEIGHT)
    sign = (-1.0) ** n
    found = []
    for f in np.asarray(frequencies):
        square = (2 * np.pi * f / C) ** 2 - (np.pi / WIDTH) ** 2
        beta = np.sqrt((square - k_n**2).astype(complex))
        beta = np.where(beta.imag > 0, -beta, beta)  # exp(-j beta z) decays
        own = np.diag(1 / (beta * np.tan(beta * HEIGHT)))
        over = np.outer(sign * norm, norm) / ((beta**2)[None, :] - (k_n**2)[:, None])
        # values on the sides 1 and 2 from slopes there, -j beta (a - b) on 1 and j beta (a - b) on 2
        values = np.block([[own, -over], [over.T, -own]])
        slopes = np.diag(np.concatenate((-1j * beta, 1j * beta)))
        start = np.zeros(2 * modes)
        start[0] = 1.0
        b = np.linalg.solve(np.eye(2 * modes) + values @ slopes, values @ slopes @ start - start)
        found.append((b[0], b[modes]))
    return tuple(np.array(found).T)


def found(model: nf.Simulation) -> xarray.DataArray:
    """S over the band."""
    return model.run().sparameters.sel(frequency=slice(*BAND))


def compared(s: xarray.DataArray, exact) -> tuple[float, float]:
    """(largest error of any S, largest departure of the power from 1) over the band."""
    wanted = np.stack(exact(s.frequency.values))
    wanted = np.abs(np.stack((wanted, wanted[::-1])))  # to, source, frequency
    error = np.abs(np.abs(s.transpose("to", "source", "frequency").values) - wanted).max()
    return float(error), float(np.abs((np.abs(s) ** 2).sum("to") - 1).max())


CASES = {"iris": (iris, exact_iris), "bend": (bend, exact_bend)}


def draw(results: dict, path: str) -> None:
    """|S| of both against the exact ones."""
    import matplotlib

    from nearfield.pictures.style import COLOURS, SETTINGS, blank, headline

    with matplotlib.rc_context(SETTINGS):
        figure = blank(10.5, 4.2)
        headline(figure, "WR-90 waveguide: inductive iris and E-plane bend", "lines: Nearfield; dots: mode matching")
        for number, (name, (_, exact)) in enumerate(CASES.items()):
            axes, s = figure.add_subplot(1, 2, number + 1), results[name]
            sparse = np.linspace(*BAND, 16)
            for each, (to, wanted) in enumerate(zip(("in", "out"), exact(sparse))):
                level = 20 * np.log10(np.abs(s.sel(to=to, source="in")))
                axes.plot(s.frequency / 1e9, level, color=COLOURS[each], label="S11" if to == "in" else "S21")
                axes.plot(sparse / 1e9, 20 * np.log10(np.abs(wanted)), "o", color=COLOURS[each], markersize=4)
            axes.set(xlabel="frequency (GHz)", ylabel="dB", title=name, ylim=(-25, 1))
            axes.legend(loc="lower right")
        figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> None:
    """Compare, print, draw."""
    results = {}
    for name, (model, exact) in CASES.items():
        results[name] = found(model())
        for f in np.arange(8e9, 13e9, 1e9):
            values = np.abs(results[name].interp(frequency=f).sel(source="in").values)
            wanted = [abs(each[0]) for each in exact(np.array([f]))]
            print(f"{name}, {f / 1e9:4.0f} GHz: S11, S21 {values.round(4)}, exact {np.round(wanted, 4)}")
        for fine in (1, 2):
            error, power = compared(results[name] if fine == 1 else found(model(fine)), exact)
            print(f"{name}, {1e3 * CELL / fine:.4g} mm cells: |S| within {error:.4f}, power within {power:.1e}")
    if len(sys.argv) > 1:
        draw(results, sys.argv[1])


if __name__ == "__main__":
    main()
