"""Media on the Yee grid: the update coefficients Ca, Cb of every E edge and Da, Db of every H face.

    E <- Ca E + Cb (curl eta0 H) c dt,   Cb = 1/(eps_r (1 + s)),  Ca = (1 - s)/(1 + s),  s = sigma dt/(2 eps0 eps_r)
    eta0 H <- Da eta0 H - Db (curl E) c dt, the same with mu_r, sigma_m and mu0

eps_r and mu_r, sigma and sigma_m are means about the sample (media_means.py), to which lumped parts add
(edge_loads.py). Samples of conductors (conductors.py), or that do not exist, have (0, 0). Poles of dispersive media add
to Ca and Cb (dispersion.py). What scales Cb and Db alone, such as conformal metal, is a factor on what the media give.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.coefficients.contrasts import contrasts
from nearfield.coefficients.dispersion import Dispersion
from nearfield.coefficients.edge_loads import EdgeLoad, EdgeLoads
from nearfield.coefficients.media_means import (
    CONDUCTIVITY,
    MAGNETIC_CONDUCTIVITY,
    METAL,
    PERMEABILITY,
    PERMITTIVITY,
    MediaMeans,
)
from nearfield.coefficients.stability import lowest_index
from nearfield.entry.constants import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.entry.triples import Triple
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.images import images
from nearfield.grid.yee import YeeGrid
from nearfield.media.materials import Medium
from nearfield.media.surface_media import ResistiveSheet, is_metal
from nearfield.metal import conformal
from nearfield.metal.conductors import Conductors
from nearfield.metal.metal import Owned, Window, body_of, shape_of
from nearfield.metal.sheets import SheetSurface, sheet_surfaces
from nearfield.metal.skin import SkinSurface, skin_surfaces
from nearfield.metal.skin_fit import fit_band
from nearfield.metal.thin_wires import ThinWires
from nearfield.metal.wire_edges import Chain, Edges
from nearfield.plan.planes import PlaneCoefficients, PoleMedium, PolePlane

PLANE_COST = 10_000  # samples that take as long as a plane does besides its own

HALVES = (  # of E and of H: what stores, what loses, the constant of vacuum
    (PERMITTIVITY, CONDUCTIVITY, VACUUM_PERMITTIVITY),
    (PERMEABILITY, MAGNETIC_CONDUCTIVITY, VACUUM_PERMEABILITY),
)


class Coefficients:
    """Update coefficients of a model; nothing is computed before it is asked for, a plane at a time.

    `loads` are added to the media of their edges; wires go on through `gaps`, edges of circuits; `band` (Hz) is that of
    the excitations. Shapes and meaning: `planes`, `at`, `dense`.
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
    ) -> None:
        self.grid, self.boundaries, self.time_step = grid, boundaries, time_step
        self.active = tuple(n + (boundaries.face(a, "high") == "pmc") for a, n in enumerate(grid.cells))
        self._interior = boundaries.interior(grid)
        self._structures = [
            (replace(body, shape=shape), body.medium) for body in bodies for shape in images(body.shape, grid)
        ]
        self._background = background
        media_here = [background, *(medium for _, medium in self._structures if isinstance(medium, Medium))]
        stepped, cutting, followed, chains = self._metal(metal)
        light = VACUUM_SPEED * time_step / lowest_index(media_here)
        self._conductors = Conductors(grid, boundaries, self._interior, [body for body, _ in stepped])
        self._openings = None
        if any(body.kind == "pec" for body, _ in cutting):
            self._openings = conformal.Openings(grid, self._interior, [body for body, _ in cutting], light)
        self._surfaces: list[SheetSurface | SkinSurface] = [
            *sheet_surfaces(grid, self._interior, [(s.shape, medium) for s, medium in self._structures]),
            *skin_surfaces(
                grid, boundaries, self._interior, stepped, cutting, self._openings, light, fit_band(*band, time_step)
            ),
        ]
        self._dispersion = Dispersion(media_here, time_step, first=4, surfaces=self._surfaces)
        rows, painted, distinct = [self._row(background)], [], [background]
        for number, (structure, medium) in enumerate(self._structures):
            if isinstance(medium, Medium):
                row = self._row(medium)
                if row not in rows:
                    rows.append(row)
                    distinct.append(medium)
                painted.append((structure.shape, rows.index(row)))
            elif number in followed:
                painted.append((structure.shape, METAL))
        told_apart = contrasts(distinct, self._dispersion.of_media, band, time_step)
        self.means = MediaMeans(grid, self._interior, painted, np.array(rows), told_apart, averaging)
        self._loads = EdgeLoads(loads)
        self._wires = ThinWires(grid, chains, gaps, self.is_metal) if chains else None

    def _metal(self, metal: str) -> tuple[list[Owned], list[Owned], set[int], list[Chain]]:
        """The bodies as metal on whole cells sees them, those that cut cells or lie in such metal, the numbers of the
        structures whose metal does, and thin wires."""
        owned, places, chains = [], [], []
        for number, (structure, medium) in enumerate(self._structures):
            if isinstance(medium, ResistiveSheet):
                continue
            kind = "pec" if is_metal(medium) else "medium" if isinstance(medium, Medium) else medium
            owned.append((body_of(structure.shape, kind, self.grid, self._interior), medium))
            places.append(number)
            if structure.shape.kind == "wire" and structure.shape.radius:
                chains.append(Chain(structure, owned[-1][0].edges))
        follow, stepped, cutting = metal == "conformal", [], []
        followed = conformal.followed([body for body, _ in owned], self.grid) if follow else [False] * len(owned)
        for (body, medium), taken in zip(owned, followed):
            stepped.append((replace(body, solid=False, edges=()) if taken else body, medium))
            if taken or (body.solid and body.kind != "pec"):
                cutting.append((body, medium))
        return stepped, cutting, {number for number, taken in zip(places, followed) if taken}, chains

    @property
    def pole_media(self) -> list[PoleMedium]:
        """The media that remember, by number."""
        return self._dispersion.media

    @property
    def remembering_surfaces(self) -> list[tuple[SheetSurface | SkinSurface, PoleMedium]]:
        """The sheets and conductors whose surface remembers, and what it keeps in each of its samples."""
        return [
            (self._dispersion.surfaces[kind.column], self.pole_media[kind.medium])
            for kind in self._dispersion.kinds
            if kind.medium is not None and kind.column in self._dispersion.surfaces
        ]

    def planes(
        self, axis: int, lower: Triple | None = None, upper: Triple | None = None
    ) -> Iterator[PlaneCoefficients]:
        """All planes along an axis in order, equal neighbours together; one plane of memory at a time.

        `lower`, `upper`: only those samples along x, y, z; planes then count from `lower`.
        """
        low, high = lower or (0, 0, 0), upper or self.active
        window = tuple((low[other], high[other]) for other in ((axis + 1) % 3, (axis + 2) % 3))
        start, signature = low[axis], self._signature(axis, low[axis])
        for plane in range(low[axis] + 1, high[axis] + 1):
            following = self._signature(axis, plane) if plane < high[axis] else None
            if following != signature:
                first, last = start - low[axis], plane - low[axis]
                yield PlaneCoefficients(first, last, *self._plane(axis, start, window))
                start, signature = plane, following

    def dense(self, component: int) -> tuple[np.ndarray, np.ndarray]:
        """(Ca, Cb) of a component in the active shape, or (Da, Db), as `planes` has them; for small models."""
        window = (0, self.active[1]), (0, self.active[2])
        if self.pole_media:
            halves = [self._plane(0, plane, window)[component // 3] for plane in range(self.active[0])]
            return tuple(np.stack([half[component % 3, part] for half in halves]) for part in range(2))
        pairs = [self._pair(component, 0, plane, window) for plane in range(self.active[0])]
        return tuple(np.stack([pair[part] for pair in pairs]) for part in range(2))

    def dense_poles(self, medium: int, component: int) -> tuple[np.ndarray, np.ndarray]:
        """(stay, weight) of a dispersive medium in a component, active shape; for small models."""
        window, stay, weight = ((0, self.active[1]), (0, self.active[2])), np.ones(self.active), np.zeros(self.active)
        for plane in range(self.active[0]):
            for poles in self._plane(0, plane, window)[2]:
                if poles.medium == medium and self.pole_media[medium].magnetic == (component >= 3):
                    stay[plane], weight[plane] = poles.stay[component % 3], poles.weight[component % 3]
        return stay, weight

    def at(self, component: int, i, j, k, perfect: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(Ca, Cb), or (Da, Db), of single samples; i, j, k are equal arrays within the component's full shape.

        Ca is the whole of it, where `planes` leaves a part to what acts before the update. With `perfect` all metal
        counts as that.
        """
        i, j, k = self.grid.in_cell((i, j, k))
        return self._gathered(i, j, k, lambda *where: self._pair(component, *where, perfect))

    def media_at(self, component: int, i, j, k) -> tuple[np.ndarray, np.ndarray]:
        """What the media alone make of `at`, between perfect metal: without what scales Cb and Db besides, such as
        conformal metal."""
        i, j, k = self.grid.in_cell((i, j, k))
        return self._gathered(i, j, k, lambda *where: self._media(component, *where, {}, perfect=True))

    def parts_at(self, component: int, i, j, k) -> np.ndarray:
        """Ca and Cb, or Da and Db, of single samples as `planes` has them, and the (stay, weight) of each of
        `remembering` media: (2 + 2 media, samples), of equal 1-D arrays."""
        i, j, k = self.grid.in_cell((i, j, k))

        def evaluate(*where) -> list[np.ndarray]:
            memory: dict = {}
            stay, drive = self._media(component, *where, memory)
            poles = []
            for kind in self._dispersion.remembered(component >= 3):
                weight = self._part(component, *where, kind.column, memory) * drive
                poles += [np.where(weight != 0.0, stay, 1.0), weight]
                stay = np.where(weight != 0.0, 1.0, stay)
            self._scale(drive, component, *where)
            return [stay, drive, *poles]

        return np.stack(self._gathered(i, j, k, evaluate))

    def remembering(self, magnetic: bool) -> list[PoleMedium]:
        """The media of a half step that remember, in the order of `parts_at`."""
        return [self.pole_media[kind.medium] for kind in self._dispersion.remembered(magnetic)]

    def is_metal(self, component: int, i, j, k) -> np.ndarray:
        """Whether E samples lie in metal or on a conducting wall, or H samples in PMC."""
        i, j, k = self.grid.in_cell((i, j, k))
        return self._gathered(i, j, k, lambda *where: (self._conducts(component, *where),))[0] > 0

    def inverse_permittivity(self, component: int, axis: int, plane: int, window: Window, memory: dict) -> np.ndarray:
        """1/eps_r of the E samples in a window of a plane across `axis` where that is Cb and Ca is 1; 0 elsewhere.
        `memory` keeps what the components of one plane and window share."""
        stay, drive = self._media(component, axis, plane, window, memory)
        self._scale(drive, component, axis, plane, window)
        found = 1.0 / self._part(component, axis, plane, window, PERMITTIVITY, memory)
        alone = (stay == 1.0) & (drive == found)
        for kind in self._dispersion.remembered(False):
            alone &= self._part(component, axis, plane, window, kind.column, memory) == 0.0
        return np.where(alone, found, 0.0)

    @property
    def cuts_edges(self) -> bool:
        """Whether conformal metal may cut edges."""
        return self._openings is not None

    def open_fraction(self, component: int, i, j, k) -> np.ndarray | float:
        """What of E edges conformal metal leaves open: the array holds E times this; 1 where it leaves nothing."""
        if component >= 3 or not self.cuts_edges:
            return 1.0
        i, j, k = self.grid.in_cell((i, j, k))

        def evaluate(axis: int, plane: int, window: Window) -> tuple[np.ndarray]:
            opened = self._opened(component, axis, plane, window)
            return (np.ones(shape_of(window)) if opened is None else opened,)

        found = self._gathered(i, j, k, evaluate)[0]
        return np.where(found == 0.0, 1.0, found)

    def fillings(self) -> list[tuple[str, Medium | str, tuple | None]]:
        """(name, medium, bounds in m) of the background, which has none, and of each structure."""
        bodies = [(s.name or s.shape.kind, medium, s.shape.bounds()) for s, medium in self._structures]
        return [("the background", self._background, None), *bodies]

    def medium_name(self, i: int, j: int, k: int) -> str:
        """What fills cell (i, j, k), for messages."""
        index = [min(max(n, low), high - 1) for n, (low, high) in zip((i, j, k), self._interior)]
        place = [self.grid.centres(a)[n] for a, n in enumerate(index)]
        for structure, medium in reversed(self._structures):
            if structure.shape.kind != "wire" and structure.shape.contains(*place):
                return medium if isinstance(medium, str) else medium.label()
        return self._background.label()

    def _row(self, medium: Medium) -> list[float]:
        properties = [medium.permittivity, medium.permeability, medium.conductivity, medium.magnetic_conductivity]
        return [*properties, *self._dispersion.row(medium)]

    def kept_numbers(self, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Numbers that poles keep in each cell of the lattice of three lists of cells, by what fills its centre."""
        place = []
        for axis, index in enumerate((i, j, k)):
            low, high = self._interior[axis]
            shape = [-1 if axis == other else 1 for other in range(3)]
            place.append(self.grid.centres(axis)[np.clip(index, low, high - 1)].reshape(shape))
        found = np.full((len(i), len(j), len(k)), self._dispersion.numbers(self._background))
        for structure, medium in self._structures:
            if structure.shape.kind != "wire":
                inside = np.broadcast_to(structure.shape.contains(*place), found.shape)
                found[inside] = self._dispersion.numbers(medium) if isinstance(medium, Medium) else 0
        return found

    def _gathered(self, i, j, k, evaluate) -> tuple[np.ndarray, ...]:
        """Values of single samples, evaluated on one window for each plane across the axis that makes least work."""
        index = np.broadcast_arrays(*(np.asarray(n, dtype=np.int64) for n in (i, j, k)))
        shape, index = index[0].shape, [n.ravel() for n in index]
        if not index[0].size:
            return np.empty(shape), np.empty(shape)
        extent = [int(np.ptp(n)) + 1 for n in index]
        work = [np.unique(n).size * (PLANE_COST + math.prod(extent) // extent[a]) for a, n in enumerate(index)]
        axis = work.index(min(work))
        planes, u, v = (index[(axis + shift) % 3] for shift in range(3))
        found: list[np.ndarray] = []
        for plane in np.unique(planes):
            rows = np.nonzero(planes == plane)[0]
            window = tuple((int(n[rows].min()), int(n[rows].max()) + 1) for n in (u, v))
            values = evaluate(axis, int(plane), window)
            found = found or [np.empty(u.size) for _ in values]
            for column, value in zip(found, values):
                column[rows] = value[u[rows] - window[0][0], v[rows] - window[1][0]]
        return tuple(column.reshape(shape) for column in found)

    def _signature(self, axis: int, plane: int) -> tuple:
        """Equal for neighbouring planes whose coefficients are equal."""
        parts = self.means, self._conductors, self._loads, self._openings, self._wires, *self._surfaces
        return tuple(part.signature(axis, plane) for part in parts if part is not None)

    def _plane(self, axis: int, plane: int, window: Window) -> tuple[np.ndarray, np.ndarray, tuple[PolePlane, ...]]:
        memory: dict = {}
        pairs = [np.stack(self._media(component, axis, plane, window, memory)) for component in range(6)]
        pairs, poles = self._dispersion.planes(
            pairs, lambda component, column: self._part(component, axis, plane, window, column, memory)
        )
        for component, (_, drive) in enumerate(pairs):
            self._scale(drive, component, axis, plane, window)
        return np.stack(pairs[:3]), np.stack(pairs[3:]), poles

    def _pair(
        self, component: int, axis: int, plane: int, window: Window, perfect: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """(Ca, Cb) or (Da, Db) of a component in a window of a plane across `axis`."""
        stay, drive = self._media(component, axis, plane, window, {}, perfect)
        self._scale(drive, component, axis, plane, window)
        return stay, drive

    def _media(self, component: int, axis: int, plane: int, window: Window, memory: dict, perfect: bool = False):
        """What the media make of a pair, zero in conductors."""
        electric, shape = component < 3, shape_of(window)
        store, lose, constant = HALVES[not electric]

        def mean(column: int):
            if perfect and not electric and column in self._dispersion.surfaces:
                return 0.0
            return self._part(component, axis, plane, window, column, memory)

        relative, conductivity = mean(store), mean(lose)
        surfaces = [] if perfect and not electric else self._surfaces
        for surface in (surface for surface in surfaces if surface.magnetic != electric):
            part = surface.part(component, axis, plane, window)
            relative, conductivity = relative + part * surface.store, conductivity + part * surface.loss
        if electric:
            relative, conductivity = self._loaded(component, axis, plane, window, relative, conductivity)
        loss = conductivity * self.time_step / (2.0 * constant * relative)
        before, now = self._dispersion.sums(not electric, lambda column: mean(column) / relative)
        drive = np.array(np.broadcast_to(1.0 / (relative * (1.0 + loss + now)), shape))
        stay = np.array(np.broadcast_to((1.0 - loss - before) / (1.0 + loss + now), shape))
        nothing = self._conducts(component, axis, plane, window)
        nothing = nothing | self._conductors.absent(component, axis, plane, window)
        stay[nothing] = drive[nothing] = 0.0
        return stay, drive

    def _part(self, component: int, axis: int, plane: int, window: Window, column: int, memory: dict):
        """Mean of a column of the table of media about the samples of a component, or the part of a surface."""
        surface = self._dispersion.surfaces.get(column)
        if surface is None:
            return self.means.mean(component, axis, plane, window, column, memory)
        return surface.part(component, axis, plane, window)

    def _scale(self, drive: np.ndarray, component: int, axis: int, plane: int, window: Window) -> None:
        """Multiply Cb or Db by what acts on it alone."""
        for part in (self._openings, self._wires):
            factor = part and part.factor(component, axis, plane, window)
            if factor is not None:
                drive *= factor

    def _loaded(self, component: int, axis: int, plane: int, window: Window, relative, conductivity):
        """The media with what lumped parts add to edges of the window."""
        at, extra_conductivity, extra_permittivity = self._loads.added(component, axis, plane, window)
        if at[0].size:
            shape = shape_of(window)
            relative, conductivity = (np.array(np.broadcast_to(v, shape)) for v in (relative, conductivity))
            part = np.ones(shape)  # what scales the media of the edge and not the load
            self._scale(part, component, axis, plane, window)
            np.add.at(relative, at, part[at] * extra_permittivity)
            np.add.at(conductivity, at, part[at] * extra_conductivity)
        return relative, conductivity

    def _opened(self, component: int, axis: int, plane: int, window: Window) -> np.ndarray | None:
        """What conformal metal leaves open of E edges; None where that is all."""
        if component >= 3 or self._openings is None:
            return None
        return self._openings.fraction(component, axis, plane, window)

    def _conducts(self, component: int, axis: int, plane: int, window: Window) -> np.ndarray:
        """Samples that conductors keep at zero."""
        taken = self._conductors.take(component, axis, plane, window)
        opened = self._opened(component, axis, plane, window)
        return taken if opened is None else taken | (opened == 0.0)
