"""The microstrip low-pass filter of Sheen et al. 1990, on their mesh and on a finer one.

    .venv/bin/python -m validation.low_pass_filter.run
"""

from __future__ import annotations

import numpy as np
import xarray

import nearfield as nf
from validation.case import Case
from validation.picture import picture

DX, DY, DZ = 0.4064e-3, 0.4233e-3, 0.265e-3  # m, the published cells
PERMITTIVITY = 2.2
STRIP = (50 * DX, 6 * DY)  # the wide strip, 20.32 x 2.54 mm
LINES = ((14 * DX, 20 * DX), (30 * DX, 36 * DX))  # 5.65 mm from the strip's left and right end
PLANE = 10 * DY  # reference planes off the strip
FEED = 30 * DY  # feeding sheets off the strip
HEIGHT = 3 * DZ


def axis_lines(start: float, stop: float, cell: float, low: int, high: int) -> np.ndarray:
    """Evenly spaced lines, `low` and `high` of them outside [start, stop]."""
    cells = round((stop - start) / cell)
    return start + (stop - start) / cells * np.arange(-low, cells + high + 1)


def model(refinement: float = 1.0, highest: float = 20e9) -> nf.Simulation:
    """The filter, its lines ended by their feeding sheets. `refinement` divides the published cells."""
    dx, dy, dz = DX / refinement, DY / refinement, DZ / refinement
    margin = round(10 * refinement) + 10
    x = axis_lines(0.0, STRIP[0], dx, margin, margin)
    y = axis_lines(-FEED, STRIP[1] + FEED, dy, 15, 15)
    z = axis_lines(0.0, HEIGHT, dz, 0, round(13 * refinement) + 10)
    top = STRIP[1]
    (a, b), (c, d) = LINES
    sheets = [((0, 0), STRIP), ((a, -FEED), (b, 0)), ((c, top), (d, top + FEED))]
    return nf.Simulation(
        grid=nf.Grid(x, y, z),
        structures=[
            nf.Structure(nf.Box((x[0], y[0], 0), (x[-1], y[-1], HEIGHT)), nf.Medium(PERMITTIVITY)),
            *[nf.Structure(nf.Sheet((*low, HEIGHT), (*high, HEIGHT)), nf.PEC) for low, high in sheets],
        ],
        boundaries=nf.Boundaries(z_low=nf.PEC),
        ports=[
            nf.MicrostripPort("in", (a, -FEED, 0), (b, -FEED, HEIGHT), "z", "+y", reference_plane=-PLANE),
            nf.MicrostripPort("out", (c, top + FEED, 0), (d, top + FEED, HEIGHT), "z", "-y", top + PLANE),
        ],
        waveform=nf.Gaussian(highest),
        excitations=["in"],
        title="Low-pass filter of Sheen et al. 1990",
    )


def magnitudes(sparameters: xarray.DataArray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(frequencies from 0.5 GHz, abs S11, abs S21)."""
    s = sparameters.sel(source="in").sel(frequency=slice(0.5e9, 20e9))
    return s.frequency.values, np.abs(s.sel(to="in").values), np.abs(s.sel(to="out").values)


def edge(frequencies: np.ndarray, transmission: np.ndarray) -> float:
    """Lowest frequency (Hz) at which abs S21 falls through -3 dB."""
    level = 10 ** (-3 / 20)
    at = int(np.nonzero((transmission[:-1] >= level) & (transmission[1:] < level))[0][0])
    part = (transmission[at] - level) / (transmission[at] - transmission[at + 1])
    return float(frequencies[at] + part * (frequencies[at + 1] - frequencies[at]))


def null(frequencies: np.ndarray, transmission: np.ndarray) -> float:
    """Frequency (Hz) of the first minimum of the transmission above 5 GHz."""
    inner = transmission[1:-1]
    least = (inner < transmission[:-2]) & (inner <= transmission[2:]) & (frequencies[1:-1] > 5e9)
    return float(frequencies[1:-1][np.argmax(least)])


def main() -> None:
    case = Case(__file__, "Low-pass filter of Sheen et al. 1990")
    found = {}
    for name, refinement in (("published cells", 1.0), ("cells of 2/3", 1.5)):
        found[name] = magnitudes(model(refinement).run(threads=2).sparameters)
    (f, s11, s21), (f_fine, _, s21_fine) = found.values()
    case.compare("-3 dB edge, between two meshes", edge(f_fine, s21_fine) / 1e9, edge(f, s21) / 1e9, 0.02, unit="GHz")
    case.between("first transmission null", 6.0, 7.0, null(f, s21) / 1e9, unit="GHz")
    case.compare("first null, between two meshes", null(f_fine, s21_fine) / 1e9, null(f, s21) / 1e9, 0.02, unit="GHz")
    power = s11**2 + s21**2
    case.at_most("largest of S11^2 + S21^2, 0.5 to 20 GHz", 1.01, float(power.max()))
    case.at_least("least of S11^2 + S21^2, 0.5 to 5 GHz", 0.97, float(power[f < 5e9].min()))
    case.at_most("largest S21, 6 to 9 GHz", 10 ** (-10 / 20), float(s21[(f > 6e9) & (f < 9e9)].max()))
    with picture(case, facts="two meshes; S11 and S21 at planes 10 cells off the wide strip") as (axes,):
        for (name, (frequency, *curves)), line in zip(found.items(), ("-", "--")):
            for curve, label, colour in zip(curves, ("S11", "S21"), ("#0072B2", "#D55E00")):
                axes.plot(frequency / 1e9, 20 * np.log10(curve), line, color=colour, label=f"{label}, {name}")
        axes.set(xlabel="frequency (GHz)", ylabel="magnitude (dB)", ylim=(-50, 3))
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
