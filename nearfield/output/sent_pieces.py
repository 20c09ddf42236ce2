"""A snapshot as the ranks of a host sent it, put together for its file: the writer's side of `images`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.fields import FieldResult, collocate
from nearfield.formats.pieced import Pieced, Placed
from nearfield.records.records import HALF, PARTS, Variable

if TYPE_CHECKING:
    from nearfield import stream


class Pieces:
    """One snapshot as the ranks of a host sent it: pieces of components."""

    def __init__(self, task: dict[str, Any], blocks: list[stream.Block]) -> None:
        self.task, self.dtype = task, np.dtype(task["dtype"])
        self._placed: dict[str, list[Placed]] = {name: [] for name in task["regions"]}
        for part, block in zip(task["parts"], blocks):
            for name, images in parts_of([(piece, self._values(piece, block)) for piece in part["pieces"]]).items():
                self._placed[name] += images

    def _values(self, piece: dict[str, Any], block: stream.Block) -> np.ndarray:
        """The recorded samples of a piece, (x, y, z), divided by the open part of edges that metal cuts."""
        count = int(np.prod(piece["shape"])) * self.dtype.itemsize
        flat = block.data[piece["at"] : piece["at"] + count].view(self.dtype)
        values = flat.reshape(piece["shape"]).transpose(piece["turned"])
        if len(piece["open"]):
            values = values.copy()
            values[tuple(piece["cut"])] /= piece["open"]
        return values

    def box(self, name: str, lower: Sequence[int], shape: Sequence[int]) -> Pieced:
        """A component in a box of its region, SI."""
        return Pieced(self._placed[name], shape, self.dtype, lower)

    def whole(self, name: str) -> Pieced:
        """A component in its region."""
        return self.box(name, (0, 0, 0), self.task["regions"][name]["shape"])

    def averaged(self, positions: dict[str, Variable], times: dict[str, float]) -> dict[str, np.ndarray]:
        """All components at the cell centres."""
        centred: dict[str, np.ndarray] = {}
        for part in dict.fromkeys(name[2:] for name in self.task["regions"]):
            variables = dict(positions)
            for name, region in self.task["regions"].items():
                if name[2:] == part:
                    time_dim = "time" + HALF * (name[0] == "H")
                    variables[time_dim] = Variable((time_dim,), np.array([times[time_dim]]), {"units": "s"})
                    values = np.asarray(self.whole(name))[np.newaxis]
                    variables[name[:2]] = Variable((time_dim, *region["dims"]), values, {"units": ""})
            centred |= {name + part: array.values[0] for name, array in collocate(FieldResult(variables)).items()}
        return centred


def parts_of(pieces: Sequence[tuple[dict[str, Any], np.ndarray]]) -> dict[str, list[tuple]]:
    """(offset, values, sign) of all images of the pieces of a rank, by component: views, copies past a Bloch seam."""
    sent = {piece["component"]: values for piece, values in pieces}
    places: dict[str, list[tuple]] = {}
    for piece, values in pieces:
        name = piece["component"]
        for image in piece["images"]:
            take = tuple(samples(*each) for each in image["take"])
            part = turned(sent, name, take, image["lags"]) if image["lags"] else values[take]
            places.setdefault(name, []).append((image["offset"], part, image["sign"]))
    return places


def samples(first: int, count: int, step: int) -> slice:
    """The slice of `count` samples first, first + step, ..."""
    stop = first + count * step
    return slice(first, stop if stop >= 0 else None, step)


def turned(sent: dict[str, np.ndarray], name: str, take: tuple[slice, ...], lags: list[float]) -> np.ndarray:
    """A part of a complex component, which lags behind the recorded samples."""
    real, other = (sent[name[:2] + part][take] for part in PARTS)
    values = real + 1j * other
    for lag in lags:
        values = (values * np.exp(-1j * lag)).astype(values.dtype)
    return values.imag if name.endswith(PARTS[1]) else values.real
