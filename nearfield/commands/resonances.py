"""`nearfield resonances RESULT`: the modes in a recorded signal."""

from __future__ import annotations

from cmath import phase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.commands.console import console
from nearfield.commands.show import opened
from nearfield.entry.wording import quantity

if TYPE_CHECKING:
    import xarray


def show_resonances(path: Path, probe: str, band: tuple[str, str], options: dict[str, Any], as_json: bool) -> int:
    """Print the resonances that a result's probe holds in a band."""
    from nearfield.analysis.resonances import resonances

    edges = tuple(frequency(edge) for edge in band)
    file, result = opened(path)
    with console(as_json) as out:
        modes = resonances(result, edges, probe=probe, **options)
        out.answer(
            {
                "result": str(file),
                "probe": probe,
                "time_origin_seconds": modes.attrs["time_origin"],
                "modes": rows(modes),
            }
        )
        if not as_json:
            out.say(text(modes))
    return 0


def frequency(given: str) -> str | float:
    """A frequency as typed: a number in Hz, or with a unit."""
    try:
        return float(given)
    except ValueError:
        return given


def rows(modes: xarray.Dataset) -> list[dict[str, float]]:
    """Each mode as plain numbers, units in the names; the amplitude by size and phase."""
    unit = modes.amplitude.attrs["units"]
    return [
        {
            "frequency_hertz": m.frequency.item(),
            "frequency_error_hertz": m.frequency_error.item(),
            "quality_factor": m.quality_factor.item(),
            "quality_factor_error": m.quality_factor_error.item(),
            "decay_rate_per_second": m.decay_rate.item(),
            "decay_rate_error_per_second": m.decay_rate_error.item(),
            "amplitude": abs(m.amplitude.item()),
            "amplitude_error": m.amplitude_error.item(),
            "amplitude_unit": unit,
            "phase_radians": phase(m.amplitude.item()),
        }
        for m in (modes.isel(mode=n) for n in range(modes.sizes["mode"]))
    ]


def text(modes: xarray.Dataset) -> str:
    """A table for reading."""
    if not modes.sizes["mode"]:
        return "no resonance stands out of the noise in this band; record longer, or widen the band"
    lines = [f"{'frequency':>18} {'+-':>10} {'Q':>12} {'+-':>9} {'amplitude':>12} {'+-':>9}"]
    for row in rows(modes):
        lines.append(
            f"{quantity(row['frequency_hertz'], 'Hz', 10):>18} {quantity(row['frequency_error_hertz'], 'Hz', 2):>10} "
            f"{row['quality_factor']:12.6g} {row['quality_factor_error']:9.2g} {row['amplitude']:12.5g} "
            f"{row['amplitude_error']:9.2g}"
        )
    return "\n".join(
        [
            *lines,
            f"amplitudes in {modes.amplitude.attrs['units'] or 'the signal itself'}, at "
            f"{quantity(modes.attrs['time_origin'], 's')}",
        ]
    )
