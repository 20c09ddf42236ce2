"""Mie's series for a sphere in vacuum (Bohren and Huffman, chapter 4), by scipy's spherical Bessel functions."""

import numpy as np
from scipy.special import spherical_jn, spherical_yn


def mie(size: float, index: complex | None) -> tuple[float, float, float]:
    """Efficiencies (extinction, scattering, radar) of a sphere of size k a; index None: a perfect conductor."""
    n = np.arange(1, int(size + 4 * size ** (1 / 3) + 10) + 1)

    def psi(z):
        return z * spherical_jn(n, z), spherical_jn(n, z) + z * spherical_jn(n, z, True)

    def xi(z):
        here = spherical_jn(n, z) + 1j * spherical_yn(n, z)
        slope = spherical_jn(n, z, True) + 1j * spherical_yn(n, z, True)
        return z * here, here + z * slope

    (p, dp), (x, dx) = psi(size), xi(size)
    if index is None:
        a, b = dp / dx, p / x
    else:
        q, dq = psi(index * size)
        a = (index * q * dp - p * dq) / (index * q * dx - x * dq)
        b = (q * dp - index * p * dq) / (q * dx - index * x * dq)
    extinction = 2 / size**2 * np.sum((2 * n + 1) * (a + b).real)
    scattering = 2 / size**2 * np.sum((2 * n + 1) * (np.abs(a) ** 2 + np.abs(b) ** 2))
    radar = abs(np.sum((2 * n + 1) * (-1.0) ** n * (a - b))) ** 2 / size**2
    return float(extinction), float(scattering), float(radar)
