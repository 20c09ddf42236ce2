"""Parameters for which S-parameters, gains and fields meet goals.

By SciPy's least squares with derivatives of the runs, or by a simplex.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.dimensions import NONE, Value, powers_of, unit_text
from nearfield.entry.errors import DamagedError, DivergedError, ModelError, NoRoom
from nearfield.entry.expressions import ExpressionError, si_unit
from nearfield.entry.messages import shown
from nearfield.entry.parameters import value_of
from nearfield.entry.wording import counted
from nearfield.studies.goals import FieldGoal, GainGoal, Goal, WaveGoal, goals_of
from nearfield.studies.impossible import refuse_weak
from nearfield.studies.pattern_slopes import far_field_variables, recorded_at, towards_of
from nearfield.studies.probe_slopes import probe_variables, probes_of
from nearfield.studies.sensitivities import sensitivities
from nearfield.studies.user_function import call_with
from nearfield.studies.varied import making
from nearfield.studies.whole_run import run_whole

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

    from nearfield.simulation import Simulation

METHODS = ("gradient", "simplex")
SPARE = 0.5  # dB by which limits are aimed at with some to spare: what is just missed would be reached ever more slowly
CLOSE = 1e-4  # of a parameter's range: steps below it end the search
MET, SETTLED, SPENT = "the goals are met", "no step makes it better", "the runs are used up"  # reasons to stop
INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Attempt:
    """One run of a search: parameters (SI), the sum of squares by which amplitudes miss the goals, and the worst
    level (dB) of each goal."""

    parameters: dict[str, float]
    cost: float
    levels: tuple[float, ...]


@dataclass(frozen=True)
class Optimum:
    """What a search found: the best parameters (SI), whether they meet the goals, why it stopped, every run, and the
    trials without one: parameters that have no model, or whose fields diverged, with the reason."""

    parameters: dict[str, float]
    met: bool
    stopped: str
    goals: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    model: Simulation = field(repr=False)
    impossible: tuple[str, ...] = ()

    @property
    def best(self) -> Attempt:
        """The attempt that misses the goals least."""
        return min(self.attempts, key=lambda attempt: attempt.cost)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The path: the worst level of each goal (dB) over the runs, and its limit."""
        from nearfield.pictures import style

        axes = style.panel_for(ax, 8.0, 4.2, "Search", self.stopped)
        runs = np.arange(1, len(self.attempts) + 1)
        for number, goal in enumerate(goals_of(self.goals)):
            levels = [attempt.levels[number] for attempt in self.attempts]
            colour = style.COLOURS[number % len(style.COLOURS)]
            axes.plot(runs, levels, "o-", color=colour, label=goal.text)
            axes.axhline(goal.limit, color=colour, linestyle="--", linewidth=1)
        style.name_axes(axes, "run", "worst level (dB)", "best")
        return axes


def optimize(
    make: Callable[..., Simulation] | str | Path,
    parameters: Mapping[str, tuple[Any, Any]],
    goals: str | Sequence[str],
    start: Mapping[str, Any] | None = None,
    method: str = "gradient",
    runs: int = 30,
    threads: int | None = None,
    report: Callable[[Attempt, int], None] | None = None,
) -> Optimum:
    """Search the parameters for which S-parameters, gains and fields meet goals.

    make: a function of the parameters that gives a `Simulation`, or a model file with `[parameters]`. parameters: the
    lowest and highest value of each, numbers (SI) or texts ("14 mm", "18 mm"). goals: "S11 < -15 dB between 2.4 GHz and
    2.5 GHz", "S21 > -1 dB at 5 GHz", ports counted from 1; "pattern realized gain > 6 dBi at 2.45 GHz towards 0, 0
    deg", a monitor `FarField` and the angles theta and phi, by two further runs an attempt, of the first port driven;
    "tip field < 20 dBV/m at 2.45 GHz", a monitor `Probe`, by one, for that port's source of amplitude 1.
    start: where to begin; left out, the middle of each range. method: "gradient", least squares of what abs(S) and
    gains miss with the derivatives of `sensitivities`, which must know every parameter; "simplex" (Nelder and Mead)
    takes any parameter and some three times the runs. runs: at most so many. report: called after each run with the
    attempt and its number.

    A trial whose parameters have no model, or whose fields diverge, counts as a run and as a miss; the first one is an
    error. It stops when the goals are met, when steps fall below 1e-4 of the ranges, or when the runs are used up;
    Ctrl-C and SIGTERM end it with the best so far (`stopped` is "interrupted") once one run is whole. What it finds is
    the best near its start: far from a resonance abs(S11) is flat, so begin within a bandwidth or two.
    Error: `ModelError` for what `sensitivities` refuses, bad goals, ranges or starts.
    """
    if method not in METHODS:
        raise ModelError(f"method {method!r} is not known; give one of {', '.join(METHODS)}")
    if runs < 1:
        raise ModelError(f"runs = {runs}: give at least 1")
    search = Search(make, parameters, goals_of(goals), start or {}, runs, threads, report)
    stopped = search.stopped_by(search.by_gradient if method == "gradient" else search.by_simplex)
    best = min(search.attempts, key=lambda attempt: attempt.cost)
    texts = tuple(goal.text for goal in search.goals)
    model = search.build(**search.given(best.parameters))
    return Optimum(
        best.parameters, best.cost == 0.0, stopped, texts, tuple(search.attempts), model, tuple(search.impossible)
    )


