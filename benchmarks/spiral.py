"""A self-complementary log spiral, whose resistance is 188.5 ohm by Babinet's principle, on finer and finer cells.

    python benchmarks/spiral.py

Two flat arms, a quarter turn wide each, as wide as the gaps between them everywhere: 1.7 mm at the feed, and wider in
proportion to the radius. Printed is the resistance at the feed between 5 and 7 GHz, where the arms are long enough.
"""

from __future__ import annotations

import numpy as np

import nearfield as nf

MM = 1e-3
GROWTH = 0.4  # of the radius, a radian
INNER, OUTER = 2.12, 30.0  # mm, radii of the arms' edges
ROOM = 48.0, 20.0  # mm, from the middle to the grid's ends in the plane and across it
CELLS = (1.5, 1.0, 0.75, 0.5)  # mm
FREQUENCIES = np.linspace(5e9, 7e9, 9)


def arm(turn: float) -> list[tuple[float, float]]:
    """Corners (m) of an arm turned by an angle: out along one edge, round the rim, back along the other."""
    angle = np.linspace(0.0, np.log(OUTER / INNER) / GROWTH, 80)
    radius = INNER * np.exp(GROWTH * angle)
    rim = np.linspace(-0.25, 0.25, 21)[1:-1] * np.pi
    radii = np.concatenate((radius, np.full(rim.size, OUTER), radius[::-1]))
    angles = np.concatenate((angle - 0.25 * np.pi, angle[-1] + rim, angle[::-1] + 0.25 * np.pi)) + turn
    return [(r * np.cos(a) * MM, r * np.sin(a) * MM) for r, a in zip(radii, angles)]


def spiral(cell: float) -> nf.Simulation:
    """The antenna on cubes of so many mm, fed over the whole square between its arms."""
    wide, high = (cell * MM * np.arange(-round(room / cell), round(room / cell) + 1) for room in ROOM)
    feed = INNER * 0.5**0.5 * MM
    return nf.Simulation(
        grid=nf.Grid(wide, wide, high),
        structures=[nf.Structure(nf.Polygon("z", arm(turn), 0, 0), nf.PEC) for turn in (0.0, np.pi)],
        ports=[nf.LumpedPort("feed", (-feed, -feed, 0), (feed, feed, 0), "x", resistance=188.5)],
        waveform=nf.Gaussian("12 GHz"),
        decay=1e-5,
    )


def main() -> None:
    """Print the resistances."""
    for cell in CELLS:
        reflected = spiral(cell).run().sparameters_at(FREQUENCIES).values.ravel()
        impedance = 188.5 * (1.0 + reflected) / (1.0 - reflected)
        width = INNER * (np.exp(0.5 * np.pi * GROWTH) - 1.0) / np.hypot(1.0, GROWTH) / cell
        print(
            f"{cell:g} mm, arms and gaps of {width:.1f} cells at the feed: {impedance.real.mean():.0f} ohm", flush=True
        )


if __name__ == "__main__":
    main()
