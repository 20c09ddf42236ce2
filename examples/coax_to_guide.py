"""A coaxial line into a WR-90 waveguide by a probe: return loss beside the theory of the probe's current, all power.

    .venv/bin/python -m examples.coax_to_guide [PICTURE]

Prints what the theory asks for and what is found on two grids and, with a name, draws the picture of
examples/coax_to_guide.md.
"""

from __future__ import annotations

import sys

import numpy as np
import xarray

import nearfield as nf
from examples import figures

C, ETA = 299792458.0, 376.730313412
WIDTH, HEIGHT = 22.86e-3, 10.16e-3
INNER, OUTER, FILLING = 0.635e-3, 2.05e-3, 2.08  # radii (m) of the coaxial line, and its PTFE
CELLS = WIDTH / 44, HEIGHT / 19, 0.508e-3  # m
PROBE, SHORT = 11 * CELLS[1], 13 * CELLS[2]  # length of the probe, distance of the short behind it
CENTRE = 10e9
BAND = (9e9, 12e9)


def transition(fine: int = 1) -> nf.Simulation:
    """The guide along z from its short at 0, the line along y on its broad wall; reference planes at wall and probe."""
    middle, (_, dy, dz) = 0.5 * WIDTH, CELLS
    wall, line, top = HEIGHT, HEIGHT + 7 * dy, HEIGHT + 17 * dy
    out, end = SHORT + 25 * dz, SHORT + 37 * dz
    axis = (middle, wall, SHORT), (middle, top, SHORT)
    above, filling = nf.Box((0, wall, 0), (WIDTH, top, end)), nf.Medium(FILLING)
    return nf.Simulation(
        title="Coaxial line to WR-90",
        grid=nf.Grid.uniform([cell / fine for cell in CELLS], (44 * fine, 36 * fine, 50 * fine)),
        structures=[
            nf.Structure(above, filling),  # so that edges on the hole's rim see nothing else
            nf.Structure(above, nf.PEC),
            nf.Structure(nf.Cylinder(*axis, OUTER), filling),
            nf.Structure(nf.Cylinder((middle, wall - PROBE, SHORT), (middle, top, SHORT), INNER), nf.PEC),
        ],
        ports=[
            nf.WaveguidePort("line", (middle - OUTER, line, SHORT - OUTER), (middle + OUTER, line, SHORT + OUTER),
                             "-y", "TEM", "coaxial", INNER, reference_plane=wall),
            nf.WaveguidePort("guide", (0, 0, out), (WIDTH, HEIGHT, out), "-z", "TE10", reference_plane=SHORT),
        ],
        boundaries=nf.Boundaries(nf.PEC, y_high=nf.CPML(8), z_high=nf.CPML(10)),
        symmetry=nf.Symmetry(x="magnetic"), waveform=nf.ModulatedGaussian(10.25e9, 5e9), decay=1e-9,
    )  # fmt: skip


def line_impedance() -> float:
    """eta ln(outer/inner)/(2 pi) (ohm)."""
    return ETA / np.sqrt(FILLING) * np.log(OUTER / INNER) / (2 * np.pi)


