"""The guard: it watches the energy of a run, ends the run when it has decayed, and stops it when it diverges."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from nearfield.discretization.cpml import cells_media, guide_end, lowest_of
from nearfield.discretization.discretization import Discretization
from nearfield.discretization.resolution import media_in_use
from nearfield.engines.protocol import Engine
from nearfield.entry.constants import VACUUM_PERMITTIVITY
from nearfield.entry.triples import Triple, triple
from nearfield.entry.wording import counted
from nearfield.grid.boundaries import CPML, FACES
from nearfield.grid.yee import AXES, COMPONENTS, SAMPLE_TOLERANCE
from nearfield.media.materials import Medium, along_axes
from nearfield.run.growth import grown, grown_at_end
from nearfield.run.weighings import Weighings

GROWTH = 10.0  # times the energy at the end of the sources: no passive model gives so much
FEWEST_WAVES = 1e-4  # least part of the peak that is taken for waves, where a static field seems to be all of it
SLOW = 500  # steps in which energy doubles at least where fields gain slowly in a CPML
TOO_STRONG = 1e20  # amplitude of a source, in SI: products of such fields leave single precision
NEAR = 3  # cells from a CPML at which it is the likely cause


@dataclass
class Guard:
    """Energies as they were weighed, and what they say of the run.

    Energy here is eps0/2 sum(E^2 + (eta0 H)^2) times the mean cell volume: the vacuum's. Its ratios are good over a
    window (weighings.py), of which the largest counts.
    """

    source_end: float  # s
    decay: float | None
    volume: float  # m^3, mean of a cell
    weighings: Weighings
    hoarding: bool = False  # lumped parts hold energy that is not counted
    swing: float = math.inf  # most by which the energy can rise without gain: from a trough to a crest
    times: list[float] = field(default_factory=list)
    energies: list[float] = field(default_factory=list)
    still: float = 0.0  # energy of a static field over the peak, where all else has decayed
    growth: str = ""  # of a run that diverged while its energy was still small: how it grew
    doubling: float = 0.0  # of such a run, time in which its energy doubled (s)

    @classmethod
    def of(cls, setup: Discretization, excitation: str) -> Guard:
        """That of an excitation at its begin."""
        volume = np.prod([line[-1] - line[0] for line in setup.grid.lines]) / np.prod(setup.plan.cells, dtype=float)
        circuits = (*setup.simulation.ports, *setup.simulation.elements)
        hoarding = any(getattr(c, part, None) for c in circuits for part in ("inductance", "capacitance"))
        weighings = Weighings(setup.simulation.check_every, setup.steps, setup.time_step, setup.band)
        swing = math.inf if hoarding else largest_swing(medium for _, medium in media_in_use(setup.simulation))
        return cls(setup.source_end(excitation), setup.decay, float(volume), weighings, hoarding, swing)

    def add(self, step: int, energy_sum: float) -> str | None:
        """Take one energy sum; returns None to go on, "decayed" or "diverged" to stop."""
        time = step * self.weighings.time_step
        energy = 0.5 * VACUUM_PERMITTIVITY * self.volume * energy_sum
        self.times.append(time)
        self.energies.append(energy)
        if not np.isfinite(energy):
            return "diverged"
        if time <= self.source_end:
            return None
        while_on = [e for t, e in zip(self.times, self.energies) if t <= self.source_end] or self.energies[:1]
        if energy > GROWTH * max(while_on) and len(self.energies) > 1:
            return "diverged"
        if not self.weighings.is_check(step):
            return None
        if self._grows(grown):
            return "diverged"
        start = self.small_since
        if start is None:
            return None
        sure = self.swing * energy <= (self.decay or 0.0) * self.peak
        return "decayed" if sure or step >= self.weighings.end(start) else None

    def following(self, step: int) -> int:
        """The next step at which the energy is to be weighed."""
        return self.weighings.following(step, self.small_since)

    @property
    def small_since(self) -> int | None:
        """The step since which the energy has been below the wanted part of its peak, with the sources off."""
        found, limit = None, self.decay * self.peak if self.decay else -1.0
        for time, energy in zip(reversed(self.times), reversed(self.energies)):
            if time <= self.source_end or not energy <= limit:
                break
            found = self._step(time)
        return found

    def _step(self, time: float) -> int:
        return round(time / self.weighings.time_step)

    def last(self) -> str:
        """How a run ended that has no more steps: "steps", or "diverged" where the energy grew to the last."""
        return "diverged" if self._grows(grown_at_end) else "steps"

    def _grows(self, find: Callable[[list[float]], tuple[int, float] | None]) -> bool:
        """Whether the energy has grown by itself since the sources ended; keeps how."""
        found = None if self.hoarding else find(self.since_end)
        if found is None:
            return False
        checks, factor = found
        times, _ = self._checks()
        span = times[-1] - times[-1 - checks]
        self.doubling = float(span / np.log2(factor))
        self.growth = (
            f"with all sources off the energy of the fields grew {factor:.3g} times in the last {span:.4g} s, "
            f"twofold every {self.doubling:.3g} s"
        )
        return True

    def looked(self, moving_sum: float) -> str | None:
        """Take the sum of squares of what still moves; "decayed" where that alone has, above a field that stays."""
        moving = 0.5 * VACUUM_PERMITTIVITY * self.volume * moving_sum
        waves = max(self.peak - self.energies[-1], FEWEST_WAVES * self.peak)
        if not self.decay or moving > min(self.decay * self.peak, self.decay**0.5 * waves):
            return None
        self.still = self.ratio
        return "decayed"

    @property
    def since_end(self) -> list[float]:
        """Energies of the checks since the sources ended (J)."""
        return self._checks()[1]

    def _checks(self) -> tuple[list[float], list[float]]:
        """Times and energies of the checks since the sources ended."""
        times, energies = np.array(self.times), np.array(self.energies)
        steps = np.rint(times / self.weighings.time_step)
        chosen = (times > self.source_end) & self.weighings.is_check(steps)
        return times[chosen].tolist(), energies[chosen].tolist()

    @property
    def peak(self) -> float:
        """Largest energy so far (J)."""
        return max(self.energies, default=0.0)

    @property
    def ratio(self) -> float:
        """Largest energy of the last window over the peak, or less where the last one cannot rise to that."""
        if not self.energies or not self.peak > 0:
            return 1.0
        step = self._step(self.times[-1])
        first = bisect_left(self.times, (step - self.weighings.window(step) - 0.5) * self.weighings.time_step)
        return min(max(self.energies[first:]), self.swing * self.energies[-1]) / self.peak


def largest_swing(media: Iterable[Medium]) -> float:
    """Largest over least energy, as of vacuum, of what rings in these media: inf where poles hold some unseen.

    sum(E^2 + H^2) lies between 1/most and 1/least of sum(eps E^2 + mu H^2), which does not grow; cells are taken for
    equal here too.
    """
    values = [1.0]
    for medium in media:
        if medium.dispersive:
            return math.inf
        values += [*along_axes(medium.permittivity), *along_axes(medium.permeability)]
    return max(values) / min(values)


def explain_divergence(setup: Discretization, engine: Engine, guard: Guard) -> str:
    """Where the field broke, or is largest while it grows, in which medium, and the likely cause, in one message."""
    growth = guard.growth
    worst = worst_sample(engine)
    if worst is None:
        return f"diverged at step {engine.step}"
    component, index = worst
    index = triple(n + count - cells for n, count, cells in zip(index, setup.grid.cells, setup.plan.cells))
    place = [axis[n] for axis, n in zip(setup.grid.component_axes(component), index)]
    medium = setup.coefficients.medium_name(*index)
    where = ", ".join(f"{name}={value:.6g}" for name, value in zip(AXES, place))
    return (
        f"diverged at step {engine.step} ({engine.step * setup.time_step:.4g} s){growth and ': ' + growth}: "
        f"{COMPONENTS[component]} at ({where}) m, cell {index}, {beside(setup, index)}, in {medium}. "
        f"{likely_cause(setup, index, guard.doubling)}"
    )


def beside(setup: Discretization, index: Triple) -> str:
    """The layer that a cell lies in, or the face next to it."""
    layers = layers_about(setup, index)
    if layers:
        return "in the CPML at " + " and ".join(face_name(*each) for each in layers)
    boundaries = setup.simulation.boundaries
    gaps: dict[str, int] = {}
    for axis, side in FACES:
        if not boundaries.repeat(axis):
            deep = boundaries.cpml_cells(axis)[side == "high"]
            gap = index[axis] if side == "low" else setup.grid.cells[axis] - 1 - index[axis]
            gaps[f"the {'CPML' if deep else 'wall'} at {face_name(axis, side)}"] = max(0, gap - deep)
    if not gaps:
        return "in a model without walls"
    nearest = min(gaps, key=lambda face: gaps[face])
    return f"{counted(gaps[nearest], 'cell')} from {nearest}"


def layers_about(setup: Discretization, index: Triple, margin: int = 0) -> list[tuple[int, str]]:
    """Faces in whose CPML a cell lies, or at most `margin` cells from it."""
    found = []
    for axis in range(3):
        low, high = setup.simulation.boundaries.cpml_cells(axis)
        if low and index[axis] < low + margin:
            found.append((axis, "low"))
        if high and index[axis] >= setup.grid.cells[axis] - high - margin:
            found.append((axis, "high"))
    return found


def worst_sample(engine: Engine) -> tuple[int, Triple] | None:
    """The component and index of the largest finite sample next to where samples are no numbers, or of the largest.

    None where the fields are with another rank.
    """
    found: tuple[float, int, Triple] = (-1.0, 0, (0, 0, 0))
    for component in range(6):
        values = engine.gathered(component)
        if values is None or found[0] == np.inf:
            continue
        values = np.abs(np.asarray(values, dtype=np.float64))
        broken = ~np.isfinite(values)
        if broken.any():
            middle = np.median(np.argwhere(broken), axis=0)  # it spread evenly from where it began
            found = (np.inf, component, triple(int(n) for n in middle))
            continue
        index = np.unravel_index(int(np.argmax(values)), values.shape)
        if values[index] > found[0]:
            found = (float(values[index]), component, triple(int(n) for n in index))
    return found[1:] if found[0] >= 0 else None


def strongest(setup: Discretization) -> float:
    """The largest amplitude of the sources' and ports' waveforms."""
    model = setup.simulation
    waveforms = [model.waveform, *(each.waveform for each in (*model.sources, *model.ports))]
    return max((abs(getattr(each, "amplitude", 0.0)) for each in waveforms if each is not None), default=0.0)


def likely_cause(setup: Discretization, index: Triple, doubling: float) -> str:
    """The most common reason for a divergence at such a place, of energy that doubles in so long (s), 0 if unknown."""
    limit = setup.grid.maximum_time_step()
    if setup.time_step > limit:
        return f"Likely cause: the time step {setup.time_step:.4g} s exceeds the vacuum limit {limit:.4g} s; lower it."
    layers = [(axis, side) for axis, side in FACES if setup.simulation.boundaries.cpml_cells(axis)[side == "high"]]
    filled = [face for face in layers if any(is_dispersive(medium) for medium in fillings_of(setup, *face))]
    if layers and (any(setup.grid.phases) or not filled) and doubling > SLOW * setup.time_step:
        return slow_gain(setup, layers)
    if near := layers_about(setup, index, margin=NEAR):
        layer = face_name(*near[0])
        if near[0] in filled:
            return (
                f"Likely cause: the CPML at {layer} with a dispersive medium in it: waves whose energy runs against "
                "their phase, on thin films of metal or in media of negative index, grow in any such layer. End the "
                f"medium some cells before it, or make {layer} a wall behind a medium that absorbs."
            )
        if len(fillings_of(setup, *near[0])) > 1:
            return (
                f"Likely cause: the CPML at {layer}, where media or metal change across its depth; let structures "
                "run straight into it, or lower kappa_maximum."
            )
    if strongest(setup) > TOO_STRONG:
        return f"Likely cause: a source of amplitude {strongest(setup):.3g}, too strong for single precision; lower it."
    if setup.simulation.ports or setup.simulation.elements:
        return "Likely cause: a lumped circuit with extreme values beside this place; check its R, L, C."
    if all(medium == Medium() for _, medium in media_in_use(setup.simulation)):
        return "Likely cause: a source far too strong for single precision, or a CPML whose numbers are extreme."
    return "Likely cause: a medium with extreme parameters, or a source far too strong for single precision."


def slow_gain(setup: Discretization, layers: Sequence[tuple[int, str]]) -> str:
    """The cause of energy that grows over thousands of steps in a model with a CPML at some faces, and its cures."""
    named = guide_end(lowest_of(setup.band))
    every = (setup.boundaries.face(axis, side) for axis, side in FACES)
    other = any(isinstance(layer, CPML) and not named.items() <= layer.model_dump().items() for layer in every)
    numbers = ", ".join(f"{name}={value:.3g}" for name, value in named.items())
    which, where, face = "trapped modes or evanescent ones", "a CPML that they reach", "the face at which a guide ends"
    if any(setup.grid.phases):
        which, face = "evanescent ones beyond the light line of the Bloch phase", "these faces"
        where = f"the CPML at {' and '.join(face_name(*each) for each in layers)}"
    cure = f", or give {face} CPML({numbers}), which takes their energy" if other else ""
    return (
        f"Likely cause: fields that do not travel, {which}, gain slowly in {where}, in vacuum too. What was recorded "
        "before is sound: end the run earlier by `duration` or `decay`, move the CPML further from where they are "
        f"strong{cure}."
    )


def fillings_of(setup: Discretization, axis: int, side: str) -> list[object]:
    """What a layer continues: the media and metals of bodies that reach into it or the cell before it, and the
    background where it is seen there."""
    line, cells = setup.grid.lines[axis], setup.simulation.boundaries.cpml_cells(axis)[side == "high"] + 1
    low, high = (
        (line[0], line[min(cells, line.size - 1)]) if side == "low" else (line[max(-1 - cells, -line.size)], line[-1])
    )
    edge = SAMPLE_TOLERANCE * (high - low)
    ends = ((body.medium, *(end[axis] for end in body.shape.bounds())) for body in setup.simulation._bodies)
    found: list[object] = [medium for medium, first, last in ends if first < high - edge and last > low + edge]
    background = setup.simulation.background
    return found + [background] * (background in cells_media(setup.coefficients, axis, side))


def is_dispersive(medium: object) -> bool:
    """Whether it is a medium with poles."""
    return isinstance(medium, Medium) and medium.dispersive


def face_name(axis: int, side: str) -> str:
    """A face as `Boundaries` names it."""
    return f"{AXES[axis]}_{side}"
