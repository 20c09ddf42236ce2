"""Which size of the template `inset-patch` matters most: the table of docs/sensitivities.md.

    .venv/bin/python -m examples.inset_patch_tolerances

Derivatives of S11 at 31 frequencies about the resonance, from one run.
"""

from __future__ import annotations

import numpy as np

import nearfield as nf
from examples import figures
from nearfield.commands.new import template_path
from nearfield.studies.dip_slopes import tolerances

SIZES = ("length", "width", "inset", "gap")
BAND = np.linspace(2.35e9, 2.65e9, 31)


def main() -> None:
    """Print and keep what a percent of each size does."""
    rows = tolerances(nf.sensitivities(template_path("inset-patch"), SIZES, BAND))
    found = {}
    for row in rows:
        found[row.name] = {
            "millimetres": 1e3 * row.value,
            "largest_change": row.largest_change,
            "dip_gigahertz": None if row.dip is None else row.dip / 1e9,
            "shift_megahertz": None if row.shift is None else row.shift / 1e6,
        }
        print(row.name, found[row.name])
    figures.keep(__file__, {"order": [row.name for row in rows], **found})


if __name__ == "__main__":
    main()
