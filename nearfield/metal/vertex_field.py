"""The static field about a right-angled corner of thin metal or of an opening in it, and what a grid makes of it.

About the tip of a quarter plane the potential that grows least is r^nu times a function of direction, nu = 0.2966: more
charge sits there than along any rim. In sphero-conal coordinates it is a product of two Lame functions (Boersma and
Jansen, Electromagnetic field singularities at the tip of an elliptic cone, 1990; here the cone is flat):

    X = r cos(a) sqrt(1 - cos(b)^2/2),  Y = r sin(a) sin(b),  Z = r cos(b) sqrt(1 - cos(a)^2/2)

X along the middle of the metal, which is where a = 0, Y across its plane. As about rims (rim_field.py) the factor of
eps of an edge is (mean flux density on its dual face)/(mean field along it), with which the grid has this potential on
its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev

ORDER = 32  # of the polynomials of the two functions
BETWEEN = 0.2, 0.5  # nu lies there
SLIVER = 2e-3  # of the largest flux below which that through a face is none
SLOPE = 1e-4  # cells over which a slope is taken
GAUSS = np.polynomial.legendre.leggauss(6)  # of each piece of a dual face


class Vertex(NamedTuple):
    """nu, and the factors of the potential that depend on a and on b."""

    exponent: float
    of_a: Chebyshev
    of_b: Chebyshev


@cache
def vertex() -> Vertex:
    """The potential of the slowest growth about a quarter plane, even about its plane and about its middle."""
    low, high = BETWEEN
    while high - low > 1e-14:
        middle = 0.5 * (low + high)
        both = _mode(np.pi, middle, True)[0] + _mode(0.5 * np.pi, middle, False)[0]
        low, high = (middle, high) if both < 0.0 else (low, middle)
    return Vertex(low, _mode(np.pi, low, True)[1], _mode(0.5 * np.pi, low, False)[1])


def _mode(end: float, exponent: float, held: bool) -> tuple[float, Chebyshev]:
    """The largest constant of separation and its function from 0 to `end`, level at the ends, or zero at 0 if `held`.

    By collocation of (p d/dx)^2 + nu (nu + 1) sin(x)^2/2, p = sqrt(1 - cos(x)^2/2).
    """
    number = np.arange(ORDER + 1)
    x = np.cos(np.pi * number / ORDER)
    sign = (-1.0) ** number * np.where(number % ORDER, 1.0, 2.0)
    slope = np.outer(sign, 1.0 / sign) / (x[:, None] - x + np.eye(ORDER + 1))
    slope = (slope - np.diag(slope.sum(axis=1))) * 2.0 / end
    angle = 0.5 * end * (x + 1.0)
    root = np.sqrt(1.0 - 0.5 * np.cos(angle) ** 2)[:, None]
    matrix = root * slope @ (root * slope) + np.diag(0.5 * exponent * (exponent + 1.0) * np.sin(angle) ** 2)
    ends, inner = number[[0, -1]], number[1:-1]
    known = slope[ends]
    if held:
        known[1] = number == ORDER
    tied = -np.linalg.solve(known[:, ends], known[:, inner])  # values at the ends by those between
    values, vectors = np.linalg.eig(matrix[np.ix_(inner, inner)] + matrix[np.ix_(inner, ends)] @ tied)
    chosen = int(np.argmax(values.real))
    own = vectors[:, chosen].real
    whole = np.concatenate(([tied[0] @ own], own, [tied[1] @ own]))
    return float(values[chosen].real), Chebyshev.fit(angle, whole / whole[ORDER // 2], ORDER, domain=[0.0, end])


def potential(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """At points about a corner of metal that fills x < 0, y < 0 in the plane z = 0; zero on it."""
    exponent, of_a, of_b = vertex()
    along, aside = -(x + y) * 0.5**0.5, (x - y) * 0.5**0.5
    square = np.maximum(along**2 + aside**2 + z**2, np.finfo(float).tiny)
    first, second = along**2 / square, aside**2 / square
    a = np.arccos(np.copysign(np.sqrt(_cosine_squared(first, second)), along))
    b = np.arccos(np.sqrt(_cosine_squared(second, first)))
    value: np.ndarray = square ** (0.5 * exponent) * of_a(a) * of_b(b)
    return value


def _cosine_squared(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """p, where p (1 - q/2) = own and q (1 - p/2) = other."""
    half = 2.0 + own - other
    return np.minimum(4.0 * own / (half + np.sqrt(np.maximum(half**2 - 8.0 * own, 0.0))), 1.0)


def edge_factors(lines: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Factors of eps of the edges along each axis about a corner, NaN where the field along them is zero.

    `lines`: rising places of nodes along x, y and z in units of a cell, metal where x <= 0, y <= 0 and z = 0, a node of
    each kind between their ends. An array holds all cells along its edges' axis, nodes between the ends along others.
    """
    value = potential(*np.meshgrid(*lines, indexing="ij"))
    middles = [0.5 * (line[1:] + line[:-1]) for line in lines]
    flux = [_flux(axis, middles) for axis in range(3)]
    _carry_charge(lines, flux)
    found = []
    for axis in range(3):
        change = np.diff(value, axis=axis)[tuple(slice(None) if a == axis else slice(1, -1) for a in range(3))]
        sides = [np.diff(line) if a == axis else 1.0 / np.diff(middles[a]) for a, line in enumerate(lines)]
        found.append(_ratio(flux[axis], change, sides, SLOPE))
    return found


