"""The filling of a guide on the grid: the coefficients of every sample of its cross-section."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.triples import triple
from nearfield.grid.yee import is_half
from nearfield.guides.window import Place
from nearfield.lowering.context import Context
from nearfield.lowering.interpolation import Index

LOSSLESS = 1e-9  # and alike


@dataclass(frozen=True)
class Filling:
    """Coefficients over the window: Cb of E_u, E_v, E_n, Db of the H_v and H_u beside E_u and E_v, and of H_n.

    They are those of the media without conductivity, and 1 where nothing of the guide is. `open_u`, `open_v`: the part
    of an edge that is not in metal; where it is f, arrays hold f E, Cb is f/eps_r, and Db of a face 1/(mu_r f). `index`
    is the least and largest eps_r mu_r, `loss` the largest conductivity dt/(2 eps) of a sample.
    """

    electric: tuple[np.ndarray, np.ndarray, np.ndarray]
    magnetic: tuple[np.ndarray, np.ndarray, np.ndarray]
    open_u: np.ndarray
    open_v: np.ndarray
    permittivity: float
    index: tuple[float, float]
    even: bool
    loss: float = 0.0

    @property
    def permeability(self) -> float:
        """Of an even one."""
        return self.index[0] / self.permittivity

    @property
    def open_cells(self) -> np.ndarray:
        """The part of each cell that is not in metal, of an even one."""
        return 1.0 / (self.magnetic[2] * self.permeability)


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
    beside = [faces(along) for along in (node - 1, node)]
    magnetic = *beside[1], drive(3 + n, cells, node)
    inside = electric[2][live_n] if live_n.any() else np.concatenate((electric[0][live_u], electric[1][live_v]))
    free = [_open(context, axis, place, mask) for axis, mask in ((u, live_u), (v, live_v))]
    whole = [mask & (part == 1.0) for mask, part in zip((live_u, live_v), free)]
    square = np.concatenate(  # of the media: faces that conformal metal makes count larger are no filling
        [(cb * db)[mask] for along in (node - 1, node) for cb, db, mask in zip(electric, faces(along, True), whole)]
    )
    alike = np.ptp(inside) <= LOSSLESS * inside.max() and np.ptp(square) <= LOSSLESS * square.max()
    permittivity = 1.0 / inside.max()
    around = [(u, live_u, 0), (v, live_v, 0), (u, live_u, 2), (v, live_v, 2), (n, live_n, 1)]
    same = alike or all(_same(drive(a, mask, node - 1 + on), electric[(u, v, n).index(a)]) for a, mask, on in around)
    if not same or not all(_same(*pair) for pair in zip(*beside)):
        raise ModelError(
            f"{who}: what fills the guide changes within a cell of the port's plane; a port needs an even guide, so "
            "let it run on for a few cells on both sides of the plane"
        )
    if alike:
        free = [cb * permittivity for cb in electric[:2]]
    index = (1.0 / square[0],) * 2 if alike else (1 / square.max(), 1 / square.min())
    return Filling(electric, magnetic, free[0], free[1], permittivity, index, alike, max(losses))


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.abs(one - other).max() <= LOSSLESS * np.abs(one).max())


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
