"""Plans made of bare numbers, for the tests of the engines: no media, no geometry, any coefficient at any sample."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.grid.yee import YeeGrid
from nearfield.plan.coupling_term import CouplingTerm
from nearfield.plan.excitations import Waveform
from nearfield.plan.plan import AxisProfile, Plan
from nearfield.plan.planes import PlaneCoefficients, PoleMedium, PolePlane
from nearfield.plan.recorders import DFTBox, Functional, SnapshotBox, recorders
from nearfield.plan.terms import CircuitTerm, CurrentTerm, IncidentTerm

CLOSED = (("pec", "pec"),) * 3
SPACING = 1e-3  # m


def draws(count: int) -> int:
    """How many plans a random test draws: NEARFIELD_DRAWS times as many in `make nightly`."""
    return count * int(os.environ.get("NEARFIELD_DRAWS", "1"))


class DenseCoefficients:
    """The interface of `nearfield.plan.planes.Coefficients` over one dense array (6, 2, active shape).

    `poles`: stay and weight of dispersive media, (2, 3, active shape) by number; `pole_media`: these.
    """

    def __init__(self, values: np.ndarray, poles: Sequence[np.ndarray] = (), pole_media=()) -> None:
        self.values, self.poles, self.pole_media = values, poles, tuple(pole_media)

    def planes(self, axis: int, lower=None, upper=None) -> Iterator[PlaneCoefficients]:
        part = tuple(slice(*ends) for ends in zip(lower or (0, 0, 0), upper or self.values.shape[2:]))
        values = self.values[(slice(None), slice(None), *part)]
        turned = values.transpose(0, 1, 2 + axis, 2 + (axis + 1) % 3, 2 + (axis + 2) % 3)
        turn = (0, 1, 2 + axis, 2 + (axis + 1) % 3, 2 + (axis + 2) % 3)
        cells = [p[(slice(None), slice(None), *part)].transpose(turn) for p in self.poles]
        start = 0
        for stop in range(1, turned.shape[2] + 1):
            alike = stop < turned.shape[2] and np.array_equal(turned[:, :, stop], turned[:, :, start])
            if not alike or any(not np.array_equal(c[:, :, stop], c[:, :, start]) for c in cells):
                poles = tuple(PolePlane(n, *c[:, :, start]) for n, c in enumerate(cells) if c[1, :, start].any())
                yield PlaneCoefficients(start, stop, turned[:3, :, start], turned[3:, :, start], poles)
                start = stop

    def dense_poles(self, medium: int, component: int) -> np.ndarray:
        return self.poles[medium][:, component % 3]

    def kept_numbers(self, i, j, k) -> np.ndarray:
        kept = np.zeros(self.values.shape[2:])
        for medium, cells in zip(self.pole_media, self.poles):
            kept += medium.states * (cells[1] != 0).sum(axis=0)
        return kept[np.ix_(i, j, k)]

    def dense(self, component: int) -> tuple[np.ndarray, np.ndarray]:
        return self.values[component, 0], self.values[component, 1]

    def at(self, component: int, i, j, k) -> tuple[np.ndarray, np.ndarray]:
        return self.values[component, 0, i, j, k], self.values[component, 1, i, j, k]


def exists(cells: tuple, active: tuple, walls: tuple, component: int) -> np.ndarray:
    """Where a component's samples exist and are free: not past the grid, not tangential E or normal H on a PEC wall.

    A CPML (a number of cells) is backed by PEC.
    """
    mask = np.ones(active, bool)
    for axis in range(3):
        midway = (component % 3 == axis) == (component < 3)
        lowest = 0 if midway or walls[axis][0] in ("pmc", "periodic") else 1
        index = np.arange(active[axis])
        inside = (index >= lowest) & (index < cells[axis] + (not midway))
        mask &= inside.reshape([-1 if a == axis else 1 for a in range(3)])
    return mask


def random_coefficients(rng, cells, active, walls, media: str, metal: float) -> DenseCoefficients:
    """`media`: "vacuum", "layers" (lossless, of a few values), "lossless", "lossy", "dispersive" (lossy with poles).

    `metal`: fraction of zero edges.
    """
    values = np.zeros((6, 2, *active))
    for component in range(6):
        stay, drive = np.ones(active), np.ones(active)
        if media == "layers":
            drive = np.broadcast_to(rng.choice([1.0, 0.5, 0.25], size=active[0]).reshape(-1, 1, 1), active)
        elif media != "vacuum":
            drive = rng.uniform(0.1, 1.0, active)
        if media in ("lossy", "dispersive"):
            loss = np.where(rng.random(active) < 0.5, rng.uniform(0.0, 3.0, active), 0.0)
            stay, drive = (1 - loss) / (1 + loss), drive / (1 + loss)
        free = exists(cells, active, walls, component) & (rng.random(active) >= metal)
        values[component] = np.where(free, stay, 0.0), np.where(free, drive, 0.0)
    poles = [random_poles(rng, active, magnetic) for magnetic in (False, True, False) if media == "dispersive"]
    cells = []
    for medium, weight in poles:
        half = values[3:] if medium.magnetic else values[:3]
        weight = weight * (half[:, 1] != 0)
        cells.append(np.stack((np.where(weight != 0, half[:, 0], 1.0), weight)))
        half[:, 0][weight != 0] = 1.0
    return DenseCoefficients(values, cells, [medium for medium, _ in poles])


def random_poles(rng, active, magnetic: bool) -> tuple[PoleMedium, np.ndarray]:
    """Some recursions that decay by themselves, and their weights: random in part of a box, equal elsewhere."""
    firsts, seconds = int(rng.integers(0, 4)), int(rng.integers(0, 3))
    medium = PoleMedium(
        magnetic,
        np.stack([rng.uniform(-1.2, 0.0, firsts), rng.uniform(-0.2, 0.2, firsts)], axis=1),
        rng.uniform([-0.8, -0.2, -0.2, -0.1], [-0.1, 0.0, 0.2, 0.1], (seconds, 4)),
    )
    lower = [int(rng.integers(n)) for n in active]
    box = tuple(slice(low, int(rng.integers(low + 1, n + 1))) for low, n in zip(lower, active))
    weights = np.zeros((3, *active))
    inside = weights[(slice(None), *box)]
    inside[...] = np.where(rng.random(inside.shape) < 0.3, rng.uniform(0.0, 0.5, inside.shape), 0.25)
    return medium, weights * bool(medium.states)


def profile(rng, grid: YeeGrid, axis: int, active: int, slabs: tuple, unit: float, halved: bool) -> AxisProfile:
    """The update's numbers along one axis; in the CPML any numbers of the right size, new ones at each sample.

    `halved`: the first node has half a cell, as on a PMC wall; None: it is the last one too. On a uniform
    grid all else outside the CPML is 1.
    """

    def fitted(values: np.ndarray) -> np.ndarray:
        return np.concatenate((values, np.zeros(active)))[:active]

    index = np.arange(active)
    in_slab = (index < slabs[0]) | (index >= active - slabs[1])

    def graded(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        inverse = np.round(fitted(unit / lengths), 12) / np.where(in_slab, rng.uniform(1.0, 3.0, active), 1.0)
        decay = np.where(in_slab, rng.uniform(0.3, 0.99, active), 0.0)
        return inverse, decay, np.where(in_slab, (decay - 1.0) * rng.uniform(0.0, 0.6, active) * inverse, 0.0)

    nodes = grid.dual(axis).copy()
    if halved is None:  # the axis closes on itself
        nodes[0] += nodes[-1]
    else:
        nodes[0] *= 1 if halved else 2
    dual, primary = graded(nodes), graded(grid.primary(axis))
    return AxisProfile(dual[0], primary[0], dual[1], dual[2], primary[1], primary[2])


def make_plan(
    cells=(6, 5, 7),
    walls=CLOSED,
    *,
    seed=0,
    precision="double",
    graded=False,
    media="vacuum",
    metal=0.0,
    courant=0.9,
    terms=lambda rng, plan: (),
    phases=(0.0, 0.0, 0.0),
    complex_fields=False,
    coupled=0,
) -> Plan:
    """A plan of `cells` with walls "pec", "pmc", "periodic" (on both sides) or a number of CPML cells.

    `terms(rng, plan)` returns its terms; `phases` are those of the periodic axes; `coupled`: how many samples of E, at
    most, take a random sum of H about them.
    """
    rng = np.random.default_rng(seed)
    steps = [rng.uniform(0.7, 1.4, n) if graded else np.ones(n) for n in cells]
    grid = YeeGrid(tuple(SPACING * np.concatenate(([0.0], np.cumsum(step))) for step in steps))
    active = tuple(n + (high == "pmc") for n, (_, high) in zip(cells, walls))
    slabs = tuple(tuple(0 if isinstance(wall, str) else wall for wall in pair) for pair in walls)
    time_step = courant * grid.maximum_time_step()
    unit = min(float(grid.primary(axis).min()) for axis in range(3))
    profiles = tuple(
        profile(rng, grid, axis, active[axis], slabs[axis], unit, halved_at(walls[axis])) for axis in range(3)
    )
    coefficients = random_coefficients(rng, cells, active, walls, media, metal)
    scale = VACUUM_SPEED * time_step / unit
    closed = tuple(phase if pair[0] == "periodic" else None for phase, pair in zip(phases, walls))
    bare = Plan(
        tuple(cells),
        active,
        slabs,
        profiles,
        coefficients,
        time_step,
        precision,
        scale=scale,
        phases=closed,
        complex_fields=complex_fields,
    )
    bare = replace(bare, pole_media=coefficients.pole_media)
    bare = replace(bare, terms=terms(rng, bare))
    return replace(bare, coupling=coupling(rng, bare, coupled)) if coupled else bare


def halved_at(walls: tuple) -> bool | None:
    """Whether the first node has half a cell; None where it is the last one too."""
    return None if walls[0] == "periodic" else walls[0] == "pmc"


def free_samples(plan: Plan, component: int) -> np.ndarray:
    """Indices (samples, 3) of the component's samples that are neither missing nor in metal."""
    return np.argwhere(plan.coefficients.dense(component)[1] != 0)


