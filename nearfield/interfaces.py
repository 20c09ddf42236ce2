"""Sub-pixel averages at curved and slanting surfaces: diagonal, weighted by the normal of the interface.

Where media meet in the space of a sample (its edge times its dual face), with n the unit normal there and n_c its part
along the sample's own axis, D is continuous along n and E across it:

    1/eps = n_c^2 <1/eps> + (1 - n_c^2)/<eps>                     < >: mean over that space

which is the diagonal of the tensor of Farjadpour et al. (2006). Each medium m, which fills the part f_m, then lends its
conductivity and its poles with the weight that its permittivity has in this mean to first order,

    g_m = d eps/d eps_m = f_m eps^2 (n_c^2/eps_m^2 + (1 - n_c^2)/<eps>^2)

A medium with poles may answer with any permittivity, negative ones too, and then a mixture passes through zero between
it and its neighbour: a layer that absorbs where neither does. A sample with such media in it takes the one that fills
most of it, all of it, unless the surface lies along an axis. Over all positions of an interface in a cell the means of
eps and of 1/eps are then both those of the media, whatever they are, which no smooth rule between them can do.

All g_m >= 0, and each medium's poles and conductivity share one of them, so a mixture is as passive as the media are;
eps lies between theirs, so that the limit of the time step stays. mu alike.

n is the mean of grad eps over the space, exact for a plane: eps integrated over the space's outer faces.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nearfield.subcells import CutAxis, Groups, Layer

VANISHING = 1e-6  # of what tells media apart: a smaller difference between faces has no direction
TIES = 9  # digits to which filled parts are compared
ALIGNED = 1.0 - 1e-6  # n_c^2 of a surface across an axis


class Contrast(NamedTuple):
    """What tells media apart, and whether they have poles: (media,) each."""

    answers: np.ndarray
    remembers: np.ndarray


class Weights(NamedTuple):
    """What the media make of some samples."""

    at: tuple[np.ndarray, np.ndarray]  # their rows and columns in a window
    relative: np.ndarray  # (samples,): permittivity or permeability
    media: np.ndarray  # (samples, media): g_m


def weighed(parts: np.ndarray, along: np.ndarray, relative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(eps, g) of samples of which media without poles fill `parts` (samples, media), n_c^2 being `along` (samples,).

    relative: (media,), eps_m.
    """
    parallel, series = (parts * relative).sum(axis=1), 1.0 / (parts / relative).sum(axis=1)
    found = 1.0 / (along / series + (1.0 - along) / parallel)
    slope = along[:, None] / relative**2 + ((1.0 - along) / parallel**2)[:, None]
    return found, parts * slope * found[:, None] ** 2


def weigh(
    at: tuple[np.ndarray, np.ndarray], parts: np.ndarray, square: np.ndarray, own: int, relative: np.ndarray,
    contrast: Contrast,
) -> Weights:  # fmt: skip
    """What media make of samples with normals whose parts have the squares `square` (samples, 3)."""
    found, lent = weighed(parts, square[:, own], relative)
    poles = (parts[:, contrast.remembers] > 0.0).any(axis=1)
    most = np.round(parts[poles], TIES).argmax(axis=1)
    found[poles], lent[poles] = relative[most], np.eye(relative.size)[most]
    kept = ~poles | (square.max(axis=1) < ALIGNED)
    return Weights(tuple(n[kept] for n in at), found[kept], lent[kept])


class Pieces(NamedTuple):
    """The pieces about the samples of a plane, by three axes: that across the plane, and the two cyclically next."""

    layers: Mapping[int, Layer]  # by piece along the first axis
    axes: tuple[int, int, int]
    cuts: tuple[CutAxis, CutAxis, CutAxis]
    groups: tuple[Groups, Groups, Groups]  # one group along the first axis
    offsets: tuple[int, int]  # pieces of the two other axes with which the layers begin

    def crossed(self, media: int) -> tuple[np.ndarray, np.ndarray]:
        """(rows, columns) of the samples that hold a piece which a curved surface crosses."""
        taken = np.logical_or.reduce([layer.numbers >= media for layer in self.layers.values() if len(layer.parts)])
        for place, (group, offset) in enumerate(zip(self.groups[1:], self.offsets)):
            index = np.minimum(group.start + np.arange(_most(group))[:, None], group.stop - 1) - offset
            taken = np.logical_or.reduce([np.take(taken, part, axis=place) for part in index])
        return np.nonzero(taken)

    def gathered(
        self, at: tuple[np.ndarray, np.ndarray], contrast: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of samples' space: what media fill of it (samples, media); the integral of what tells them apart (media,) over
        its outer faces (samples, 3); its volume (samples,)."""
        count = at[0].size
        parts, normal, whole = np.zeros((count, contrast.size)), np.zeros((count, 3)), np.zeros(count)
        which = np.zeros_like(at[0]), *at
        starts, stops = ([getattr(g, end)[n] for g, n in zip(self.groups, which)] for end in ("start", "stop"))
        for (piece, layer), *ahead in product(self.layers.items(), *(range(_most(g)) for g in self.groups[1:])):
            here = [np.full(count, piece), *(start + n for start, n in zip(starts[1:], ahead))]
            rows = np.nonzero((here[1] < stops[1]) & (here[2] < stops[2]))[0]
            here, lengths = zip(*((index[rows], cut.length[index[rows]]) for index, cut in zip(here, self.cuts)))
            place = tuple(index - first for index, first in zip(here[1:], self.offsets))
            filled, ends = layer.looked_up(layer.numbers[place] if np.ndim(layer.numbers) else 0, contrast)
            volume = lengths[0] * lengths[1] * lengths[2]
            whole[rows] += volume
            parts[rows] += volume[:, None] * filled
            for index, length, axis, first, last in zip(here, lengths, self.axes, starts, stops):
                out = (index == last[rows] - 1) * ends[..., axis, 1] - (index == first[rows]) * ends[..., axis, 0]
                normal[rows, axis] += volume / length * out
        return parts / whole[:, None], normal, whole


def _most(group: Groups) -> int:
    return int((group.stop - group.start).max())
