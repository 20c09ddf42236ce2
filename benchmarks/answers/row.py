"""One number of the table of right answers: what it was, what was wanted, what it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """`item` of the list that asked for it, `what` is measured, `before` it was mended, what is `wanted`, what is found
    `now`, and whether that `holds`."""

    item: str
    what: str
    before: str
    wanted: str
    now: str
    holds: bool
