"""The dual-mode horn of examples/dual_mode_horn.toml against aperture theory and mode matching.

.venv/bin/python -m validation.dual_mode_horn.run
"""

from __future__ import annotations

import numpy as np

from examples.dual_mode_horn import FREQUENCY, RATIO, THETA, aperture_cuts, decibels, expected_reflection, found, model
from examples.dual_mode_theory import pure
from validation.case import Case
from validation.picture import picture


def main() -> None:
    case = Case(__file__, "Dual-mode horn, 12 GHz")
    for cell in (1.5e-3, 1e-3):
        name, ours = f"{1e3 * cell:g} mm cells", found(model(cell, frequencies=(FREQUENCY,)))
        case.compare(f"directivity, {name}", 14.53, ours.directivity, 0.4, absolute=True, unit="dBi")
        for plane, wanted, width in zip("EH", (36.3, 36.4), ours.beamwidths):
            case.compare(f"{plane}-plane beamwidth, {name}", wanted, width, 1.5, absolute=True, unit="degrees")
        apart = abs(ours.beamwidths[0] - ours.beamwidths[1])
        case.at_most(f"difference of the beamwidths, {name}", 2.5, apart, unit="degrees")
        case.at_most(f"cross-polarisation at 45 degrees, {name}", -28.0, ours.cross, unit="dB")
        s11 = float(np.abs(ours.reflected.interp(frequency=FREQUENCY).values))
        case.compare(f"abs(S11), {name}", float(abs(expected_reflection([FREQUENCY])[0])), s11, 0.005, absolute=True)
    theory = aperture_cuts(pure(RATIO))
    with picture(case, facts="1 mm cells; dots: aperture theory") as (axes,):
        for number, label in ((0, "E-plane"), (1, "H-plane"), (3, "cross, 45 degrees")):
            (line,) = axes.plot(THETA, decibels(ours.cuts[number]), label=label)
            axes.plot(THETA[::5], decibels(theory[number, ::5]), "o", color=line.get_color(), markersize=3.5)
        axes.set(xlabel="theta (degrees)", ylabel="dB", ylim=(-50, 1), xlim=(0, 90))
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
