"""The sine line source of examples/line_source.toml, with probes, against the Hankel function.

.venv/bin/python -m examples.line_source
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import nearfield as nf
from examples import figures

C = 299792458.0
ETA = 376.730313412  # ohm
FREQUENCY = 10e9  # Hz
RAMP = 5  # periods
CELL = 1.5e-3  # m, 19.99 per wavelength
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "line_source.png"


def hankel(x: float) -> complex:
    """H0(2) = J0 - j Y0 by the integrals 9.1.18 and 9.1.13 of Abramowitz and Stegun."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    half = 0.5 * (nodes + 1)
    angle, weight = 0.5 * math.pi * half**3, 0.5 * math.pi * 1.5 * half**2 * weights  # flattens the logarithm at 0
    cosine = np.cos(x * np.cos(angle))
    bessel = 2 / math.pi * np.sum(weight * cosine)
    neumann = 4 / math.pi**2 * np.sum(weight * cosine * (0.5772156649 + np.log(2 * x * np.sin(angle) ** 2)))
    return complex(bessel - 1j * neumann)


def expected(distance: float) -> complex:
    """E (V/m) at a distance (m) from a current of 1 A: -k eta/4 H0(2)(k r)."""
    wave_number = 2 * math.pi * FREQUENCY / C
    return -wave_number * ETA / 4 * hankel(wave_number * distance)


def model(cells: int = 320, places: tuple[tuple[int, int], ...] = ()) -> nf.Simulation:
    """The box, `cells` on a side, with probes of Ez so many cells from the source instead of the snapshot."""
    half, height = cells // 2 * CELL, 2 * CELL
    probes = [nf.Probe(f"{x} {y}", (x * CELL, y * CELL, 0.5 * height), "Ez") for x, y in places]
    picture = nf.Snapshot("wave", (-half, -half, 0), (half, half, 0), "Ez", times=["1.1 ns"])
    return nf.Simulation(
        title="Sine line source in a periodic box",
        grid=nf.Grid.uniform((CELL, CELL, height), (cells, cells, 1), (-half, -half, 0)),
        boundaries=nf.Boundaries(all="periodic"),
        sources=[nf.LineCurrent((0, 0, 0), (0, 0, height), nf.ContinuousWave(FREQUENCY, RAMP, "-90 deg"), current=1.0)],
        monitors=probes or [picture],
        duration=window(cells, min(math.hypot(x, y) for x, y in places))[1] if places else "1.2 ns",
        precision="double",
    )


def window(cells: int, distance: float) -> tuple[float, float]:
    """(s, s): the last period in which a place so many cells from the source has not seen the nearest image."""
    end = (cells - distance) * CELL / C
    return end - 1 / FREQUENCY, end


def phasors(result: nf.Result, cells: int, places: tuple[tuple[int, int], ...]) -> np.ndarray:
    """E at the places per ampere: the sine that fits one period best, after the turn-on and before any image."""
    found = []
    for x, y in places:
        signal = result[f"{x} {y}"]
        begin, end = window(cells, math.hypot(x, y))
        inside = (signal.time.values >= begin) & (signal.time.values < end)
        turn = 2 * math.pi * FREQUENCY * signal.time.values[inside]
        basis = np.stack((np.cos(turn), -np.sin(turn), np.ones(turn.size)), axis=1)
        real, imaginary, _ = np.linalg.lstsq(basis, signal.values[inside], rcond=None)[0]
        found.append((real + 1j * imaginary) / -1j)  # the sine is cos(w t - 90 deg)
    return np.array(found)


def ratios(cells: int, places: tuple[tuple[int, int], ...]) -> np.ndarray:
    """Found over expected at the places."""
    result = model(cells, places).run(threads=1)
    return phasors(result, cells, places) / [expected(math.hypot(x, y) * CELL) for x, y in places]


def draw(ratio: dict[str, tuple[np.ndarray, np.ndarray]], wave: nf.Result) -> None:
    """The wave, and how far it is from the Hankel function."""
    import matplotlib

    from nearfield.pictures.style import COLOURS, SETTINGS, blank, headline

    with matplotlib.rc_context(SETTINGS | {"axes.prop_cycle": matplotlib.cycler(color=COLOURS)}):
        figure = blank(11, 4.6)
        headline(figure, "Sine line source in a periodic box", "20 cells per wavelength, 16 wavelengths on a side")
        left, right = (figure.add_subplot(1, 2, n) for n in (1, 2))
        field = wave["wave"]["Ez"].squeeze()
        largest = abs(expected(C / FREQUENCY))
        left.pcolormesh(field.x * 1e3, field.y * 1e3, field.T, cmap="RdBu_r", vmin=-largest, vmax=largest)
        left.set(xlabel="x (mm)", ylabel="y (mm)", aspect="equal", title="Ez after 11 periods")
        for name, (distance, values) in ratio.items():
            right.plot(distance, 100 * (np.abs(values) - 1), "o-", markersize=3, label=f"amplitude, {name}")
        right.set(xlabel="distance (cells)", ylabel="amplitude over Hankel function, less 1 (%)")
        right.legend()
        figure.savefig(FIGURE, dpi=110, metadata={"Software": None})


def main() -> None:
    """Compare along an axis and along the diagonal, print, draw."""
    cells, rays = 320, {"axis": (1, 0), "diagonal": (1, 1)}
    kept, values = {}, {}
    for name, (x, y) in rays.items():
        places = tuple((n * x, n * y) for n in range(10, 81 - 24 * y, 5))
        ratio, distance = ratios(cells, places), np.array([math.hypot(*place) for place in places])
        kept[name] = (distance, ratio)
        excess, phase = 100 * (np.abs(ratio) - 1), np.degrees(np.angle(ratio))
        values[name] = {"least": excess.min(), "most": excess.max(), "last_phase": phase[-1]}
        for r, value in zip(distance, ratio):
            print(f"{name:9} {r:6.1f} cells  amplitude {100 * (abs(value) - 1):+.2f} %  phase "
                  f"{math.degrees(np.angle(value)):+.2f} deg")  # fmt: skip
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")
    draw(kept, model(cells).run(threads=1))


if __name__ == "__main__":
    main()
