"""Choice of a run's tiles: those given, those that a trial on this machine found best, or the cost model's.

A trial takes a few candidates in turn, several rounds, and keeps the one with the best median. No bit of a result
depends on tiles: a long run tries them with its own steps, and loses only the time by which some are slower.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, runtime_checkable

import nearfield
from nearfield.engines.cpu import heuristics
from nearfield.engines.cpu.tiling import STEPWISE, Machine, Rows, Tiling, choose_tiling, predicted_gain, predicted_rate
from nearfield.engines.protocol import Engine
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import memory
from nearfield.machine.compiled import instruction_set
from nearfield.machine.machine_file import MachineFile
from nearfield.machine.machine_rate import known_triad
from nearfield.machine.topology import available_threads
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import blocks

TILES = MachineFile("tiles.json")
TILE_FACTS = (
    *("schedule", "tile_depth", "tile_width", "tile_segment", "tile_choice", "tile_bytes", "tile_share_of_cache"),
    *("predicted_gain", "tile_trial"),
)


@runtime_checkable
class TiledEngine(Engine, Protocol):
    """An engine that takes other tiles between two steps."""

    def use_tiles(self, tiling: Tiling) -> None: ...


@dataclass(frozen=True)
class Choice:
    """Tiles, how they were chosen ("model", "measured" or "given"), and the rows and machine that they are for."""

    tiling: Tiling
    how: str
    rows: Rows
    machine: Machine

    @property
    def footprint(self) -> dict[str, tuple[int, int]]:
        """Bytes needed and bytes available by level: live rows in L1, a tile in L2, the tiles of all threads in L3."""
        tile, machine = self.tiling.footprint(self.rows), self.machine
        levels = {
            "L1": (heuristics.LIVE_ROWS * self.rows.segment_bytes(self.tiling.segment), machine.l1),
            "L2": (tile, machine.l2),
            "L3": (tile * machine.threads, machine.l3),
        }
        return {name: level for name, level in levels.items() if self.tiling.depth and level[1]}

    def facts(self) -> dict[str, Any]:
        return {
            "schedule": "tiled" if self.tiling.depth else "stepwise",
            **{f"tile_{name}": number for name, number in asdict(self.tiling).items()},
            "tile_choice": self.how,
            "tile_bytes": {name: need for name, (need, _) in self.footprint.items()},
            "tile_share_of_cache": {name: need / size for name, (need, size) in self.footprint.items()},
            "predicted_gain": predicted_gain(self.tiling, self.rows, self.machine),
        }

    def __str__(self) -> str:
        return tiles_text(self.facts())


def tiles_text(facts: dict[str, Any]) -> str:
    """The facts of a choice in one line."""
    if facts["schedule"] == "stepwise":
        return "none: stepwise"
    shares = facts["tile_share_of_cache"]
    levels = [f"{memory(need)} = {100 * shares[name]:.0f} % of {name}" for name, need in facts["tile_bytes"].items()]
    tiling = Tiling(facts["tile_depth"], facts["tile_width"], facts["tile_segment"])
    how = {"model": "by the cost model", "measured": "by a trial here"}.get(facts["tile_choice"], facts["tile_choice"])
    return f"{tiling}, {how}; {', '.join(levels)}; predicted {facts['predicted_gain']:.1f} times stepwise"


def choose(
    plan: Plan,
    threads: int | None = None,
    schedule: str = "tiled",
    tiling: str | Tiling | None = None,
    available: int | None = None,
) -> Choice:
    """Tiles of a run, on so many threads (None: as many of those available as help it). Error: wrong tiles."""
    rows, given = Rows.of(plan), None if tiling == "auto" else tiling
    machine = machine_for(rows, threads or available or available_threads(), instruction_set())
    if threads is None:
        machine = fewest_threads(rows, machine)
    if schedule == "stepwise" and given:
        raise ModelError(f'tiles {tiling} are given for a run with schedule "stepwise"; give one of the two')
    if schedule == "stepwise" or given:
        return Choice(Tiling.of(given or STEPWISE), "given", rows, machine)
    stored = stored_tiling(rows, machine)
    return Choice(stored or choose_tiling(rows, machine), "measured" if stored else "model", rows, machine)


def machine_for(rows: Rows, threads: int, isa: str) -> Machine:
    """This machine for so many threads, no more than there are planes."""
    threads = min(threads, rows.planes)
    return Machine.here(threads, isa, known_triad(threads))


def fewest_threads(rows: Rows, machine: Machine) -> Machine:
    """The fewest threads that the model finds as good as all: small domains gain nothing from many."""
    if rows.count * rows.cells >= heuristics.SMALL * machine.threads:
        return machine
    tried = [machine]
    while tried[-1].threads > 1:
        tried.append(machine_for(rows, tried[-1].threads // 2, machine.isa))
    rates = [predicted_rate(choose_tiling(rows, each), rows, each) for each in tried]
    return next(each for each, rate in reversed(list(zip(tried, rates))) if rate >= heuristics.AS_GOOD * max(rates))


def key(rows: Rows, machine: Machine) -> str:
    """Key of a measured choice: version, machine and domain, sizes by half octaves."""
    sizes = (2 ** (round(2 * math.log2(size)) / 2) for size in (rows.record_bytes, rows.rows, rows.planes))
    record, count, planes = (f"{size:.0f}" for size in sizes)
    return (
        f"{nearfield.__version__}/{machine.isa}/{rows.precision}/{machine.threads} threads/"
        f"{record} B/{count} rows/{planes} planes/L2 {machine.l2}"
    )


def stored_tiling(rows: Rows, machine: Machine) -> Tiling | None:
    """The measured choice for such rows, where there is one that can be used."""
    entry = TILES.entries().get(key(rows, machine))
    numbers = [entry.get(name) for name in ("depth", "width", "segment")] if isinstance(entry, dict) else []
    sizes = [number for number in numbers if type(number) is int and 0 <= number <= heuristics.MOST]
    if len(sizes) < 3:
        return None
    tiling = Tiling(*sizes)
    deep = tiling.depth >= heuristics.LEAST_DEPTH and tiling.width > 0 and tiling.segment != 1
    return tiling if deep and tiling.footprint(rows) <= 2 * machine.l2 else None


def remember(choice: Choice, rates: dict[Tiling, float]) -> None:
    """Store a measured choice and the rates (steps a second) that it is based on."""
    measured = {str(tiling): float(f"{rate:.6g}") for tiling, rate in rates.items()}
    entry = asdict(choice.tiling) | {"steps_per_second": measured}
    TILES.keep(TILES.entries() | {key(choice.rows, choice.machine): entry})


def forget() -> int:
    """Forget every measured choice of this machine; returns how many there were."""
    count = len(TILES.entries())
    TILES.keep({})
    return count


def candidates(rows: Rows, machine: Machine) -> list[Tiling]:
    """Candidates of a trial: the model's choice first, then other shares of L2, other aspects, segments."""
    chosen = choose_tiling(rows, machine)
    found = [chosen, *(choose_tiling(rows, machine, share) for share in heuristics.SHARES)]
    for stretch in (heuristics.ASPECT, 1 / heuristics.ASPECT):
        depth, width = round(chosen.depth * stretch), round(chosen.width / stretch)
        found.append(Tiling(max(heuristics.LEAST_DEPTH, depth), max(heuristics.WIDTHS[0], width)))
    if blocks(rows.cells) >= 2 * heuristics.SEGMENT:
        found.append(replace(chosen, segment=heuristics.SEGMENT))
    return list(dict.fromkeys(found))


