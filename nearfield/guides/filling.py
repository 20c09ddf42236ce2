"""The filling of a guide on the grid: the coefficients of every sample of its cross-section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.triples import triple
from nearfield.grid.yee import is_half
from nearfield.guides.window import Place
from nearfield.lowering.context import Context
from nearfield.lowering.interpolation import Index

LOSSLESS = 1e-9  # and alike
EVEN = 0.05  # of Cb and Db about followed metal, whose stable bounds take the lengths of cells along the guide too


@dataclass(frozen=True)
class Filling:
    """Coefficients over the window: Cb of E_u, E_v, E_n, Db of the H_v and H_u beside E_u and E_v, and of H_n.

    They are those of the media without conductivity, and 1 where nothing of the guide is. `even`: of one medium.
    `open_u`, `open_v`: what metal leaves of an edge, and its field makes of eps there; where it is f, arrays hold f E
    and Cb is f/eps_r, and if `exact` Db of the H face beside is 1/(mu_r f), so that waves go as in the medium. `index`
    is the least and largest 1/(Cb Db), `before` Db of H_v and H_u in the cell before the plane, `loss` the largest
    conductivity dt/(2 eps) of a sample.
    """

    electric: tuple[np.ndarray, np.ndarray, np.ndarray]
    magnetic: tuple[np.ndarray, np.ndarray, np.ndarray]
    before: tuple[np.ndarray, np.ndarray]
    open_u: np.ndarray
    open_v: np.ndarray
    permittivity: float
    permeability: float
    index: tuple[float, float]
    even: bool
    exact: bool
    loss: float = 0.0

    @property
    def open_cells(self) -> np.ndarray:
        """The part of each cell that H along the guide counts with, of an even one."""
        return 1.0 / (self.magnetic[2] * self.permeability)

    @property
    def open_nodes(self) -> np.ndarray:
        """The part of the medium's eps that each E along the guide counts with, of an even one."""
        return 1.0 / (self.electric[2] * self.permittivity)


def _above(context: Context, component: int, index: Index) -> Index:
    """Places of samples, those below a plane of symmetry mirrored."""
    places, grid = list(index), context.grid
    for axis in (axis for axis in range(3) if grid.mirrors[axis]):
        middle, place = grid.cells[axis] // 2, places[axis]
        places[axis] = np.where(place >= middle, place, 2 * middle - is_half(component, axis) - place)
    return triple(places)


def coefficients_at(context: Context, component: int, index: Index, media=False) -> tuple[np.ndarray, np.ndarray]:
    """(Ca, Cb) or (Da, Db) between perfect metal, of the media alone if wanted."""
    i, j, k = _above(context, component, index)
    if media:
        return context.coefficients.media_at(component, i, j, k)
    return context.coefficients.at(component, i, j, k, perfect=True)


