"""The command lines of `nearfield fit-medium`, `nearfield media` and `nearfield resonances`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from nearfield.commands.options import Json, Result

TABLE = (
    "Text file: a line of column names, frequency_GHz or wavelength_um, then n and k, or eps_real and one of "
    "eps_imag, loss_tangent, conductivity; then numbers."
)
MEDIUM = "One medium, with or without `library:`; left out, all."
INFINITY = "Range of the permittivity far above all poles."


def fit_medium(
    table: Annotated[Path, Argument(help=TABLE)],
    poles: Annotated[int | None, Option(help="How many, at most 12; left out, 4, or what --error needs.")] = None,
    error: Annotated[float | None, Option(help="Enough poles for this rms deviation, as 0.01.")] = None,
    kinds: Annotated[str | None, Option(help="Of debye,drude,lorentz; left out, all.")] = None,
    conductivity: Annotated[bool, Option(help="Whether a constant one may help.")] = True,
    infinity: Annotated[tuple[float, float], Option(help=INFINITY)] = (1.0, 1e9),
    loss_weight: Annotated[float, Option(help="How many times more the loss counts.")] = 1.0,
    name: Annotated[str | None, Option(help="Of the medium; left out, the file's.")] = None,
    plot: Annotated[Path | None, Option("--plot", help="Draw table and fit into this .png or .svg.")] = None,
    as_json: Json = False,
) -> int:
    """Fit passive poles to a table of n, k or permittivity; print the medium as an entry of a model file."""
    from nearfield.commands.media import fit_table

    limits = {"conductivity": conductivity, "infinity": infinity, "loss_weight": loss_weight}
    return fit_table(table, name, kinds, {"poles": poles, "error": error, **limits}, plot, as_json)


def list_media(name: Annotated[str | None, Argument(help=MEDIUM)] = None, as_json: Json = False) -> int:
    """List the library of real media, with their sources and the frequencies at which they hold."""
    from nearfield.commands.media import show_media

    return show_media(name, as_json)


def list_resonances(
    result: Result,
    probe: Annotated[str, Option(help="Name of a probe, voltage or current.")],
    band: Annotated[tuple[str, str], Option(help='Lowest and highest frequency, as 2e9 3e9 or "2 GHz" "3 GHz".')],
    start: Annotated[float | None, Option(help="Use it from here (s); left out, the source's end.")] = None,
    end: Annotated[float | None, Option(help="Use it up to here (s).")] = None,
    smallest_q: Annotated[float, Option(help="Leave out modes of a lower Q.")] = 10.0,
    as_json: Json = False,
) -> int:
    """List the resonances in a recorded signal: frequency, Q, decay, amplitude, with errors."""
    from nearfield.commands.resonances import show_resonances

    return show_resonances(result, probe, band, {"start": start, "end": end, "smallest_q": smallest_q}, as_json)
