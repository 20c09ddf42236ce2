"""The cross-section of a guide on the Yee grid: which edges in a plane carry E, their lengths, what fills the guide.

The guide runs along axis n, u and v follow it cyclically. In the plane of a node, E_u stands at (half u, node v), E_v
at (node u, half v), H_n at (half u, half v); half a cell along the guide H_v lies beside E_u, H_u beside E_v, and E_n
at (node u, node v). Arrays cover a window of nodes a little larger than the opening; what is not of the guide is dead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.triples import triple
from nearfield.grid.yee import AXES
from nearfield.guides.analytic import Opening
from nearfield.guides.filling import Filling, coefficients_at, filling_of
from nearfield.guides.window import Place
from nearfield.lowering.context import Context

MARGIN = 2  # cells of the window beyond the opening: a round hole in metal may take one more


@dataclass(frozen=True)
class Edges:
    """Live edges: component and (i, j, k) of E, component of the H beside it, the sign of that in n x H, area (m^2),
    open part, Cb of E and Db of that H, in the cell after the plane and in that before it."""

    component: np.ndarray
    index: np.ndarray
    magnetic: np.ndarray
    turn: np.ndarray
    area: np.ndarray
    free: np.ndarray
    cb: np.ndarray
    db: np.ndarray
    db_before: np.ndarray


@dataclass(frozen=True)
class Traces:
    """Weights of a mode on the live edges of its plane, and on the H beside them.

    `launched`: of the incident H and E that E and H are given; `shares`: (edges, profiles) of each profile in these;
    `received`: (profiles, edges) of the sums over E and over H.
    """

    launched: tuple[np.ndarray, np.ndarray]
    shares: tuple[np.ndarray, np.ndarray]
    received: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Section:
    """Live E_u (cells u, nodes v), E_v (nodes u, cells v), E_n (nodes, nodes) and cells of a guide; lengths in m."""

    place: Place
    live_u: np.ndarray
    live_v: np.ndarray
    live_n: np.ndarray
    cells: np.ndarray
    primary: tuple[np.ndarray, np.ndarray]
    dual: tuple[np.ndarray, np.ndarray]
    filling: Filling

    @property
    def live(self) -> tuple[np.ndarray, np.ndarray]:
        """Live E_u and E_v."""
        return self.live_u, self.live_v

    @property
    def areas(self) -> tuple[np.ndarray, np.ndarray]:
        """Part of the plane (m^2) that E_u and E_v stand for."""
        return np.outer(self.primary[0], self.dual[1]), np.outer(self.dual[0], self.primary[1])

    @property
    def edges(self) -> Edges:
        """The live edges of the plane, E_u first."""
        filling, across, parts = self.filling, self.place.across, []
        free, (cb, db) = (filling.open_u, filling.open_v), (filling.electric, filling.magnetic)
        for turned, mask in enumerate(self.live):
            index = np.stack([number[mask] for number in self.place.index(across[turned], self.place.node)])
            own, other = (np.full(index.shape[1], number) for number in (across[turned], 3 + across[1 - turned]))
            turn = np.full(own.size, -1.0 if turned else 1.0)  # n x u = v, n x v = -u
            values = (each[turned][mask] for each in (self.areas, free, cb, db, filling.before))
            parts.append((own, index, other, turn, *values))
        return Edges(*(np.concatenate(part, axis=-1) for part in zip(*parts)))


def guide_section(context: Context, who: str, place: Place, opening: Opening) -> Section:
    """The guide that the opening is in. Errors: a lossy filling, a wall with a hole, a step there."""
    u, v = place.across
    planes = [_live(context, place, node) for node in (place.node, place.node - 1, place.node + 1)]
    chosen = _uncovered if opening.shape == "open" else _connected
    cells = chosen(context, who, place, opening, *planes[0][:2])
    beside = (_beside(cells, 1), _beside(cells, 0), _beside(_beside(cells, 0), 1))
    masks = [triple(live & near for live, near in zip(plane, beside)) for plane in planes]
    for mask in masks[1:]:
        if any((found != wanted).any() for found, wanted in zip(mask, masks[0])):
            raise ModelError(
                f"{who}: the guide's cross-section changes within a cell of the port's plane; a port needs an even "
                "guide, so let it run on for a few cells on both sides of the plane"
            )
    if opening.shape != "open" and (masks[0][0][:, [0, -1]].any() or masks[0][1][[0, -1], :].any()):
        raise ModelError(
            f"{who}: the guide is not closed by metal around the given rectangle; let `lower` and `upper` be the "
            "corners of its opening, on the metal (of half a guide behind a PMC wall give the whole, with `symmetry`)"
        )
    grid, spans = context.grid, list(zip((u, v), place.first, place.last))
    (pu, du), (pv, dv) = ((grid.primary(a)[low:high], grid.dual(a)[low : high + 1]) for a, low, high in spans)
    filling = filling_of(context, who, place, masks[0], cells)
    return Section(place, *masks[0], cells, (pu, pv), (du, dv), filling)


def ends_as_it_begins(context: Context, who: str, place: Place, opening: Opening, end: int) -> bool:
    """Whether the plane of node `end` has the live edges of the port's own, in the guide which the opening is in."""
    own, far = (_live(context, place, node)[:2] for node in (place.node, end))
    cells = (_uncovered if opening.shape == "open" else _connected)(context, who, place, opening, *own)
    beside = _beside(cells, 1), _beside(cells, 0)
    return all(bool((a == b)[near].all()) for a, b, near in zip(own, far, beside))


