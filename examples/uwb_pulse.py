"""A UWB pulse through a wall, soil and water: examples/uwb_pulse.toml in Python, and its closed form.

.venv/bin/python -m examples.uwb_pulse            # runs it, compares, draws docs/images/uwb_pulse.png
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import nearfield as nf
from examples import figures

C, ETA = 299792458.0, 376.730313412
CELL = 0.5e-3  # m
SHEET = 0.03  # m, where the pulse starts
LAYERS = ((0.16, "concrete"), (0.26, None), (0.36, "soil-moist"), (0.46, "water"))  # where each begins (m)
END = 0.62
PROBES = {"before the wall": 0.06, "behind the wall": 0.31, "in the soil": 0.41, "in the water": 0.48}
PULSE = nf.ModulatedGaussian(2e9, 2e9)
DURATION = 8e-9
SPACING, HIGHEST = 1 / 80e-9, 5e9  # Hz: the closed form repeats after 80 ns; the pulse has nothing above 5 GHz


def model(cell: float = CELL) -> nf.Simulation:
    """A column one cell wide between PEC walls (across E) and PMC walls (across H): the wave in it is plane."""
    starts = [*(at for at, _ in LAYERS), END]
    structures = [
        nf.Structure(nf.Box((0, 0, at), (cell, cell, after)), nf.library[name], name=name)
        for (at, name), after in zip(LAYERS, starts[1:]) if name
    ]  # fmt: skip
    return nf.Simulation(
        title="UWB pulse through a wall, soil and water",
        grid=nf.UniformGrid((cell,) * 3, (1, 1, round(END / cell))),
        structures=structures,
        boundaries=nf.Boundaries(all=nf.CPML(20), x_low=nf.PEC, x_high=nf.PEC, y_low=nf.PMC, y_high=nf.PMC),
        sources=[nf.CurrentSheet((0, 0, SHEET), (cell, cell, SHEET), "x", PULSE)],
        monitors=[nf.Probe(name, (0.5 * cell, 0, z), "Ex") for name, z in PROBES.items()],
        duration=DURATION,
    )


def spectra(frequencies: np.ndarray) -> dict[str, np.ndarray]:
    """E (V/m s) at each probe: a stack of layers between air and endless water, waves back and forth in closed form."""
    starts = [SHEET, *(at for at, _ in LAYERS)]
    names = [None, *(name for _, name in LAYERS)]
    index = [np.sqrt(nf.library[name].relative_permittivity(frequencies)) if name else 1.0 for name in names]
    k = [2 * np.pi * frequencies * n / C for n in index]
    depth = [*np.diff(starts), 0.0]
    back = [np.zeros(frequencies.size, complex)] * len(names)  # reflection at the far face of each layer; none of water
    for i in range(len(names) - 2, -1, -1):
        face = (index[i] - index[i + 1]) / (index[i] + index[i + 1])
        inner = back[i + 1] * np.exp(-2j * k[i + 1] * depth[i + 1])
        back[i] = (face + inner) / (1 + face * inner)
    onward, found = -0.5 * ETA * PULSE.spectrum(frequencies), {}
    for i, start in enumerate(starts):
        returned = back[i] * np.exp(-2j * k[i] * depth[i])
        if i:
            onward = onward / (1 + returned)
        for name, z in PROBES.items():
            if start <= z and (i == len(starts) - 1 or z < starts[i + 1]):
                found[name] = onward * (np.exp(-1j * k[i] * (z - start)) + returned * np.exp(1j * k[i] * (z - start)))
        onward = onward * np.exp(-1j * k[i] * depth[i]) * (1 + back[i])  # E at the next face
    return found


def closed_form(time: np.ndarray) -> dict[str, np.ndarray]:
    """E (V/m) at each probe over time (s)."""
    frequencies = np.arange(1, round(HIGHEST / SPACING)) * SPACING
    waves = np.exp(2j * np.pi * np.outer(time, frequencies))
    return {name: 2 * SPACING * (waves @ values).real for name, values in spectra(frequencies).items()}


def vacuum(time: np.ndarray, z: float) -> np.ndarray:
    """E (V/m) of the pulse where nothing stands in its way."""
    return -0.5 * ETA * PULSE.value(time - (z - SHEET) / C)


def deviations(result: nf.Result) -> dict[str, float]:
    """Largest difference from the closed form at each probe, over the largest field there."""
    time = result["before the wall"].time.values
    closed = closed_form(time)
    apart = {name: np.abs(result[name].values - closed[name]).max() for name in PROBES}
    return {name: float(apart[name] / np.abs(closed[name]).max()) for name in PROBES}


def draw(result: nf.Result, path: Path) -> None:
    """The four waveforms beside the closed form, and beside the pulse that entered."""
    from nearfield.pictures.style import COLOURS, FAINT, INK, blank, headline, panel_title, png_bytes, styled

    @styled
    def figure():
        page = blank(8.4, 8.0)
        axes = page.subplots(len(PROBES), 1, sharex=True)
        time = result["before the wall"].time.values
        closed, off = closed_form(time), deviations(result)
        for panel, (name, z) in zip(axes, PROBES.items()):
            alone, size = vacuum(time, z), np.abs(closed[name]).max()
            panel.plot(1e9 * time, alone * size / np.abs(alone).max(), color=FAINT, linewidth=1.0, linestyle=":",
                       label="in vacuum, scaled")  # fmt: skip
            panel.plot(1e9 * time, result[name].values, color=COLOURS[0], label="Nearfield")
            panel.plot(1e9 * time[::90], closed[name][::90], ".", markersize=4, color=INK, label="closed form")
            panel.set_ylabel("Ex (V/m)")
            panel.set_ylim(-1.3 * size, 1.3 * size)
            panel_title(panel, f"{name}, z = {1e3 * z:.0f} mm; largest difference {100 * off[name]:.2f} %")
        axes[0].legend(loc="upper right", ncols=3)
        axes[-1].set_xlabel("Time (ns)")
        headline(page, "A UWB pulse through a wall, soil and water",
                 "1 to 3 GHz; 10 cm of concrete, 10 cm of air, 10 cm of moist clay loam, water below")  # fmt: skip
        return png_bytes(page)

    path.write_bytes(figure())


def main() -> None:
    """Compare on three grids, keep the figures, draw."""
    results = {cell: model(cell).run(threads=1) for cell in (2 * CELL, CELL, CELL / 2)}
    off = [deviations(result) for result in results.values()]
    values = {name.replace(" ", "_"): [100 * each[name] for each in off] for name in PROBES}
    for name, each in values.items():
        print(f"{name:16} {' '.join(f'{value:.3f}' for value in each)} % of the largest field")
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")
    draw(results[CELL], Path(__file__).resolve().parents[1] / "docs" / "images" / "uwb_pulse.png")


if __name__ == "__main__":
    main()