def randomise(engines, plan: Plan, seed: int = 1) -> None:
    """One random state, of size 1, in all engines; zero where no field can be."""
    rng = np.random.default_rng(seed)
    for component in range(12 if plan.complex_fields else 6):
        values = rng.standard_normal(plan.active) * (plan.coefficients.dense(component % 6)[1] != 0)
        for engine in engines:
            engine.state(component)[...] = values.astype(plan.dtype)


def coupling(rng, plan: Plan, count: int, most=20) -> CouplingTerm | None:
    """Random taps about random free samples of E; None where there are none."""
    free = np.concatenate([np.insert(free_samples(plan, component), 0, component, axis=1) for component in range(3)])
    chosen = free[rng.permutation(len(free))[:count]]
    if not len(chosen):
        return None
    first = np.concatenate(([0], np.cumsum(rng.integers(1, most + 1, len(chosen)))))
    about = np.repeat(chosen[:, 1:], np.diff(first), axis=0) + rng.integers(-1, 2, (first[-1], 3))
    beyond = np.array([phase is not None for phase in plan.phases])
    about = np.clip(about, -1 * beyond, np.array(plan.active) - 1 + beyond)
    weight = rng.uniform(-0.3, 0.3, first[-1]) / most
    return CouplingTerm(chosen[:, 0], chosen[:, 1:], first, rng.integers(3, 6, first[-1]), about, weight)


