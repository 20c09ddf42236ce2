"""The bands of a square lattice of dielectric rods, E along them, by one Bloch cell and a scan of its phases.

.venv/bin/python -m examples.photonic_crystal
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

import nearfield as nf
from examples import figures

C = 299792458.0
PERIOD = 10e-3  # m
PERMITTIVITY, RADIUS = 8.9, 0.2  # alumina; radius over the period
BAND = (0.02, 0.8)  # c/period
LOSSIEST = 1e4  # nothing loses: a lower Q is an artefact
SAME = 1e-5  # c/period: frequencies of two probes that differ by less are one
WAY = [(0.0, 0.0), (0.5, 0.0), (0.5, 0.5), (0.0, 0.0)]  # Gamma, X, M, Gamma, in 2 pi/period
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "photonic_crystal.png"
PLACES = [(0.13, 0.37), (-0.41, 0.22), (0.31, -0.18)]  # of currents and probes, in periods: on no mirror of the lattice


def model(wave: tuple[float, float], cells: int = 20, periods: float = 100.0) -> nf.Simulation:
    """One cell of the lattice; `wave`: the Bloch wave vector in 2 pi/period; `periods`: of time, in period/c."""
    step = PERIOD / cells
    half = 0.5 * PERIOD
    pulse = nf.ModulatedGaussian(0.4 * C / PERIOD, 0.8 * C / PERIOD)
    places = [tuple(round(n * cells) * step for n in place) for place in PLACES]
    return nf.Simulation(
        title="One cell of a square lattice of rods",
        grid=nf.Grid.uniform(step, (cells, cells, 1), (-half, -half, 0)),
        structures=[
            nf.Structure(nf.Cylinder((0, 0, -step), (0, 0, 2 * step), RADIUS * PERIOD), nf.Medium(PERMITTIVITY))
        ],
        boundaries=nf.Boundaries(
            x=nf.Bloch(phase=2 * math.pi * wave[0]), y=nf.Bloch(phase=2 * math.pi * wave[1]), z="periodic"
        ),
        sources=[nf.LineCurrent((x, y, 0), (x, y, step), pulse, (-1.0) ** n) for n, (x, y) in enumerate(places)],
        monitors=[nf.Probe(f"{n}", (-x, y, 0.5 * step), "Ez") for n, (x, y) in enumerate(places)],
        duration=pulse.end + periods * PERIOD / C,
        precision="double",
        check_every=10**6,
    )


def resonances(wave: tuple[float, float], count: int = 4, **options) -> np.ndarray:
    """The lowest frequencies of a Bloch wave (c/period), of all that any probe rings with after the pulse."""
    result = model(wave, **options).run(threads=1)
    band = [f * C / PERIOD for f in BAND]
    seen = [nf.resonances(result, band, probe=name, smallest_q=LOSSIEST) for name in result.monitors]
    frequency = np.sort(np.concatenate([modes.frequency.values for modes in seen])) * PERIOD / C
    new = np.diff(frequency, prepend=-1.0) > SAME
    return np.array([each.mean() for each in np.split(frequency, np.flatnonzero(new)[1:])][:count])


def expected(wave: tuple[float, float], count: int = 4, order: int = 7) -> np.ndarray:
    """The same (c/period) by expansion in (2 order + 1)^2 plane waves: abs(k + G)^2 e = (w/c)^2 eps e."""
    side = np.arange(-order, order + 1)
    g = np.array([(m, n) for m in side for n in side], dtype=float)
    step = g[:, None] - g[None, :]
    x = 2 * math.pi * RADIUS * np.hypot(step[..., 0], step[..., 1])
    fill = math.pi * RADIUS**2
    shape = np.where(x == 0, 1.0, 2 * bessel(x) / np.where(x == 0, 1.0, x))
    medium = (PERMITTIVITY - 1) * fill * shape + np.eye(len(g))
    squares = np.sum((g + np.asarray(wave)) ** 2, axis=1)
    root = np.linalg.cholesky(medium)
    turned = np.linalg.solve(root, np.linalg.solve(root, np.diag(squares)).T)
    return np.sqrt(np.abs(np.linalg.eigvalsh(turned)))[:count]


def bessel(x: np.ndarray) -> np.ndarray:
    """J1 by its integral over half a turn, which the trapezoidal rule does exactly."""
    angle = np.linspace(0, math.pi, 201)
    values = np.cos(angle - x[..., None] * np.sin(angle))
    return (values.sum(axis=-1) - 0.5 * (values[..., 0] + values[..., -1])) / 200


def way(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Wave vectors from corner to corner, so many steps for half a reciprocal period; their places along the way."""
    found, at = [WAY[0]], [0.0]
    for first, last in pairwise(WAY):
        length = math.dist(first, last)
        for n in range(1, round(2 * length * points) + 1):
            part = n / round(2 * length * points)
            found.append(tuple(a + part * (b - a) for a, b in zip(first, last)))
            at.append(at[-1] + length / round(2 * length * points))
    return np.array(found), np.array(at)


def draw(at: np.ndarray, found: Sequence[np.ndarray], fine: tuple[np.ndarray, np.ndarray]) -> None:
    """The band diagram."""
    import matplotlib

    from nearfield.pictures.style import COLOURS, SETTINGS, blank, headline

    with matplotlib.rc_context(SETTINGS | {"axes.prop_cycle": matplotlib.cycler(color=COLOURS)}):
        figure = blank(7.2, 4.8)
        headline(figure, "Square lattice of rods, E along them", "20 cells a period; lines: plane waves")
        axes = figure.add_subplot()
        axes.plot(fine[0], fine[1], color="#9AA5B1", linewidth=1)
        for place, values in zip(at, found):
            axes.plot([place] * len(values), values, "o", markersize=3.5, color=COLOURS[0])
        corners = np.cumsum([0.0, *(math.dist(a, b) for a, b in pairwise(WAY))])
        axes.set_xticks(corners, ["Γ", "X", "M", "Γ"])
        axes.set(ylabel="frequency (c/period)", ylim=(0, BAND[1]), xlim=(corners[0], corners[-1]))
        figure.savefig(FIGURE, dpi=110, metadata={"Software": None})


def main() -> None:
    """Scan, print, draw."""
    waves, at = way(6)
    found = [resonances(tuple(wave)) for wave in waves]
    for wave, values in zip(waves, found):
        print(f"({wave[0]:.3f}, {wave[1]:.3f})", *(f"{value:.4f}" for value in values), "| plane waves:",
              *(f"{value:.4f}" for value in expected(tuple(wave))))  # fmt: skip
    values = {}
    for name, corner, count in (("X", WAY[1], 4), ("M", WAY[2], 3), ("Gamma", WAY[0], 2)):
        exact = expected(corner)
        exact = exact[np.diff(exact, prepend=0.0) > SAME]  # bands that meet count once, the static field does not
        exact, own = exact[exact > BAND[0]][:count], resonances(corner)[:count]
        values[name] = {"found": own.tolist(), "exact": exact.tolist(), "percent": (100 * (own / exact - 1)).tolist()}
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")
    fine_waves, fine_at = way(24)
    draw(at, found, (fine_at, np.array([expected(tuple(wave)) for wave in fine_waves])))


if __name__ == "__main__":
    main()