class _Ended(Exception):
    """The search need not go on."""


class Search:
    """One search: runs that were made, in the order of the making, over parameters scaled to [0, 1]."""

    def __init__(
        self,
        make: Callable[..., Simulation] | str | Path,
        parameters: Mapping[str, tuple[Any, Any]],
        goals: Sequence[Goal],
        start: Mapping[str, Any],
        most: int,
        threads: int | None,
        report: Callable[[Attempt, int], None] | None,
    ) -> None:
        self.goals, self._most, self._threads, self._report = goals, most, threads, report
        if not isinstance(parameters, Mapping) or not isinstance(start, Mapping):
            given = shown(start if isinstance(parameters, Mapping) else parameters)
            raise ModelError(
                f'given {given}; parameters and start are tables, such as {{"length": ("14 mm", "18 mm")}}'
            )
        self.names = list(parameters)
        ends = np.array([_range(name, given) for name, given in parameters.items()])
        self._units = [unit_of(given) for given in parameters.values()]
        if not self.names:
            raise ModelError('there is nothing to vary; give parameters such as {"length": ("14 mm", "18 mm")}')
        self._low, self._span = ends[:, 0], ends[:, 1] - ends[:, 0]
        self.start = np.array([self._scaled_start(n, start) for n in range(len(self.names))])
        unknown = set(start) - set(self.names)
        if unknown:
            raise ModelError(f"start names {', '.join(sorted(unknown))}; the parameters are {', '.join(self.names)}")
        first = self.given(self._named(self.start))
        self.build, _ = making(make, first)
        _refuse_goals(call_with(self.build, first), goals)
        self.attempts: list[Attempt] = []
        self.impossible: list[str] = []
        self._scale = 1.0  # of what is missed, so that SciPy's measures, which are absolute, suit all units
        self._kept: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def _scaled_start(self, number: int, start: Mapping[str, Any]) -> float:
        name = self.names[number]
        if name not in start:
            return 0.5
        given = _value(name, start[name])
        unit = self._units[number]  # None: numbers in SI
        if unit is not None and given.powers not in (NONE, powers_of(unit)):
            raise ModelError(f"start of {name}: given {shown(start[name])}, but its range is in {unit or 'no unit'}")
        place = (given.number - self._low[number]) / self._span[number]
        if not 0.0 <= place <= 1.0:
            raise ModelError(f"start of {name} lies outside its range; begin between its ends")
        return float(place)

    def _named(self, at: np.ndarray) -> dict[str, float]:
        return dict(zip(self.names, self.values(at)))

    def values(self, at: np.ndarray) -> list[float]:
        """Parameters (SI) at a scaled place."""
        found: list[float] = (self._low + self._span * np.clip(at, 0.0, 1.0)).tolist()
        return found

    def given(self, values: Mapping[str, float]) -> dict[str, Any]:
        """Parameters as the model takes them: texts with units where the ranges are."""
        units = dict(zip(self.names, self._units))
        return {name: value if units[name] is None else f"{value!r} {units[name]}" for name, value in values.items()}

    def stopped_by(self, search: Callable[[], None]) -> str:
        """Why a search ended."""
        try:
            search()
        except _Ended as end:
            return str(end)
        except KeyboardInterrupt:
            if not self.attempts:
                raise
            return INTERRUPTED
        return SETTLED

    def by_gradient(self) -> None:
        """Least squares with derivatives of each run."""
        from scipy.optimize import least_squares

        inside = np.clip(self.start, CLOSE, 1.0 - CLOSE)  # SciPy begins within bounds
        least_squares(
            lambda at: self._run(at, True)[0],
            inside,
            lambda at: self._run(at, True)[1],
            (0.0, 1.0),
            xtol=CLOSE,
            gtol=float(np.finfo(float).eps),
        )

    def by_simplex(self) -> None:
        """Nelder and Mead on the sum of squares."""
        from scipy.optimize import minimize

        options = {"xatol": CLOSE, "fatol": np.inf, "initial_simplex": self._simplex()}
        bounds = [(0.0, 1.0)] * len(self.names)
        minimize(
            lambda at: float(np.sum(self._run(at, False)[0] ** 2)),
            self.start,
            method="Nelder-Mead",
            bounds=bounds,
            options=options,
        )

    def _simplex(self) -> np.ndarray:
        """Corners a tenth of each range from the start, towards the farther end."""
        corners = np.tile(self.start, (len(self.names) + 1, 1))
        for n, at in enumerate(self.start):
            corners[n + 1, n] += 0.1 if at <= 0.5 else -0.1
        return corners

    def _run(self, at: np.ndarray, slopes: bool) -> tuple[np.ndarray, np.ndarray]:
        """What is missed of the limits aimed at, (all goals' frequencies,), and its slopes over scaled parameters."""
        key = np.asarray(at, float).tobytes()
        if key not in self._kept:
            if len(self.attempts) + len(self.impossible) >= self._most:
                raise _Ended(SPENT)
            self._kept[key] = self._tried(at, slopes)
        return self._kept[key]

    def _tried(self, at: np.ndarray, slopes: bool) -> tuple[np.ndarray, np.ndarray]:
        """What `_made` gives; infinities at parameters that have no model or no whole run, from the second trial on."""
        try:
            return self._made(at, slopes)
        except (ModelError, DivergedError) as error:
            if not self.attempts or isinstance(error, DamagedError | NoRoom):
                raise
            parts = zip(self.names, self.values(at), self._units)
            where = ", ".join(f"{name} = {value:.6g} {unit or ''}".rstrip() for name, value, unit in parts)
            self.impossible.append(f"{where}: {error}")
            missed, slope = next(iter(self._kept.values()))
            return np.full_like(missed, np.inf), np.zeros_like(slope)

    def _made(self, at: np.ndarray, wanted: bool) -> tuple[np.ndarray, np.ndarray]:
        values = self._named(at)
        frequencies = np.unique(np.concatenate([goal.frequencies for goal in self.goals]))
        answers = self._answers(values, frequencies, wanted)
        missed = np.concatenate([goal.missed(answers) for goal in self.goals])
        if not np.isfinite(missed).all():
            raise ModelError("a goal lies at frequencies at which the pulse holds too little; give a wider pulse")
        levels = tuple(goal.worst(answers) for goal in self.goals)
        self.attempts.append(Attempt(values, float(np.sum(missed**2)), levels))
        if self._report is not None:
            self._report(self.attempts[-1], len(self.attempts))
        if not missed.any():
            raise _Ended(MET)
        if not wanted:
            return missed, np.empty((missed.size, 0))
        aimed = np.concatenate([goal.missed(answers, SPARE) for goal in self.goals])
        slopes = np.concatenate([goal.slopes(answers, SPARE) for goal in self.goals])
        if len(self.attempts) == 1:
            self._scale = 1.0 / float(np.linalg.norm(aimed))
        return self._scale * aimed, self._scale * slopes * self._span

    def _answers(self, values: dict[str, float], frequencies: np.ndarray, slopes: bool) -> xarray.Dataset:
        """S, and the far fields and probes that goals name, and if asked their derivatives."""
        gains = (goal.far_fields for goal in self.goals if isinstance(goal, GainGoal))
        far_fields = list(dict.fromkeys(way for ways in gains for way in ways))
        probes = list(dict.fromkeys(goal.probe for goal in self.goals if isinstance(goal, FieldGoal)))
        wanted: dict[str, Any] = {"far_fields": far_fields, "probes": probes}
        if not slopes:
            return answered(self.build(**self.given(values)), frequencies, self._threads, **wanted)
        here = self.given(values)
        model = self.build(**here)  # says of a model that cannot be what is wrong with it

        def build(**given: Any) -> Simulation:
            return model if given == here else self.build(**given)

        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "the record of port")  # the next step asks again
                return sensitivities(build, here, frequencies, self._threads, **wanted)
        except ModelError as error:
            raise ModelError(f'{error} (method = "simplex" searches without derivatives)') from None


