"""Sub-pixel averages at curved and slanting surfaces: diagonal, weighted by the normal of the interface.

Where media meet in the space of a sample (its edge times its dual face), with n the unit normal there and n_c its part
along the sample's own axis, D is continuous along n and E across it:

    1/eps = n_c^2 <1/eps> + (1 - n_c^2)/<eps>                     < >: mean over that space

which is the diagonal of the tensor of Farjadpour et al. (2006). Each medium m, which fills the part f_m, then lends its
permittivity, its conductivity and its poles with the weight that it has in this mean to first order,

    g_m = d eps/d eps_m = eps^2 (n_c^2 h_m/e_m^2 + (1 - n_c^2) f_m/<e>^2)            eps(w) = sum g_m eps_m(w)

about sizes e_m, of a medium with poles abs(eps_m) over the band of the excitations. That is exact where eps_m = e_m, as
the mean is homogeneous, and no pole moves. The mean is concave: of other permittivities eps_m > 0 the sum is no less
than their own mean, so at infinite frequency too no less than the least of them, and the limit of the time step stays.
All g_m >= 0: a mixture is as passive as the media are. mu alike.

Of two media <1/eps> is taken not over the whole space, but with the parts h_m of one cell's length of the grid line
that crosses the interface most steeply: they add up, over the samples of such a line, to what each medium fills
wherever a plane lies. <eps>, which a field along the surface meets, is that of the whole space.

A sample that meets both fields has no mean that is right for the two: over all positions of a plane in a cell, eps has
the mean that the field along it asks for, and 1/eps that which the field across it asks for, only where samples are
either medium; 1/eps lies below its chord. Mixtures make the surface seem moved, by up to a quarter of a cell at high
contrast; samples of one medium make it rough. So f_m and h_m go from one medium to the other in a part of that length
(`narrowness`): half of it where the harmonic mean of both media is half their arithmetic one and the surface lies at 45
degrees, all of it where that lies along or across the sample.

A medium whose Re eps is negative somewhere in the band leaves nothing of it: a mixture passes through zero between it
and its neighbour, in a layer that absorbs where neither does. A sample with such a medium in it takes the one that
fills most of it, all of it, unless the surface lies along an axis. Where all Re eps > 0, that of a mixture is.

n is the mean of grad eps over the space, exact for a plane: eps integrated over the space's outer faces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nearfield.metal.patches import pair

VANISHING = 1e-6  # relative difference of the contrast between faces below which an interface has no direction
DIGITS = 9  # decimals of parts and normals; rounded so, they do not depend on the order of sums
ALIGNED = 1.0 - 1e-6  # n_c^2 of a surface across an axis
FLATTEST = 1e-6  # n_c^2 of a surface along an axis
HALVINGS = 30  # steps of bisection
UNMIXED = 1e12  # more than the pieces in a sample's space over the least part of it that counts
Place = tuple[np.ndarray, np.ndarray]  # rows and columns of samples in a window


class Contrast(NamedTuple):
    """Properties that tell media apart, (media,) each; contrasts.py."""

    answers: np.ndarray  # 1/Cb
    sizes: np.ndarray  # e_m: without poles eps_m, with poles abs(eps_m) over the band, its geometric mean
    remembers: np.ndarray  # whether it has poles
    turns: np.ndarray  # whether it has poles, and somewhere in the band Re eps_m <= 0

    @property
    def mixes(self) -> np.ndarray:
        """Where a sample of several media is their mean with poles, the mean of this over it is above 0."""
        return self.remembers * 1.0 - UNMIXED * self.turns


class Crossed(NamedTuple):
    """Samples whose space a curved or slanting surface crosses."""

    at: Place
    parts: np.ndarray  # (samples, media): shares of the media in their space
    normal: np.ndarray  # (samples, 3), of length 1
    lengths: np.ndarray  # (samples, 3), of their space

    def chosen(self, which: np.ndarray) -> Crossed:
        """Some of the samples."""
        return Crossed(pair(n[which] for n in self.at), self.parts[which], self.normal[which], self.lengths[which])


class NodeTensors(NamedTuple):
    """The off-diagonal part of 1/eps about some nodes."""

    at: Place
    between: np.ndarray  # (nodes, 3): its entry between the two other axes


class Weights(NamedTuple):
    """Means of media at some samples."""

    at: Place
    relative: np.ndarray  # (samples,): permittivity or permeability
    media: np.ndarray  # (samples, media): g_m


def weighed(
    parts: np.ndarray, slim: np.ndarray, along: np.ndarray, relative: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(eps, g) of samples of which media without poles fill `parts` (samples, media), `slim` of the line across the
    interface, n_c^2 being `along` (samples,).

    relative: (media,), eps_m.
    """
    parallel, series = (parts * relative).sum(axis=1), 1.0 / (slim / relative).sum(axis=1)
    found = 1.0 / (along / series + (1.0 - along) / parallel)
    slope = slim * along[:, None] / relative**2 + parts * ((1.0 - along) / parallel**2)[:, None]
    return found, slope * found[:, None] ** 2


