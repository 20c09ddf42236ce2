"""S-parameters of an inductive iris and an E-plane bend in a WR-90 waveguide, beside mode matching.

.venv/bin/python -m validation.iris.run
"""

from __future__ import annotations

import numpy as np

from examples.iris import BAND, CASES, CELL, compared, found
from validation.case import Case
from validation.picture import picture

ALLOWED = {"iris": (0.002, 0.001), "bend": (0.004, 0.001)}  # of |S|; twice what slow waves of the grid make, and 5e-4


def main() -> None:
    case = Case(__file__, "Iris and bend in a WR-90 waveguide")
    results = {}
    for name, (model, exact) in CASES.items():
        for fine, allowed in zip((1, 2), ALLOWED[name]):
            s = found(model(fine).model_copy(update={"decay": 1e-8}))
            error, power = compared(s, exact)
            size = f"{name}, {1e3 * CELL / fine:g} mm cells"
            case.at_most(f"{size}: largest error of |S|", allowed, error)
            case.at_most(f"{size}: power gained or lost", 1e-3, power)
            results[name, fine] = s
    sparse = np.linspace(*BAND, 16)
    with picture(case, 2, facts="lines: 0.635 mm cells; dots: mode matching") as panels:
        for axes, (name, (_, exact)) in zip(panels, CASES.items()):
            for to, wanted in zip(("in", "out"), exact(sparse)):
                s = results[name, 1].sel(to=to, source="in")
                (line,) = axes.plot(s.frequency / 1e9, np.abs(s), label="S11" if to == "in" else "S21")
                axes.plot(sparse / 1e9, np.abs(wanted), "o", color=line.get_color(), markersize=4)
            axes.set(xlabel="frequency (GHz)", ylabel="|S|", title=name, ylim=(0, 1.05))
            axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
