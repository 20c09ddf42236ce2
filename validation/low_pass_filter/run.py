"""The microstrip low-pass filter of Sheen et al. 1990, on their mesh and on a finer one.

.venv/bin/python -m validation.low_pass_filter.run
"""

from __future__ import annotations

import numpy as np

from examples.low_pass_filter import edge, magnitudes, model, nulls
from validation.case import Case
from validation.picture import picture


def main() -> None:
    case = Case(__file__, "Low-pass filter of Sheen et al. 1990")
    found = {}
    for name, refinement in (("published cells", 1.0), ("cells of 2/3", 1.5)):
        found[name] = magnitudes(model(refinement).run(threads=2).sparameters)
    (f, s11, s21), (f_fine, _, s21_fine) = found.values()
    case.compare("-3 dB edge, between two meshes", edge(f_fine, s21_fine) / 1e9, edge(f, s21) / 1e9, 0.02, unit="GHz")
    null, null_fine = nulls(f, s21)[0] / 1e9, nulls(f_fine, s21_fine)[0] / 1e9
    case.between("first transmission null", 6.0, 7.0, null, unit="GHz")
    case.compare("first null, between two meshes", null_fine, null, 0.02, unit="GHz")
    power = s11**2 + s21**2
    case.at_most("largest of S11^2 + S21^2, 0 to 20 GHz", 1.01, float(power.max()))
    case.at_least("least of S11^2 + S21^2, 0 to 5 GHz", 0.97, float(power[f < 5e9].min()))
    case.at_most("largest S21, 6.1 to 9 GHz", 10 ** (-10 / 20), float(s21[(f > 6.1e9) & (f < 9e9)].max()))
    with picture(case, facts="two meshes; S11 and S21 at planes 10 cells off the wide strip") as (axes,):
        for (name, (frequency, *curves)), line in zip(found.items(), ("-", "--")):
            for curve, label, colour in zip(curves, ("S11", "S21"), ("#0072B2", "#D55E00")):
                axes.plot(frequency / 1e9, 20 * np.log10(curve), line, color=colour, label=f"{label}, {name}")
        axes.set(xlabel="frequency (GHz)", ylabel="magnitude (dB)", ylim=(-50, 3))
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
