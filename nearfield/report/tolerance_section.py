"""Which tolerance matters most, in a report: files that `nearfield sensitivities --output` left beside the result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.parameters import value_of
from nearfield.entry.wording import quantity
from nearfield.pictures import style
from nearfield.studies.dip_slopes import Tolerance, tolerances
from nearfield.studies.sweep_table import open_sweep

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from nearfield.results import Result

HEADING = "Which tolerance matters most"


def tolerance_recipes(
    result: Result, files: Sequence[Path], remarks: list[str]
) -> Iterator[tuple[str, str, Callable[[], Figure | None], bool]]:
    """Name, heading and drawing of a section for each file at this run's parameters; of other files a remark."""
    for path in files:
        try:
            found = open_sweep(path)
        except ModelError as error:
            remarks.append(f"No section of sensitivities: {error}")
            continue
        if not found.attrs["parameters"]:
            remarks.append(f"{path.name} does not say at which parameters its sensitivities are; make it again.")
            continue
        if "derivative" not in found or not at_parameters_of(result, found):
            remarks.append(f"{path.name} holds sensitivities at other parameters than this run's, so it is left out.")
            continue
        yield path.stem, HEADING, partial(tolerance_figure, found), False


def at_parameters_of(result: Result, found: xarray.Dataset) -> bool:
    """Whether derivatives were taken at the parameters of a run, all of them, also those that were not varied; of a
    function that names none in its model nothing says so."""
    try:
        own, others = numbers_of(result.parameters), numbers_of(json.loads(found.attrs["parameters"]))
    except (KeyError, ValueError):
        return False
    others |= dict(zip(map(str, found.parameter.values), found["value"].values.tolist()))
    return own.keys() == others.keys() and all(np.isclose(own[name], others[name], rtol=1e-9, atol=0.0) for name in own)


def numbers_of(parameters: Mapping[str, Any]) -> dict[str, float]:
    """Values (SI) of a model's parameters. Error: ValueError."""
    return {name: value_of(given).number for name, given in parameters.items()}


@style.styled
def tolerance_figure(found: xarray.Dataset) -> Figure:
    """What a percent of each parameter changes in S, what matters most on top, and by how much it moves the dip."""
    rows = tolerances(found)[::-1]
    figure = style.blank(8.0, 1.6 + 0.42 * len(rows))
    axes = figure.subplots()
    bars = axes.barh([row.name for row in rows], [row.largest_change for row in rows], color=style.COLOURS[0])
    axes.bar_label(bars, [label_of(row) for row in rows], padding=4, fontsize=9)
    axes.margins(x=0.35)
    axes.set_xlabel("largest change of |S| for 1 % of the parameter")
    dip = next((row for row in rows if row.dip is not None), None)
    note = f"dip of {dip.port} at {quantity(dip.dip, 'Hz')}" if dip and dip.dip else ""
    return style.headline(figure, HEADING, note)


def label_of(row: Tolerance) -> str:
    """The change, and the dip's shift where it is known."""
    return f"{row.largest_change:.2g}" + ("" if row.shift is None else f", dip {row.shift / 1e6:+.2g} MHz")
