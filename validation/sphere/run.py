"""Cross-sections of a dielectric and of a metal sphere against Mie's series.

.venv/bin/python -m validation.sphere.run
"""

from __future__ import annotations

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.mie import mie
from validation.picture import picture

C = 299792458.0
RADIUS = 10e-3  # m
INDEX, SIZE = 1.55, 5.2128  # Bohren and Huffman, appendix A
PUBLISHED = 3.10543, 2.92534  # Qext, Qback
SPARE, GAP, LAYER = 2, 7, 10  # cells from sphere to box, from box to CPML, of the CPML


def model(
    medium, radius: int, sizes: np.ndarray, direction="+z", polarisation="x", metal="staircase", averaging="diagonal"
) -> nf.Simulation:
    """A sphere of `radius` cells in a total-field box; the far field at sizes k a."""
    cell = RADIUS / radius
    half, box = radius + SPARE + GAP + LAYER, (radius + SPARE) * cell
    frequencies = sizes * C / (2 * np.pi * RADIUS)
    pulse = nf.GaussianDerivative(0.6 * frequencies.max())
    wave = nf.PlaneWave((-box,) * 3, (box,) * 3, direction, polarisation, pulse)
    return nf.Simulation(
        grid=nf.Grid.uniform(cell, (2 * half,) * 3, (-half * cell,) * 3),
        boundaries=nf.Boundaries(all=nf.CPML(LAYER)),
        structures=[nf.Structure(nf.Sphere((0, 0, 0), RADIUS), medium)],
        sources=[wave],
        decay=1e-8,
        monitors=[nf.FarField("far", frequencies, theta=[0.0], phi=[0.0])],
        metal=metal,
        averaging=averaging,
    )


def efficiencies(simulation: nf.Simulation) -> np.ndarray:
    """Qext, Qsca, Qback, one column for each frequency."""
    far = simulation.run()["far"]
    found = far.extinction_cross_section, far.scattering_cross_section, far.monostatic_cross_section
    return np.array([values.values for values in found]) / (np.pi * RADIUS**2)


def vanishing(found: dict[int, np.ndarray], coarse: int, fine: int) -> np.ndarray:
    """What two cells say of none, for an error in proportion to the cell."""
    return (fine * found[fine] - coarse * found[coarse]) / (fine - coarse)


def main() -> None:
    case = Case(__file__, "Dielectric and metal sphere against Mie")
    published = np.array([SIZE])
    glass = nf.Medium(INDEX**2)
    coarse, fine = 26, 39  # 20.2 and 30.3 cells a wavelength inside
    q = {cells: efficiencies(model(glass, cells, published))[:, 0] for cells in (coarse, fine)}
    case.compare("Qext, index 1.55, size 5.2128, 20 cells a wavelength inside", PUBLISHED[0], q[coarse][0], 0.02)
    case.compare("Qback, 20 cells a wavelength inside", PUBLISHED[1], q[coarse][2], 0.05)
    case.compare("Qback, from 20 and 30 cells to none", PUBLISHED[1], vanishing(q, coarse, fine)[2], 0.02)
    case.compare("Qsca over Qext, nothing is absorbed", 1.0, q[coarse][1] / q[coarse][0], 0.01)
    full = efficiencies(model(glass, coarse, published, averaging="tensor"))[:, 0]
    case.compare("Qback, tensor, 20 cells a wavelength inside", PUBLISHED[1], full[2], 0.01)
    tilted = efficiencies(model(glass, coarse, published, ("50 deg", "20 deg"), "10 deg"))[:, 0]
    case.compare("Qext at an angle", PUBLISHED[0], tilted[0], 0.02)
    sizes = np.array([0.5, 1.0, 2.0, 3.0, 4.0])
    theory = np.array([mie(size, None) for size in sizes]).T
    metal = {cells: efficiencies(model("pec", cells, sizes)) for cells in (20, 30)}
    whole = vanishing(metal, 20, 30)
    for number, size in enumerate(sizes):
        name = f"metal, size {size:g}: Qsca, from 20 and 30 cells a radius to none"
        case.compare(name, theory[1, number], whole[1, number], 0.02)
        if size <= 3:
            case.compare("Qback", theory[2, number], whole[2, number], 0.05)
    smooth = efficiencies(model("pec", 20, sizes, metal="conformal"))
    for number, size in enumerate(sizes):
        name = f"metal, conformal, size {size:g}, 20 cells a radius: Qsca"
        case.compare(name, theory[1, number], smooth[1, number], 0.005)
        case.compare("Qback", theory[2, number], smooth[2, number], 0.01 if size <= 3 else 0.025)
    band = np.linspace(0.5, SIZE, 16)
    found = efficiencies(model(glass, coarse, band))
    exact = np.array([mie(size, INDEX) for size in np.linspace(0.5, SIZE, 120)]).T
    with picture(case, columns=2, facts="26 and 30 cells a radius") as (left, right):
        for row, name in ((0, "extinction"), (2, "radar")):
            left.plot(np.linspace(0.5, SIZE, 120), exact[row], label=f"{name}, Mie")
            left.plot(band, found[row], "o", markersize=3, color="#1F2933")
        left.set(xlabel="size k a, index 1.55", ylabel="efficiency")
        left.legend()
        x = np.linspace(0.2, 4, 120)
        for row, name in ((1, "scattering"), (2, "radar")):
            right.plot(x, [mie(size, None)[row] for size in x], label=f"{name}, Mie")
            right.plot(sizes, metal[30][row], "o", markersize=3, color="#1F2933")
            right.plot(sizes, smooth[row], "x", markersize=5, color="#1F2933")
        right.set(xlabel="size k a, metal; o: whole cells, 30 a radius, x: conformal, 20")
        right.legend()
    case.finish()


if __name__ == "__main__":
    main()
