"""The horn of examples/dual_mode_horn.toml: its dimensions from theory, its run, and what became of it.

.venv/bin/python -m examples.dual_mode_horn --design    # dimensions and what theory expects, in a second
.venv/bin/python -m examples.dual_mode_horn             # run, compare, draw
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import nearfield as nf
from examples import figures
from examples.dual_mode_theory import TE11, TE12, TM11, Horn, beamwidths, designed, directivity, pure, radiated, waves

C = 299792458.0
FREQUENCY = 12e9
WAVELENGTH = C / FREQUENCY
K = 2 * math.pi / WAVELENGTH
HALF_ANGLE, RATIO = math.radians(6.5), 0.5  # of the cone; of the modes' fields on the axis
HORN = Horn(guide=13.68e-3, step=18.22e-3, aperture=24.98e-3, cylinder=22.32e-3, cone=59.38e-3)  # design(), to 0.01 mm
WALL = 2.5e-3  # m, of metal
BACK = 24e-3  # m from the port to the step
BAND = (11.5e9, 12.5e9)
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "dual_mode_horn.png"
THETA = np.arange(0, 91.0)  # degrees


def design() -> Horn:
    """From the frequency, an aperture two wavelengths wide and the ratio of the modes."""
    return designed(K, WAVELENGTH, HALF_ANGLE, RATIO)


def profile(horn: Horn, start: float) -> list[tuple[float, float]]:
    """(radius, along) of the metal, the step at 0, the guide from `start` on."""
    front = horn.cylinder + horn.cone
    inside = [(horn.guide, start), (horn.guide, 0.0), (horn.step, 0.0), (horn.step, horn.cylinder)]
    outside = [(horn.step + WALL, horn.cylinder), (horn.step + WALL, -WALL), (horn.guide + WALL, -WALL)]
    return [*inside, (horn.aperture, front), (horn.aperture + WALL, front), *outside, (horn.guide + WALL, start)]


def model(
    cell: float = 1e-3, space: float = 12e-3, layer: int = 10, frequencies=(11.6e9, 12e9, 12.4e9)
) -> nf.Simulation:  # fmt: skip
    """The horn in cubes, so many metres of space about it, and its guide that leaves through the CPML."""
    across, before, beyond = (
        layer + math.ceil(length / cell - 1e-6)
        for length in (HORN.aperture + WALL + space, BACK + 4 * cell, HORN.cylinder + HORN.cone + space)
    )
    low, square = (-across * cell, -across * cell, -before * cell), HORN.guide
    return nf.Simulation(
        title="Dual-mode horn, 12 GHz",
        grid=nf.Grid.uniform(cell, (2 * across, 2 * across, before + beyond), low),
        structures=[nf.Structure(nf.Revolved("z", profile(HORN, low[2] - cell)), nf.PEC, name="horn")],
        boundaries=nf.Boundaries(all=nf.CPML(layer)),
        ports=[nf.WaveguidePort("in", (-square, -square, -BACK), (square, square, -BACK), "+z", "TE11y", "circular",
                                reference_plane=0.0)],
        monitors=[nf.FarField("far", frequencies)],
        waveform=nf.ModulatedGaussian(FREQUENCY, 3e9),
        symmetry=nf.Symmetry(x="magnetic", y="electric"), metal="conformal", decay=1e-6,
    )  # fmt: skip


class Found(NamedTuple):
    """A run at 12 GHz: S11 over frequency, directivity (dBi), beamwidths (degrees), cross-polarisation (dB), cuts.

    `cuts` (4, theta): E_theta at phi = 90, E_phi at 0, co- and cross-polarised at 45 degrees over E on the axis, for E
    along y on the axis (Ludwig's third definition, IEEE AP 21 (1973) 116-119).
    """

    reflected: object
    directivity: float
    beamwidths: tuple[float, float]
    cross: float
    cuts: np.ndarray


def found(simulation: nf.Simulation) -> Found:
    """Run it."""
    result = simulation.run()
    far = result["far"].at(np.radians(THETA), np.radians([0, 45, 90]))
    own = int(np.argmin(np.abs(far.frequencies - FREQUENCY)))
    along, across = far.e_theta.values[own], far.e_phi.values[own]
    cuts = np.stack([along[:, 2], across[:, 0], *(math.sqrt(0.5) * (across[:, 1] + s * along[:, 1]) for s in (1, -1))])
    cuts /= cuts[0, 0]
    widths = (float(np.degrees(result["far"].beamwidth(phi).values[own])) for phi in (np.pi / 2, 0.0))
    return Found(
        result.sparameters.sel(to="in", source="in"), float(far.directivity_dbi.values[own, 0].max()), tuple(widths),
        float(decibels(np.abs(cuts[3]).max() / np.abs(cuts[2]).max())), cuts,
    )  # fmt: skip


def decibels(ratio):
    """Of amplitudes."""
    return 20 * np.log10(np.maximum(np.abs(ratio), 1e-12))


def aperture_cuts(voltage: np.ndarray) -> np.ndarray:
    """What `Found.cuts` should be, from the modes in the aperture."""
    along, across = radiated(HORN.aperture, voltage, np.radians(THETA), K)
    both = np.stack((along, across, 0.5 * (across + along), 0.5 * (across - along)))
    return both / along[0]


def expected_reflection(frequencies: np.ndarray) -> np.ndarray:
    """S11 at the step by mode matching, without what the aperture reflects."""
    return np.array([HORN.scattering(2 * math.pi * f / C).s11[TE11, TE11] for f in frequencies])


def in_aperture() -> np.ndarray:
    """Modal voltages in the aperture by mode matching."""
    return HORN.scattering(K).s21[:, TE11] * np.sqrt(waves(HORN.aperture, K)[1])


def draw(ours: Found) -> None:
    """The horn, its reflection, its pattern over that of the aperture."""
    import matplotlib

    from nearfield.pictures.style import COLOURS, SETTINGS, blank, headline

    with matplotlib.rc_context(SETTINGS | {"axes.prop_cycle": matplotlib.cycler(color=COLOURS)}):
        figure = blank(13, 4.6)
        headline(figure, "Dual-mode horn, 12 GHz", "dots: mode matching, aperture theory; lines: Nearfield")
        body, loss, pattern = (figure.add_subplot(1, 3, number) for number in (1, 2, 3))
        for sign in (-1, 1):
            r, z = 1e3 * np.array(profile(HORN, -BACK)).T
            body.fill(z, sign * r, color=COLOURS[0], linewidth=0)
        body.plot([-1e3 * BACK] * 2, [-1e3 * HORN.guide, 1e3 * HORN.guide], "--", color=COLOURS[1])
        body.text(-1e3 * BACK + 1, 0, "TE11")
        body.set(xlabel="z (mm)", ylabel="radius (mm)", title="the horn; dashed: its port")
        body.set_aspect("equal", adjustable="datalim")
        s = ours.reflected.sel(frequency=slice(*BAND))
        some = np.linspace(*BAND, 11)
        loss.plot(s.frequency / 1e9, decibels(s.values))
        loss.plot(some / 1e9, decibels(expected_reflection(some)), "o", color=COLOURS[0], markersize=4)
        loss.set(xlabel="frequency (GHz)", ylabel="abs(S11) (dB)", ylim=(-60, 0), title="return loss")
        theory = aperture_cuts(pure(RATIO))
        for number, name in enumerate(("E-plane", "H-plane", None, "cross, 45 degrees")):
            if name:
                (line,) = pattern.plot(THETA, decibels(ours.cuts[number]), label=name)
                pattern.plot(THETA[::5], decibels(theory[number, ::5]), "o", color=line.get_color(), markersize=3.5)
        pattern.set(xlabel="theta (degrees)", ylabel="dB", ylim=(-50, 1), xlim=(0, 90), title="pattern, 12 GHz")
        pattern.legend(loc="upper right")
        figure.savefig(FIGURE, dpi=110, metadata={"Software": None})


def main() -> None:
    """Say what theory wants; unless that is all, run, compare and draw."""
    print(f"designed (mm): {', '.join(f'{n} {1e3 * v:.3f}' for n, v in design()._asdict().items())}")
    on_axis, voltage = HORN.on_axis(K), in_aperture()
    print(f"modes on the axis, over TE11: TM11 {on_axis[TM11]:.3f}, TE12 {on_axis[TE12]:.3f}")
    print(f"S11 at the step {decibels(expected_reflection([FREQUENCY]))[0]:.1f} dB")
    for name, modes in (("TE11 + 0.5 TM11", pure(RATIO)), ("all its modes", voltage)):
        e, h = beamwidths(HORN.aperture, modes, K)
        print(f"aperture of {name}: {directivity(HORN.aperture, modes, K):.2f} dBi, beamwidths {e:.2f} {h:.2f} degrees,"
              f" cross {decibels(np.abs(aperture_cuts(modes)[3]).max()):.1f} dB")  # fmt: skip
    if "--design" in sys.argv[1:]:
        return
    values: dict = {"directivity": [], "e_plane": [], "h_plane": [], "cross": [], "s11": []}
    for cell in (1.5e-3, 1.25e-3, 1e-3):
        ours = found(model(cell))
        s11 = decibels(ours.reflected.interp(frequency=FREQUENCY).values)
        e, h = ours.beamwidths
        for key, value in zip(values, (ours.directivity, e, h, ours.cross, s11)):
            values[key].append(float(value))
        print(f"{1e3 * cell:g} mm cells: S11 {s11:.1f} dB, {ours.directivity:.2f} dBi, beamwidths {e:.2f} {h:.2f} "
              f"degrees, cross {ours.cross:.1f} dB", flush=True)  # fmt: skip
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")
    draw(ours)


if __name__ == "__main__":
    main()
