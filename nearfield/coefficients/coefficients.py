"""Media on the Yee grid: the update coefficients Ca, Cb of every E edge and Da, Db of every H face.

    E <- Ca E + Cb (curl eta0 H) c dt,   Cb = 1/(eps_r (1 + s)),  Ca = (1 - s)/(1 + s),  s = sigma dt/(2 eps0 eps_r)
    eta0 H <- Da eta0 H - Db (curl E) c dt, the same with mu_r, sigma_m and mu0

eps_r and mu_r, sigma and sigma_m are means about the sample (media_means.py), to which lumped parts add
(edge_loads.py). Samples of conductors (conductors.py), or that do not exist, have (0, 0). Poles of dispersive media add
to Ca and Cb (dispersion.py). What scales Cb and Db alone, such as conformal metal, is a factor on what the media give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Solid
from nearfield.coefficients.contrasts import contrasts
from nearfield.coefficients.dispersion import Dispersion
from nearfield.coefficients.edge_loads import EdgeLoad, EdgeLoads, NodesMet
from nearfield.coefficients.films import carried, carriers, films
from nearfield.coefficients.media_means import METAL, Columns, MediaMeans
from nearfield.coefficients.stability import lowest_index
from nearfield.coefficients.window_coefficients import (
    MEDIA_BYTES,
    METAL_BYTES,
    Ingredients,
    Surface,
    WindowCoefficients,
    threads_for_planes,
)
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.triples import Triple, triple
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.images import images
from nearfield.grid.yee import YeeGrid, is_half
from nearfield.machine.schedule import in_order
from nearfield.media.materials import Medium
from nearfield.metal.flat_pieces import redrawn
from nearfield.metal.grid_metal import GridMetal
from nearfield.metal.patches import Patch, Window, at_samples, margin_of, next_axes, pair, shape_of, spread
from nearfield.metal.sheets import sheet_surfaces
from nearfield.metal.skin_fit import fit_band
from nearfield.metal.slanting_strips import put_in, slanting_strips
from nearfield.metal.thin_wires import ThinWires
from nearfield.metal.wire_ends import Edges
from nearfield.plan.planes import PlaneCoefficients, PoleMedium

FILLED_AT = 12  # points along each axis of the box about a body at which the part that it fills is looked for


class Coefficients:
    """Update coefficients of a model; nothing is computed before it is asked for, some planes at a time.

    `loads` are added to the media of their edges; wires go on through `gaps`, edges of circuits; `band` (Hz) is that of
    the excitations; `sharers` processes make them on this machine. Shapes and meaning: `planes`, `at`, `dense`.
    """

    def __init__(
        self,
        grid: YeeGrid,
        bodies: Sequence[FilledShape],
        background: Medium,
        boundaries: Boundaries,
        time_step: float,
        loads: Sequence[EdgeLoad] = (),
        metal: str = "staircase",
        gaps: Iterable[Edges] = (),
        band: tuple[float, float] = (0.0, 0.0),
        averaging: str = "diagonal",
        sharers: int = 1,
    ) -> None:
        self._sharers, self._filled = sharers, bool(bodies)
        self.grid, self.boundaries, self.time_step = grid, boundaries, time_step
        self.active = triple(n + (boundaries.face(a, "high") == "pmc") for a, n in enumerate(grid.cells))
        self._interior, self._background = boundaries.interior(grid), background
        drawn = ((body, shape) for body in bodies for shape in images(body.shape, grid))
        copies = [replace(body, shape=shape) for body, shape in drawn]  # type: ignore[arg-type]
        self._bodies, self.redrawn = redrawn(copies, grid)
        gaps = list(gaps)
        if metal == "conformal":
            strips = slanting_strips(self._bodies, grid, boundaries, gaps)
            self._bodies, self.redrawn = put_in(self._bodies, strips), self.redrawn + strips
        media = [background, *(body.medium for body in self._bodies if isinstance(body.medium, Medium))]
        light = VACUUM_SPEED * time_step / lowest_index(media)
        self.metal = GridMetal(grid, boundaries, self._bodies, metal == "conformal", light, gaps)
        meets = NodesMet(grid, self.metal.holds, loads, gaps)
        sheets, rims = sheet_surfaces(grid, self._interior, self._bodies, meets)
        surfaces: list[Surface] = [*sheets, *self.metal.surfaces(fit_band(*band, time_step))]
        self._columns = Columns(media)
        self._dispersion = Dispersion(media, time_step, first=self._columns.count, surfaces=surfaces)
        self.carriers = carriers(self._bodies, grid, self.metal)  # flat metal that takes faces of media along
        self.means = self._means(band, averaging)
        found = self.metal.chains, self.metal.slanting
        wires = ThinWires(grid, *found, gaps, self.metal.holds) if any(found) else None
        lent = self.means, self._dispersion, surfaces
        self.ingredients = Ingredients(time_step, *lent, self.metal, wires, EdgeLoads(loads), rims)

    @property
    def drawn(self) -> Sequence[FilledShape]:
        """The bodies, and of those that reach over periodic faces the copies in this cell; flat metal as it acts."""
        return self._bodies

    def _means(self, band: tuple[float, float], averaging: str) -> MediaMeans:
        """The bodies of media, and metal that cuts cells, painted over one another."""
        rows, painted, distinct = [self._row(self._background)], [], [self._background]
        followed = [self._bodies[number].shape for number in sorted(self.metal.followed)]
        margin = margin_of(self.grid)
        drawn = [
            (carried(body.shape, self.carriers, margin) if isinstance(body.medium, Medium) else body.shape, body.medium)
            for body in self._bodies
        ]
        media = [(shape, medium) for shape, medium in drawn if isinstance(medium, Medium)]
        filled = films(media, self._background, self.carriers, followed, margin)
        for shape, medium in (*drawn, *filled):
            if isinstance(medium, Medium):
                row = self._row(medium)
                if row not in rows:
                    rows.append(row)
                    distinct.append(medium)
                painted.append((shape, rows.index(row)))
            elif any(shape is one for one in followed):
                painted.append((shape, METAL))
        told_apart = contrasts(distinct, self._dispersion.of_media, band, self.time_step)
        table = np.array(rows)
        return MediaMeans(self.grid, self._interior, painted, table, self._columns, told_apart, averaging)

    def _row(self, medium: Medium) -> list[float]:
        """The row of a medium in the table."""
        return [*self._columns.row(medium), *self._dispersion.row(medium)]

    @property
    def pole_media(self) -> list[PoleMedium]:
        """The media that remember, by number."""
        return self._dispersion.media

    @property
    def remembering_surfaces(self) -> list[tuple[Surface, PoleMedium]]:
        """The sheets and conductors whose surface remembers, and what it keeps in each of its samples."""
        surfaces = self._dispersion.surfaces
        remembering = (kind for kind in self._dispersion.kinds if kind.medium >= 0 and kind.column in surfaces)
        return [(surfaces[kind.column], self.pole_media[kind.medium]) for kind in remembering]

    def stored_bytes(self, size: int) -> int:
        """Bytes of what dispersive media keep in a file, numbers of `size` bytes: each body in the box about it as far
        as it fills it, and a bit for each sample of the box about all bodies of a medium."""
        found = 0.0
        for kind in self._dispersion.of_media:
            if kind.medium < 0:
                continue
            bodies = [body for body in self._bodies if isinstance(body.medium, Medium) and kind.of(body.medium)]
            every = kind.of(self._background)
            low, high = np.array([body.shape.bounds() for body in bodies] or np.zeros((1, 2, 3))).swapaxes(0, 1)
            about_all = np.array([[-math.inf] * 3, [math.inf] * 3]) if every else np.stack((low.min(0), high.max(0)))
            parts = [self._filled_part(body.shape) for body in bodies]
            for component in range(3 * kind.magnetic, 3 * kind.magnetic + 3):
                box = self._samples_in(component, about_all)
                own = sum(p * self._samples_in(component, body.shape.bounds()) for p, body in zip(parts, bodies))
                kept = box if every else min(box, own)
                found += self.pole_media[kind.medium].states * kept * size + (box / 8 if kept < box else 0)
        return round(found)

    def _filled_part(self, shape: Solid) -> float:
        """The part of the box about a shape that it fills, of that within the grid."""
        lines = ((line[0], line[-1]) for line in self.grid.lines)
        ends = [(np.clip(low, *line), np.clip(high, *line)) for low, high, line in zip(*shape.bounds(), lines)]
        at = [spread(np.linspace(*own, 2 * FILLED_AT + 1)[1::2], axis, 3) for axis, own in enumerate(ends)]
        return float(np.broadcast_to(shape.contains(*triple(at)), (FILLED_AT,) * 3).mean())

    def _samples_in(self, component: int, bounds: Any) -> int:
        """Samples of a component whose cells overlap a box (m)."""
        return math.prod(self._samples_between(component, axis, *ends) for axis, ends in enumerate(zip(*bounds)))

    def _samples_between(self, component: int, axis: int, low: float, high: float) -> int:
        """Samples of a component whose lengths along an axis overlap an interval (m), which the CPML continues."""
        lines, centres, (begin, end) = self.grid.lines[axis], self.grid.centres(axis), self._interior[axis]
        low, high = lines[0] if low < centres[begin] else low, lines[-1] if high > centres[end - 1] else high
        edges = lines if is_half(component, axis) else np.concatenate((lines[:1], centres, lines[-1:]))
        slack = 1e-6 * (lines[-1] - lines[0]) / len(lines)
        first, last = np.searchsorted(edges, low + slack, "right") - 1, np.searchsorted(edges, high - slack)
        return max(0, min(int(last), self.active[axis]) - max(int(first), 0))

    def remembering(self, magnetic: bool) -> list[PoleMedium]:
        """The media of a half step that remember, in the order of `parts_at`."""
        return [self.pole_media[kind.medium] for kind in self._dispersion.remembered(magnetic)]

    def window(self, axis: int, plane: int, window: Window, perfect: bool = False) -> WindowCoefficients:
        """The coefficients in a window of a plane across `axis`; with `perfect` all metal counts as that."""
        return WindowCoefficients(self.ingredients, axis, plane, window, perfect)

    def planes(
        self, axis: int, lower: Triple | None = None, upper: Triple | None = None
    ) -> Iterator[PlaneCoefficients]:
        """All planes along an axis in order, equal neighbours together, some ahead by threads.

        `lower`, `upper`: only those samples along x, y, z; planes then count from `lower`.
        """
        low, high = lower or (0, 0, 0), upper or self.active
        window = pair((low[other], high[other]) for other in next_axes(axis))
        self.means.forget()
        runs = self._equal_planes(axis, low[axis], high[axis])

        def made(number: int) -> PlaneCoefficients:
            start, stop = (plane - low[axis] for plane in runs[number])
            return PlaneCoefficients(start, stop, *self.window(axis, runs[number][0], window).plane())

        yield from in_order(made, len(runs), self.threads_for(window, high[axis] - low[axis]))
        self.means.forget()

    def threads_for(self, window: Window, planes: int) -> int:
        """Threads that make planes at once."""
        return threads_for_planes(window, planes, self._sharers)

    def making_bytes(self, axis: int, most: bool = False) -> int:
        """Bytes that planes across an axis take beside all else while `planes` makes them; `most`: whatever the metal
        is, which is not looked at."""
        if not self._filled:
            return 0
        window = pair((0, self.active[other]) for other in next_axes(axis))
        each = MEDIA_BYTES + METAL_BYTES * (most or bool(self.ingredients.metal.openings))
        return self.threads_for(window, self.active[axis]) * math.prod(shape_of(window)) * each

    def _equal_planes(self, axis: int, first: int, last: int) -> list[tuple[int, int]]:
        """[start, stop) of the planes along an axis with equal coefficients."""
        if first == last:
            return []
        signatures = (self.ingredients.signature(axis, plane) for plane in range(first, last))
        changes = [n for n, (before, own) in enumerate(pairwise(signatures), first + 1) if own != before]
        return list(pairwise([first, *changes, last]))

    def _dense_planes(self) -> Iterator[WindowCoefficients]:
        """All planes across x."""
        window = (0, self.active[1]), (0, self.active[2])
        return (self.window(0, plane, window) for plane in range(self.active[0]))

    def dense(self, component: int) -> tuple[np.ndarray, np.ndarray]:
        """(Ca, Cb) of a component in the active shape, or (Da, Db), as `planes` has them; for small models."""
        pairs: Iterable[Any] = (plane.pair(component) for plane in self._dense_planes())
        if self.pole_media:
            pairs = (plane.plane()[component // 3][component % 3] for plane in self._dense_planes())
        return pair(np.stack(part) for part in zip(*pairs))

    def dense_poles(self, medium: int, component: int) -> tuple[np.ndarray, np.ndarray]:
        """(stay, weight) of a dispersive medium in a component, active shape; for small models."""
        stay, weight = np.ones(self.active), np.zeros(self.active)
        for number, plane in enumerate(self._dense_planes()):
            for poles in plane.plane()[2]:
                if poles.medium == medium and self.pole_media[medium].magnetic == (component >= 3):
                    stay[number], weight[number] = poles.stay[component % 3], poles.weight[component % 3]
        return stay, weight

    def _samples(self, index, evaluate: Callable[[WindowCoefficients], Sequence], perfect: bool = False) -> tuple:
        """Values of single samples, from windows of planes."""
        return at_samples(self.grid, index, lambda axis, plane, part: evaluate(self.window(axis, plane, part, perfect)))

    def at(self, component: int, i, j, k, perfect: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(Ca, Cb), or (Da, Db), of single samples; i, j, k are equal arrays within the component's full shape.

        Ca is the whole of it, where `planes` leaves a part to what acts before the update. With `perfect` all metal
        counts as that.
        """
        return pair(self._samples((i, j, k), lambda window: window.pair(component), perfect))

    def media_at(self, component: int, i, j, k) -> tuple[np.ndarray, np.ndarray]:
        """`at` of the media alone between perfect metal, without what scales Cb and Db, such as conformal metal."""
        return pair(self._samples((i, j, k), lambda window: window.media(component), True))

    def parts_at(self, component: int, i, j, k) -> np.ndarray:
        """Ca and Cb, or Da and Db, of single samples as `planes` has them, and the (stay, weight) of each of
        `remembering` media: (2 + 2 media, samples), of equal 1-D arrays."""
        return np.stack(self._samples((i, j, k), lambda window: window.parts(component)))

    def is_metal(self, component: int, i, j, k) -> np.ndarray:
        """Whether E samples lie in metal or on a conducting wall, or H samples in PMC."""
        return self.metal.holds(component, i, j, k)

    @property
    def cuts_edges(self) -> bool:
        """Whether conformal metal may cut edges."""
        return bool(self.metal.openings)

    def open_fraction(self, component: int, i, j, k) -> np.ndarray | float:
        """Open fraction of E edges beside conformal metal: the array holds E times this; 1 where all is metal."""
        if component >= 3 or not self.cuts_edges:
            return 1.0

        def evaluate(axis: int, plane: int, window: Window) -> tuple[np.ndarray]:
            patch = Patch(component, axis, plane, window)
            opened = self.metal.fraction(patch)
            return (np.ones(patch.shape) if opened is None else opened,)

        found = at_samples(self.grid, (i, j, k), evaluate)[0]
        return np.where(found == 0.0, 1.0, found)

    def fillings(self) -> list[tuple[str, Any, tuple | None]]:
        """(name, medium, bounds in m) of the background, which has none, and of each structure."""
        bodies = [(body.name or body.shape.kind, body.medium, body.shape.bounds()) for body in self._bodies]
        return [("the background", self._background, None), *bodies]

    def medium_name(self, i: int, j: int, k: int) -> str:
        """The name of what fills cell (i, j, k), for messages."""
        index = [min(max(n, low), high - 1) for n, (low, high) in zip((i, j, k), self._interior)]
        medium = self.medium_at(*(float(self.grid.centres(a)[n]) for a, n in enumerate(index)))
        return medium if isinstance(medium, str) else medium.label()

    def medium_at(self, x: float, y: float, z: float) -> Any:
        """What fills a point (m), wires apart."""
        for body in reversed(self._bodies):
            if body.shape.kind != "wire" and body.shape.contains(x, y, z):
                return body.medium
        return self._background

    def kept_numbers(self, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Numbers that poles keep in each cell of the lattice of three lists of cells, by what fills its centre."""
        place = []
        for axis, index in enumerate((i, j, k)):
            low, high = self._interior[axis]
            place.append(spread(self.grid.centres(axis)[np.clip(index, low, high - 1)], axis, 3))
        found = np.full((len(i), len(j), len(k)), self._dispersion.numbers(self._background))
        for body in self._bodies:
            if body.shape.kind != "wire":
                inside = np.broadcast_to(body.shape.contains(*triple(place)), found.shape)
                found[inside] = self._dispersion.numbers(body.medium) if isinstance(body.medium, Medium) else 0
        return found

    def media_in(self, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> list[Medium]:
        """The media, metal apart, that fill centres of the lattice of rising lists of cells, the background last."""
        places = [self.grid.centres(axis)[index] for axis, index in enumerate((i, j, k))]
        free = np.ones((len(i), len(j), len(k)), dtype=bool)
        found = []
        for body in reversed(self._bodies):
            ends = zip(places, *body.shape.bounds())
            cut = tuple(slice(np.searchsorted(at, low), np.searchsorted(at, high, "right")) for at, low, high in ends)
            if body.shape.kind == "wire" or not free[cut].any():
                continue
            at = triple(spread(place[part], axis, 3) for axis, (place, part) in enumerate(zip(places, cut)))
            inside = free[cut] & body.shape.contains(*at)
            if isinstance(body.medium, Medium) and inside.any():
                found.append(body.medium)
            free[cut] &= ~inside
        return [*found, self._background] if free.any() else found