def circuit_edges(plan: Plan) -> list[tuple]:
    """(component, i, j, k) of every edge with a circuit."""
    circuits = [term for term in plan.terms if isinstance(term, CircuitTerm)]
    return [(t.component, *edge) for t in circuits for edge in zip(t.i, t.j, t.k)]


# ---- random terms; each returns () where the plan holds no free sample


def pulse(rng, plan: Plan) -> Waveform:
    """A sine of some frequency that the steps resolve."""
    frequency, phase = rng.uniform(0.02, 0.2) / plan.time_step, rng.uniform(0, 6)
    return Waveform(lambda t: np.sin(2 * np.pi * frequency * np.asarray(t) + phase), "sources", np.inf)


def _some(rng, plan: Plan, components, count: int) -> tuple[int, np.ndarray] | None:
    component = int(rng.choice(components))
    free = free_samples(plan, component)
    return (component, free[rng.integers(len(free), size=count)]) if len(free) else None


def current(rng, plan: Plan, components=range(6), count=5) -> tuple:
    """A current over random samples, some of them twice."""
    chosen = _some(rng, plan, components, count)
    if chosen is None:
        return ()
    component, samples = chosen
    samples = np.concatenate((samples, samples[:1]))
    return (CurrentTerm(component, *samples.T, rng.uniform(-1, 1, len(samples)), pulse(rng, plan)),)


def circuit(rng, plan: Plan, count=3, driven=True) -> tuple:
    """Stable two-state circuits on different edges; without drive there is no waveform."""
    chosen = _some(rng, plan, range(3), count)
    if chosen is None:
        return ()
    component, samples = chosen
    samples = np.unique(samples, axis=0)
    rng.shuffle(samples)
    edges = len(samples)
    admittance, factor = rng.uniform(0.001, 0.1, edges), np.full(edges, 0.5 * SPACING)
    feedback = rng.uniform(0.1, 2.0, edges) / (admittance * factor)
    return (
        CircuitTerm(
            component,
            *samples.T,
            admittance,
            factor,
            feedback,
            1 / (1 + feedback * admittance * factor),
            rng.uniform(-1e-3, 1e-3, edges),
            admittance[:, None] * rng.uniform(-0.5, 0.5, (edges, 2)),
            rng.uniform(-0.5, 0.5, (edges, 2)),
            rng.uniform(-0.45, 0.45, (edges, 2, 2)),
            pulse(rng, plan) if driven else None,
        ),
    )


