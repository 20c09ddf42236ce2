"""The hot spots of examples/hot_spots.toml beside those of random plane waves, which a cavity of many modes resembles.

.venv/bin/python -m examples.hot_spots out/hot_spots
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import nearfield as nf
from examples import figures
from nearfield.pictures import style

FREQUENCY = 10e9  # Hz
WAVELENGTH = 299792458.0 / FREQUENCY
CELL = 2e-3  # m
WAVES = 400
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "hot_spots.png"


def random_waves(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """The square of E (mean 1) of standing waves from all directions, with random polarisations and phases.

    Real waves of one frequency: between lossless walls everything swings in phase (Hill, Electromagnetic Fields in
    Cavities, 2009; Berry, J. Phys. A 10 (1977) 2083 for the scalar).
    """
    random = np.random.default_rng(seed)
    towards = random.standard_normal((WAVES, 3))
    towards /= np.linalg.norm(towards, axis=1)[:, None]
    across = np.cross(towards, random.standard_normal((WAVES, 3)))
    across /= np.linalg.norm(across, axis=1)[:, None]
    phases = [np.exp(2j * np.pi / WAVELENGTH * CELL * np.outer(towards[:, a], np.arange(shape[a]))) for a in range(3)]
    phases[0] *= np.exp(2j * np.pi * random.random(WAVES))[:, None]
    field = np.einsum("wc,wi,wj,wk->cijk", across, *phases, optimize=True).real
    square = (field**2).sum(axis=0)
    return square / square.mean()


def spots_of(square: np.ndarray) -> dict[str, float]:
    """Elements of the square of E at points a cell apart: spots a cubic wavelength, their spacing, mean length (in
    wavelengths), the mean of their heights and of the differences over the mean square.
    """
    found = nf.elements(square / square.mean(), CELL / WAVELENGTH, threads=1)
    spots = found.hot_spots()
    return {
        "spots": len(found.maxima) / (square.size * (CELL / WAVELENGTH) ** 3),
        "spacing": float(spots.spacing.mean()),
        "length": float(found.length.mean()),
        "difference": float(found.difference.mean()),
    }


def squares_of(result: nf.Result) -> tuple[np.ndarray, np.ndarray]:
    """The square of E in the cavity, and in a box within it, 8 mm from the walls and 5 mm from the sphere."""
    fields = result["field"].collocated().isel(frequency=0)
    square = sum(np.abs(fields[f"E{axis}"].values) ** 2 for axis in "xyz")
    return square, square[4:24, 4:-4, 4:-4]


def main() -> None:
    """Compare, keep the figures of the page, draw its picture."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/hot_spots")
    whole, inner = squares_of(nf.open_result(folder / "result.h5"))
    draws = [spots_of(random_waves(inner.shape, seed)) for seed in range(12)]
    values = {"cavity": spots_of(inner)}
    for name in draws[0]:
        numbers = [draw[name] for draw in draws]
        values[name] = {"mean": float(np.mean(numbers)), "deviation": float(np.std(numbers, ddof=1))}
    print(values)
    figures.keep(__file__, values)
    found = nf.elements(whole / whole.mean(), CELL * 1e3, persistence="2%", threads=1)
    figure = style.blank(11.0, 5.0)
    panels = figure.subplots(1, 2)
    found.plot.hot_spots(ax=panels[0])
    found.plot.hot_spots("y", ax=panels[1])
    style.headline(
        figure, "Square of E over its mean, 10 GHz; lengths in mm", "through the highest spot, spots numbered"
    )
    FIGURE.write_bytes(style.png_bytes(figure))


if __name__ == "__main__":
    main()
