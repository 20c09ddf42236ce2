"""The cross-section of a guide on the Yee grid: which edges in a plane carry E, their lengths, what fills the guide.

The guide runs along axis n, u and v follow it cyclically. In the plane of a node, E_u stands at (half u, node v), E_v
at (node u, half v), H_n at (half u, half v); half a cell along the guide H_v lies beside E_u, H_u beside E_v, and E_n
at (node u, node v). Arrays cover a window of nodes a little larger than the opening; what is not of the guide is dead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.errors import ModelError
from nearfield.grid import AXES
from nearfield.guides.analytic import Opening
from nearfield.plan import Context
from nearfield.yee import is_half

MARGIN = 2  # cells of the window beyond the opening: a round hole in metal may take one more
LOSSLESS = 1e-9


@dataclass(frozen=True)
class Place:
    """Where a port's window lies: the guide's axis, node of the plane, first and last nodes along u and v."""

    axis: int
    node: int
    first: tuple[int, int]
    last: tuple[int, int]

    @property
    def across(self) -> tuple[int, int]:
        """The axes u and v."""
        return (self.axis + 1) % 3, (self.axis + 2) % 3

    def index(self, component: int, along: int) -> tuple[np.ndarray, ...]:
        """i, j, k of a component's samples in the window, arrays over (u, v); `along`: the number along the guide."""
        ends = [last + (not is_half(component, a)) for a, last in zip(self.across, self.last)]
        mesh = np.meshgrid(*(np.arange(low, high) for low, high in zip(self.first, ends)), indexing="ij")
        index = [np.full(mesh[0].shape, along)] * 3
        for a, values in zip(self.across, mesh):
            index[a] = values
        return tuple(index)


@dataclass(frozen=True)
class Section:
    """Live E_u (cells u, nodes v), E_v (nodes u, cells v), E_n (nodes, nodes) and cells of a guide; lengths in m.

    `open_u`, `open_v`, `open_cells`: the part of an edge or cell that is not in metal. Where it is f, arrays hold f E,
    E's coefficient is f/eps_r, and that of H in a face 1/(mu_r f).
    """

    place: Place
    live_u: np.ndarray
    live_v: np.ndarray
    live_n: np.ndarray
    cells: np.ndarray
    primary: tuple[np.ndarray, np.ndarray]
    dual: tuple[np.ndarray, np.ndarray]
    open_u: np.ndarray
    open_v: np.ndarray
    open_cells: np.ndarray
    permittivity: float
    permeability: float

    @property
    def areas(self) -> tuple[np.ndarray, np.ndarray]:
        """Part of the plane (m^2) that E_u and E_v stand for."""
        return np.outer(self.primary[0], self.dual[1]), np.outer(self.dual[0], self.primary[1])


def guide_section(context: Context, who: str, place: Place, opening: Opening) -> Section:
    """That of the guide which the opening is in. Errors: a lossy or mixed filling, a wall with a hole, a step there."""
    u, v = place.across
    planes = [_live(context, place, node) for node in (place.node, place.node - 1, place.node + 1)]
    cells = _connected(context, who, place, opening, *planes[0][:2])
    beside = (_beside(cells, 1), _beside(cells, 0), _beside(_beside(cells, 0), 1))
    masks = [tuple(live & near for live, near in zip(plane, beside)) for plane in planes]
    for mask in masks[1:]:
        if any((found != wanted).any() for found, wanted in zip(mask, masks[0])):
            raise ModelError(
                f"{who}: the guide's cross-section changes within a cell of the port's plane; a port needs an even "
                "guide, so let it run on for a few cells on both sides of the plane"
            )
    live_u, live_v, live_n = masks[0]
    if live_u[:, [0, -1]].any() or live_v[[0, -1], :].any():
        raise ModelError(
            f"{who}: the guide is not closed by metal around the given rectangle; let `lower` and `upper` be the "
            "corners of its opening, on the metal (of half a guide behind a PMC wall give the whole, with `symmetry`)"
        )
    spans = [slice(low, high) for low, high in zip(place.first, place.last)]
    nodes = [slice(low, high + 1) for low, high in zip(place.first, place.last)]
    grid = context.grid
    return Section(
        place, live_u, live_v, live_n, cells,
        tuple(grid.primary(a)[span] for a, span in zip((u, v), spans)),
        tuple(grid.dual(a)[span] for a, span in zip((u, v), nodes)),
        *_filling(context, who, place, live_u, live_v, live_n, cells),
    )  # fmt: skip


def _above(context: Context, component: int, index: tuple) -> list[np.ndarray]:
    """Places of samples, those below a plane of symmetry mirrored."""
    index, grid = list(index), context.grid
    for axis in (axis for axis in range(3) if grid.mirrors[axis]):
        middle = grid.cells[axis] // 2
        index[axis] = np.where(index[axis] >= middle, index[axis], 2 * middle - is_half(component, axis) - index[axis])
    return index


