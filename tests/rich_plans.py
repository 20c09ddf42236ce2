"""Plans that hold every feature at once, between walls or closed on themselves."""

from __future__ import annotations

import plans
from plans import make_plan

from nearfield.plan.plan import Plan

RING = ("periodic", "periodic")
WALLS = {"open": ((3, 2), ("pmc", 4), (2, "pmc")), "rings": (RING, (3, 2), RING)}


def rich_plan(precision: str = "single", walls: str = "open") -> Plan:
    """Every feature at once; with rings, complex fields."""
    rings = {"phases": (0.3, 0.0, -1.9), "complex_fields": True} if walls == "rings" else {"coupled": 100}
    options = {"graded": True, "media": "dispersive", "metal": 0.1, "terms": plans.both_parts, "seed": 3}
    return make_plan((9, 12, 37), WALLS[walls], precision=precision, **options, **rings)
