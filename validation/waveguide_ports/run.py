"""Ports in a WR-90 waveguide: phase, decay, wave impedance and leak of TE10, and all of its power.

.venv/bin/python -m validation.waveguide_ports.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from nearfield.analysis.sparameters import port_spectra
from validation.case import Case
from validation.picture import picture
from validation.rectangular_guide.run import CELLS, HEIGHT, STEP, WIDTH, C, propagation

APART = 40  # cells between the ports
FIRST = 45  # cell of the first one


def model(pulse: nf.ModulatedGaussian, cells: int = 130, **more) -> nf.Simulation:
    """A guide along z with a CPML behind both ports, `APART` cells apart."""
    places = [n * STEP for n in (FIRST, FIRST + APART)]
    ports = [
        nf.WaveguidePort(name, (0, 0, z), (WIDTH, HEIGHT, z), way, "TE10")
        for name, z, way in zip(("in", "out"), places, ("+z", "-z"))
    ]
    settings = {"precision": "double", "decay": 1e-11, "ports": ports, "waveform": pulse} | more
    return nf.Simulation(
        grid=nf.Grid.uniform((WIDTH / CELLS[0], HEIGHT / CELLS[1], STEP), (*CELLS, cells)),
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(40), z_high=nf.CPML(40)),
        **settings,
    )


def leak(precision: str) -> float:
    """Largest E behind the port over the largest of all, dB, before anything comes back from the far end."""
    steps, cells = 900, 1000
    pulse = nf.ModulatedGaussian(9e9, 8e9)
    long = model(pulse, cells, precision=precision, decay=None, steps=steps, excitations=("in",))
    moment = (steps - 1) * long._setup().time_step
    window = nf.Snapshot("all", (0, 0, 0), (WIDTH, HEIGHT, cells * STEP), "Ey", times=[moment])
    field = np.abs(long.model_copy(update={"monitors": (window,)}).run(threads=2)["all"]["Ey"])
    return 20 * math.log10(field.sel(z=slice(None, (FIRST - 0.5) * STEP)).max() / field.max())


def main() -> None:
    case = Case(__file__, "Ports in a WR-90 waveguide, TE10")
    result = model(nf.ModulatedGaussian(10e9, 5.6e9)).run(threads=2)
    s = result.sparameters.sel(frequency=slice(7.5e9, 12.5e9))
    through = s.sel(to="out", source="in")
    beta = -np.unwrap(np.angle(through.values)) / (APART * STEP)
    at_10 = float(np.interp(10e9, s.frequency, beta))
    case.compare("guide wavelength at 10 GHz", 39.70712, 2e3 * math.pi / at_10, 0.002, unit="mm")
    voltage, current = port_spectra(result.excitation("in").record.ports["out"], np.array([10e9]))
    case.compare("wave impedance at 10 GHz", 498.974, float(abs(voltage / current)[0]), 0.002, unit="ohm")
    back = 20 * math.log10(np.abs(s.sel(to="in", source="in")).max())
    case.at_most("reflection, 7.5 to 12.5 GHz", -70.0, back, unit="dB")
    case.at_most("power gained or lost", 1e-3, float(np.abs((np.abs(s) ** 2).sum("to") - 1).max()))
    below = model(nf.ModulatedGaussian(5e9, 2e9), decay=None, duration=20e-9).run(threads=2).sparameters
    below = below.sel(frequency=slice(4.4e9, 5.6e9), to="out", source="in")
    decay = -np.log(np.abs(below.values)) / (APART * STEP)
    case.compare("decay at 5 GHz", 88.9095, float(np.interp(5e9, below.frequency, decay)), 0.002, unit="Np/m")
    case.at_most("leak behind the port, double precision", -270.0, leak("double"), unit="dB")
    case.at_most("leak behind the port, single precision", -120.0, leak("single"), unit="dB")
    with picture(case, facts="dots: from S21; above cut-off the wave number, below it the decay") as (axes,):
        frequencies = np.linspace(4e9, 13e9, 400)
        axes.plot(frequencies / 1e9, [abs(propagation(f)) for f in frequencies], label="theory")
        for each, values in ((below.frequency, decay), (s.frequency, beta)):
            label = "decay (Np/m)" if each[0] < 6e9 else "wave number (1/m)"
            axes.plot(each[::60] / 1e9, values[::60], "o", label=label)
        axes.set(xlabel="frequency (GHz)", ylabel="1/m", ylim=(0, None))
        axes.axvline(C / (2 * WIDTH) / 1e9, linestyle=":")
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