class Trial:
    """Candidates in turn, several rounds: `tiling` is to be used now, `add` tells how fast it was."""

    def __init__(self, tilings: list[Tiling], limit: float = math.inf) -> None:
        self.limit = limit  # seconds; whole rounds past it are left out
        self.seconds_per_step: dict[Tiling, list[float]] = {tiling: [] for tiling in tilings}
        self.turns, self.spent, self._seconds, self._steps = 0, 0.0, 0.0, 0  # the last two of the turn under way

    @property
    def tiling(self) -> Tiling:
        return list(self.seconds_per_step)[self.turns % len(self.seconds_per_step)]

    @property
    def done(self) -> bool:
        """Whether every candidate had its turns."""
        rounds, rest = divmod(self.turns, len(self.seconds_per_step))
        return rest == 0 and (rounds >= heuristics.ROUNDS or (rounds > 0 and self.spent >= self.limit))

    def add(self, steps: int, seconds: float, checked: bool = True) -> None:
        """So many steps were made; a turn ends with a check of the fields, or when it is long beside one."""
        self._steps += steps
        self._seconds += seconds
        if self._seconds >= heuristics.TURN_SECONDS * (1 if checked else 3):
            self.seconds_per_step[self.tiling].append(self._seconds / self._steps)
            self.spent += self._seconds
            self.turns += 1
            self._seconds, self._steps = 0.0, 0

    def rates(self) -> dict[Tiling, float]:
        """Steps a second by candidate, medians of the rounds."""
        return {tiling: 1 / statistics.median(times) for tiling, times in self.seconds_per_step.items()}

    def best(self) -> Tiling:
        """The fastest that is tiled; the first of them where it is as fast within the noise."""
        rates = {tiling: rate for tiling, rate in self.rates().items() if tiling.depth}
        first, best = next(iter(rates)), max(rates, key=lambda tiling: rates[tiling])
        return first if rates[first] >= (1 - heuristics.NOISE) * rates[best] else best


