"""Parts of plans: some samples of a term, some planes of a profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nearfield.plan.incident_term import IncidentTerm
from nearfield.plan.plan import AxisProfile, CircuitTerm, CurrentTerm, Functional


def chosen_samples(term: Sampled, which: np.ndarray, place: Sequence[np.ndarray]) -> Sampled:
    """Some samples of a term, by number, at other places (i, j, k)."""
    count = np.size(term.i)

    def part(values) -> np.ndarray:
        values = np.asarray(values)
        one_each = values.shape[:1] == (count,)
        return values[which] if one_each else np.broadcast_to(values, (which.size, *values.shape))

    arrays = {name: part(getattr(term, name)) for name in SAMPLE_ARRAYS[type(term)]}
    return replace(term, **dict(zip("ijk", place)), **arrays)


def cut_profile(profile: AxisProfile, samples: np.ndarray | slice) -> AxisProfile:
    """These samples of a profile."""
    return AxisProfile(**{name: values[samples] for name, values in vars(profile).items()})


Sampled = CurrentTerm | CircuitTerm | IncidentTerm | Functional


SAMPLE_ARRAYS = {  # what terms hold of each sample beside its place, or once for all of them
    CurrentTerm: ("weight",),
    CircuitTerm: ("admittance", "voltage_factor", "feedback", "inverse", "drive", "output", "input", "transition"),
    IncidentTerm: ("component", "weight", "column", "share"),
    Functional: ("component", "weight"),
}
