"""The samples whose update a change of a model touches, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from nearfield.entry.errors import ModelError
from nearfield.grid.yee import COMPONENTS, is_half

if TYPE_CHECKING:
    from nearfield.coefficients.coefficients import Coefficients
    from nearfield.discretization.discretization import Discretization

Models = tuple["Discretization", "Discretization", "Discretization"]

RUN, MORE, LESS = range(3)  # of `Models`: as it runs; with more and less of a parameter
UNLIKE = 4.0  # times the change to the other side, from which on a change is a leap
SAME = 1e-9  # of a length; grids differ by rounding too
ABOUT = 3  # cells from an edge of metal within which it changes coefficients


@dataclass(frozen=True)
class Touched:
    """Samples of one component that a change touches.

    index: (3, n). stay, drive: (3, n) each, Ca and Cb (or Da and Db) of the model as it runs, with more and with less
    of the parameter. leap: changes of a coefficient, over its largest value, that may be no change of a small step.
    """

    component: int
    index: np.ndarray
    stay: np.ndarray
    drive: np.ndarray
    leap: float

    @property
    def dead(self) -> np.ndarray:
        """Which samples, (n,), are zero for good in the model as it is."""
        return self.drive[RUN] == 0.0

    @cached_property
    def leaps(self) -> np.ndarray:
        """Which samples leap with more, and which with less of the parameter, (2, n): from metal to the open, say."""
        moved = np.abs(self.drive[[MORE, LESS]] - self.drive[RUN])
        return (moved > self.leap * self.drive.max(axis=0)) & (moved > UNLIKE * moved[::-1])

    def response(self, which: int, turn: np.ndarray) -> np.ndarray:
        """What a unit of curl makes in a step: (frequency, n); `which`: one of `Models`.

        turn: exp(j w dt), (frequency,); E (sqrt(z) - Ca/sqrt(z)) = Cb curl, so that E = Cb/(...) curl.
        """
        half = np.sqrt(turn)[:, None]
        made: np.ndarray = self.drive[which] / (half - self.stay[which] / half)
        return made


def touched(models: Models, leap: float) -> list[Touched]:
    """The samples in which coefficients or lengths differ with more and less of a parameter, by component; `leap`: see
    `Touched`.

    Error: a sample has a medium that remembers, whose update is more than Ca and Cb.
    """
    found = [part for part in (_of_component(models, component, leap) for component in range(6)) if part.index.size]
    for part in found:
        for model in models:
            _refuse_memory(model.coefficients, part)
    return found


def _of_component(models: Models, component: int, leap: float) -> Touched:
    index, stay, drive = [], [], []
    x, y, z = (_moved(models, component, axis) for axis in range(3))
    _, ny, nz = models[0].coefficients.active
    for plane, here in enumerate(x):
        pairs = [model.coefficients.window(0, plane, ((0, ny), (0, nz))).pair(component) for model in models]
        beside = [zip(pairs[RUN], pairs[which]) for which in (MORE, LESS)]
        differ = np.any([own != other for pair in beside for own, other in pair], axis=0)
        live = np.any([pair[1] != 0.0 for pair in pairs], axis=0)
        row, column = at = np.nonzero(differ | live & (here | y[:, None] | z))
        index.append(np.stack((np.full(row.size, plane), row, column)))
        stay.append(np.stack([pair[0][at] for pair in pairs]))
        drive.append(np.stack([pair[1][at] for pair in pairs]))
    joined = [np.concatenate(part, axis=1) for part in (index, stay, drive)]
    return Touched(component, joined[0], joined[1], joined[2], leap)


def _moved(models: Models, component: int, axis: int) -> np.ndarray:
    """Which samples of a component along an axis have other lengths on another of the grids: (active,)."""
    half = is_half(component, axis)
    own, *others = (model.grid.primary(axis) if half else model.grid.dual(axis) for model in models)
    count = models[0].coefficients.active[axis]
    changed = np.any([np.abs(other - own) > SAME * own for other in others], axis=0)[:count]
    return np.pad(changed, (0, count - changed.size))


def _refuse_memory(model: Coefficients, part: Touched) -> None:
    if not model.pole_media:
        return
    weights = model.parts_at(part.component, *part.index)[3::2]
    if np.any(weights):
        raise ModelError(
            f"the parameter changes samples of {COMPONENTS[part.component]} in a dispersive medium or on a conductor "
            "with skin effect; sensitivities know media without poles and perfect metal. Vary it by `sweep` instead"
        )


def sides_of(parts: Sequence[Touched]) -> list[np.ndarray]:
    """The side of the parameter on which each sample's coefficients go on smoothly: +1 from the model as it
    is to more of the parameter, -1 from less of it, 0 from less to more.

    An edge of metal on a grid line leaves samples about it for good when it moves one way, and takes others when it
    moves the other way; what lies within `ABOUT` cells of a sample that leaps is asked on the other side.
    """
    leaping = [(part.index[:, leaps].T, side) for part in parts for leaps, side in zip(part.leaps, (-1, 1))]
    places = np.concatenate([place for place, _ in leaping]) if leaping else np.empty((0, 3))
    if not len(places):
        return [np.zeros(part.index.shape[1], int) for part in parts]
    smooth = np.concatenate([np.full(len(place), side) for place, side in leaping])
    distance, nearest = zip(*(cKDTree(places).query(part.index.T, p=np.inf) for part in parts))
    return [np.where(far <= ABOUT, smooth[which], 0) for far, which in zip(distance, nearest)]


def neighbours(part: Touched) -> Iterator[tuple[int, np.ndarray, int, int]]:
    """The samples whose differences make the curl at dead samples: component, index (3, n), sign, axis of difference.

    Curl of component c: d(F of c+2)/d(c+1) - d(F of c+1)/d(c+2), of H for E (to the sample's lower side and its own
    number) and of E for H (its own number and the next).
    """
    own, other = part.component % 3, 3 if part.component < 3 else 0
    index = part.index[:, part.dead]
    for sign, axis, field in ((1, (own + 1) % 3, (own + 2) % 3), (-1, (own + 2) % 3, (own + 1) % 3)):
        beside = index.copy()
        beside[axis] += -1 if other == 3 else 1
        yield field + other, index, sign * (1 if other == 3 else -1), axis
        yield field + other, beside, -sign * (1 if other == 3 else -1), axis
