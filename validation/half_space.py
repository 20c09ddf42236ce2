"""Reflection of a half space at normal incidence: a parallel-plate line whose far part is the medium, CPML included.

Two runs, with and without the medium. The line is so long in front that nothing comes back from its near end in time.
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from validation.parallel_plate import line, spectra

C = 299792458.0


def expected(frequencies: np.ndarray, medium: nf.Medium) -> np.ndarray:
    """Complex r of the face, from the medium's own permittivity and permeability."""
    impedance = np.sqrt(medium.relative_permeability(frequencies) / medium.relative_permittivity(frequencies))
    return (impedance - 1) / (impedance + 1)


def found(
    frequencies: np.ndarray, medium: nf.Medium, cell: float, highest: float, duration: float, depth: int = 600
) -> np.ndarray:
    """abs r, from a pulse up to `highest` (Hz), recorded for `duration` (s); `depth` cells of the medium."""
    reach = math.ceil(0.5 * duration * C / cell) + 30  # the way to the near end and back takes longer
    front = reach + 60
    half_space = nf.Structure(nf.Box((0, 0, front * cell), (cell, cell, (front + depth) * cell)), medium)
    arguments = (cell, front + depth, nf.GaussianDerivative(highest), {"before": reach + 20}, reach)
    empty = spectra(line(*arguments, duration=duration), frequencies)["before"]
    filled = spectra(line(*arguments, structures=[half_space], duration=duration), frequencies)["before"]
    return np.abs((filled - empty) / empty)