def probe_impedance(frequency: float, probe: float, short: float, modes: int = 120) -> complex:
    """Input impedance (ohm) of a thin probe in the middle of the broad wall with the current sin k (probe - y).

    The reaction of the current with its field on the probe's surface, a sum over the guide's modes and their images
    behind the short (Collin, Field Theory of Guided Waves, 2nd ed., chapter 7); the line's mouth is left out.
    """
    k = 2 * np.pi * frequency / C
    kx, ky = np.pi / WIDTH * np.arange(1, 2 * modes, 2)[:, None], np.pi / HEIGHT * np.arange(modes // 2)
    along = np.sqrt((kx**2 + ky**2 - k**2).astype(complex))
    along = np.where(along.imag < 0, -along, along)  # exp(-along z) of a wave that leaves
    current = k * (np.cos(ky * probe) - np.cos(k * probe)) / (k**2 - ky**2)
    across = np.sin(0.5 * kx * WIDTH) * np.sin(kx * (0.5 * WIDTH + INNER))
    weight = np.where(ky == 0, 1, 2) * (1 - (ky / k) ** 2) / (WIDTH * HEIGHT * along)
    series = weight * across * (1 - np.exp(-2 * along * short)) * current**2
    return complex(1j * k * ETA * series.sum() / np.sin(k * probe) ** 2)


def designed() -> tuple[float, float]:
    """(probe, short) (m) at which the theory's probe matches the line at the middle frequency, as if it were thin."""
    from scipy.optimize import fsolve

    def miss(lengths: np.ndarray) -> list[float]:
        missing = probe_impedance(CENTRE, *(1e-3 * lengths)) - line_impedance()
        return [missing.real, missing.imag]

    return tuple(1e-3 * fsolve(miss, [6.0, 6.0]))


def reflection(frequencies: np.ndarray) -> np.ndarray:
    """abs(S11) by the theory, of the lengths on the grid; the flat end acts as one radius more."""
    z = np.array([probe_impedance(f, PROBE + INNER, SHORT) for f in frequencies])
    return np.abs((z - line_impedance()) / (z + line_impedance()))


def found(model: nf.Simulation) -> xarray.DataArray:
    """S over the band."""
    return model.run().sparameters.sel(frequency=slice(7.8e9, 12.7e9))


def lost(s: xarray.DataArray) -> float:
    """Largest departure of the power from what came in."""
    return float(np.abs((np.abs(s) ** 2).sum("to") - 1).max())


def draw(s: dict[int, xarray.DataArray], path: str) -> None:
    """Return loss and transmission beside the theory."""
    import matplotlib

    from nearfield.pictures.style import COLOURS, SETTINGS, blank, headline

    with matplotlib.rc_context(SETTINGS):
        figure = blank(7.5, 4.2)
        headline(figure, "Coaxial line to WR-90 waveguide", "probe 5.88 mm, short 6.60 mm; theory: sinusoidal current")
        axes = figure.add_subplot(1, 1, 1)
        for number, (fine, each) in enumerate(s.items()):
            level = 20 * np.log10(np.abs(each.sel(to="line", source="line")))
            label = f"S11, {1e3 * CELLS[2] / fine:.3g} mm cells"
            axes.plot(each.frequency / 1e9, level, color=COLOURS[number], label=label)
        frequencies = np.linspace(7.8e9, 12.7e9, 200)
        axes.plot(frequencies / 1e9, 20 * np.log10(reflection(frequencies)), ":", color="#1F2933", label="S11, theory")
        axes.set(xlabel="frequency (GHz)", ylabel="dB", ylim=(-40, 0))
        axes.legend(loc="lower right")
        figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> None:
    """Compare, print, draw."""
    probe, short = designed()
    print(f"theory: thin probe {1e3 * probe:.2f} mm, short {1e3 * short:.2f} mm; less its radius, on the grid: "
          f"{1e3 * PROBE:.2f} and {1e3 * SHORT:.2f} mm")  # fmt: skip
    results = {fine: found(transition(fine)) for fine in (1, 2)}
    values: dict = {"coarse": [], "fine": [], "theory": [], "lost": [lost(s) for s in results.values()]}
    for f in np.arange(8e9, 12.6e9, 0.5e9):
        back = [s.interp(frequency=f).sel(to="line", source="line").item() for s in results.values()]
        levels = 20 * np.log10(np.abs(back))
        theory = 20 * np.log10(reflection(np.array([f]))[0])
        for key, level in zip(values, (*levels, theory)):
            values[key].append(float(level))
        print(f"{f / 1e9:5.1f} GHz: S11 {levels[0]:6.1f} and {levels[1]:6.1f} dB, theory {theory:6.1f} dB")
    for fine, s in results.items():
        print(f"{1e3 * CELLS[2] / fine:.3g} mm cells: power within {lost(s):.1e}")
    within = [s.sel(frequency=slice(*BAND), to="line", source="line") for s in results.values()]
    values["return_loss"] = float(-20 * np.log10(max(np.abs(s).max() for s in within)))
    values["between"] = float(np.abs(within[0].values - within[1].interp(frequency=within[0].frequency).values).max())
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")
    if len(sys.argv) > 1:
        draw(results, sys.argv[1])


if __name__ == "__main__":
    main()