def thinned(part: np.ndarray, square: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The filled share of a cell, behind a plane, of the grid line that crosses the plane most steeply.

    part: what it fills of the box of `lengths` (samples, 3) about the middle of that length; square: (samples, 3), of
    the normal's parts. The volume below a plane in a box is that of Scardovelli and Zaleski (2000), by bisection.
    """
    slope = np.sqrt(np.maximum(square, FLATTEST)) * lengths
    slope /= slope.sum(axis=1)[:, None]

    def below(height: np.ndarray) -> np.ndarray:
        cubes = [height, *(height - 1.0 + slope.T)], height - slope.T
        above, under = (sum(np.maximum(x, 0.0) * x * x for x in parts) for parts in cubes)
        return (above - under) / (6.0 * slope[:, 0] * slope[:, 1] * slope[:, 2])

    low, high = np.zeros(part.size), np.ones(part.size)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        less = below(middle) < part
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return np.clip(0.5 + (0.5 * (low + high) - 0.5) / slope.max(axis=1), 0.0, 1.0)


def narrowness(along: np.ndarray, ratio: np.ndarray) -> np.ndarray:
    """Width of the layer of samples that are neither medium, over that of those which a plane crosses.

    1/(1 + 4 n_c^2 (1 - n_c^2) (<eps> <1/eps> - 1)) of equal parts of media with this ratio, n_c^2 being `along`.
    """
    return 1.0 / (1.0 + along * (1.0 - along) * (ratio - 1.0) ** 2 / ratio)


def weigh(crossed: Crossed, own: int, relative: np.ndarray, contrast: Contrast, thin: np.ndarray) -> Weights:
    """Means at samples along axis `own`; `thin`: where 1/eps is a mean over a line."""
    parts, square = np.round(crossed.parts, DIGITS), np.round(crossed.normal**2, DIGITS)
    aslant = square.max(axis=1) < ALIGNED
    rows = np.nonzero(thin & aslant & ((parts > 0.0).sum(axis=1) == 2))[0]
    one, other = np.nonzero(parts[rows] > 0.0)[1].reshape(-1, 2).T
    slim = parts.copy()
    slim[rows, one] = thinned(parts[rows, one], square[rows], crossed.lengths[rows])
    width = narrowness(square[rows, own], contrast.sizes[one] / contrast.sizes[other])
    for filled in (slim, parts):
        filled[rows, one] = np.clip(0.5 + (filled[rows, one] - 0.5) / width, 0.0, 1.0)
        filled[rows, other] = 1.0 - filled[rows, one]
    lent = weighed(parts, slim, square[:, own], contrast.sizes)[1]
    found = (lent * relative).sum(axis=1)
    whole = (parts[:, contrast.turns] > 0.0).any(axis=1)
    most = np.round(parts[whole], DIGITS).argmax(axis=1)
    found[whole], lent[whole] = relative[most], np.eye(relative.size)[most]
    kept = ~whole | aslant
    return Weights(pair(n[kept] for n in crossed.at), found[kept], lent[kept])


def off_diagonal(crossed: Crossed, relative: np.ndarray) -> NodeTensors | None:
    """n_a n_b (<1/eps> - 1/<eps>) about nodes; None where all of it is zero."""
    normal = crossed.normal
    size = (crossed.parts / relative).sum(axis=1) - 1.0 / (crossed.parts * relative).sum(axis=1)
    found = np.stack([size * normal[:, (c + 1) % 3] * normal[:, (c + 2) % 3] for c in range(3)], axis=1)
    found = np.round(found * relative.min(), DIGITS) / relative.min()
    kept = found.any(axis=1)
    return NodeTensors(pair(n[kept] for n in crossed.at), found[kept]) if kept.any() else None
