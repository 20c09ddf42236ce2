"""One HTML page with everything of a result: verdict, pictures, facts, model; nothing is fetched from elsewhere."""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.pictures.style import inline_svg, png_bytes, quantity, signed
from nearfield.report.checks import CheckRow
from nearfield.report.cuts import patterns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nearfield.results import Result

MOST_ROWS = 24
STATUS_WORDS = {
    "done": "The run ended as it should.",
    "diverged": "The fields grew without bound: nothing here may be trusted.",
    "interrupted": "The run was interrupted: spectra and patterns are of what was recorded until then.",
    "failed": "The run failed under way: results are incomplete.",
}
GENERAL = (
    ("nearfield", "Nearfield"),
    ("commit", "commit"),
    ("started", "started (UTC)"),
    ("processor", "processor"),
    ("cores", "cores"),
    ("system", "system"),
    ("python", "Python"),
    ("numpy", "NumPy"),
    ("h5py", "h5py"),
)
NUMERICAL = (
    ("cells", "cells"),
    ("shape", "cells along x, y, z"),
    ("time_step", "time step"),
    ("precision", "precision"),
    ("engine", "engine"),
    ("isa", "instruction set"),
    ("threads", "threads"),
    ("schedule", "schedule"),
    ("unit_stride_axis", "unit-stride axis"),
    ("bytes", "memory"),
    ("bytes_per_cell", "bytes per cell"),
    ("palette_blocks", "coefficient palette blocks"),
    ("setup_seconds", "set-up time"),
)
ELSEWHERE = ("warnings", "runs", "checks", "divergence")
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
        """The picture as a PNG file."""
        return png_bytes(self.figure)

    def markup(self) -> str:
        """The element to put into the page."""
        if self.vector:
            return inline_svg(self.figure, self.name)
        code = base64.b64encode(self.png).decode("ascii")
        return f'<img alt="{html.escape(self.heading)}" src="data:image/png;base64,{code}">'


@dataclass
class Content:
    """What the page is made of, besides the result itself."""

    pictures: Sequence[Picture]
    checks: Sequence[CheckRow] = ()
    remarks: list[str] = field(default_factory=list)
    tables: Mapping[str, list[dict[str, str]]] = field(default_factory=dict)  # below the picture of this name


