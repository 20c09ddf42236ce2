"""The true values of closed forms lie within the uncertainties that convergence studies state.

.venv/bin/python -m validation.stated_uncertainty.run
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import nearfield as nf
from nearfield.studies.extrapolation import Extrapolation, extrapolated
from validation.case import Case
from validation.circular_guide import run as circular_guide
from validation.coax import run as coax
from validation.cylindrical_wave.run import ETA, hankel
from validation.drude_slab.run import PLASMA
from validation.drude_slab.run import THICKNESS as PLASMA_THICKNESS
from validation.fresnel_slab import run as slab
from validation.phase_velocity import run as phase_velocity
from validation.picture import picture
from validation.spherical_cavity import run as spherical_cavity

C = 299792458.0
LARGEST = 0.1  # of the truth; steps of a curved wall, whose errors go up and down, are stated to 7 %


@dataclass(frozen=True)
class Study:
    """A quantity, its true value, and what two or three grids said."""

    name: str
    truth: float
    found: Extrapolation
    finest: float
    unit: str = ""


def by_size(
    names: Sequence[str],
    truths: Sequence[float],
    sizes: Sequence[float],
    read: Callable[[float], Sequence[float]],
    unit: str = "",
) -> Iterator[Study]:
    """Studies of several numbers that one function of the cell gives."""
    values = [read(size) for size in sizes]
    for number, (name, truth) in enumerate(zip(names, truths)):
        column = [float(each[number]) for each in values]
        yield Study(name, truth, extrapolated(sizes, column), column[-1], unit)


def box() -> Iterator[Study]:
    """Resonances of a metal box, by the public function."""
    size = (50e-3, 20e-3, 60e-3)
    model = nf.Simulation(
        grid=nf.Grid.uniform([length / count for length, count in zip(size, (10, 4, 12))], (10, 4, 12)),
        boundaries=nf.Boundaries(all=nf.PEC),
        sources=[nf.PointCurrent((15e-3, 5e-3, 20e-3), "y", nf.Gaussian("6 GHz"))],
        monitors=[nf.Probe("tip", (15e-3, 5e-3, 20e-3), "Ey")],
        duration=30e-9,
        precision="double",
    )
    for name, (m, n) in {"TE101": (1, 1), "TE102": (1, 2)}.items():
        truth = 0.5 * C * math.hypot(m / size[0], n / size[2])
        words = f"tip resonance between {0.96 * truth:.6g} and {1.04 * truth:.6g}"
        for refinements in ((1, 2), (1, 2, 3)):
            found = nf.converge(model, words, refinements, threads=1)
            label = f"{name} of a box, {len(refinements)} grids"
            stated = Extrapolation(found.value / 1e9, found.uncertainty / 1e9, found.order)
            yield Study(label, truth / 1e9, stated, found.runs[-1].value / 1e9, "GHz")


def round_guide() -> Iterator[Study]:
    """Cut-offs of a round guide, between steps and between conformal walls."""
    modes, sizes = list(circular_guide.ROOTS), [circular_guide.RADIUS / n for n in (10, 14, 20)]
    truths = [circular_guide.expected(mode) / 1e9 for mode in modes]
    for metal in ("staircase", "conformal"):

        def cutoffs(cell: float, metal: str = metal) -> list[float]:
            found = circular_guide.found(cell, metal)
            return [found[mode] / 1e9 for mode in modes]

        yield from by_size([f"{mode} of a round guide, {metal}" for mode in modes], truths, sizes, cutoffs, "GHz")


def sphere() -> Iterator[Study]:
    """Resonances of a sphere in metal with conformal walls."""
    modes, counts = list(spherical_cavity.ROOTS), (7, 10, 14)
    truths = [spherical_cavity.expected(mode) / 1e9 for mode in modes]

    def frequencies(size: float) -> list[float]:
        errors = spherical_cavity.errors(round(1 / size))
        return [truth * (1 + errors[mode]) for mode, truth in zip(modes, truths)]

    yield from by_size([f"{mode} of a sphere" for mode in modes], truths, [1 / n for n in counts], frequencies, "GHz")


def slabs() -> Iterator[Study]:
    """Reflection and transmission of slabs of dielectric and plasma."""
    board, frequencies = nf.Medium(permittivity=4.0), np.array([2.5e9, 6.25e9])
    names = [f"abs {way} of a slab at {f / 1e9:g} GHz" for way in "rt" for f in frequencies]
    truths = np.abs(slab.expected(frequencies, board)).ravel()
    cells = [slab.THICKNESS / n for n in (10, 20, 40)]
    yield from by_size(names, truths, cells, lambda cell: np.ravel(slab.found(frequencies, board, cell)))
    frequencies = np.array([20e9, 50e9])
    names = [f"abs {way} of a plasma slab at {f / 1e9:g} GHz" for way in "rt" for f in frequencies]
    truths = np.abs(slab.expected(frequencies, PLASMA, PLASMA_THICKNESS)).ravel()

    def plasma(cell: float) -> np.ndarray:
        return np.ravel(slab.found(frequencies, PLASMA, cell, PLASMA_THICKNESS, 60e9, duration=3e-9))

    yield from by_size(names, truths, [PLASMA_THICKNESS / n for n in (50, 75, 100)], plasma)


def line() -> Iterator[Study]:
    """Impedance of a coaxial line, between steps and between conformal walls."""
    frequencies = np.linspace(50e6, 150e6, 5)
    for metal in ("staircase", "conformal"):

        def impedance(cell: float, metal: str = metal) -> list[float]:
            return [float(coax.impedance(frequencies, cell, metal).real.mean())]

        name = f"impedance of a coaxial line, {metal}"
        yield from by_size([name], [coax.expected()], (10e-3, 7e-3, 5e-3), impedance, "ohm")


def waves() -> Iterator[Study]:
    """Phase velocity in space, the power of a dipole, and the wave of a line current."""
    sizes = [1 / n for n in (8, 16, 32)]
    yield from by_size(["phase velocity over c"], [1.0], sizes, lambda size: [phase_velocity.found(round(1 / size))])
    wavelength = C / 1e9
    cell = wavelength / 10
    dipole = nf.Simulation(
        grid=nf.Grid.uniform(cell, [28] * 3, origin=[-14 * cell] * 3),
        sources=[nf.PointCurrent((0, 0, cell / 2), "z", nf.GaussianDerivative(1e9), moment=1e-3)],
        monitors=[nf.Flux("out", [-2 * cell] * 3, [2 * cell] * 3, [1e9])],
    )
    # at cells cut in two the current lies on a node of Ez, whose two neighbours share it
    truth = ETA * (2 * math.pi / wavelength) ** 2 * 1e-6 / (12 * math.pi) * 1e3
    found = nf.converge(dipole, "out power at 1 GHz", (1, 3), threads=2)
    stated = Extrapolation(1e3 * found.value, 1e3 * found.uncertainty, found.order)
    yield Study("power of a dipole, 2 grids", truth, stated, 1e3 * found.runs[-1].value, "mW")
    current = nf.Simulation(
        grid=nf.Grid.uniform((cell, cell, 2 * cell), (48, 48, 1), (-24 * cell, -24 * cell, 0)),
        boundaries=nf.Boundaries(z_low=nf.PEC, z_high=nf.PEC),
        sources=[nf.LineCurrent((0, 0, 0), (0, 0, 2 * cell), nf.GaussianDerivative(1e9))],
        monitors=[nf.Probe("far", (12 * cell, 0, cell), "Ez")],
    )

    def amplitude(result: nf.Result) -> float:
        field = nf.spectrum(result["far"], [1e9]).values[0]
        return float(abs(field / result.excitation().source([1e9])[0]))

    truth = abs(2 * math.pi / wavelength * ETA / 4 * hankel(2 * math.pi / wavelength * 12 * cell))
    found = nf.converge(current, amplitude, (1, 2, 3), threads=2)
    stated = Extrapolation(found.value, found.uncertainty, found.order)
    yield Study("wave of a line current", truth, stated, found.runs[-1].value, "V/m")


def main() -> None:
    case = Case(__file__, "Stated uncertainties hold the truth")
    studies = [study for part in (box, round_guide, sphere, slabs, line, waves) for study in part()]
    for study in studies:
        value, uncertainty = study.found.value, study.found.uncertainty
        case.compare(study.name, study.truth, value, uncertainty, absolute=True, unit=study.unit)
        case.at_most(f"{study.name}: uncertainty over truth", LARGEST, uncertainty / abs(study.truth))
    with picture(case, facts="dots: extrapolated, with the stated uncertainty; crosses: the finest grid") as (axes,):
        for number, study in enumerate(studies):
            scale = 100 / study.truth
            axes.errorbar(
                scale * (study.found.value - study.truth),
                number,
                xerr=abs(scale) * study.found.uncertainty,
                fmt="o",
                color="#1F6F8B",
                markersize=3,
            )
            axes.plot(scale * (study.finest - study.truth), number, "x", color="#C8553D", markersize=4)
        axes.axvline(0, color="#1F2933", linewidth=0.7)
        axes.set_yticks(range(len(studies)), [study.name for study in studies], fontsize=5)
        axes.set(xlabel="off the truth (%)")
    case.finish()


if __name__ == "__main__":
    main()
