"""How the run ended, and what still rang when it did."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nearfield.entry.levels import power_decibels
from nearfield.trust.entries import Recorded, Trust, Verdict, judged

STATIC = -60.0, -30.0  # dB of the peak energy in a field that stays for ever
ENERGY_LEFT = -40.0, -20.0  # dB of the peak energy: 1 % and 10 % of the peak field
STATUS_WORDS = {
    "done": "The run ended as it should.",
    "diverged": "The fields grew without bound: nothing here may be trusted.",
    "interrupted": "The run was interrupted: spectra and patterns are of what was recorded until then.",
    "failed": "The run failed under way: results are incomplete.",
}


def ending_trust(result: Recorded) -> Iterator[Trust]:
    """The end of the run, and the energy left in each excitation."""
    record = result.record
    verdict: Verdict = "good" if record.status == "done" else "warn" if record.status == "interrupted" else "bad"
    yield Trust("end of the run", verdict, None, None, STATUS_WORDS.get(record.status, record.status))
    for name, run in record.facts.get("runs", {}).items():
        ratio = run.get("energy_ratio")
        if not isinstance(ratio, (int, float)) or not 0 < ratio < np.inf:
            continue
        text = (
            "of the peak energy when the run ended; spectra are those of signals that were cut off there, resonances "
            "by harmonic inversion are not affected. More `steps`, or leave them out"
        )
        yield judged(f"energy left, {name}", float(power_decibels(ratio)), *ENERGY_LEFT, text, "dB")
        if run.get("static_ratio"):
            text = (
                "of the peak energy stay as a static field of charge or flux, a step in every signal beside it; a "
                "waveform without a direct part leaves none"
            )
            yield judged(f"static field, {name}", float(power_decibels(run["static_ratio"])), *STATIC, text, "dB")
