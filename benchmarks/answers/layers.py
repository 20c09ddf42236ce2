"""What layers send back, and fields that grow or stay: CPML in media, surface plasmons, charge left behind."""

from __future__ import annotations

import io
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
from row import Row

import nearfield as nf
from nearfield.cli import main

C = 299792458.0
WATER = nf.Medium(4.9, poles=[nf.Debye(75.2, "9.231 ps")])
WET = nf.Medium(15.0, conductivity=0.02)
HALF = 16  # cells from the plate that launches the wave to the probe, and from there to the layer


def plate_wave(medium: nf.Medium, highest: float, behind: int, steps: int, end) -> np.ndarray:
    """E of a plane wave between a wall far behind the plate and `end`, 20 cells a wavelength in the medium."""
    cell = C / abs(np.sqrt(complex(medium.relative_permittivity(highest)))) / highest / 20
    layer = end.cells if isinstance(end, nf.CPML) else 0
    ahead = behind if layer == 0 else 2 * HALF
    at = behind * cell
    result = nf.Simulation(
        grid=nf.Grid.uniform(cell, (1, 1, behind + ahead + layer)),
        background=medium,
        boundaries=nf.Boundaries(x="periodic", y="periodic", z_low=nf.PEC, z_high=end),
        sources=[
            nf.CurrentSheet((0, 0, at), (cell, cell, at), "x", nf.ModulatedGaussian(0.6 * highest, 0.8 * highest))
        ],
        monitors=[nf.Probe("e", (0.5 * cell, 0, at + HALF * cell), "Ex")],
        precision="double",
        steps=steps,
    ).run(threads=1)
    return nf.spectrum(result["e"], np.linspace(0.2, 1.0, 33) * highest).values


def returned(medium: nf.Medium, highest: float) -> float:
    """What ten default cells send back of a plane wave (dB), the most from a fifth of `highest` (Hz) to it."""
    steps = 1600
    found, endless = (plate_wave(medium, highest, 1700, steps, end) for end in (nf.CPML(), nf.PEC))
    return float(20 * np.log10(np.abs(found / endless - 1).max()))


def layers() -> list[Row]:
    """B8: media from vacuum to water, at frequencies and numbers that are not those of the tests."""
    eps = {value: returned(nf.Medium(value), 8e9) for value in (1.0, 2.94, 6.0, 12.9, 37.0, 80.0)}
    water, wet = returned(WATER, 17e9), [returned(WET, f) for f in (3e8, 3e9)]
    worst = max(eps, key=lambda value: eps[value])
    return [
        Row(
            "B8",
            f"plane wave on ten cells in eps_r {', '.join(f'{value:g}' for value in eps)}, 20 cells a wavelength",
            "-45 dB in eps_r 6",
            "-75 dB",
            f"{eps[worst]:.0f} dB (eps_r {worst:g})",
            eps[worst] <= -75,
        ),
        Row(
            "B8",
            "the same in Debye water up to 17 GHz",
            "worse on finer cells",
            "-75 dB",
            f"{water:.0f} dB",
            water <= -75,
        ),
        Row(
            "B8",
            "the same in ground of eps_r 15, 0.02 S/m up to 0.3 and 3 GHz",
            "scaled for vacuum",
            "-75 dB",
            f"{wet[0]:.0f} and {wet[1]:.0f} dB",
            max(wet) <= -75,
        ),
    ]