def _coefficients(context: Context, component: int, index: tuple, media: bool = False) -> tuple[np.ndarray, ...]:
    """(Ca, Cb) or (Da, Db), of the media alone if wanted."""
    ask = context.coefficients.media_at if media else context.coefficients.at
    return ask(component, *_above(context, component, index))


def _live(context: Context, place: Place, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where E_u and E_v in the plane of a node, and E_n in the cell between it and the port's, are alive."""
    planes = zip((*place.across, place.axis), (node, node, min(node, place.node)))
    return tuple(_coefficients(context, axis, place.index(axis, along))[1] != 0.0 for axis, along in planes)


def _connected(context: Context, who: str, place: Place, opening: Opening, live_u, live_v) -> np.ndarray:
    """The cells of the window that hang together, over live edges, with most of the opening."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    shape = (live_u.shape[0], live_v.shape[1])
    number = np.arange(shape[0] * shape[1]).reshape(shape)
    over_u, over_v = live_u[:, 1:-1], live_v[1:-1, :]  # E_u divides neighbours along v
    one = np.concatenate((number[:, :-1][over_u], number[:-1][over_v]))
    other = np.concatenate((number[:, 1:][over_u], number[1:][over_v]))
    links = coo_matrix((np.ones(one.size), (one, other)), shape=(number.size,) * 2)
    label = connected_components(links, directed=False)[1].reshape(shape)
    centres = (context.grid.centres(a)[low:high] for a, low, high in zip(place.across, place.first, place.last))
    inside = opening.holds(*np.meshgrid(*centres, indexing="ij"))
    inside &= live_u[:, 1:] | live_u[:, :-1] | live_v[1:] | live_v[:-1]
    if not inside.any():
        raise ModelError(
            f"{who} lies in metal: no edge within its opening in the plane {AXES[place.axis]}="
            f"{context.grid.lines[place.axis][place.node]:.6g} m carries a field; let it lie across the guide"
        )
    return label == np.bincount(label[inside]).argmax()


def _beside(cells: np.ndarray, axis: int) -> np.ndarray:
    """The lines along an axis of an array, one more than there are cells, that touch a chosen one."""
    pad = [(0, 0)] * 2
    pad[axis] = (1, 1)
    padded = np.pad(cells, pad)
    lower, upper = (padded.take(range(n, n + cells.shape[axis] + 1), axis) for n in (0, 1))
    return lower | upper


def _filling(
    context: Context, who: str, place: Place, live_u, live_v, live_n, cells
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float]:
    """Open parts of E_u, E_v and cells; relative permittivity and permeability. Error: they vary, or lose power."""
    (u, v), n, node = place.across, place.axis, place.node
    drive = {}
    samples = ((u, live_u, node), (v, live_v, node), (n, live_n, node), (3 + n, cells, node))
    samples += tuple((3 + a, live, along) for a, live in ((u, live_v), (v, live_u)) for along in (node - 1, node))
    for component, mask, along in samples:
        index = tuple(part[mask] for part in place.index(component, along))
        stay, found = _coefficients(context, component, index, media=component in (3 + u, 3 + v))
        if np.abs(stay - 1.0).max(initial=0.0) > LOSSLESS:
            raise ModelError(
                f"{who}: what fills the guide at the port loses power or is dispersive; its modes are those of a "
                "lossless medium. Let the guide begin with one, or stand the port where there is one"
            )
        drive[component, along] = np.ones(mask.shape)
        drive[component, along][mask] = found
    across = np.concatenate((drive[u, node][live_u], drive[v, node][live_v]))
    inside = drive[n, node][live_n] if live_n.any() else across
    permittivity = 1.0 / inside.max()
    whole = {
        axis: live & (context.coefficients.open_fraction(axis, *_above(context, axis, place.index(axis, node))) == 1.0)
        for axis, live in ((u, live_u), (v, live_v))
    }  # media in cut cells are averaged as if there were no metal
    squares = [
        (drive[one, node] * drive[3 + other, along])[whole[one]]
        for one, other in ((u, v), (v, u)) for along in (node - 1, node)
    ]  # 1/(eps_r mu_r)
    square = np.concatenate(squares)
    if np.ptp(inside) > LOSSLESS * inside.max() or np.ptp(square) > LOSSLESS * square.max():
        raise ModelError(
            f"{who}: the guide is filled unevenly at the port (eps_r mu_r {1 / square.max():.4g} to "
            f"{1 / square.min():.4g}); its modes are those of one medium. Where a body only fills the guide, make that "
            "medium the background, or let it reach into the metal around"
        )
    permeability = 1.0 / (square[0] * permittivity)
    return (drive[u, node] * permittivity, drive[v, node] * permittivity, 1.0 / (drive[3 + n, node] * permeability),
            permittivity, permeability)  # fmt: skip
