"""The pieces of space about the samples of a plane: which samples a surface crosses, and how."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from nearfield.coefficients.interfaces import Place
from nearfield.coefficients.subcells import CutAxis, Groups, Layer
from nearfield.entry.triples import Triple
from nearfield.metal.patches import pair


class Pieces(NamedTuple):
    """The pieces about the samples of a plane, by three axes: that across the plane, and the two cyclically next."""

    layers: Mapping[int, Layer]  # by piece along the first axis
    axes: Triple
    cuts: tuple[CutAxis, CutAxis, CutAxis]
    groups: tuple[Groups, Groups, Groups]  # one group along the first axis
    offsets: tuple[int, int]  # pieces of the two other axes with which the layers begin

    def crossed(self, media: int) -> Place:
        """(rows, columns) of the samples that hold a piece which a curved surface crosses."""
        taken = np.logical_or.reduce([layer.mixed(media) for layer in self.layers.values() if len(layer.parts)])
        for place, (group, offset) in enumerate(zip(self.groups[1:], self.offsets)):
            index = np.minimum(group.start + np.arange(group.most)[:, None], group.stop - 1) - offset
            taken = np.logical_or.reduce([np.take(taken, part, axis=place) for part in index])
        return pair(np.nonzero(taken))

    def gathered(self, at: Place, contrast: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Shares of the media in samples' space (samples, media); `contrast` (media,), integrated over its outer faces
        (samples, 3); its lengths (samples, 3)."""
        count = at[0].size
        parts, normal, extent = np.zeros((count, contrast.size)), np.zeros((count, 3)), np.ones((count, 3))
        which = np.zeros_like(at[0]), *at
        starts, stops = ([getattr(g, end)[n] for g, n in zip(self.groups, which)] for end in ("start", "stop"))
        for axis, cut, first, last in zip(self.axes, self.cuts, starts, stops):
            ends = np.concatenate(([0.0], np.cumsum(cut.length)))
            extent[:, axis] = ends[last] - ends[first]
        for piece, *ahead in product(self.layers, *(range(group.most) for group in self.groups[1:])):
            near = [start + n for start, n in zip(starts[1:], ahead)]
            rows = np.nonzero((near[0] < stops[1]) & (near[1] < stops[2]))[0]
            here = [np.full(rows.size, piece), *(index[rows] for index in near)]
            lengths = [cut.length[index] for index, cut in zip(here, self.cuts)]
            place = tuple(index - first for index, first in zip(here[1:], self.offsets))
            filled, faces = self.layers[piece].looked_up(place, contrast)
            volume = lengths[0] * lengths[1] * lengths[2]
            parts[rows] += volume[:, None] * filled
            for index, length, axis, first, last in zip(here, lengths, self.axes, starts, stops):
                out = (index == last[rows] - 1) * faces[..., axis, 1] - (index == first[rows]) * faces[..., axis, 0]
                normal[rows, axis] += volume / length * out
        return parts / parts.sum(axis=1)[:, None], normal, extent
