"""The line-fed patch antenna of Sheen et al. 1990: S11, its power balance, and the pattern over a board without end.

.venv/bin/python -m validation.patch_antenna.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from examples.grounded_board import GroundedBoard
from examples.patch_antenna import HEIGHT, PERMITTIVITY, dips, main_dip, model, reflection
from examples.patch_antenna_margins import accepted_power, with_board, with_images
from validation.case import Case
from validation.picture import picture

SPEED = 299792458.0
FREQUENCY = 7.5e9
SMALL = {"margin": 10, "behind": 10, "headroom": 12}


def surface_wave_share() -> float:
    """Part of the power of a short horizontal dipole on a thin grounded board that its surface wave takes.

    D. R. Jackson and J. T. Williams, Int. J. Microwave and Millimeter-Wave CAE 1 (1991) 236-248.
    """
    rest = 1 - 1 / PERMITTIVITY
    ratio = 0.75 * math.pi * 2 * math.pi * FREQUENCY / SPEED * HEIGHT * rest**3 / (rest + 0.4 / PERMITTIVITY**2)
    return ratio / (1 + ratio)


def compare_reflection(case: Case, demo: nf.Result, half_cells: nf.Result) -> None:
    dip, finer = main_dip(demo)[0] / 1e9, main_dip(half_cells)[0] / 1e9
    further = [f for f, level in dips(demo) if f > 9e9 and level < -3]
    case.compare("main dip of S11", 7.5, dip, 0.15, absolute=True, unit="GHz")
    case.compare("main dip of S11, half cells", 7.5, finer, 0.15, absolute=True, unit="GHz")
    case.at_least("further minima below -3 dB, 9 to 20 GHz", 2, len(further))
    case.at_most("largest abs(S11), 1 to 20 GHz", 1.0, float(reflection(demo)[1].max()))


def compare_radiation(case: Case, near: nf.FarFieldResult, far: nf.FarFieldResult) -> None:
    """`near`, `far`: patterns of the surface 7 and 25 cells from the metal."""
    images, board, wide = with_images(near), with_board(near), with_board(far)
    for name, pattern in (("7", near), ("25", far)):
        power = float(pattern.surface_power[0]) / accepted_power(pattern)
        case.compare(f"power through the surface {name} cells out, over accepted", 1.0, power, 0.01)
    alone = with_board(near, board=GroundedBoard(1.0, HEIGHT))
    case.compare(
        "reciprocity with a board of vacuum: directivity",
        images.directivity,
        alone.directivity,
        0.01,
        absolute=True,
        unit="dBi",
    )
    case.compare(
        "board outside: directivity, surface 7 and 25 cells out",
        wide.directivity,
        board.directivity,
        0.01,
        absolute=True,
        unit="dBi",
    )
    case.compare(
        "board outside: share of the surface wave (short dipole)",
        surface_wave_share(),
        1 - wide.efficiency * accepted_power(far) / float(far.surface_power[0]),
        0.01,
        absolute=True,
    )
    cut = with_images(far)
    case.compare(
        "cut board: directivity off that with the board outside",
        wide.directivity,
        cut.directivity,
        0.4,
        absolute=True,
        unit="dBi",
    )
    case.compare(
        "cut board: gain off that with the board outside", wide.gain, cut.gain, 0.05, absolute=True, unit="dBi"
    )


def main() -> None:
    case = Case(__file__, "Line-fed patch antenna of Sheen et al. 1990")
    demo = model().run(threads=2)
    half_cells = model(**SMALL, refinement=(2, 2, 2)).run(threads=2)
    near = model(**SMALL).run(threads=2)["pattern"]
    far = model(margin=28, behind=28).run(threads=2)["pattern"]
    compare_reflection(case, demo, half_cells)
    compare_radiation(case, near, far)
    degrees = np.arange(0.0, 89.9, 1.0)
    board = GroundedBoard(PERMITTIVITY, HEIGHT)
    with picture(
        case, columns=2, facts="right: 7.5 GHz, phi = 0; outside the surface: the ground, with or without the board"
    ) as axes:
        for result, name, line in ((demo, "published cells", "-"), (half_cells, "half cells", "--")):
            f, level = reflection(result)
            axes[0].plot(f / 1e9, 20 * np.log10(level), line, label=name)
        axes[0].axvspan(7.35, 7.65, color="#1F2933", alpha=0.12, linewidth=0, label="published, ± 0.15 GHz")
        axes[0].set(xlabel="frequency (GHz)", ylabel="abs(S11) (dB)", ylim=(-20, 1))
        axes[0].legend(loc="lower left")
        for pattern, name, line in ((near, "7", "-"), (far, "25", "o")):
            gain = pattern.gain_dbi.isel(frequency=0).sel(phi=0.0)
            style = {"markersize": 3, "markevery": 1 if line == "-" else 4}
            axes[1].plot(
                np.degrees(gain.theta), gain, line, color="#0072B2", label=f"ground, surface {name} cells out", **style
            )
            u = board.intensity(pattern, np.radians(degrees), np.zeros(1))[:, 0]
            axes[1].plot(
                degrees,
                10 * np.log10(4 * np.pi * u / accepted_power(pattern)),
                line,
                color="#D55E00",
                label=f"ground and board, surface {name} cells out",
                **style,
            )
        axes[1].set(xlabel="theta (degrees)", ylabel="gain (dBi)", ylim=(-10, 10))
        axes[1].legend(loc="lower left")
    case.finish()


if __name__ == "__main__":
    main()