def answered(
    model: Simulation,
    frequencies: np.ndarray,
    threads: int | None,
    far_fields: Sequence[tuple[Any, ...]] = (),
    probes: Sequence[str] = (),
) -> xarray.Dataset:
    """What `sensitivities` gives of a model, without derivatives."""
    towards, heard = towards_of(model, far_fields), probes_of(model, probes)
    driven = tuple(port.name for port in model._channels)  # as `sensitivities` drives them
    recorded = model.model_copy(update={"monitors": recorded_at(model, towards, frequencies), "excitations": driven})
    result = run_whole(recorded, threads)
    found = result.sparameters_at(frequencies).to_dataset(name="sparameters")
    found = found.assign_coords(source=list(result.ports))
    if heard:
        names = {"probe": [each.name for each in heard]}
        found = found.assign_coords(names).assign(probe_variables(result, heard, frequencies))
    if towards:
        names = {"toward": [each.name for each in towards]}
        found = found.assign_coords(names).assign(far_field_variables(result, towards, frequencies))
    return found


def _refuse_goals(model: Simulation, goals: Sequence[Goal]) -> None:
    channels = model._channels
    names = [port.name for port in channels]
    for goal in goals:
        waves = goal if isinstance(goal, WaveGoal) else None
        if waves is not None and max(waves.to, waves.source) >= len(names):
            raise ModelError(f"goal {goal.text!r}: the model has {counted(len(names), 'port')}, {', '.join(names)}")
        if not names:
            raise ModelError(f"goal {goal.text!r}: the model has no port; goals are for a source of amplitude 1 at one")
        towards_of(model, goal.far_fields if isinstance(goal, GainGoal) else ())
        probes_of(model, [goal.probe] if isinstance(goal, FieldGoal) else ())
        driven = channels[0 if waves is None else waves.source]  # fields and gains are those of the first
        for at in goal.frequencies[[0, -1]].tolist():
            refuse_weak(f"goal {goal.text!r}", model, driven, at)


def _range(name: str, given: Any) -> tuple[float, float]:
    """The ends of a parameter's range (SI). Error: `ModelError`."""
    if isinstance(given, str) or np.shape(given) != (2,):
        raise ModelError(f'parameter {name}: give its lowest and highest value, such as ("14 mm", "18 mm")')
    first, last = (_value(name, each) for each in given)
    if first.powers != last.powers:
        units = f"{unit_text(first.powers)} and {unit_text(last.powers)}"
        raise ModelError(f"parameter {name}: its range is given in {units}; give both ends in the same unit")
    low, high = first.number, last.number
    if not low < high:
        raise ModelError(f"parameter {name}: its range ends at {high:.6g}, not above its beginning {low:.6g}")
    return low, high


def unit_of(given: Any) -> str | None:
    """The SI unit that the ends of a range were typed in; None where they are numbers."""
    first = given[0] if len(given) else None
    if not isinstance(first, str) or isinstance(given, str):
        return None
    return si_unit(first)


def _value(name: str, given: Any) -> Value:
    try:
        return value_of(given)
    except ExpressionError as error:
        raise ModelError(f"parameter {name}: {error}") from None