def functional(rng, plan: Plan, half=None, count=12, stride=None) -> tuple:
    """A sum over random samples of all three E or all three H components."""
    half = int(rng.integers(2)) if half is None else half
    samples = np.stack([rng.integers(n, size=count) for n in plan.active])
    component = 3 * half + rng.integers(3, size=count)
    stride = stride or int(rng.integers(1, 5))
    return (Functional(component, *samples, rng.uniform(-1, 1, count), stride),)


def _box(rng, plan: Plan) -> tuple[tuple, tuple]:
    lower = [int(rng.integers(n)) for n in plan.active]
    return tuple(lower), tuple(int(rng.integers(low + 1, n + 1)) for low, n in zip(lower, plan.active))


def spectrum(rng, plan: Plan, component=None, stride=None) -> tuple:
    """A running DFT of a random box at three frequencies."""
    component = int(rng.integers(6)) if component is None else component
    frequencies = rng.uniform(0.01, 0.3, 3) / plan.time_step
    return (DFTBox(component, *_box(rng, plan), frequencies, stride or int(rng.integers(1, 4))),)


def snapshots(rng, plan: Plan, component=None, last=12) -> tuple:
    """Copies of a random box after a few of the first `last` steps."""
    component = int(rng.integers(6)) if component is None else component
    steps = np.flatnonzero(rng.random(last) < 0.4) + 1
    return (SnapshotBox(component, *_box(rng, plan), steps),)


@dataclass(frozen=True, eq=False)
class Noise:
    """An incident wave of random tables, the same in any blocks of steps."""

    seed: int
    columns: int
    excitation: str = "sources"
    end: float = np.inf

    def march(self, dtype):
        return NoiseMarch(self, dtype)


@dataclass(frozen=True)
class NoiseMarch:
    wave: Noise
    dtype: type

    def tables(self, first: int, steps: int) -> np.ndarray:
        each = [np.random.default_rng((self.wave.seed, step)) for step in range(first, first + steps)]
        return np.stack([rng.uniform(-1, 1, (2, self.wave.columns)) for rng in each], axis=1).astype(self.dtype)


def incident(rng, plan: Plan, taps=None) -> tuple:
    """An incident wave on random boxes of samples of E, and of H; columns count on along some axis or stand still."""
    taps = taps or int(rng.integers(1, 4))
    wave = Noise(int(rng.integers(1 << 30)), 8 + taps * max(plan.active))
    terms = []
    for half in range(2):
        parts = []
        for _ in range(4):
            lower, upper = _box(rng, plan)
            axis, flat = int(rng.integers(4)), int(rng.integers(3))
            upper = tuple(low + 1 if a == flat else high for a, (low, high) in enumerate(zip(lower, upper)))
            index = np.stack([n.ravel() for n in np.meshgrid(*map(np.arange, lower, upper), indexing="ij")])
            count = index.shape[1]
            first = rng.integers(8, size=taps) + np.arange(taps) * max(plan.active)
            column = first + (index[axis] if axis < 3 else np.zeros(count, int))[:, None]
            share = np.ones((count, 1)) if taps == 1 else np.tile(rng.uniform(-1, 1, taps), (count, 1))
            component = np.full(count, 3 * half + int(rng.integers(3)))
            free = plan.coefficients.values[component, 1, *index] != 0
            weight = np.where(free, rng.uniform(-1, 1, count) if rng.random() < 0.5 else rng.uniform(-1, 1), 0.0)
            parts.append([values[free] for values in (component, *index, weight, column, share)])
        joined = [np.concatenate(columns) for columns in zip(*parts)]
        if joined[0].size:
            terms.append(IncidentTerm(*joined, wave))
    return tuple(terms)


def some_of_each(rng, plan: Plan) -> tuple:
    """Two terms of every kind: first what acts, then what records."""
    makers = (current, current, circuit, circuit, functional, functional, spectrum, spectrum, snapshots, snapshots)
    acting = [term for make in makers[:3] for term in make(rng, plan)]
    taken = {edge for t in acting if isinstance(t, CircuitTerm) for edge in zip(t.i, t.j, t.k)}
    for term in circuit(rng, plan, driven=False):
        if taken.isdisjoint(zip(term.i, term.j, term.k)):  # two circuits on one edge are two unknowns
            acting.append(term)
    recording = [term for make in makers[4:] for term in make(rng, plan)]
    return (*incident(rng, plan), *acting, *recording)  # a circuit knows its edge only after itself


def both_parts(rng, plan: Plan) -> tuple:
    """Some terms of every kind, and the same recorders and currents for imaginary parts, if there are any."""
    terms = some_of_each(rng, plan)
    if not plan.complex_fields:
        return terms
    currents = [replace(term, component=term.component + 6) for term in terms if isinstance(term, CurrentTerm)]
    return (*terms[:2], *currents, *terms[2:], *(term.imaginary() for term in recorders(terms)))
