"""S-parameters, patterns and radar cross-sections of a result as figures; None where it holds none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nearfield.pictures import style
from nearfield.pictures.cross_section import draw_cross_section
from nearfield.pictures.pattern import draw_pattern
from nearfield.pictures.scattering import MOST_PORTS, draw_scattering, driven_ports
from nearfield.report.signals import case_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nearfield.results import Result


def return_loss(result: Result) -> Figure | None:
    """S-parameters in dB over frequency; one panel for each port that was driven, at most six."""
    if not result.record.sparameters:
        return None
    parameters = result.sparameters
    if parameters.source.size == 0 or parameters.frequency.size == 0:
        return None
    sources = driven_ports(parameters)
    title = case_title(result, "Return loss" if parameters.to.size == 1 else "S-parameters")
    return style.figure_of(draw_scattering(parameters, title=title, note=_scattering_facts(result, sources)))


def _scattering_facts(result: Result, sources: list[str]) -> str:
    impedances = result.reference_impedances
    facts = [f"driven: {style.listed(sources, 4)}"]
    values = sorted({value for value in impedances.values() if np.isfinite(value)})
    if len(values) == 1:
        facts.append(f"reference impedance {values[0]:.4g} Ω")
    if len(sources) > MOST_PORTS:
        facts.append(f"the first {MOST_PORTS} are shown, all are in the Touchstone file")
    if result.status != "done":
        facts.append(f"run {result.status}: not to be trusted")
    return "  ·  ".join(facts)


def far_field_figure(result: Result, name: str) -> Figure:
    """Cuts and map of one far-field monitor, a row for each frequency (at most three), first excitation."""
    note = f"monitor {name}  ·  excitation {result.excitation().name}"
    return style.figure_of(draw_pattern(result[name], title=case_title(result, "Directivity"), note=note))


def cross_section_figure(result: Result, name: str) -> Figure | None:
    """Bistatic and monostatic radar cross-section; None without a plane wave."""
    far_field = result[name]
    if "incident" not in far_field.variables:
        return None
    title = case_title(result, "Radar cross-section")
    return style.figure_of(draw_cross_section(far_field, title, f"monitor {name}"))
