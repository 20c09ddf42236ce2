"""The gold film of examples/gold_film.toml in Python, beside the closed form.

.venv/bin/python -m examples.gold_film [FIGURE.png]
"""

from __future__ import annotations

import cmath
import math
import sys

import numpy as np

import nearfield as nf
from examples import figures
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED

NM = 1e-9
THICKNESS = 40 * NM
CELL = 1 * NM
CPML_CELLS = 30
ROOM = 150 * NM  # between CPML and film, on either side
WAVELENGTHS = np.linspace(380, 900, 53) * NM


def critical_point(amplitude: float, phase: float, wavelength: float, width: float) -> nf.PoleResidue:
    """A W [exp(i phi)/(W - w - i G) + exp(-i phi)/(W + w + i G)] with W, G = 2 pi c over two wavelengths (m).

    The formula is for exp(-i w t); its conjugate is a pair of poles.
    """
    resonance, damping = (2 * math.pi * VACUUM_SPEED / length for length in (wavelength, width))
    return nf.PoleResidue(complex(-damping, resonance), -1j * amplitude * resonance * cmath.exp(-1j * phase))


# E. C. Le Ru and P. G. Etchegoin, Principles of Surface-Enhanced Raman Spectroscopy, Elsevier 2009, appendix E, after
# P. G. Etchegoin, E. C. Le Ru and M. Meyer, J. Chem. Phys. 125 (2006) 164705: 200 to 1000 nm, from the measurements of
# Johnson and Christy (1972).
GOLD = nf.Medium(
    1.54,
    name="gold",
    poles=[
        nf.Drude(math.sqrt(1.54) * VACUUM_SPEED / (177.5 * NM), 2 * math.pi * VACUUM_SPEED / (14500 * NM)),
        critical_point(1.27, -math.pi / 4, 470 * NM, 1900 * NM),
        critical_point(1.1, -math.pi / 4, 325 * NM, 1060 * NM),
    ],
)


def model(thickness: float = THICKNESS, cell: float = CELL, wavelengths: np.ndarray = WAVELENGTHS) -> nf.Simulation:
    """A film across a line one cell wide, between a PEC wall either side in x and a PMC wall either side in y."""
    cpml, room = CPML_CELLS * cell, round(ROOM / cell) * cell
    front = cpml + room
    back = front + thickness
    cells = round((back + room + cpml) / cell)
    frequencies = VACUUM_SPEED / wavelengths

    def plane(z: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        return (0.0, 0.0, z), (cell, cell, z)

    return nf.Simulation(
        title="Gold film, 40 nm" if thickness == THICKNESS else "Gold film",
        grid=nf.Grid.uniform(cell, (1, 1, cells)),
        boundaries=nf.Boundaries(nf.CPML(CPML_CELLS), x_low=nf.PEC, x_high=nf.PEC, y_low=nf.PMC, y_high=nf.PMC),
        structures=[nf.Structure(nf.Box((0, 0, front), (cell, cell, back)), GOLD)],
        sources=[nf.CurrentSheet(*plane(cpml + 20 * cell), "x", nf.ModulatedGaussian(560e12, 520e12))],
        monitors=[
            nf.Flux("before", *plane(front - 50 * cell), frequencies),
            nf.Flux("behind", *plane(back + 50 * cell), frequencies),
        ],
        precision="double",
        decay=1e-8,
    )


def spectra(simulation: nf.Simulation, **options) -> dict[str, np.ndarray]:
    """Parts of the power that pass, return and stay, by wavelength as the model has them.

    A sheet of K A/m sends K^2 eta0/8 W/m^2 to either side.
    """
    result = simulation.run(**options)
    cell = simulation.grid.spacing[0]
    sent = VACUUM_IMPEDANCE * cell**2 / 8
    parts = result.per_source()
    before, behind = (np.asarray(parts[name].values) / sent for name in ("before", "behind"))
    return {"passed": behind, "returned": 1 - before, "kept": before - behind}


def expected(thickness: float, wavelengths: np.ndarray) -> dict[str, np.ndarray]:
    """The same from the Airy sum of the film's two faces."""
    index = np.sqrt(GOLD.relative_permittivity(VACUUM_SPEED / wavelengths))
    face = (1 - index) / (1 + index)
    delay = np.exp(-2j * np.pi * index * thickness / wavelengths)
    common = 1 - (face * delay) ** 2
    passed = np.abs((1 - face**2) * delay / common) ** 2
    returned = np.abs(face * (1 - delay**2) / common) ** 2
    return {"passed": passed, "returned": returned, "kept": 1 - passed - returned}


def draw(path: str, found: dict[str, np.ndarray], theory: dict[str, np.ndarray]) -> None:
    """The three parts over wavelength; dots: theory."""
    import matplotlib

    from nearfield.pictures.style import COLOURS, SETTINGS, blank, headline

    with matplotlib.rc_context(SETTINGS | {"axes.prop_cycle": matplotlib.cycler(color=COLOURS)}):
        figure = blank(7.2, 4.4)
        headline(figure, "Gold film, 40 nm", "1 nm cells  ·  dots: closed form")
        axes = figure.add_subplot()
        for name, values in found.items():
            axes.plot(WAVELENGTHS / NM, values, label=name)
            axes.plot(WAVELENGTHS[::3] / NM, theory[name][::3], "o", markersize=3, color="#1F2933")
        axes.set(xlabel="wavelength (nm)", ylabel="part of the power", ylim=(0, 1))
        axes.legend()
        figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> None:
    simulation = model()
    print(simulation.check())
    found, theory = spectra(simulation), expected(THICKNESS, WAVELENGTHS)
    for at in range(0, len(WAVELENGTHS), 4):
        line = "  ".join(f"{name} {found[name][at]:.4f} ({theory[name][at]:.4f})" for name in found)
        print(f"{WAVELENGTHS[at] / NM:4.0f} nm  {line}")
    deviation = max(float(np.abs(found[name] - theory[name]).max()) for name in found)
    print("largest deviation", deviation)
    values: dict = {"deviation": deviation}
    for name, wavelength in (("passed", 520), ("returned", 700), ("kept", 380)):
        at = int(np.argmin(np.abs(WAVELENGTHS / NM - wavelength)))
        values[name] = {"found": float(found[name][at]), "exact": float(theory[name][at])}
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")
    for path in sys.argv[1:]:
        draw(path, found, theory)


if __name__ == "__main__":
    main()
