"""Warnings of how excitations ended: records that still ring, energy that did not decay, or that was rising."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.levels import power_decibels
from nearfield.trust.cut_off import LEFT, record_name
from nearfield.trust.entries import Trust

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

NAMED = 4  # records that a warning names
LARGEST_RISE = 10.0  # of the energy since the sources ended, over its least, that goes without a warning


def ending_warnings(setup: Discretization, runs: dict[str, dict[str, Any]], left: dict[str, list[Trust]]) -> list[str]:
    """A warning for each excitation that was cut off, at whose end the fields were rising, or that missed records."""
    return [*cut_off(runs, setup.decay, left), *rising(runs), *still(runs), *missed(setup, runs)]


def missed(setup: Discretization, runs: dict[str, dict[str, Any]]) -> list[str]:
    """A warning for each monitor with records due after the step at which an excitation had decayed."""
    found = []
    monitors: list[Any] = [each for each in setup.simulation.monitors if hasattr(each, "_steps")]
    for monitor in monitors:
        due, regular = monitor._steps(setup.context), monitor.every is not None
        for name, facts in runs.items():
            taken = int(np.count_nonzero(due <= facts["steps"]))
            if facts["ended"] == "decayed" and taken < (1 if regular else due.size):
                what = f"nothing: its first step is {due[0]}" if not taken else f"{taken} of its {due.size} times"
                found.append(
                    f"monitor {monitor.name!r} recorded {what}, and excitation {name!r} had decayed at step "
                    f"{facts['steps']}; record earlier, or give `steps` without `decay`"
                )
    return found


def still(runs: dict[str, dict[str, Any]]) -> list[str]:
    """A warning for each excitation that left a static field."""
    return [
        f'excitation "{name}" left a static field of {power_decibels(facts["static_ratio"]):.0f} dB of its peak '
        "energy, which no number of steps takes away; the run ended when all else had decayed. Spectra beside it hold "
        "that step: give the sources a waveform without a direct part, such as GaussianDerivative"
        for name, facts in runs.items()
        if facts.get("static_ratio")
    ]


def rising(runs: dict[str, dict[str, Any]]) -> list[str]:
    """A warning for each excitation whose energy rose before its last step, with its sources off."""
    return [
        f'excitation "{name}" ended while the energy of its fields was {facts["energy_rise"]:.3g} times the least '
        "since its sources ended: either circuits or media gave back what they held, or fields grow that should "
        "not; look at `energy` of the result, and give more `steps` to see which"
        for name, facts in runs.items()
        if facts["ended"] == "steps" and facts.get("energy_rise", 1.0) > LARGEST_RISE
    ]


def cut_off(runs: dict[str, dict[str, Any]], decay: float | None, left: dict[str, list[Trust]]) -> list[str]:
    """A warning for each excitation whose records end while they ring, or that was to decay and did not."""
    found = []
    for name, facts in runs.items():
        ringing = [entry for entry in left.get(name, []) if entry.verdict in ("warn", "bad")]
        wanted = decay if decay and facts["ended"] == "steps" and facts["energy_ratio"] > decay else None
        if facts["ended"] not in ("steps", "decayed") or not (wanted or ringing):
            continue
        energy = f"{power_decibels(facts['energy_ratio']):.0f} dB of its peak energy left"
        if wanted:
            energy += f" (wanted {power_decibels(wanted):.0f} dB)"
        ended = "decayed and ended" if facts["ended"] == "decayed" else "was cut off"
        text = f'excitation "{name}" {ended} after {facts["steps"]} steps with {energy}'
        text += f"{_ringing_text(ringing)}: spectra may ripple" if ringing else ": spectra may ripple"
        remedy = "give a smaller `decay`" if facts["ended"] == "decayed" else "give more `steps`"
        found.append(f"{text}; {remedy}{', or a larger `decay`' if wanted else ''}")
    return found


def _ringing_text(ringing: list[Trust]) -> str:
    """The records that ring most, with what is left of them."""
    worst = sorted(ringing, key=lambda entry: -(entry.value or 0.0))
    levels = ", ".join(f"{record_name(entry)} {entry.value:.0f} dB" for entry in worst[:NAMED])
    more = f" and {len(worst) - NAMED} more" if len(worst) > NAMED else ""
    return (
        f", while records still ring at {levels}{more} of their peaks (at most {LEFT[0]:.0f} dB). What is derived from "
        "them, S-parameters and patterns too, errs by about as much near resonances"
    )