def _live(context: Context, place: Place, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where E_u and E_v in the plane of a node, and E_n in the cell between it and the port's, are alive."""
    planes = zip((*place.across, place.axis), (node, node, min(node, place.node)))
    return triple(coefficients_at(context, axis, place.index(axis, along))[1] != 0.0 for axis, along in planes)


def linked(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Labels of the parts of an array that hang together by links between neighbours along its two axes."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    number = np.arange(second.shape[0] * first.shape[1]).reshape(second.shape[0], first.shape[1])
    one = np.concatenate((number[:-1][first], number[:, :-1][second]))
    other = np.concatenate((number[1:][first], number[:, 1:][second]))
    links = coo_matrix((np.ones(one.size), (one, other)), shape=(number.size,) * 2)
    return connected_components(links, directed=False)[1].reshape(number.shape)


def _uncovered(context: Context, who: str, place: Place, opening: Opening, live_u, live_v) -> np.ndarray:
    """The cells of an open line's window that are not all in metal."""
    cells = live_u[:, 1:] | live_u[:, :-1] | live_v[1:] | live_v[:-1]
    if not cells.any():
        raise in_metal(context, who, place)
    return cells


def in_metal(context: Context, who: str, place: Place) -> ModelError:
    """The refusal of a port in a conductor."""
    return ModelError(
        f"{who} lies in metal: no edge within its opening in the plane {AXES[place.axis]}="
        f"{context.grid.lines[place.axis][place.node]:.6g} m carries a field; let it lie across the guide"
    )


def _connected(context: Context, who: str, place: Place, opening: Opening, live_u, live_v) -> np.ndarray:
    """The cells of the window that hang together, over live edges, with most of the opening."""
    label = linked(live_v[1:-1, :], live_u[:, 1:-1])  # E_u divides neighbours along v
    centres = (context.grid.centres(a)[low:high] for a, low, high in zip(place.across, place.first, place.last))
    inside = opening.holds(*np.meshgrid(*centres, indexing="ij"))
    inside &= live_u[:, 1:] | live_u[:, :-1] | live_v[1:] | live_v[:-1]
    if not inside.any():
        raise in_metal(context, who, place)
    return label == np.bincount(label[inside]).argmax()


def _beside(cells: np.ndarray, axis: int) -> np.ndarray:
    """The lines along an axis of an array, one more than there are cells, that touch a chosen one."""
    pad = [(0, 0)] * 2
    pad[axis] = (1, 1)
    padded = np.pad(cells, pad)
    lower, upper = (padded.take(range(n, n + cells.shape[axis] + 1), axis) for n in (0, 1))
    return lower | upper
