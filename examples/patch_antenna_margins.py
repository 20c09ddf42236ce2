"""What the cut substrate of the patch antenna costs: cut at several margins, ended inside the surface, and without end.

.venv/bin/python -m examples.patch_antenna_margins
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import nearfield as nf
from examples.grounded_board import GroundedBoard
from examples.patch_antenna import HEIGHT, PERMITTIVITY, main_dip, model

FREQUENCIES = 7.5e9, 17.9e9
CUT = 10, 18, 28, 40  # cells from patch and feed to the CPML; the surface stands 3 cells before it
ENDED = (4, 10), (14, 18), (24, 28)  # cells from patch and feed to the board's end, and to the CPML
BOARD = GroundedBoard(PERMITTIVITY, HEIGHT)


@dataclass(frozen=True)
class Radiation:
    """One pattern at one frequency: dBi, dBi, over the accepted power, degrees (phi = 0), degrees (phi = 90)."""

    directivity: float
    gain: float
    efficiency: float
    width_x: float
    width_y: float


def accepted_power(pattern: nf.FarFieldResult, index: int = 0) -> float:
    """Power that passed the reference plane (W s^2)."""
    return float(pattern.radiated_power[index] / pattern.radiation_efficiency[index])


def with_images(pattern: nf.FarFieldResult, index: int = 0) -> Radiation:
    """What the far-field monitor says: nothing but the ground outside the surface."""
    return Radiation(
        float(pattern.directivity_dbi[index].max()),
        float(pattern.gain_dbi[index].max()),
        float(pattern.radiation_efficiency[index]),
        *[math.degrees(float(pattern.beamwidth(phi)[index])) for phi in (0.0, math.pi / 2)],
    )


def with_board(pattern: nf.FarFieldResult, index: int = 0, board: GroundedBoard = BOARD) -> Radiation:
    """What the same surface says when the board goes on outside; the surface wave counts as a loss."""
    theta, phi = np.radians(np.arange(0.0, 89.9, 2.0)), np.radians(np.arange(0.0, 360.0, 10.0))
    power, accepted = board.radiated_power(pattern, index), accepted_power(pattern, index)
    peak = 4 * np.pi * float(board.intensity(pattern, theta, phi, index).max())
    widths = []
    for angle in (0.0, math.pi / 2):
        cut = board.intensity(pattern, np.radians(np.arange(0.0, 89.9, 0.5)), np.array([angle, angle + math.pi]), index)
        widths.append(half_power_width(np.arange(-89.5, 89.9, 0.5), np.append(cut[:0:-1, 1], cut[:, 0])))
    return Radiation(10 * math.log10(peak / power), 10 * math.log10(peak / accepted), power / accepted, *widths)


def half_power_width(degrees: np.ndarray, power: np.ndarray) -> float:
    """Degrees between the half-power points about the largest value; not a number where the cut ends before them."""
    peak, level = int(power.argmax()), 0.5 * power.max()
    below = np.nonzero(power < level)[0]
    if not (below < peak).any() or not (below > peak).any():
        return math.nan
    low, high = below[below < peak].max(), below[below > peak].min()
    ends = [np.interp(level, power[pair], degrees[pair]) for pair in ([low, low + 1], [high, high - 1])]
    return float(ends[1] - ends[0])


def line(name: str, found: Radiation) -> str:
    return (
        f"| {name} | {found.directivity:.2f} | {found.gain:.2f} | {100 * found.efficiency:.1f} % "
        f"| {found.width_x:.1f} | {found.width_y:.1f} |"
    )


def main() -> None:
    tables: list[list[str]] = [[], []]
    print("| model | dip (GHz) | depth (dB) | through the surface, 7.5 GHz | 17.9 GHz |\n|---|---|---|---|---|")
    for margin, ends in [(margin, None) for margin in CUT] + [(margin, end) for end, margin in ENDED]:
        result = model(margin, behind=margin, board=ends, frequencies=FREQUENCIES).run(threads=2)
        pattern = result["pattern"]
        name = f"cut at {margin - 3}, CPML at {margin}" if ends is None else f"ends at {ends}, CPML at {margin}"
        dip, depth = main_dip(result)
        through = [float(pattern.surface_power[n]) / accepted_power(pattern, n) for n in (0, 1)]
        print(
            f"| {name} | {dip / 1e9:.4f} | {depth:.2f} | {100 * through[0]:.2f} % | {100 * through[1]:.2f} % |",
            flush=True,
        )
        for n in (0, 1):
            tables[n].append(line(f"{name}, images", with_images(pattern, n)))
            if ends is None:
                tables[n].append(line(f"{name}, board outside", with_board(pattern, n)))
    for frequency, lines in zip(FREQUENCIES, tables):
        print(
            f"\n{frequency / 1e9:g} GHz\n\n| board, far field | directivity (dBi) | gain (dBi) | radiated/accepted "
            "| width, phi = 0 | width, phi = 90 |\n|---|---|---|---|---|---|"
        )
        print("\n".join(sorted(lines, key=lambda text: "board outside" in text)))


if __name__ == "__main__":
    main()