def render(result: Result, content: Content) -> str:
    """The page as text."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("nearfield.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(
        title=result.title.strip() or "Untitled model",
        status=result.status,
        status_words=STATUS_WORDS.get(result.status, ""),
        divergence=result.facts.get("divergence", ""),
        warnings=[str(warning) for warning in result.facts.get("warnings") or []],
        remarks=content.remarks,
        tiles=tiles(result),
        checks=content.checks,
        failed=sum(row.passed is False for row in content.checks),
        pictures=content.pictures,
        tables=content.tables,
        far_field=far_field_rows(result),
        runs=run_rows(result),
        facts=fact_groups(result.facts),
        media=media_rows(result.media),
        model=result.model_text,
    )


def answers(result: Result) -> list[tuple[str, str]]:
    """What an antenna engineer asks first, where the run can say it: (number, what it is)."""
    found = []
    if result.record.sparameters:
        parameters = result.sparameters
        if parameters.to.size == 1 and parameters.source.size == 1:
            level = np.abs(parameters.values[:, 0, 0])
            if np.isfinite(level).any():
                best = int(np.nanargmin(level))
                depth = 20 * math.log10(max(level[best], 1e-20))
                where = _frequency(parameters.frequency.values[best])
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
        found.append((_count(result.facts["cells"]), "cells"))
    if runs:
        found.append((f"{sum(run.get('steps', 0) for run in runs):,}".replace(",", "\u202f"), "steps"))
        seconds = sum(float(run.get("seconds", 0.0)) for run in runs)
        found.append((f"{seconds:.3g} s", "in the time loop"))
        found.append((f"{max(float(run.get('mcells_per_second', 0)) for run in runs):.4g}", "million cells per second"))
    return found


def _count(number: float) -> str:
    return f"{number / 1e6:.3g} million" if number >= 1e6 else f"{number:,.0f}".replace(",", "\u202f")


def _frequency(value: float) -> str:
    return quantity(float(value), "Hz")


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
    peaks = {key: _peaks(far_field, key) for key in ("gain_dbi", "realized_gain_dbi")}
    efficiency = _optional(far_field, "radiation_efficiency")
    rows = []
    for pattern in patterns(far_field)[:MOST_ROWS]:
        at = frequencies.index(pattern.frequency)
        theta, phi = np.degrees(pattern.direction)
        ratio = 20 * math.log10(max(pattern.axial_ratio, 1.0)) if math.isfinite(pattern.axial_ratio) else math.inf
        rows.append(
            {
                "monitor": name,
                "excitation": excitation,
                "frequency": _frequency(pattern.frequency),
                "directivity": f"{signed(pattern.maximum, 2)} dBi",
                "direction": f"θ {theta:.0f}°, φ {phi:.0f}°",
                "gain": _dbi(peaks["gain_dbi"], at),
                "realized_gain": _dbi(peaks["realized_gain_dbi"], at),
                "efficiency": f"{100 * efficiency[at]:.1f} %" if _finite(efficiency, at) else "",
                "axial_ratio": "linear" if ratio > 60 else f"{ratio:.1f} dB",
            }
        )
    return rows


def _optional(far_field: Any, name: str) -> np.ndarray | None:
    """A quantity that needs a port, or None where the excitation is not one."""
    from nearfield.entry.errors import NearfieldError

    try:
        return np.asarray(getattr(far_field, name).values)
    except NearfieldError:
        return None


def _peaks(far_field: Any, name: str) -> np.ndarray | None:
    values = _optional(far_field, name)
    return None if values is None else np.max(np.nan_to_num(values, nan=-np.inf), axis=(1, 2))


def _finite(values: np.ndarray | None, at: int) -> bool:
    return values is not None and bool(np.isfinite(values[at]))


def _dbi(values: np.ndarray | None, at: int) -> str:
    return f"{signed(float(values[at]), 2)} dBi" if values is not None and np.isfinite(values[at]) else ""


def run_rows(result: Result) -> list[dict[str, str]]:
    """How each excitation went."""
    rows = []
    for name, run in result.facts.get("runs", {}).items():
        rows.append({key: _value(key, value) for key, value in run.items()} | {"excitation": name})
    columns = dict.fromkeys(key for row in rows for key in row)
    return [{key: row.get(key, "") for key in columns} for row in rows]


def fact_groups(facts: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The run facts in three lists, what is not known by name in the last."""
    known = {key for key, _ in (*GENERAL, *NUMERICAL)} | set(ELSEWHERE)
    others = [(key.replace("_", " "), _value(key, value)) for key, value in facts.items() if key not in known]
    groups = [
        ("Machine and versions", [(label, _value(key, facts[key])) for key, label in GENERAL if key in facts]),
        ("Discretisation and engine", [(label, _value(key, facts[key])) for key, label in NUMERICAL if key in facts]),
        ("Further facts", others),
    ]
    return [(heading, rows) for heading, rows in groups if rows]


def _value(key: str, value: Any) -> str:
    """A fact as text with its unit."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, (list, tuple)):
        return " × ".join(map(str, value)) if key == "shape" else ", ".join(map(str, value))
    if not isinstance(value, (int, float)):
        return str(value)
    if key in SECONDS:
        return quantity(float(value), "s")
    if key == "bytes":
        return f"{value / 2**20:,.1f} MiB"
    if key == "energy_ratio":
        return f"{10 * math.log10(value):.1f} dB" if value > 0 else str(value)
    return f"{value:,}".replace(",", "\u202f") if isinstance(value, int) else f"{value:.5g}"


def media_rows(media: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """The media's numbers."""
    keys = ("permittivity", "permeability", "conductivity", "magnetic_conductivity", "poles", "magnetic_poles")
    return [{"name": name, **{key: _value(key, entry.get(key, "")) for key in keys}} for name, entry in media.items()]
