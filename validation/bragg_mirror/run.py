"""Transmission of a Bragg mirror, four pairs of air and a dielectric of index 3.

.venv/bin/python -m validation.bragg_mirror.run
"""

from __future__ import annotations

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.parallel_plate import line, spectra
from validation.picture import picture

C = 299792458.0
PERIOD = 10e-3  # m
INDEX, PAIRS = 3.0, 4
CELLS = 80  # in a period: 60 of air, 20 of dielectric
CELL = PERIOD / CELLS
PUBLISHED = {0.1: 0.704209, 0.2: 0.886769, 0.25: 0.004940, 0.3: 0.000824, 0.4: 0.002179, 0.5: 0.511260}


def expected(frequencies: np.ndarray) -> np.ndarray:
    """Transmitted power by the transfer matrices of the layers; frequencies in Hz."""
    found = []
    for k in 2 * np.pi * frequencies / C:
        total = np.eye(2, dtype=complex)
        for _ in range(PAIRS):
            for index, thickness in ((1.0, 0.75 * PERIOD), (INDEX, 0.25 * PERIOD)):
                phase = k * index * thickness
                layer = [[np.cos(phase), 1j * np.sin(phase) / index], [1j * index * np.sin(phase), np.cos(phase)]]
                total = total @ np.array(layer)
        found.append(abs(2 / total.sum()) ** 2)
    return np.array(found)


def transmission(frequencies: np.ndarray, periodic: bool = False) -> np.ndarray:
    """Transmitted power from two runs, with and without the mirror; in a cell that repeats across, or in a line."""
    start = 200
    stop = start + PAIRS * CELLS
    mirror = []
    for pair in range(PAIRS):
        low, high = ((start + (pair + part) * CELLS) * CELL for part in (0.75, 1.0))
        mirror.append(nf.Structure(nf.Box((0, 0, low), (CELL, CELL, high)), nf.Medium(permittivity=INDEX**2)))
    arguments = (CELL, stop + 100, nf.GaussianDerivative(0.25 * C / PERIOD), {"behind": stop + 50}, 100)
    models = [line(*arguments, structures=some, decay=1e-10) for some in ([], mirror)]
    if periodic:
        faces = nf.Boundaries(x="periodic", y="periodic", z=nf.CPML(20))
        models = [each.model_copy(update={"boundaries": faces}) for each in models]
    runs = [spectra(each, frequencies) for each in models]
    return np.abs(runs[1]["behind"] / runs[0]["behind"]) ** 2


def main() -> None:
    case = Case(__file__, "Bragg mirror, four pairs, index 3")
    normalised = np.concatenate((list(PUBLISHED), np.linspace(0.05, 0.55, 251)))
    frequencies = normalised * C / PERIOD
    found, theory = transmission(frequencies), expected(frequencies)
    for index, (frequency, value) in enumerate(PUBLISHED.items()):
        case.compare(f"transmission at {frequency:g} c/a", value, found[index], 0.01, absolute=True)
    case.at_most("largest difference, 0.05 to 0.55 c/a", 0.03, float(np.abs(found - theory).max()))
    again = transmission(frequencies, periodic=True)
    case.at_most("periodic cell, largest difference from the line", 1e-6, float(np.abs(again - found).max()))
    with picture(case, facts="80 cells a period") as (axes,):
        axes.plot(normalised[6:], found[6:], label="found")
        axes.plot(normalised[6::4], theory[6::4], "o", markersize=3, color="#1F2933", label="transfer matrices")
        axes.set(xlabel="frequency (c/period)", ylabel="transmitted power")
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
