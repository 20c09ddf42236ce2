"""`nearfield resonances RESULT`: the modes in a recorded signal."""

from __future__ import annotations

from cmath import phase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.commands.console import print_answer
from nearfield.commands.show import opened
from nearfield.commands.tables import columns
from nearfield.entry.wording import quantity

if TYPE_CHECKING:
    import xarray

NUMBERS = ("frequency", "frequency_error", "quality_factor", "quality_factor_error", "decay_rate", "decay_rate_error")
UNITS = {"frequency": "_hertz", "decay_rate": "_per_second"}


def show_resonances(path: Path, probe: str, band: tuple[str, str], options: dict[str, Any], as_json: bool) -> int:
    """Print the resonances that a result's probe holds in a band."""
    from nearfield.analysis.resonances import resonances
    from nearfield.studies.words import ends_as_typed

    file, result = opened(path)
    modes = resonances(result, ends_as_typed(*band), probe=probe, **options)
    answer = {"result": str(file), "probe": probe, "time_origin_seconds": modes.attrs["time_origin"]}
    return print_answer(as_json, {**answer, "modes": rows(modes)}, text(modes))


def rows(modes: xarray.Dataset) -> list[dict[str, Any]]:
    """Each mode as plain numbers, units in the names; the amplitude by size and phase."""
    found = []
    for mode in (modes.isel(mode=number) for number in range(modes.sizes["mode"])):
        numbers = {name + UNITS.get(name.removesuffix("_error"), ""): mode[name].item() for name in NUMBERS}
        amplitude = mode.amplitude.item()
        numbers |= {"amplitude": abs(amplitude), "amplitude_error": mode.amplitude_error.item()}
        found.append(numbers | {"amplitude_unit": modes.amplitude.attrs["units"], "phase_radians": phase(amplitude)})
    return found


def text(modes: xarray.Dataset) -> str:
    """A table for reading."""
    if not modes.sizes["mode"]:
        return "no resonance exceeds the noise in this band; record longer, or widen the band"
    lines = [("frequency", "+-", "Q", "+-", "amplitude", "+-")]
    lines += [
        (
            quantity(row["frequency_hertz"], "Hz", 10),
            quantity(row["frequency_error_hertz"], "Hz", 2),
            f"{row['quality_factor']:.6g}",
            f"{row['quality_factor_error']:.2g}",
            f"{row['amplitude']:.5g}",
            f"{row['amplitude_error']:.2g}",
        )
        for row in rows(modes)
    ]
    unit, origin = modes.amplitude.attrs["units"] or "the signal itself", quantity(modes.attrs["time_origin"], "s")
    return f"{columns(lines, left=0)}\namplitudes in {unit}, at {origin}"