def filling_of(context: Context, who: str, place: Place, live: tuple, cells: np.ndarray) -> Filling:
    """The filling of the live E_u, E_v, E_n and cells. Errors: it loses power, or changes along the guide."""
    (u, v), n, node = place.across, place.axis, place.node
    live_u, live_v, live_n = live

    losses = [0.0]

    def drive(component: int, mask: np.ndarray, along: int, media: bool = False) -> np.ndarray:
        found, loss = _drive(context, who, component, mask, place.index(component, along), media)
        losses.append(loss)
        return found

    def faces(along: int, media: bool = False) -> tuple[np.ndarray, np.ndarray]:
        return drive(3 + v, live_u, along, media), drive(3 + u, live_v, along, media)

    electric = drive(u, live_u, node), drive(v, live_v, node), drive(n, live_n, node)
    media = drive(u, live_u, node, True), drive(v, live_v, node, True), drive(n, live_n, node, True)
    beside = [faces(along) for along in (node - 1, node)]
    around = [(u, live_u, 0), (v, live_v, 0), (u, live_u, 2), (v, live_v, 2), (n, live_n, 0)]
    pairs = [
        (drive(a, mask, node - 1 + on, alone), (media if alone else electric)[(u, v, n).index(a)], within)
        for alone, within in ((True, LOSSLESS), (False, EVEN))
        for a, mask, on in around
    ]
    pairs += [(*pair, EVEN) for pair in zip(*beside)]
    pairs += [(*pair, LOSSLESS) for pair in zip(faces(node - 1, True), faces(node, True))]
    if not all(_same(*pair) for pair in pairs):
        raise ModelError(
            f"{who}: what fills the guide changes within a cell of the port's plane; a port needs an even guide, so "
            "let it run on for a few cells on both sides of the plane"
        )
    free = [_open(context, axis, place, mask) for axis, mask in ((u, live_u), (v, live_v))]
    whole = [mask & (part == 1.0) for mask, part in zip((live_u, live_v), free)]
    inside = media[2][live_n] if live_n.any() else np.concatenate((media[0][live_u], media[1][live_v]))
    of_media, square = _products(media, faces(node, True), whole), _products(electric, beside[1], (live_u, live_v))
    if not of_media.size:
        raise ModelError(
            f"{who}: metal cuts every edge across its opening, so the guide is narrower than a cell there and its "
            "modes cannot be found; let two cells or more lie between its walls"
        )
    permittivity, permeability = 1.0 / inside.max(), inside.max() / of_media[0]
    even = _alike(inside) and _alike(of_media) and _isotropic(media, (*whole, live_n), inside.max())
    if even:
        free = [cb * permittivity for cb in electric[:2]]
    index, exact = (1.0 / square.max(), 1.0 / square.min()), even and _alike(np.append(square, of_media[0]))
    magnetic = *beside[1], drive(3 + n, cells, node)
    return Filling(
        electric, magnetic, beside[0], free[0], free[1], permittivity, permeability, index, even, exact, max(losses)
    )


def _products(
    electric: Sequence[np.ndarray], magnetic: Sequence[np.ndarray], masks: Sequence[np.ndarray]
) -> np.ndarray:
    """Cb of E_u and E_v times Db of the H beside them."""
    return np.concatenate([(cb * db)[mask] for cb, db, mask in zip(electric, magnetic, masks)])


def _alike(values: np.ndarray) -> bool:
    return bool(np.ptp(values) <= LOSSLESS * values.max())


def _isotropic(electric: Sequence[np.ndarray], masks: Sequence[np.ndarray], along: float) -> bool:
    """Whether Cb of the medium is the same across the guide, on edges that no metal cuts, as along it."""
    values = np.concatenate([cb[mask] for cb, mask in zip(electric, masks)])
    return bool(np.abs(values - along).max(initial=0.0) <= LOSSLESS * along)


def _same(one: np.ndarray, other: np.ndarray, within: float) -> bool:
    return bool(np.abs(one - other).max() <= within * np.abs(one).max())


def _drive(
    context: Context, who: str, component: int, mask: np.ndarray, place: Index, media: bool
) -> tuple[np.ndarray, float]:
    """Cb or Db as without conductivity where the mask is set, 1 elsewhere, and the largest conductivity dt/(2 eps)."""
    samples = triple(part[mask] for part in place)
    stay, found = coefficients_at(context, component, samples, media)
    lossy, values = np.abs(stay - 1.0) > LOSSLESS, np.ones(mask.shape)
    if lossy.any() and (component >= 3 or _dispersive(context, component, samples)):
        raise ModelError(
            f"{who}: what fills the guide at the port is dispersive or loses power magnetically; its modes are those "
            "of media with a permittivity and at most some conductivity. Let the guide begin with such, or stand the "
            "port where there is one; a loss tangent at the middle of the pulse's band is conductivity = 2 pi f eps tan"
        )
    values[mask] = np.where(lossy, 2.0 * found / (1.0 + stay), found)
    return values, float(((1.0 - stay) / (1.0 + stay)).max(initial=0.0))


def _dispersive(context: Context, component: int, samples: Index) -> bool:
    """Whether poles act on any of the samples."""
    if not context.coefficients.remembering(component >= 3):
        return False
    return bool(context.coefficients.parts_at(component, *_above(context, component, samples))[3::2].any())


def _open(context: Context, axis: int, place: Place, mask: np.ndarray) -> np.ndarray:
    """Open parts of the live edges along an axis, 1 elsewhere."""
    found = context.coefficients.open_fraction(axis, *_above(context, axis, place.index(axis, place.node)))
    return np.where(mask, found, 1.0)
