"""The trust report of a result: what was judged before the run, and what its recordings say."""

from __future__ import annotations

from nearfield.entry.attempts import Attempts
from nearfield.trust.entries import ORDER, Recorded, Trust, read
from nearfield.trust.far_fields import far_field_trust
from nearfield.trust.ports import port_trust
from nearfield.trust.signals import ending_trust


def trust_of(result: Recorded) -> tuple[Trust, ...]:
    """All entries of a result, the worst first."""
    attempts = Attempts()
    entries = read(result.record.facts.get("trust", ()))
    for name, judge in (("end", ending_trust), ("ports", port_trust), ("far fields", far_field_trust)):
        entries += attempts.at(f"judging the {name}", lambda judge=judge: list(judge(result)), [])  # type: ignore[misc]
    entries += [Trust("not judged", "unknown", None, None, text) for text in attempts.warnings]
    return tuple(sorted(entries, key=lambda entry: ORDER.index(entry.verdict)))
