"""What the cut substrate of the patch antenna costs: cut at several margins, ended inside the surface, and without end.

.venv/bin/python -m examples.patch_antenna_margins
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import nearfield as nf
from examples import figures
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


def asked(margin: int, ends: int | None) -> dict[str, Any]:
    """Dip (GHz), its depth (dB), power through the surface over accepted (%), and the patterns at both frequencies."""
    result = model(margin, behind=margin, board=ends, frequencies=FREQUENCIES).run(threads=2)
    pattern, (dip, depth) = result["pattern"], main_dip(result)
    through = [100 * float(pattern.surface_power[n]) / accepted_power(pattern, n) for n in (0, 1)]
    found: dict[str, Any] = {"dip": dip / 1e9, "depth": depth, "through": through}
    found["images"] = [plain(with_images(pattern, n)) for n in (0, 1)]
    if ends is None:
        found["board"] = [plain(with_board(pattern, n)) for n in (0, 1)]
    return found


def plain(found: Radiation) -> dict[str, float | None]:
    """The numbers of a pattern, efficiency in %; None for a width that the cut does not show."""
    numbers = asdict(found) | {"efficiency": 100 * found.efficiency}
    return {name: value if math.isfinite(value) else None for name, value in numbers.items()}


def main() -> None:
    """Run every board, keep the figures."""
    boards = {f"cut_{margin - 3}": (margin, None) for margin in CUT}
    boards |= {f"ends_{end}": (margin, end) for end, margin in ENDED}
    values = {}
    for name, (margin, ends) in boards.items():
        values[name] = asked(margin, ends)
        print(name, values[name], flush=True)
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")


if __name__ == "__main__":
    main()
