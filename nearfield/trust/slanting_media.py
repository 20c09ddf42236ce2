"""How much of the field's energy the means of media miss at curved and slanting surfaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.coefficients.media_means import PERMITTIVITY
from nearfield.coefficients.plane_means import ALL, PlaneMeans
from nearfield.metal.patches import Window, pair
from nearfield.trust.entries import Trust, judged

if TYPE_CHECKING:
    from nearfield.coefficients.interfaces import Crossed
    from nearfield.discretization.discretization import Discretization

SHIFT = 2.0, 10.0  # % of a frequency; spheres and discs that ring have a fourth of it and less
PLANES = 8  # of nodes that are looked at, at most


def slanting_media(setup: Discretization) -> Iterator[Trust]:
    """The shift (%) of a mode whose field is as strong along such surfaces as within the media: an upper estimate.

    A field E of one strength along a surface, in both directions, holds 2 <eps> E^2 about a node, and sum over a of
    (1 - n_a^2)/xi_aa E^2 in the coefficients, xi_aa = n_a^2 <1/eps> + (1 - n_a^2)/<eps> (docs/method.md). Half of
    what is missing, over the energy that eps adds to the vacuum's, is the part by which frequencies rise.
    """
    means, model = setup.coefficients.means, setup.simulation
    box = means.slanting_nodes()
    if any(low >= high for low, high in box) or np.ptp(means.table[:, PERMITTIVITY]) == 0.0:
        return
    missing = held = 0.0
    (first, last), window = box[0], pair(box[1:])
    for plane in np.unique(first + (last - first) * (2 * np.arange(PLANES) + 1) // (2 * PLANES)).tolist():
        here = PlaneMeans(means, 0, plane, window)
        crossed = here.crossed_nodes()
        missing += 0.0 if crossed is None else _missing(setup, crossed)
        held += _held(setup, here.mean(0, PERMITTIVITY), plane, window)
    if missing > 0.0 < held:
        cure = 'averaging="tensor" keeps second order where media have no loss; ' if model.averaging != "tensor" else ""
        text = (
            "by which a mode comes out high whose field is as strong along curved or slanting surfaces of media as "
            "within them; spheres and discs that ring have a fourth of it and less. It falls as the cell does; "
            f"{cure}`nearfield converge` shows what there is here"
        )
        yield judged("slanting surfaces of media", 50.0 * missing / held, *SHIFT, text, "%")


def _missing(setup: Discretization, crossed: Crossed) -> float:
    """Sum of eps times volume (m^3) that fields along the surfaces of these nodes do not have in the coefficients."""
    means, averaging = setup.coefficients.means, setup.simulation.averaging
    if averaging == "tensor":
        crossed = crossed.chosen(crossed.parts @ means.keeps_nothing <= ALL)
    relative = means.table[:, PERMITTIVITY]
    series, parallel = crossed.parts @ (1.0 / relative), crossed.parts @ relative
    volume = crossed.lengths.prod(axis=1)
    if averaging == "volume":  # all of it is parallel; fields across a surface have too much
        return float(volume @ (parallel - 1.0 / series))
    across = crossed.normal**2
    kept = ((1.0 - across) / (across * series[:, None] + (1.0 - across) / parallel[:, None])).sum(axis=1)
    return float(volume @ (2.0 * parallel - kept))


def _held(setup: Discretization, permittivity: Any, plane: int, window: Window) -> float:
    """Sum of eps, less the least there is, times volume (m^3) of edges along x."""
    grid, least = setup.grid, setup.coefficients.means.table[:, PERMITTIVITY].min()
    across = np.outer(*(grid.dual(1 + n)[low:high] for n, (low, high) in enumerate(window)))
    length = grid.primary(0)[min(plane, grid.cells[0] - 1)]
    return float(np.sum((np.broadcast_to(permittivity, across.shape) - least) * across) * length)
