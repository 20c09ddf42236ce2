"""Power through flat faces from the tangential fields: the discrete form of Poynting's theorem.

    P(f) = 1/2 Re integral (E x H*) . n dS,   S_a = E_b H_c* - E_c H_b*

E_b and H_c share their positions on the face, so do E_c and H_b. With H interpolated linearly to the plane, averaged
over half a step to either side of E, and half weights at the rim, the sum over a closed box telescopes exactly as the
leap-frog equations do: what leaves the box is the work of the currents in it on (E^n + E^(n-1))/2, to rounding, for
any box around them on any graded grid in lossless media.

With spectra F(f) = integral F(t) exp(-j 2 pi f t) dt the unit of P is W s^2; the energy through the face is 4 times
its integral over f from 0 to infinity. Divided by abs(S(f))**2 of a source it is the power in watt of a continuous
source of (peak) amplitude 1.
"""

from __future__ import annotations

import numpy as np

from nearfield.analysis.faces import Face


def trapezoid(nodes: np.ndarray) -> np.ndarray:
    """Weights (m) of samples on the nodes: half the two lengths beside each, so half weights at the rim."""
    length = np.diff(nodes)
    return 0.5 * (np.concatenate(([0.0], length)) + np.concatenate((length, [0.0])))


def face_power(face: Face) -> np.ndarray:
    """Power spectrum (W s^2) through one face along its outward direction, (frequency,)."""
    (e_b, e_c), (h_b, h_c) = face.electric, face.magnetic
    b, c = face.nodes
    first = _overlap(e_b, h_c, np.diff(b), trapezoid(c))
    second = _overlap(e_c, h_b, trapezoid(b), np.diff(c))
    return face.outward * 0.5 * (first - second)


def _overlap(e: np.ndarray, h: np.ndarray, weight_b: np.ndarray, weight_c: np.ndarray) -> np.ndarray:
    density = (e * h.conj()).real.astype(float)
    return np.einsum("fbc,b,c->f", density, weight_b, weight_c)


def surface_power(faces: list[Face]) -> np.ndarray:
    """Net power spectrum (W s^2) out of the faces, (frequency,)."""
    return np.sum([face_power(face) for face in faces], axis=0)