def microstrip_end() -> list[Row]:
    """B8: the end of a line of 0.8 mm on 0.635 mm of eps_r 9.8 in ten cells, against a line that goes on."""
    cell, steps, highest = 0.8e-3 / 6, 1400, 20e9

    def voltage(count: int) -> np.ndarray:
        x, y, z = (cell * np.arange(low, high) for low, high in ((-22, 23), (0, count + 1), (0, 30)))
        half, top, feed, plane = 3 * cell, 5 * cell, y[14], y[26]
        result = nf.Simulation(
            grid=nf.Grid(x, y, z),
            structures=[
                nf.Structure(nf.Box((x[0], 0, 0), (x[-1], y[-1], top)), nf.Medium(9.8)),
                nf.Structure(nf.Sheet((-half, feed, top), (half, y[-1], top)), nf.PEC),
            ],
            boundaries=nf.Boundaries(z_low=nf.PEC),
            ports=[nf.MicrostripPort("in", (-half, feed, 0), (half, feed, top), "z", "+y", reference_plane=plane)],
            monitors=[nf.Voltage("v", (0, plane, top), (0, plane, 0))],
            waveform=nf.ModulatedGaussian(0.5 * highest, 0.9 * highest),
            steps=steps,
        ).run(threads=2)
        return nf.spectrum(result["v"], np.linspace(0.1, 1.0, 30) * highest).values

    found = float(20 * np.log10(np.abs(voltage(42) / voltage(180) - 1).max()))
    return [
        Row(
            "B8",
            "end of a microstrip of 53 ohm on eps_r 9.8, 2 to 20 GHz",
            "-52 dB",
            "-60 dB",
            f"{found:.0f} dB",
            found <= -60,
        )
    ]


def plasmon() -> list[Row]:
    """B8: a film whose surface waves grow in the CPML ends the run with exit code 3 and the place."""
    cell = 15e-9
    film = nf.Simulation(
        grid=nf.Grid.uniform(cell, (70, 1, 50)),
        structures=[
            nf.Structure(
                nf.Box((0, 0, 30 * cell), (70 * cell, cell, 34 * cell)), nf.Medium(1.0, poles=[nf.Drude(700e12)])
            )
        ],
        boundaries=nf.Boundaries(y="periodic"),
        sources=[nf.PointCurrent((35 * cell, 0, 33.5 * cell), "z", nf.ModulatedGaussian(320e12, 200e12))],
        monitors=[nf.Probe("e", (35 * cell, 0, 37.5 * cell), "Ez")],
        steps=60000,
    )
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(said), redirect_stdout(io.StringIO()):
        path = Path(folder) / "film.toml"
        path.write_text(film.to_toml())
        code = main(["run", str(path), "--no-report", "--output", str(Path(folder) / "out")])
        energy = nf.open_result(Path(folder) / "out" / "result.h5").excitation().energy.values
    place = "in the CPML at x_" in " ".join(said.getvalue().split())
    return [
        Row(
            "B8",
            "a surface plasmon that grows along a CPML (film of 60 nm)",
            "found as NaN",
            "exit code 3 while it grows, and the place",
            f"exit code {code}, {energy[-1] / energy.max():.2g} of the pulse's peak energy, "
            f"{'the place' if place else 'no place'}",
            code == 3 and place and energy[-1] < energy.max(),
        )
    ]


def static_part() -> list[Row]:
    """B9: a wide pulse of current in open space ends when its waves are gone; a pulse with charge is named."""

    def run(waveform):
        simulation = nf.Simulation(
            grid=nf.Grid.uniform(1.5e-3, (34, 32, 30)),
            sources=[nf.PointCurrent((24e-3, 24e-3, 22.3e-3), "z", waveform)],
            monitors=[nf.Probe("near", (21e-3, 22e-3, 21e-3))],
        )
        said = any("sum up to zero" in text for text in simulation.check().warnings)
        return simulation.run(threads=2).facts["runs"]["sources"], said

    (wide, silent), (charged, named) = run(nf.ModulatedGaussian(5e9, 9.6e9)), run(nf.Gaussian(9e9))
    return [
        Row(
            "B9",
            "steps of a current of 5 +- 4.8 GHz in 34 x 32 x 30 cells",
            "473,699",
            "those of its waves",
            f"{wide['steps']:,}, ended: {wide['ended']}",
            wide["ended"] == "decayed" and wide["steps"] < 2000 and not silent,
        ),
        Row(
            "B9",
            "the same with a Gaussian, which leaves a charge",
            "never ends",
            "`check` says it; decay measured without it",
            f"{charged['steps']:,}, ended: {charged['ended']}, {'said' if named else 'not said'}",
            charged["ended"] == "decayed" and named,
        ),
    ]


CASES = (layers, microstrip_end, plasmon, static_part)
