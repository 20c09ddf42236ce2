"""Modes of guides of rectangles by Fourier series in a periodic cell: another method than the grid's, for tests.

Fields are sums of even or odd terms along x and y. Where E jumps, across faces, the coefficients are those of 1/eps
turned over (the inverse rule). Source: Li, J. Opt. Soc. Am. A 14 (1997), of gratings: here waves go along the rods.
"""

from itertools import pairwise

import numpy as np
from scipy.linalg import lu_factor, lu_solve, toeplitz
from scipy.sparse.linalg import LinearOperator, eigs


def fourier_index(eps, x, y, wavelength, orders, even, near):
    """The effective index next to `near` of a guide that is its own mirror image along x.

    eps: permittivities (nx, ny) of the rectangles between the coordinates x (nx + 1) and y (ny + 1), which span the
    cell; orders: the highest along x and y; even: whether Ex is even along x. Along y all parities are taken.
    """
    eps, k0 = np.asarray(eps, float), 2 * np.pi / wavelength
    whole = [_coefficients(a, b, x, orders[0]) for a, b in pairwise(x)]
    to = _even_and_odd(orders[0])  # changes the basis along x
    own, other = to if even else to[::-1]  # of Ex and Hy; of Ey, Hx and Ez
    up = [_coefficients(a, b, y, orders[1]) for a, b in pairwise(y)]
    kx, ky = (2 * np.pi * np.arange(-n, n + 1) / (line[-1] - line[0]) / k0 for n, line in zip(orders, (x, y)))
    turn = np.kron(own.T @ np.diag(kx) @ other, np.eye(ky.size))  # Kx from the other parity to the own one

    def on(basis, matrix):
        return basis.T @ matrix @ basis

    layers = range(eps.shape[1])
    normal = sum(np.kron(on(other, sum(e * part for e, part in zip(eps[:, j], whole))), up[j]) for j in layers)
    along_x = sum(
        np.kron(on(own, np.linalg.inv(sum(part / e for e, part in zip(eps[:, j], whole)))), up[j]) for j in layers
    )
    along_y = sum(
        np.kron(on(other, part), np.linalg.inv(sum(one / e for e, one in zip(row, up))))
        for row, part in zip(eps, whole)
    )
    one, ky_own, ky_other = np.eye(len(along_x)), np.tile(ky, own.shape[1]), np.tile(ky, other.shape[1])
    inverse = np.linalg.inv(normal)
    electric = np.block(  # k0 of E along the guide from (Hx, Hy)
        [
            [turn @ (inverse * ky_other), one - turn @ inverse @ turn.T],
            [ky_other[:, None] * inverse * ky_other - np.eye(len(along_y)), -ky_other[:, None] * inverse @ turn.T],
        ]
    )
    magnetic = np.block(  # of H from (Ex, Ey)
        [
            [turn.T * ky_own, along_y - turn.T @ turn],
            [np.diag(ky_own**2) - along_x, -ky_own[:, None] * turn],
        ]
    )
    matrix = -electric @ magnetic
    factors = lu_factor(matrix - near**2 * np.eye(len(matrix)))
    solve = LinearOperator(matrix.shape, lambda v: lu_solve(factors, v), dtype=matrix.dtype)
    start = np.cos(np.arange(len(matrix)) ** 2).astype(matrix.dtype)
    return float(np.sqrt(eigs(matrix, 1, sigma=near**2, OPinv=solve, v0=start)[0][0].real))


def _even_and_odd(order):
    """Columns that hold the even and the odd terms of a series from -order to order."""
    one = np.eye(2 * order + 1)
    up, down = one[:, order + 1 :], one[:, order - 1 :: -1]
    return np.column_stack((one[:, order], (up + down) / np.sqrt(2))), (up - down) / np.sqrt(2)


def _coefficients(low, high, line, order):
    """The Toeplitz matrix of a function that is 1 from low to high; the cell's middle has phase 0."""
    period, middle = line[-1] - line[0], 0.5 * (line[0] + line[-1])
    n = np.arange(2 * order + 1)
    part = (high - low) / period * np.sinc(n * (high - low) / period)
    column = part * np.exp(-2j * np.pi * n * (0.5 * (low + high) - middle) / period)
    values = toeplitz(column, column.conj())
    return values.real if np.abs(values.imag).max() < 1e-12 else values