def try_out(engine: Engine, excitation: str, choice: Choice, tell: Callable[[str], None]) -> tuple[Choice, Trial]:
    """Measure the candidates and the stepwise schedule on an engine that is used for nothing else. Error: no tiles."""
    if not isinstance(engine, TiledEngine):
        raise ModelError("this engine has no tiles; tune the engine for CPUs")
    trial = Trial([STEPWISE, *candidates(choice.rows, choice.machine)], limit=heuristics.LONG_RUN)
    engine.advance(2 * heuristics.LEAST_DEPTH, excitation)  # pages and caches
    while not trial.done:
        if trial.turns % len(trial.seconds_per_step) == 0:
            tell(f"round {trial.turns // len(trial.seconds_per_step) + 1} of {heuristics.ROUNDS}")
        turn = trial.turns
        engine.use_tiles(trial.tiling)
        steps = 2 * max(trial.tiling.depth, heuristics.LEAST_DEPTH)
        while trial.turns == turn:
            begun = time.perf_counter()
            engine.advance(steps, excitation)
            seconds = time.perf_counter() - begun
            trial.add(steps, seconds)
            steps *= 2 if seconds < heuristics.TURN_SECONDS / 4 else 1
    return settle(engine, choice, trial), trial


def settle(engine: TiledEngine, choice: Choice, trial: Trial) -> Choice:
    """The choice that a trial ends with, in use and stored for later runs."""
    choice = replace(choice, tiling=trial.best(), how="measured")
    engine.use_tiles(choice.tiling)
    remember(choice, trial.rates())
    return choice


class RunTuner:
    """The trial of a long run, made with the run's own steps; `choice` is what it uses between trials.

    Only the model's own choice is put to a trial, and only once.
    """

    def __init__(self, engine: Engine, choice: Choice, expected_steps: int, check_every: int) -> None:
        self.engine, self.choice, self.steps, self.check_every = engine, choice, expected_steps, check_every
        self._tiled = engine if isinstance(engine, TiledEngine) else None  # ranks would each find other tiles
        self.trial: Trial | None = None
        self.rates: dict[Tiling, float] = {}  # steps a second, once measured
        self._open, self._seconds, self._made = choice.how == "model", 0.0, 0

    @property
    def tiling(self) -> Tiling:
        return self.trial.tiling if self.trial else self.choice.tiling

    @property
    def note(self) -> str:
        """Note for the progress line while a trial goes on."""
        if self.trial is None:
            return ""
        turns = heuristics.ROUNDS * len(self.trial.seconds_per_step)
        return f"trying tiles {self.tiling} ({self.trial.turns + 1} of {turns})"

    def facts(self) -> dict[str, Any]:
        """The choice as it stands, and the rates (steps a second) of a trial that was made."""
        trial = {"tile_trial": {str(tiling): rate for tiling, rate in self.rates.items()}} if self.rates else {}
        return self.choice.facts() | trial

    def add(self, steps: int, seconds: float, checked: bool) -> None:
        """The run made so many steps: judge it, begin the trial, go on with it, or end it."""
        if self._tiled is None:
            return
        if self.trial:
            self.trial.add(steps, seconds, checked)
            if self.trial.done:
                self.rates = self.trial.rates()
                self.choice, self.trial = settle(self._tiled, self.choice, self.trial), None
        elif self._open:
            self._seconds, self._made = self._seconds + seconds, self._made + steps
            if self._seconds >= heuristics.WARM_UP:
                self._open = False
                self.trial = self._worth_while(self._made / self._seconds)
        else:
            return
        self._tiled.use_tiles(self.tiling)

    def _worth_while(self, rate: float) -> Trial | None:
        """A trial, where the run is long, one round is short beside it, and checks do not cut the tiles."""
        expected = self.steps / rate
        if expected < heuristics.LONG_RUN:
            return None
        tilings = candidates(self.choice.rows, self.choice.machine)
        round_seconds = sum(max(heuristics.TURN_SECONDS, 2 * tiling.depth / rate) for tiling in tilings)
        cut = self.check_every < 2 * max(tiling.depth for tiling in tilings)
        if len(tilings) < 2 or cut or round_seconds > heuristics.SHARE_OF_RUN * expected:
            return None
        return Trial(tilings, heuristics.SHARE_OF_RUN * expected)
