"""The low-pass filter of examples/low_pass_filter.toml in Python, on any mesh, and what its page shows.

    .venv/bin/python -m examples.low_pass_filter [PICTURE]

Prints edge, nulls and balance of power on two meshes and, with a name, draws the picture of the page.
"""

from __future__ import annotations

import sys

import numpy as np
import xarray

import nearfield as nf
from examples import figures

DX, DY, DZ = 0.4064e-3, 0.4233e-3, 0.265e-3  # m, the published cells
PERMITTIVITY = 2.2
STRIP = (50 * DX, 6 * DY)  # the wide strip, 20.32 x 2.54 mm
LINES = ((14 * DX, 20 * DX), (30 * DX, 36 * DX))  # 5.65 mm from the strip's left and right end
PLANE = 10 * DY  # reference planes off the strip
FEED = 30 * DY  # feeding sheets off the strip
HEIGHT = 3 * DZ
SHOWN = (4e9, 7e9)  # Hz, in the board: one that passes, one that does not


def axis_lines(start: float, stop: float, cell: float, low: int, high: int) -> np.ndarray:
    """Evenly spaced lines, `low` and `high` of them outside [start, stop]."""
    cells = round((stop - start) / cell)
    return start + (stop - start) / cells * np.arange(-low, cells + high + 1)


def strips() -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Corners (m) of the wide strip and of both lines, seen from above."""
    (a, b), (c, d) = LINES
    return [((0.0, 0.0), STRIP), ((a, -FEED), (b, 0.0)), ((c, STRIP[1]), (d, STRIP[1] + FEED))]


def model(refinement: float = 1.0, highest: float = 20e9) -> nf.Simulation:
    """The filter, its lines ended by their feeding sheets. `refinement` divides the published cells."""
    dx, dy, dz = DX / refinement, DY / refinement, DZ / refinement
    margin = round(10 * refinement) + 10
    x = axis_lines(0.0, STRIP[0], dx, margin, margin)
    y = axis_lines(-FEED, STRIP[1] + FEED, dy, 15, 15)
    z = axis_lines(0.0, HEIGHT, dz, 0, round(13 * refinement) + 10)
    top = STRIP[1]
    (a, b), (c, d) = LINES
    shown = (-10 * DX, -FEED, 0.5 * HEIGHT), (STRIP[0] + 10 * DX, top + FEED, 0.5 * HEIGHT)
    return nf.Simulation(
        grid=nf.Grid(x, y, z),
        structures=[
            nf.Structure(nf.Box((x[0], y[0], 0), (x[-1], y[-1], HEIGHT)), nf.Medium(PERMITTIVITY)),
            *[nf.Structure(nf.Sheet((*low, HEIGHT), (*high, HEIGHT)), nf.PEC) for low, high in strips()],
        ],
        boundaries=nf.Boundaries(z_low=nf.PEC),
        ports=[
            nf.MicrostripPort("in", (a, -FEED, 0), (b, -FEED, HEIGHT), "z", "+y", reference_plane=-PLANE),
            nf.MicrostripPort("out", (c, top + FEED, 0), (d, top + FEED, HEIGHT), "z", "-y", top + PLANE),
        ],
        monitors=[nf.FieldDFT("in the board", *shown, SHOWN, components=("Ez",))],
        waveform=nf.Gaussian(highest),
        excitations=["in"],
        title="Low-pass filter (Sheen et al. 1990)",
    )


def magnitudes(sparameters: xarray.DataArray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(frequencies to 20 GHz, abs S11, abs S21)."""
    s = sparameters.sel(source="in").sel(frequency=slice(0.0, 20e9))
    return s.frequency.values, np.abs(s.sel(to="in").values), np.abs(s.sel(to="out").values)


def edge(frequencies: np.ndarray, transmission: np.ndarray) -> float:
    """Lowest frequency (Hz) at which abs S21 falls through -3 dB."""
    level = 10 ** (-3 / 20)
    at = int(np.nonzero((transmission[:-1] >= level) & (transmission[1:] < level))[0][0])
    part = (transmission[at] - level) / (transmission[at] - transmission[at + 1])
    return float(frequencies[at] + part * (frequencies[at + 1] - frequencies[at]))


def nulls(frequencies: np.ndarray, transmission: np.ndarray) -> np.ndarray:
    """Frequencies (Hz) of the minima of the transmission below -20 dB."""
    before, inner, after = transmission[:-2], transmission[1:-1], transmission[2:]
    return frequencies[1:-1][(inner < before) & (inner <= after) & (inner < 0.1)]


def draw(curves: dict[str, tuple], result: nf.Result, path: str) -> None:
    """S11 and S21 on all meshes; abs(Ez) where waves pass and where they are stopped."""
    import matplotlib

    from nearfield.pictures.style import COLOURS, MAGNITUDE_MAP, SETTINGS, blank, headline

    with matplotlib.rc_context(SETTINGS):
        figure = blank(11.5, 4.2)
        headline(figure, "Microstrip low-pass filter", ", ".join(f"{line}: {name}" for name, line in
                                                                 zip(curves, ("lines", "dashes"))))  # fmt: skip
        places = figure.add_gridspec(1, 3, width_ratios=(2.2, 1, 1))
        axes = figure.add_subplot(places[0])
        for (frequency, *levels), line in zip(curves.values(), ("-", "--")):
            for level, label, colour in zip(levels, ("S11", "S21"), COLOURS):
                axes.plot(frequency / 1e9, 20 * np.log10(level), line, color=colour,
                          label=label if line == "-" else None)  # fmt: skip
        axes.set(xlabel="frequency (GHz)", ylabel="dB", xlim=(0, 20), ylim=(-50, 2))
        axes.legend(loc="lower right")
        for number, frequency in enumerate(SHOWN):
            axes = figure.add_subplot(places[1 + number])
            level = np.abs(result["in the board"]["Ez"].sel(frequency=frequency).isel(z=-1))
            axes.pcolormesh(1e3 * level.x, 1e3 * level.y, level.transpose("y", "x"), cmap=MAGNITUDE_MAP)
            for (x0, y0), (x1, y1) in strips():
                axes.plot(1e3 * np.array([x0, x1, x1, x0, x0]), 1e3 * np.array([y0, y0, y1, y1, y0]), color="white",
                          linewidth=0.6)  # fmt: skip
            axes.set(title=f"abs(Ez), {frequency / 1e9:g} GHz", xlabel="x (mm)", aspect="equal")
        figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> None:
    """Run, print, draw."""
    results = {name: model(n).run() for name, n in (("published cells", 1.0), ("cells of 2/3", 1.5))}
    curves = {name: magnitudes(result.sparameters) for name, result in results.items()}
    values = {}
    for (name, (f, s11, s21)), key in zip(curves.items(), ("published", "finer")):
        power = s11**2 + s21**2
        values[key] = {
            "edge": edge(f, s21) / 1e9, "nulls": (nulls(f, s21) / 1e9).tolist(), "most": float(power.max()),
            "least": float(power[f < 5e9].min()),
        }  # fmt: skip
        print(
            f"{name}: -3 dB at {edge(f, s21) / 1e9:.3f} GHz, nulls at {nulls(f, s21) / 1e9} GHz, S11^2 + S21^2 from "
            f"{power.min():.3f} to {power.max():.4f}, below 5 GHz from {power[f < 5e9].min():.3f}"
        )
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")
    if len(sys.argv) > 1:
        draw(curves, results["published cells"], sys.argv[1])


if __name__ == "__main__":
    main()
