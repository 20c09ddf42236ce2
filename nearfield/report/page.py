"""One HTML page with everything of a result: verdict, pictures, facts, model; nothing is fetched from elsewhere."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.attempts import Attempts
from nearfield.entry.levels import decibels, power_decibels
from nearfield.pictures.cuts import patterns
from nearfield.pictures.style import inline_svg, png_bytes, quantity, signed
from nearfield.report.checks import CheckRow
from nearfield.trust.entries import counts_text
from nearfield.trust.signals import STATUS_WORDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nearfield.results import Result

MOST_ROWS = 24
PORT_QUANTITIES = ("gain_dbi", "realized_gain_dbi", "radiation_efficiency")
GENERAL = ("nearfield", "commit", "started", "processor", "cores", "system", "python", "numpy", "h5py")
SIZES = ("bytes", "bytes_per_cell", "palette_blocks", "setup_seconds")
ENGINE = ("time_step", "precision", "engine", "device", "isa", "threads", "schedule", "unit_stride_axis")
NUMERICAL = ("cells", "shape", *ENGINE, *SIZES)
LABELS = {
    "nearfield": "Nearfield",
    "started": "started (UTC)",
    "python": "Python",
    "numpy": "NumPy",
    "shape": "cells along x, y, z",
    "isa": "instruction set",
    "unit_stride_axis": "unit-stride axis",
    "bytes": "memory",
    "palette_blocks": "coefficient palette blocks",
    "setup_seconds": "set-up time",
}
ELSEWHERE = ("warnings", "runs", "checks", "divergence", "trust", "timeline")
SECONDS = ("setup_seconds", "time_step", "seconds", "simulated_time")


@dataclass
class Picture:
    """A drawn figure, its heading, and how it goes into the page: lines as SVG, images as PNG."""

    name: str
    heading: str
    figure: Figure
    vector: bool = True

    @cached_property
    def png(self) -> bytes:
        return png_bytes(self.figure)

    @cached_property
    def markup(self) -> str:
        """The element to put into the page."""
        if self.vector:
            return inline_svg(self.figure, self.name)
        code = base64.b64encode(self.png).decode("ascii")
        return f'<img alt="{html.escape(self.heading)}" src="data:image/png;base64,{code}">'


@dataclass
class Content:
    """Parts of the page besides the result itself."""

    pictures: Sequence[Picture]
    checks: Sequence[CheckRow] = ()
    remarks: list[str] = field(default_factory=list)
    tables: Mapping[str, list[dict[str, str]]] = field(default_factory=dict)  # below the picture of this name
    viewer: str = ""  # the page of the model with its results


def render(result: Result, content: Content, attempts: Attempts | None = None) -> str:
    """The page as text; tables that cannot be made are left out, and named among the warnings of `attempts`."""
    import jinja2

    attempts = attempts or Attempts()
    before = len(attempts.warnings)
    tables: dict[str, Any] = {
        "tiles": attempts.at("the numbers at the head of the report", lambda: tiles(result), []),
        "far_field": attempts.at("the table of far fields", lambda: far_field_rows(result), []),
        "trust": attempts.at("the trust report", lambda: result.trust, ()),
        "runs": attempts.at("the table of runs", lambda: run_rows(result), []),
        "facts": attempts.at("the table of facts", lambda: fact_groups(result.facts), []),
        "media": attempts.at("the table of media", lambda: media_rows(result.media), []),
    }
    content.remarks += attempts.warnings[before:]
    blocks: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True}
    loader = jinja2.PackageLoader("nearfield.report", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, **blocks)
    return environment.get_template("report.html").render(
        result=result,
        content=content,
        title=result.title.strip() or "Untitled model",
        status_words=STATUS_WORDS.get(result.status, ""),
        failed=sum(row.passed is False for row in content.checks),
        number=lambda value, unit: "" if value is None else f"{value:.4g} {unit}",
        trusted=counts_text(tables["trust"]),
        **tables,
    )


def answers(result: Result) -> list[tuple[str, str]]:
    """Return loss, directivity and efficiency, as far as the run has them: (number, what it is)."""
    found = []
    if result.record.sparameters:
        parameters = result.sparameters
        if parameters.to.size == 1 and parameters.source.size == 1:
            level = np.abs(parameters.values[:, 0, 0])
            if np.isfinite(level).any():
                best = int(np.nanargmin(level))
                depth = float(decibels(max(level[best], 1e-20)))
                where = quantity(float(parameters.frequency.values[best]), "Hz")
                found.append((f"{signed(depth)} dB", f"lowest |S11|, at {where}"))
    for row in far_field_rows(result)[:1]:
        found.append((row["directivity"], f"directivity at {row['frequency']}"))
        if row["efficiency"]:
            found.append((row["efficiency"], "radiation efficiency"))
    return found


def tiles(result: Result) -> list[tuple[str, str]]:
    """The few numbers that a reader looks for first: (number, what it is)."""
    found = answers(result)
    runs = [run for run in result.facts.get("runs", {}).values() if isinstance(run, Mapping)]
    if isinstance(result.facts.get("cells"), (int, float)):
        cells = result.facts["cells"]
        found.append((f"{cells / 1e6:.3g} million" if cells >= 1e6 else grouped(cells), "cells"))
    if runs:
        found.append((grouped(sum(run.get("steps", 0) for run in runs)), "steps"))
        seconds = sum(float(run.get("seconds", 0.0)) for run in runs)
        found.append((f"{seconds:.3g} s", "in the time loop"))
        found.append((f"{max(float(run.get('mcells_per_second', 0)) for run in runs):.4g}", "million cells per second"))
    return found


def grouped(number: float) -> str:
    """A whole number, its thousands apart."""
    return f"{number:,.0f}".replace(",", "\u202f")


def far_field_rows(result: Result) -> list[dict[str, str]]:
    """A line for each far-field monitor, excitation and frequency, the first of them only where there are many."""
    rows: list[dict[str, str]] = []
    for excitation in result.excitations:
        for name, monitor in result.excitation(excitation).record.monitors.items():
            if monitor.kind == "far-field" and len(rows) < MOST_ROWS:
                rows += _far_field_rows(result.excitation(excitation)[name], excitation, name)
    return rows[:MOST_ROWS]


def _far_field_rows(far_field: Any, excitation: str, name: str) -> list[dict[str, str]]:
    frequencies = [float(value) for value in far_field.directivity.frequency.values]
    gain, realized, efficiency = (_peaks(far_field, key) for key in PORT_QUANTITIES)
    rows = []
    for pattern in patterns(far_field)[:MOST_ROWS]:
        at = frequencies.index(pattern.frequency)
        theta, phi = np.degrees(pattern.direction)
        ratio = float(decibels(max(pattern.axial_ratio, 1.0)))
        rows.append(
            {
                "monitor": name,
                "excitation": excitation,
                "frequency": quantity(pattern.frequency, "Hz"),
                "directivity": f"{signed(pattern.maximum, 2)} dBi",
                "direction": f"θ {theta:.0f}°, φ {phi:.0f}°",
                "gain": _dbi(gain[at]),
                "realized_gain": _dbi(realized[at]),
                "efficiency": f"{100 * efficiency[at]:.1f} %" if np.isfinite(efficiency[at]) else "",
                "axial_ratio": "linear" if ratio > 60 else f"{ratio:.1f} dB",
            }
        )
    return rows


def _peaks(far_field: Any, name: str) -> np.ndarray:
    """Largest value at each frequency of a quantity that needs a port; NaN where the excitation is not one."""
    from nearfield.entry.errors import NearfieldError

    try:
        values = np.asarray(getattr(far_field, name).values)
    except NearfieldError:
        return np.full(far_field.directivity.frequency.size, np.nan)
    return np.max(np.where(np.isnan(values), -np.inf, values).reshape(len(values), -1), axis=1)


def _dbi(value: float) -> str:
    return f"{signed(float(value), 2)} dBi" if np.isfinite(value) else ""


def run_rows(result: Result) -> list[dict[str, str]]:
    """A row of facts for each excitation."""
    runs = result.facts.get("runs", {}).items()
    rows = [{key: _value(key, value) for key, value in run.items()} | {"excitation": name} for name, run in runs]
    columns = dict.fromkeys(key for row in rows for key in row)
    return [{key: row.get(key, "") for key in columns} for row in rows]


def fact_groups(facts: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The run facts in three lists, what is not known by name in the last."""
    others = [key for key in facts if key not in (*GENERAL, *NUMERICAL, *ELSEWHERE)]
    groups = {"Machine and versions": GENERAL, "Discretisation and engine": NUMERICAL, "Further facts": others}
    rows = {
        heading: [(LABELS.get(key, key.replace("_", " ")), _value(key, facts[key])) for key in keys if key in facts]
        for heading, keys in groups.items()
    }
    return [(heading, found) for heading, found in rows.items() if found]


def _value(key: str, value: Any) -> str:
    """A fact as text with its unit."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if key == "placement":
        places = (f"rank {rank} on {own['host']}: {own['header']}" for rank, own in enumerate(value))
        return "; ".join(", ".join(place.splitlines()) for place in places)
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_value(name, entry)}" for name, entry in value.items())
    if isinstance(value, (list, tuple)):
        nested = any(isinstance(entry, (list, tuple, Mapping)) for entry in value)
        return ("; " if nested else " × " if key == "shape" else ", ").join(_value("", entry) for entry in value)
    if not isinstance(value, (int, float)):
        return str(value)
    if key in SECONDS:
        return quantity(float(value), "s")
    if key == "bytes":
        return f"{value / 2**20:,.1f} MiB"
    if key == "energy_ratio":
        return f"{power_decibels(value):.1f} dB" if value > 0 else str(value)
    return grouped(value) if isinstance(value, int) else f"{value:.5g}"


def media_rows(media: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """The media's numbers."""
    keys = ("permittivity", "permeability", "conductivity", "magnetic_conductivity", "poles", "magnetic_poles")
    return [{"name": name, **{key: _value(key, entry.get(key, "")) for key in keys}} for name, entry in media.items()]
