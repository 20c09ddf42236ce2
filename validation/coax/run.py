"""Impedance of a coaxial line, its cylinders followed through cells and as a staircase.

.venv/bin/python -m validation.coax.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from nearfield.analysis.spectra import fourier_integral
from validation.case import Case
from validation.picture import picture

ETA = 376.730313412  # ohm
INNER, OUTER = 100e-3, 230e-3  # radii (m)


def expected(inner: float = INNER, outer: float = OUTER, permittivity: float = 1.0) -> float:
    """eta ln(outer/inner)/(2 pi), in ohm."""
    return ETA / math.sqrt(permittivity) * math.log(outer / inner) / (2 * math.pi)


def model(cell: float, permittivity: float = 1.0, metal: str = "auto") -> nf.Simulation:
    """A quarter of the line along z: magnetic walls stand in the planes x = 0 and y = 0."""
    across, along = math.ceil(OUTER / cell) + 2, 90
    feed, middle, top = 24 * cell, 60 * cell, along * cell
    waveform = nf.GaussianDerivative(150e6)
    return nf.Simulation(
        grid=nf.Grid.uniform(cell, (across, across, along)),
        structures=[
            nf.Structure(nf.Box((0, 0, 0), (across * cell, across * cell, top)), nf.PEC),
            nf.Structure(nf.Cylinder((0, 0, 0), (0, 0, top), OUTER), nf.Medium(permittivity)),
            nf.Structure(nf.Cylinder((0, 0, 0), (0, 0, top), INNER), nf.PEC),
        ],
        boundaries=nf.Boundaries(nf.PEC, x_low=nf.PMC, y_low=nf.PMC, z_low=nf.CPML(16), z_high=nf.CPML(16)),
        sources=[  # on the walls, so each is half a radial current
            nf.LineCurrent((INNER, 0, feed), (OUTER, 0, feed), waveform),
            nf.LineCurrent((0, INNER, feed), (0, OUTER, feed), waveform),
        ],
        monitors=[
            nf.Voltage("voltage", (INNER, 0, middle), (OUTER, 0, middle)),
            nf.Current("current", (0, 0, middle), (INNER + 2 * cell, INNER + 2 * cell, middle)),
        ],
        metal=metal,
    )


def impedance(frequencies: np.ndarray, cell: float, metal: str = "auto") -> np.ndarray:
    """V/I of the travelling wave, in ohm."""
    result = model(cell, metal=metal).run(threads=2)
    voltage, current = result["voltage"], result["current"]
    v = fourier_integral(voltage.time.values, voltage.values, frequencies)
    i = fourier_integral(current[current.dims[0]].values, current.values, frequencies)
    return v / (4 * i)


def ported(cell: float) -> nf.Simulation:
    """The whole line with TEM ports at both ends, of which a quarter is stepped; V and I half way between them."""
    across, along = math.ceil(OUTER / cell) + 2, 70
    half, top = across * cell, along * cell
    ends, middle = (20 * cell, top - 20 * cell), 35 * cell
    return nf.Simulation(
        grid=nf.Grid.uniform(cell, (2 * across, 2 * across, along), (-half, -half, 0)),
        structures=[
            nf.Structure(nf.Box((-half, -half, 0), (half, half, top)), nf.PEC),
            nf.Structure(nf.Cylinder((0, 0, 0), (0, 0, top), OUTER), nf.Medium()),
            nf.Structure(nf.Cylinder((0, 0, 0), (0, 0, top), INNER), nf.PEC),
        ],
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(16), z_high=nf.CPML(16)),
        symmetry=nf.Symmetry(x="magnetic", y="magnetic"),
        ports=[
            nf.WaveguidePort(name, (-OUTER, -OUTER, z), (OUTER, OUTER, z), way, "TEM", "coaxial", INNER)
            for name, z, way in zip(("in", "out"), ends, ("+z", "-z"))
        ],
        waveform=nf.ModulatedGaussian(150e6, 180e6),
        monitors=[
            nf.Voltage("voltage", (INNER, 0, middle), (OUTER, 0, middle)),
            nf.Current("current", (-INNER - 2 * cell,) * 2 + (middle,), (INNER + 2 * cell,) * 2 + (middle,)),
        ],
        decay=1e-9,
    )


def main() -> None:
    case = Case(__file__, "Coaxial line, radii 100 and 230 mm")
    frequencies = np.linspace(50e6, 250e6, 21)
    with picture(case, facts="travelling wave; dashed: whole cells") as (axes,):
        for metal, line in (("staircase", "--"), ("auto", "-")):
            for number, cell in enumerate((10e-3, 5e-3)):
                z = impedance(frequencies, cell, metal)
                label = f"{1e3 * cell:g} mm cells" if metal == "auto" else None
                axes.plot(frequencies / 1e6, z.real, line, color=f"C{number}", label=label)
            if metal == "staircase":
                steps = float(z.real.mean())
        axes.axhline(expected(), color="#1F2933", linestyle=":", label="theory")
        axes.set(xlabel="frequency (MHz)", ylabel="impedance (ohm)")
        axes.legend()
    mean, spread = float(z.real.mean()), float(np.abs(z - z.mean()).max() / abs(z.mean()))
    exact = expected()
    case.compare("impedance, 5 mm cells", exact, mean, 0.005, unit="ohm")
    case.between("the same on whole cells", 0.99 * exact, 1.03 * exact, steps, expected=exact, unit="ohm")
    case.at_most("variation and reactance over 50 to 250 MHz", 0.005, spread)
    result = ported(5e-3).run(threads=2)
    s = result.sparameters.sel(frequency=slice(70e6, 230e6))
    f = np.array([150e6])
    v, i = (nf.spectrum(result[name], f).values[0] for name in ("voltage", "current"))
    case.compare("impedance between two TEM ports, 5 mm cells", exact, abs(v / i), 0.001, unit="ohm")
    through, back = s.sel(to="out", source="in"), s.sel(to="in", source="in")
    case.compare("transmission from port to port", 1.0, float(np.abs(through).min()), 1e-3)
    case.at_most("reflection", -60.0, 20 * math.log10(float(np.abs(back).max())), unit="dB")
    speed = 2 * math.pi * s.frequency / -np.unwrap(np.angle(through)) * 150e-3  # 30 cells between the ports
    case.compare("phase velocity at 150 MHz over c", 1.0, float(speed.interp(frequency=150e6)) / 299792458.0, 1e-3)
    case.finish()


if __name__ == "__main__":
    main()
