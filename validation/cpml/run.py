"""How much a CPML reflects: a current element near one corner, Ez at the opposite corner, against open space.

.venv/bin/python -m validation.cpml.run
"""

from __future__ import annotations

import numpy as np

import nearfield as nf
from nearfield.analysis.spectra import fourier_integral
from validation.case import Case
from validation.picture import picture

CELL = 1e-3  # m
VACUUM = 25  # cells between the layers
STEPS = 210
# In 210 steps a wave goes 210 x 0.99/sqrt(3) = 120 cells. From the source to a wall at this distance from the vacuum
# and back to the probe are (3 + 55) + (55 + 22) = 135 cells: nothing returns.
OPEN = 55


def field_at_far_corner(margin: int, boundary: nf.CPML | str, precision: str = "double") -> np.ndarray:
    """Ez (V/m) over 210 steps, 3 cells from three faces of the vacuum, the source being as near to the other three."""
    low, high = 3 * CELL, (VACUUM - 3) * CELL
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(CELL, [VACUUM + 2 * margin] * 3, origin=[-margin * CELL] * 3),
        boundaries=nf.Boundaries(all=boundary),
        sources=[nf.PointCurrent((low, low, low + CELL / 2), "z", nf.GaussianDerivative(9.42e9))],
        monitors=[nf.Probe("corner", (high, high, high - CELL / 2), "Ez")],
        precision=precision,
        steps=STEPS,
    )
    return simulation.run(threads=2)["corner"].values


def open_space() -> np.ndarray:
    """The same field where nothing reflects in time."""
    return field_at_far_corner(OPEN, nf.PEC)


def reflection(field: np.ndarray, reference: np.ndarray) -> float:
    """Largest error over the largest field, in dB."""
    return float(20 * np.log10(np.abs(field - reference).max() / np.abs(reference).max()))


def long_wave_reflection(cells_per_wavelength: tuple[float, ...]) -> list[float]:
    """Reflection (dB) of plane waves at normal incidence from the open box's default layer, ending a line."""
    layer = nf.CPML(alpha_maximum=0.08 / (376.730313412 * CELL))
    frequencies = 299792458.0 / CELL / np.array(cells_per_wavelength)
    spectra = []
    # the open line's far end echoes after 2 x 2800 cells, 9800 steps, as does the near end, 3000 cells off
    for cells, end in ((3060 + 10, layer), (3060 + 2800, nf.PEC)):
        simulation = nf.Simulation(
            grid=nf.Grid.uniform(CELL, (1, 1, cells)),
            boundaries=nf.Boundaries(nf.PEC, y_low=nf.PMC, y_high=nf.PMC, z_high=end),
            sources=[nf.CurrentSheet((0, 0, 3.0), (CELL, CELL, 3.0), "x", nf.GaussianDerivative(5e9))],
            monitors=[nf.Probe("e", (0.5 * CELL, 0, 3.02), "Ex")],
            precision="double",
            steps=9500,
        )
        e = simulation.run(threads=1)["e"]
        spectra.append(fourier_integral(e.time.values, e.values, frequencies))
    return list(20 * np.log10(np.abs(spectra[0] / spectra[1] - 1)))


def main() -> None:
    case = Case(__file__, "CPML: reflection of 6, 10 and 16 cells")
    reference = open_space()
    fields = {cells: field_at_far_corner(cells, nf.CPML(cells)) for cells in (6, 10, 16)}
    level = {cells: reflection(field, reference) for cells, field in fields.items()}
    case.at_most("10 cells, default grading", -75.0, level[10], unit="dB")
    case.at_least("gain from 6 to 10 cells", 20.0, level[6] - level[10], unit="dB")
    case.at_least("gain from 10 to 16 cells", 20.0, level[10] - level[16], unit="dB")
    waves = (20, 50, 100, 200, 500)
    for number, value in zip(waves, long_wave_reflection(waves)):
        case.at_most(f"plane wave of {number} cells, default grading", -80.0, value, unit="dB")
    with picture(case, facts="Ez at the far corner, error over the largest field") as (axes,):
        for cells, field in fields.items():
            error = np.maximum(np.abs(field - reference) / np.abs(reference).max(), 1e-9)
            axes.plot(20 * np.log10(error), label=f"{cells} cells: {level[cells]:.1f} dB")
        axes.axhline(-75, color="#7B8794", linestyle=":", label="-75 dB")
        axes.set(xlabel="step", ylabel="error (dB)", ylim=(-180, -40))
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
