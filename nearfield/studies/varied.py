"""A model and its neighbours: parameters a little larger and smaller, on grids of as many cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.bodies.shapes import Rectangular
from nearfield.discretization.discretization import Discretization, grid_of
from nearfield.discretization.excitations import port_waveform
from nearfield.entry.dimensions import NONE, Value, unit_text
from nearfield.entry.errors import ModelError
from nearfield.entry.expressions import ExpressionError, si_unit
from nearfield.entry.messages import shown
from nearfield.entry.parameters import value_of
from nearfield.entry.toml_text import plain
from nearfield.grid.grid import AutoGrid, Grid
from nearfield.media.surface_media import is_metal
from nearfield.studies.convergence import one_method
from nearfield.studies.user_function import call_with

if TYPE_CHECKING:
    from nearfield.bodies.geometry import FilledShape
    from nearfield.grid.yee import YeeGrid
    from nearfield.simulation import Simulation

SHARE = 1e-5  # of a parameter's value by which it is changed, unless that moves bodies
LEAP = 5.0  # times what bodies are moved by, in cells: change of a coefficient, over its largest value, that is a leap
MOVED = 2e-3  # of a cell by which bodies are moved ...
SMOOTH = 2e-4  # ... that no search for surfaces makes rough: next to a line the field of rims goes on steeply
BODIES = ("structures", "media", "background")  # what parameters may change
APART = ("grid", "parameters", "title", "monitors")  # what is given anew, or is a record


@dataclass(frozen=True)
class Varied:
    """A parameter: its value (SI), its unit, by how much it is changed, whether it is typed as a text, and from what
    change of a coefficient on that is a leap (touched.py)."""

    name: str
    value: float
    unit: str
    step: float
    as_text: bool
    leap: float = LEAP * MOVED

    def given(self, times: float) -> float | str:
        """The value with so many steps added, as the model takes it."""
        number = self.value + times * self.step
        return f"{number!r} {self.unit}".strip() if self.as_text else number


def making(
    make: Callable[..., Simulation] | str | Path, parameters: Mapping[str, Any] | Sequence[str]
) -> tuple[Callable[..., Simulation], dict[str, Any]]:
    """A function of the parameters, and their values. Error: `ModelError` for names without a value."""
    if callable(make):
        if not isinstance(parameters, Mapping):
            raise ModelError('parameters of a function need their values, such as {"length": "15 mm"}')
        return make, dict(parameters)
    from nearfield.model_file import derived_parameters, load

    names = [parameters] if isinstance(parameters, str) else list(parameters)
    settings = dict(parameters) if isinstance(parameters, Mapping) else {}
    table = load(make, settings).parameters
    refuse_followers(names, derived_parameters(make, settings))
    unknown = [name for name in names if name not in table]
    if unknown or not names:
        there = ", ".join(table) or "none, see docs/model-file.md"
        raise ModelError(f"{make}: parameters given: {', '.join(names) or 'none'}; the file has {there}")
    return (lambda **values: load(make, settings | values)), {name: table[name] for name in names}


def refuse_followers(names: Sequence[str], derived: Mapping[str, Sequence[str]]) -> None:
    """Error: a parameter is an expression of another that is named beside it: one would vary while the other stays.

    derived: of each such parameter those that it follows.
    """
    for name in names:
        if both := [other for other in derived.get(name, ()) if other in names]:
            raise ModelError(
                f"parameters given: {', '.join(names)}; {name} is an expression of {', '.join(both)} and moves with "
                f"it, so derivatives for both would count it twice. Leave {name} out, or name it alone: what it is an "
                "expression of stays then. With a value set for it, it follows nothing"
            )


def varied(values: Mapping[str, Any], steps: Mapping[str, Any], make: Callable[..., Simulation]) -> list[Varied]:
    """The parameters and their steps. Error: `ModelError` for values that are no numbers, and zeros without a step."""
    unknown = set(steps) - set(values)
    if unknown:
        raise ModelError(f"steps name {', '.join(sorted(unknown))}; the parameters are {', '.join(values)}")
    found = [_varied(name, given, steps.get(name)) for name, given in values.items()]
    free = [each for each in found if each.name not in steps]
    start = {each.name: each.given(0) for each in found}
    model = call_with(make, start)
    for each in free:
        times, moved = _step_of_bodies(model, make(**start | {each.name: each.given(1)}))
        if times > 0.0:
            found[found.index(each)] = replace(each, step=each.step * times, leap=LEAP * moved)
    return found


def _varied(name: str, given: Any, step: Any) -> Varied:
    try:
        value = value_of(given)
        size = SHARE * abs(value.number) if step is None else _size(name, value, step)
    except ExpressionError as error:
        raise ModelError(f"parameter {name}: {error}") from None
    if size == 0.0:
        raise ModelError(
            f'parameter {name} is 0: give its step, such as steps={{"{name}": "1 um"}} in Python, or a value a little '
            f"beside 0, such as --set {name}=1um"
        )
    return Varied(name, value.number, si_unit(given), size, isinstance(given, str))


def _size(name: str, value: Value, given: Any) -> float:
    """The size (SI) of a step that is given. Error: it has another unit, or lacks one and exceeds the value."""
    step = value_of(given)
    if NONE not in (value.powers, step.powers) and step.powers != value.powers:
        units = f"{unit_text(step.powers)}, but the parameter is in {unit_text(value.powers)}"
        raise ModelError(f"steps: {name}: given {shown(given)}, in {units}; give the step in the parameter's unit")
    if step.powers == NONE != value.powers and abs(step.number) >= abs(value.number) > 0.0:
        large = f"{step.number:g} {unit_text(value.powers)}, no less than the parameter itself"
        raise ModelError(f"steps: {name}: given {shown(given)} without a unit, which is {large}; give it with its unit")
    return abs(step.number)


def _step_of_bodies(model: Simulation, beside: Simulation) -> tuple[float, float]:
    """How many times as far as in another model the ends of bodies may lie elsewhere, 0 where none does; and by how
    many cells that is."""
    grid, most, moved = grid_of(model), 0.0, MOVED
    for own, other in zip(model._bodies, beside._bodies):
        allowed = SMOOTH if _smooth(own) else MOVED
        for axis, ends in enumerate(zip(zip(*own.shape.bounds()), zip(*other.shape.bounds()))):
            for here, there in zip(*ends):
                if here != there and np.isfinite(there - here):
                    cell = grid.primary(axis)[min(grid.nearest_node(axis, here), grid.cells[axis] - 1)]
                    most, moved = max((most, moved), (abs(there - here) / float(cell) / allowed, allowed))
    return (1.0 / most if most else 0.0), moved


def _smooth(body: FilledShape) -> bool:
    """Whether formulas say what a body makes of samples: of boxes of media, and of flat metal along the axes."""
    flat = any(low == high for low, high in zip(*body.shape.bounds()))
    return isinstance(body.shape, Rectangular) and (flat or not is_metal(body.medium))


def alike(
    make: Callable[..., Simulation], parameters: Sequence[Varied], stays: bool = False
) -> tuple[Simulation, list[tuple[Simulation, Simulation]]]:
    """The model, and for each parameter those with a little more and less of it; one time step and way of metal.

    Grids with given lines stay; an automatic one goes with the bodies as long as it has as many cells on both sides,
    unless it `stays`. Every port is driven. Error: a parameter changes more than structures and media.
    """
    values = {each.name: each.given(0) for each in parameters}
    model = make(**values)
    if not model.ports:
        raise ModelError("sensitivities are derivatives of S-parameters: the model has no port")
    names = tuple(port.name for port in model._channels)
    pulse = port_waveform(model, model._channels[0])  # an automatic grid may have given it
    grid = grid_of(model)
    fixed = {"grid": _given(grid), "waveform": model.waveform or pulse, "excitations": names}
    models = [model.model_copy(update=fixed)]
    for each in parameters:
        pair = [make(**values | {each.name: each.given(sign)}) for sign in (1, -1)]
        for beside in pair:
            _refuse_other_changes(model, beside, each.name)
            _refuse_changed_guides(model, beside, each.name)
        grids = [_given(grid)] * 2 if stays else _grids_beside(grid, pair)
        for beside, lines in zip(pair, grids):
            own = {name: getattr(beside, name) for name in BODIES}
            models.append(models[0].model_copy(update=own | {"grid": lines}))
    models = one_method(models)
    step = float(min(Discretization(each).time_step for each in models))
    models = [each.model_copy(update={"time_step": step}) for each in models]
    return models[0], list(zip(models[1::2], models[2::2]))


def _given(grid: YeeGrid) -> Grid:
    """A grid with given lines."""
    x, y, z = (tuple(line.tolist()) for line in grid.lines)
    return Grid(x=x, y=y, z=z)


def _grids_beside(grid: YeeGrid, pair: Sequence[Simulation]) -> list[Grid]:
    """The grids of two models that an automatic one has gone with; the grid as it is where either has other cells."""
    if all(isinstance(beside.grid, AutoGrid) for beside in pair):
        grids = [grid_of(beside) for beside in pair]
        if all(own.cells == grid.cells for own in grids):
            return [_given(own) for own in grids]
    return [_given(grid)] * 2


def _refuse_other_changes(model: Simulation, beside: Simulation, parameter: str) -> None:
    """Error: two models differ in an entry whose change moves no coefficient."""
    own, other = plain(model), plain(beside)
    for name in sorted({*own, *other} - {*BODIES, *APART}):
        if own.get(name) != other.get(name):
            raise ModelError(
                f"parameter {parameter} changes {name}; sensitivities are with respect to structures and media alone, "
                "while ports, sources, elements and boundaries stay. Keep that entry as it is, or use `sweep`"
            )


def _refuse_changed_guides(model: Simulation, beside: Simulation, parameter: str) -> None:
    """Error: a body that differs stands in the plane of a waveguide port, whose mode then changes too."""
    changed = [own.shape for own, other in zip(model._bodies, beside._bodies) if own != other]
    for port in (port for port in model.ports if port.kind == "waveguide"):
        for shape in changed:
            low, high = (ends[port._along] for ends in shape.bounds())
            if low <= port.lower[port._along] <= high:
                raise ModelError(
                    f"parameter {parameter} changes {shape.kind} at the plane of port {port.name!r}, and with it the "
                    "mode that the port's waves are of, which sensitivities do not follow; use `sweep`, or let what "
                    "changes end before the port"
                )
