"""Sub-pixel averages at curved and slanting surfaces: diagonal, weighted by the normal (docs/method.md, Media).

With n the unit normal in the space of a sample (its edge times its dual face) and n_c its part along the sample's own
axis, f_m the part of that space that medium m fills, and h_m its part of one cell's length of the grid line that
crosses the interface most steeply, media of sizes e_m have

    1/eps = n_c^2 <1/eps> + (1 - n_c^2)/<eps>,        <1/eps> = sum of h_m/e_m,    <eps> = sum of f_m e_m
    eps(w) = sum of g_m eps_m(w),     g_m = d eps/d e_m = eps^2 (n_c^2 h_m/e_m^2 + (1 - n_c^2) f_m/<eps>^2)

e_m of a medium with poles or a conductivity is abs(eps_m) over the band of the excitations. f_m and h_m go from one
medium to the other in a part of a cell (`narrowness`). A sample that holds a medium with Re eps <= 0 somewhere in the
band is wholly the medium that fills most of it, unless the surface lies along an axis. n is the mean of grad eps over
the space, exact for a plane: eps integrated over the space's outer faces. mu alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from nearfield.coefficients.subcells import CutAxis, Groups, Layer
from nearfield.entry.triples import Triple
from nearfield.metal.patches import pair

VANISHING = 1e-6  # relative difference of the contrast between faces below which an interface has no direction
DIGITS = 9  # decimals of parts and normals; rounded so, they do not depend on the order of sums
ALIGNED = 1.0 - 1e-6  # n_c^2 of a surface across an axis
FLATTEST = 1e-6  # n_c^2 of a surface along an axis
HALVINGS = 30  # steps of bisection
UNMIXED = 1e12  # more than the pieces in a sample's space over the least part of it that counts
Place = tuple[np.ndarray, np.ndarray]  # rows and columns of samples in a window
Pieced = Sequence[np.ndarray]  # numbers of pieces along three axes, along the first all the same
LookedUp = tuple[np.ndarray, np.ndarray]  # of pieces, see `Layer.looked_up`
Ends = Sequence[tuple[np.ndarray, np.ndarray]]  # whether pieces are the first, and the last, of their samples


class Contrast(NamedTuple):
    """Properties that tell media apart, (media,) each; contrasts.py."""

    answers: np.ndarray  # 1/Cb
    sizes: np.ndarray  # e_m: eps_m, with poles or a conductivity abs(eps_m) over the band, its geometric mean
    remembers: np.ndarray  # whether it has poles or a conductivity
    turns: np.ndarray  # whether it has poles, and somewhere in the band Re eps_m <= 0

    @property
    def mixes(self) -> np.ndarray:
        """Where a sample of several media is their mean with losses or poles, the mean of this over it is above 0."""
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
    """Part of a cell's length, on the grid line that crosses a plane most steeply, that the medium behind it fills.

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


class Pieces(NamedTuple):
    """The pieces about the samples of a plane, by three axes: that across the plane, and the two cyclically next."""

    layers: Mapping[int, Layer]  # by piece along the first axis
    axes: Triple
    cuts: tuple[CutAxis, CutAxis, CutAxis]
    groups: tuple[Groups, Groups, Groups]  # one group along the first axis
    offsets: tuple[int, int]  # pieces of the two other axes with which the layers begin

    def crossed(self, media: int) -> Place:
        """(rows, columns) of the samples that hold a piece which a curved surface between the first media crosses."""
        taken = np.logical_or.reduce([layer.mixed(media) for layer in self.layers.values() if len(layer.parts)])
        for place, (group, offset) in enumerate(zip(self.groups[1:], self.offsets)):
            index = np.minimum(group.start + np.arange(group.most)[:, None], group.stop - 1) - offset
            taken = np.logical_or.reduce([np.take(taken, part, axis=place) for part in index])
        return pair(np.nonzero(taken))

    def gathered(self, at: Place, contrast: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Shares of the media in samples' space (samples, media); the gradient of `contrast` (media,), integrated over
        what `free` (media,) of it holds, 1.0, and metal 0.0 (samples, 3); its lengths (samples, 3)."""
        count, pierced = at[0].size, not free.all()
        parts, normal, extent = np.zeros((count, contrast.size)), np.zeros((count, 3)), np.zeros((count, 3))
        which = np.zeros_like(at[0]), *at
        starts, stops = ([getattr(g, end)[n] for g, n in zip(self.groups, which)] for end in ("start", "stop"))
        for axis, cut, first, last in zip(self.axes, self.cuts, starts, stops):
            for n in range(int((last - first).max(initial=0))):
                extent[:, axis] += np.where(first + n < last, cut.length[np.minimum(first + n, last - 1)], 0.0)
        order = [self.axes.index(axis) for axis in range(3)]  # sums along x, y and z round alike in planes across any
        spans = [range(group.most) for group in self.groups]
        for ahead in product(*(spans[place] for place in order)):
            near = [start + ahead[axis] for axis, start in zip(self.axes, starts)]
            rows = np.nonzero(np.logical_and.reduce([index < stop for index, stop in zip(near, stops)]))[0]
            if not rows.size:
                continue
            here = [index[rows] for index in near]
            lengths = [cut.length[index] for index, cut in zip(here, self.cuts)]
            volume = math.prod(lengths[place] for place in order)
            known = self._looked_up(here, contrast)
            parts[rows] += volume[:, None] * known[0]
            ends = [(index == first[rows], index == last[rows] - 1) for index, first, last in zip(here, starts, stops)]
            steps = self._between_faces(known[1], ends)
            if pierced:
                steps = self._between_open_faces(here, known, ends, contrast, free)
            for axis, length, out in zip(self.axes, lengths, steps):
                normal[rows, axis] += volume / length * out
        return parts / parts.sum(axis=1)[:, None], normal, extent

    def _between_faces(self, faces: np.ndarray, ends: Ends) -> Iterator[np.ndarray]:
        """Along each axis, what the outer faces of samples have of pieces; `ends`: which are first and last."""
        for axis, (first, last) in zip(self.axes, ends):
            yield last * faces[:, axis, 1] - first * faces[:, axis, 0]

    def _between_open_faces(
        self, here: Pieced, known: LookedUp, ends: Ends, contrast: np.ndarray, free: np.ndarray
    ) -> Iterator[np.ndarray]:
        """The same of pieces `here` where metal takes a part: its surface counts as the mean of what the piece holds
        besides, so that only differences from that count, and steps to the next pieces."""
        filled, faces = known
        opened = self._looked_up(here, free)[1]
        above = faces - ((filled @ contrast) / np.maximum(filled @ free, VANISHING))[:, None, None] * opened
        for place, (axis, (_, last)) in enumerate(zip(self.axes, ends)):
            out, more = above[:, axis, 1] - above[:, axis, 0], np.nonzero(~last)[0]
            if more.size:
                beyond = [index[more] + (n == place) for n, index in enumerate(here)]
                low, low_open = (self._looked_up(beyond, own)[1][:, axis, 0] for own in (contrast, free))
                out[more] += low * opened[more, axis, 1] - faces[more, axis, 1] * low_open
            yield out

    def _looked_up(self, at: Pieced, contrast: np.ndarray) -> LookedUp:
        """See `Layer`."""
        place = tuple(index - first for index, first in zip(at[1:], self.offsets))
        return self.layers[int(at[0][0])].looked_up(place, contrast)
