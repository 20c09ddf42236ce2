"""A dielectric and a metal sphere in a plane wave against Mie's series, over a decade of size.

    .venv/bin/python -m examples.spheres [PICTURE]

Prints a table and, with a name, draws the picture of examples/spheres.md.
"""

from __future__ import annotations

import sys

import numpy as np

import nearfield as nf
from examples import figures
from validation.mie import mie

C = 299792458.0
RADIUS = 10e-3  # m
INDEX = 1.55
SIZES = np.geomspace(0.3, 3.0, 25)  # k a
SPARE, GAP, LAYER = 2, 7, 10  # cells from the sphere to the box, from there to the CPML, of the CPML


def model(medium: nf.Medium | str, cells: int, sizes: np.ndarray = SIZES, metal: str = "auto") -> nf.Simulation:
    """A sphere of so many cells' radius, and the far field at the sizes k a."""
    cell = RADIUS / cells
    half, box = cells + SPARE + GAP + LAYER, (cells + SPARE) * cell
    frequencies = sizes * C / (2 * np.pi * RADIUS)
    wave = nf.PlaneWave((-box,) * 3, (box,) * 3, "+z", "x", nf.GaussianDerivative(0.56 * frequencies.max()))
    return nf.Simulation(
        title=f"Sphere of {'metal' if medium == nf.PEC else 'glass'} in a plane wave",
        grid=nf.Grid.uniform(cell, (2 * half,) * 3, (-half * cell,) * 3), boundaries=nf.Boundaries(all=nf.CPML(LAYER)),
        structures=[nf.Structure(nf.Sphere((0, 0, 0), RADIUS), medium)], sources=[wave], decay=1e-6,
        monitors=[nf.FarField("far", frequencies, theta=[0, np.pi], phi=[0])], metal=metal,
    )  # fmt: skip


def efficiencies(
    medium: nf.Medium | str, cells: int, sizes: np.ndarray = SIZES, metal: str = "auto"
) -> tuple[np.ndarray, np.ndarray]:
    """(scattering, radar) cross-section over pi a^2, one value for each size."""
    far = model(medium, cells, sizes, metal).run()["far"]
    area = np.pi * RADIUS**2
    return far.scattering_cross_section.values / area, far.monostatic_cross_section.values / area


def draw(found: dict[str, tuple[np.ndarray, np.ndarray]], path: str) -> None:
    """Both spheres over size, found (dots) over Mie (lines)."""
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("agg")
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    fine = np.geomspace(SIZES[0], SIZES[-1], 300)
    for axes, (name, index) in zip(panels, (("glass", INDEX), ("metal", None))):
        exact = np.array([mie(size, index) for size in fine])
        for column, label, values in ((1, "scattering", found[name][0]), (2, "radar", found[name][1])):
            (line,) = axes.loglog(fine, exact[:, column], label=f"{label}, Mie")
            axes.loglog(SIZES, values, "o", markersize=3.5, color=line.get_color(), label=f"{label}, found")
        axes.set(title=name, xlabel="size k a", ylabel="cross-section / (pi a²)" if name == "glass" else "")
        axes.grid(True, which="both", alpha=0.2)
        axes.legend()
    figure.savefig(path, dpi=110, metadata={"Software": None})


def off(values: np.ndarray, exact: np.ndarray) -> float:
    """Largest difference, in per cent."""
    return float(100 * np.abs(values / exact - 1).max())


def main(cells: int = 16) -> None:
    """Compare, print, keep the figures, draw."""
    found = {"glass": efficiencies(nf.Medium(INDEX**2), cells), "metal": efficiencies(nf.PEC, cells)}
    print("   k a  glass Qsca       Mie     Qback       Mie  metal Qsca       Mie     Qback       Mie")
    for n, size in enumerate(SIZES):
        line = f"{size:6.3f}"
        for name, index in (("glass", INDEX), ("metal", None)):
            (scattering, radar), exact = found[name], mie(size, index)
            line += f" {scattering[n]:11.4g} {exact[1]:9.4g} {radar[n]:9.4g} {exact[2]:9.4g}"
        print(line)
    glass, metal = (np.array([mie(size, index) for size in SIZES]) for index in (INDEX, None))
    stairs = efficiencies(nf.PEC, cells, metal="staircase")
    values = {
        "glass_scattering": off(found["glass"][0], glass[:, 1]), "glass_radar": off(found["glass"][1], glass[:, 2]),
        "metal_scattering": off(found["metal"][0], metal[:, 1]), "metal_radar": off(found["metal"][1], metal[:, 2]),
        "stairs_scattering": off(stairs[0], metal[:, 1]), "stairs_radar": off(stairs[1], metal[:, 2]),
    }  # fmt: skip
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")
    if len(sys.argv) > 1:
        draw(found, sys.argv[1])


if __name__ == "__main__":
    main()
