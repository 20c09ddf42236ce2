"""How much S11 of the patch antenna owes to the CPML, the space, the feed's place and the cells.

.venv/bin/python -m examples.patch_antenna_accuracy
"""

from __future__ import annotations

import numpy as np

import nearfield as nf
from examples import figures
from examples.patch_antenna import dips, main_dip, model, reflection

WHOLE = {"metal": "staircase"}  # whole edges, as in the paper
SMALL = WHOLE | {"margin": 10, "behind": 10, "headroom": 12}  # the same dip as the demo's space, and quicker
AUTOMATIC = {"automatic": 26}  # cells per wavelength at 20 GHz: about the published ones
VARIANTS = {
    "the demo": WHOLE,
    "10 cells to the CPML, 12 above": SMALL,
    "CPML of 8 cells": SMALL | {"cpml": 8},
    "CPML of 14 cells": SMALL | {"cpml": 14},
    "28 cells to the CPML, 40 above": WHOLE | {"margin": 28, "behind": 28, "headroom": 40},
    "feed 4 cells before the CPML": SMALL | {"behind": 4},
    "line of 30 cells": SMALL | {"line": 30},
    "line of 80 cells": SMALL | {"line": 80},
    "half cells along z": SMALL | {"refinement": (1, 1, 2)},
    "half cells along x, y": SMALL | {"refinement": (2, 2, 1)},
    "half cells": SMALL | {"refinement": (2, 2, 2)},
    "rims followed": SMALL | {"metal": "conformal"},
    "half cells, rims followed": SMALL | {"refinement": (2, 2, 2), "metal": "conformal"},
    "automatic grid, thirds rule alone": SMALL | AUTOMATIC,
    "automatic grid": SMALL | AUTOMATIC | {"metal": "auto"},
    "automatic grid, lines on the edges, whole edges": SMALL | AUTOMATIC | {"thirds": False},
    "automatic grid, lines on the edges": SMALL | AUTOMATIC | {"thirds": False, "metal": "conformal"},
}


def difference(result: nf.Result, other: nf.Result) -> float:
    """Largest |S11 - S11 other| from 1 to 20 GHz, complex."""
    s, t = (each.sparameters.sel(to="feed", source="feed") for each in (result, other))
    f = reflection(result)[0]
    parts = [np.interp(f, t.frequency.values, part) for part in (t.values.real, t.values.imag)]
    return float(np.abs(s.sel(frequency=slice(1e9, 20e9)).values - parts[0] - 1j * parts[1]).max())


def main() -> None:
    print(
        "| model | dip (GHz) | depth (dB) | further minima below -3 dB (GHz) | largest abs(S11) "
        "| off the demo's S11 | steps |\n|---|---|---|---|---|---|---|"
    )
    demo, values = None, []
    for name, options in VARIANTS.items():
        result = model(**options).run()
        demo = demo or result
        dip, depth = main_dip(result)
        further = [f / 1e9 for f, level in dips(result) if f > 9e9 and level < -3]
        values.append(
            {
                "name": name,
                "dip": dip / 1e9,
                "depth": depth,
                "further": further,
                "largest": float(reflection(result)[1].max()),
                "off": difference(result, demo),
                "steps": result.facts["runs"]["feed"]["steps"],
            }
        )
        print(
            f"| {name} | {dip / 1e9:.4f} | {depth:.2f} | {', '.join(f'{f:.2f}' for f in further)} "
            f"| {values[-1]['largest']:.4f} | {values[-1]['off']:.4f} | {values[-1]['steps']} |",
            flush=True,
        )
    print(f"figures in {figures.keep(__file__, {'variants': values})}; `python -m scripts.write_pages` puts them in")


if __name__ == "__main__":
    main()