def face_factors(lines: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Factors of 1/mu of the faces across each axis about a corner of an opening, NaN where no flux passes.

    By Babinet's principle the magnetic potential there is the electric one about a corner of metal, with opposite signs
    on both sides of the plane; the factor is (mean field along the dual edge)/(mean flux density on the face).
    `lines`: as in `edge_factors`, the opening where x <= 0, y <= 0 and z = 0 in metal. An array holds nodes between
    the ends along its faces' axis, all cells along others.
    """
    x, y, z = (_flux(axis, lines) for axis in range(3))
    above = int(np.argmin(np.abs(lines[2])))  # the first cell
    aside = [np.diff(x[:, :, k], axis=0) + np.diff(y[:, :, k], axis=1) for k in (above - 1, above)]
    z[:, :, above] = 0.5 * (z[:, :, above + 1] + aside[1] - z[:, :, above - 1] + aside[0])
    middles = [0.5 * (line[1:] + line[:-1]) for line in lines]
    value = potential(*np.meshgrid(*middles, indexing="ij"))
    found = []
    for axis, flux in enumerate((x, y, z)):
        inner = flux[tuple(slice(1, -1) if a == axis else slice(None) for a in range(3))]
        change = np.diff(value, axis=axis)
        if axis == 2:
            change[:, :, above - 1] = value[:, :, above] + value[:, :, above - 1]
        sides = [1.0 / np.diff(middles[a]) if a == axis else np.diff(line) for a, line in enumerate(lines)]
        found.append(_ratio(change, inner, sides, SLIVER))
    return found


def _ratio(above: np.ndarray, below: np.ndarray, sides: Sequence[np.ndarray], least: float) -> np.ndarray:
    """above/below times a product of lengths along each axis; NaN where `below` is the `least` part of its largest, and
    where the field turns within a sample, so that it says nothing of it."""
    size: np.ndarray = np.ones(())
    for part in sides:
        size = size[..., None] * part
    live = np.abs(below) > least * np.abs(below).max()
    found: np.ndarray = above * size / np.where(live, below, 1.0)
    return np.where(live & (found > 0.0), found, np.nan)


def _flux(axis: int, middles: Sequence[np.ndarray]) -> np.ndarray:
    """Integrals of the potential's slope along an axis over the faces between `middles` that cross it there."""
    points, weights, firsts = zip(*(_points(middle, a == axis) for a, middle in enumerate(middles)))
    at = np.meshgrid(*points, indexing="ij")
    ahead, behind = ([q + way * (a == axis) for a, q in enumerate(at)] for way in (SLOPE, -SLOPE))
    found = (potential(*ahead) - potential(*behind)) / (2.0 * SLOPE)
    for a, (weight, first) in enumerate(zip(weights, firsts)):
        found = np.add.reduceat(found * weight.reshape([-1 if b == a else 1 for b in range(3)]), first, axis=a)
    return found


def _points(middle: np.ndarray, itself: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points and weights of integrals between neighbouring middles, and the first point of each; or the middles alone.

    Pieces end at zero, where the metal does, and points lie close at their ends.
    """
    if itself:
        return middle, np.ones(middle.size), np.arange(middle.size)
    cuts = np.unique(np.append(middle, np.clip(0.0, middle[0], middle[-1])))
    t, weight = 0.5 * (GAUSS[0] + 1.0), 0.5 * GAUSS[1]
    length = np.diff(cuts)[:, None]
    points = cuts[:-1, None] + length * t**2 * (3.0 - 2.0 * t)
    first = t.size * np.searchsorted(cuts, middle[:-1])
    return points.ravel(), (length * weight * 6.0 * t * (1.0 - t)).ravel(), first


def _carry_charge(lines: Sequence[np.ndarray], flux: Sequence[np.ndarray]) -> None:
    """Let edges that end on metal carry to it what ends on the metal within the dual cell of their other end.

    The one node diagonally outside has none: half of it goes by either neighbour.
    """
    x, y, z = flux
    i, j = (int(np.argmax(line[1:-1] > 0.0)) for line in lines[:2])  # the first node outside metal
    k = int(np.argmin(np.abs(lines[2][1:-1])))

    def left_over(i: int, j: int) -> float:
        """Of a node in the plane, what flows out of its dual cell."""
        return float(x[i + 1, j, k] - x[i, j, k] + y[i, j + 1, k] - y[i, j, k] + z[i, j, k + 1] - z[i, j, k])

    half = 0.5 * left_over(i, j)
    x[i, j, k] += half
    y[i, j, k] += half
    for other in range(j):
        x[i, other, k] += left_over(i, other)
    for other in range(i):
        y[other, j, k] += left_over(other, j)
