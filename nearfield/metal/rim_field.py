"""The static field about the rim of thin metal, as a grid's edges and faces see it.

At the distance s outside a straight rim and z above the plane of the metal, which is where s < 0 and z = 0, the field
that grows without bound is the gradient of phi in phi + j psi = sqrt(s + j z): phi is the potential, or the vector
potential along the rim, known on nodes, psi the flux, or the magnetic tension, known between them.

The factor of eps that makes an edge's relation of flux and voltage exact is (mean flux density on its dual face)/(mean
field along it); that of 1/mu of a face is (mean H along its dual edge)/(mean flux density on it). Beside the plane psi
takes up what odd_field.py asks, where rims run along an axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.metal.odd_field import TURN, odd_flux, rim_field

REACH = 1.6  # cells about a rim whose samples count otherwise (docs/method.md has what other reaches make)
LEAST = 1e-6  # weight of the odd field below which it is left out
ON_RIM = 1e-10  # cells from a rim within which points lie on it
NARROW = 1e-9  # range of s over the cell below which a difference counts as a slope
POINTS, WEIGHTS = (-(0.6**0.5), 0.0, 0.6**0.5), (5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0)  # Gauss's, on [-1, 1]
# Where a gap below 0.3 cells lies beside a node, its field crosses the link there both ways, and m tends to 0: H along
# the gap would see a mu of 1/m in the faces beside it.
WEAKEST = 0.25
GAPS = 1e3  # weight of the energy in a narrow gap over that at a single rim, by its width over m: as was tried in mm
LARGEST = 1e3  # factor of 1/mu of faces that are almost closed; of eps of edges its square


@dataclass(frozen=True)
class RimView:
    """Samples about rims: signed distance `s` (m), the rim's normal along the plane's axes u and v (2, ...), and the
    lengths (2, ...) along u and v of cells for axes on which samples lie midway, of dual cells for others; by how much
    (m) the middles of these lie `past` the samples (2, ...); the width (m) of a narrow `gap` before the rim, inf before
    others; heights (m) over the plane of the cell centres `beside` it."""

    s: np.ndarray
    normal: np.ndarray
    length: np.ndarray
    past: np.ndarray
    gap: np.ndarray
    beside: tuple[float, ...] = ()

    @property
    def spans(self) -> np.ndarray:
        """Half of the ranges of s along the sample's sides (2, ...)."""
        return 0.5 * self.normal * self.length

    @property
    def middle(self) -> np.ndarray:
        """Signed distance (m) of the middle of the dual edge or face, between cell centres: not the sample's own where
        cells differ."""
        middle: np.ndarray = self.s + (self.normal * self.past).sum(axis=0)
        return middle

    @property
    def energy(self) -> np.ndarray:
        """What the energy of the rim's field counts with; phi and psi before a narrow gap are without a unit."""
        return np.where(np.isfinite(self.gap), GAPS * self.gap, 1.0)

    @property
    def upright(self) -> np.ndarray:
        """1 for rims along the axes, falling to 0 for slanting ones."""
        return (self.normal[0] ** 2 - self.normal[1] ** 2) ** 8

    def steep(self, values: np.ndarray) -> np.ndarray:
        """The one of the values (2, ...) along u and v that belongs to the axis nearer to the normal."""
        return np.where(np.abs(self.normal[0]) >= np.abs(self.normal[1]), *values)

    def flux(self, s: np.ndarray, z: np.ndarray, along: int | None = None) -> np.ndarray:
        """psi on cell centres; `along`: the axis of the link through whose dual edge it flows, where that is not given
        by the rim."""
        found, cell = rim_field(s + 1j * z, self.gap).imag, self.steep(self.length)
        crossed = along is None or self.steep(np.array([0, 1])[:, None]) == along
        near = np.nonzero((self.upright > LEAST) & crossed)[0]
        if float(z) in self.beside and near.size:
            cell = cell[near]
            change = odd_flux(s[near] / cell, 2.0 * abs(z) / cell, self.gap[near] / cell, REACH)
            unit = np.where(np.isinf(self.gap[near]), cell**0.5, 1.0)
            found[near] += np.sign(z) * self.upright[near] * unit * change
        return found

    @property
    def crossing(self) -> tuple[np.ndarray, np.ndarray]:
        """Signed distances (m) of a link across the plane, and of the middle of its dual edge or face.

        In the middle of a narrow gap phi and psi turn: both are taken at one place there, and beside the middle.
        """
        inside = np.isfinite(self.gap) & (self.s > 0.0)
        if not inside.any():
            return self.s, self.middle
        turn, cell = 0.5 * np.where(inside, self.gap, 0.0), TURN * self.steep(self.length)
        place = np.where(np.abs(self.middle - turn) < cell, turn - cell, self.middle)
        return np.where(inside, place, self.s), np.where(inside, place, self.middle)

    def bounded(self, factor: np.ndarray) -> np.ndarray:
        """Factors of links across the plane, `WEAKEST` at least about narrow gaps."""
        return np.where(np.isfinite(self.gap), np.maximum(factor, WEAKEST), factor)

    def potential(self, s: np.ndarray, z: np.ndarray) -> np.ndarray:
        """phi on nodes."""
        return rim_field(s + 1j * z, self.gap).real

    def plain_flux(self, s: np.ndarray, z: np.ndarray) -> np.ndarray:
        """psi of the even field alone."""
        return rim_field(s + 1j * z, self.gap).imag

    def slope(self, function, s: np.ndarray, z: np.ndarray, half: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Mean of d function/ds from s - half to s + half.

        Ends next to a rim lie on it: the root of their rounding would make planes along a rim differ.
        """
        half = np.where(np.abs(half) < NARROW * scale, NARROW * scale, half)
        high, low = (np.where(np.abs(end) < ON_RIM * scale, 0.0, end) for end in (s + half, s - half))
        high, low = (np.where(np.abs(end - self.gap) < ON_RIM * scale, self.gap, end) for end in (high, low))
        return (function(high, z) - function(low, z)) / (2.0 * half)


def _mean(function, s: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Mean of a function of s from s - half to s + half."""
    return sum(weight * function(s + point * half) for point, weight in zip(POINTS, WEIGHTS))


def edge_in_plane(view: RimView, along: int, z: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Factor of eps of edges along u (0) or v (1) at the height z, their dual faces from `low` to `high`."""
    scale = view.length[along]
    field = view.slope(view.potential, view.s, z, view.spans[along], scale)
    flux = _mean(lambda s: (view.flux(s, high) - view.flux(s, low)) / (high - low), view.middle, view.spans[1 - along])
    return flux / np.maximum(field, flux / LARGEST**2)


def face_in_plane(view: RimView, z: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Factor of 1/mu of faces parallel to the plane."""
    first, other = view.steep(view.spans), view.steep(view.spans[::-1])
    scale = view.steep(view.length)
    density = _mean(lambda s: view.slope(view.potential, s, z, first, scale), view.s, other)
    field = (view.flux(view.s, high) - view.flux(view.s, low)) / (high - low)
    return field / np.maximum(density, field / LARGEST)


def edge_across(view: RimView, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Factor of eps of edges across the plane from `low` to `high`."""
    place, middle = view.crossing
    field = (view.potential(place, high) - view.potential(place, low)) / (high - low)
    first, other = view.steep(view.spans), view.steep(view.spans[::-1])
    z, scale = 0.5 * (low + high), view.steep(view.length)
    return view.bounded(-_mean(lambda s: view.slope(view.flux, s, z, first, scale), middle, other) / field)


def face_across(view: RimView, along: int, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Factor of 1/mu of faces whose normal is u (0) or v (1), from `low` to `high`."""
    place, middle = view.crossing
    density = _mean(
        lambda s: (view.potential(s, high) - view.potential(s, low)) / (high - low), place, view.spans[1 - along]
    )
    field = -view.slope(
        lambda s, z: view.flux(s, z, along), middle, 0.5 * (low + high), view.spans[along], view.length[along]
    )
    return view.bounded(field / density)


def edge_energy_in_plane(view: RimView, along: int, z: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Energy of the rim's field in the space of an edge along u or v, over the edge's length; `value`: its factor."""
    field = view.normal[along] * view.slope(view.potential, view.s, z, view.spans[along], view.length[along])
    return view.energy * value * field**2 * view.length[along]


def edge_energy_across(view: RimView, low: np.ndarray, high: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The same of an edge across the plane."""
    difference = view.potential(view.s, high) - view.potential(view.s, low)
    return view.energy * value * difference**2 / (high - low)


def face_energy_in_plane(view: RimView, low: np.ndarray, high: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The same of a face parallel to the plane, over its dual edge's length."""
    difference = view.plain_flux(view.s, high) - view.plain_flux(view.s, low)
    return view.energy * difference**2 / ((high - low) * value)


def face_energy_across(view: RimView, along: int, low: np.ndarray, high: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The same of a face whose normal is u or v."""
    field = view.normal[along] * view.slope(
        view.plain_flux, view.middle, 0.5 * (low + high), view.spans[along], view.length[along]
    )
    return view.energy * field**2 * view.length[along] / value
