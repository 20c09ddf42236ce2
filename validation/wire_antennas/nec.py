"""The decks that NEC2 was given, and its answers (nec2c 1.3): reference values and how to make them again.

.venv/bin/python -m validation.wire_antennas.nec prints the answers of the nec2c on this machine, in free space at a
wavelength of 1 m: the input impedance (ohm) and the gain (dBi) ahead, along +x, and behind.
"""

from __future__ import annotations

import math
import re
import subprocess
import tempfile
from itertools import pairwise
from pathlib import Path

C = 299.792458  # MHz m
Element = tuple[float, float]  # place along the boom and length (m)

YAGI: tuple[Element, ...] = ((-0.25, 0.479), (0.0, 0.453), (0.25, 0.451))
DIPOLE: tuple[Element, ...] = ((0.0, 0.47),)
RADIUS = 0.0025  # m
SIDE = 0.2725  # of the square loop (m)
BOOM = 0.035  # between the two wires of the log-periodic antenna's boom (m)
LOG_PERIODIC: tuple[Element, ...] = ((0.0, 0.5), (0.11, 0.43), (0.2046, 0.3698), (0.286, 0.318))
FEED = 0.33  # place of its port, before the shortest element (m)


def elements_deck(elements: tuple[Element, ...], fed: int, radius: float = RADIUS, pieces: int = 21) -> list[str]:
    """Parallel wires along z, one of them fed in its middle."""
    wires = [
        f"GW {n} {pieces} {x} 0 {-0.5 * length} {x} 0 {0.5 * length} {radius}"
        for n, (x, length) in enumerate(elements, 1)
    ]
    return [*wires, "GE 0", f"EX 0 {fed} {pieces // 2 + 1} 0 1 0"]


def loop_deck(side: float = SIDE, radius: float = RADIUS, pieces: int = 15) -> list[str]:
    """A square about the x axis, fed in the middle of its lower side."""
    h = 0.5 * side
    corners = [(-h, -h), (h, -h), (h, h), (-h, h), (-h, -h)]
    wires = [
        f"GW {n} {pieces} 0 {a[0]} {a[1]} 0 {b[0]} {b[1]} {radius}" for n, (a, b) in enumerate(pairwise(corners), 1)
    ]
    return [*wires, "GE 0", f"EX 0 1 {pieces // 2 + 1} 0 1 0"]


def log_periodic_wires() -> list[tuple[tuple[float, float, float], tuple[float, float, float], int]]:
    """(from, to, pieces) of the two wires of the boom and of the arms, which change sides from element to element."""
    found: list = []
    for side in (-1, 1):
        y, places = 0.5 * side * BOOM, [x for x, _ in LOG_PERIODIC] + [FEED]
        found += [((a, y, 0.0), (b, y, 0.0), 3) for a, b in pairwise(places)]
        for number, (x, length) in enumerate(LOG_PERIODIC):
            way = side * (-1) ** number
            found.append(((x, y, 0.0), (x, y, 0.5 * way * length), 11))
    return found


def log_periodic_deck(radius: float = RADIUS) -> list[str]:
    """The same with a wire of one piece between the ends of the boom, which is fed."""
    wires = [*log_periodic_wires(), ((FEED, -0.5 * BOOM, 0.0), (FEED, 0.5 * BOOM, 0.0), 1)]
    cards = [f"GW {n} {pieces} {' '.join(map(str, (*a, *b)))} {radius}" for n, (a, b, pieces) in enumerate(wires, 1)]
    return [*cards, "GE 0", f"EX 0 {len(wires)} 1 0 1 0"]


def circle(cell: float, round_it: float = 1.09, sides: int = 24) -> list[tuple[float, float, float]]:
    """Corners of a loop of 1.09 m about the x axis, open by a cell about its lowest point: for a port along y there."""
    radius = 0.5 * round_it / math.pi
    first = math.asin(0.5 * cell / radius)
    turns = [first + n * (2.0 * math.pi - 2.0 * first) / (sides - 1) for n in range(sides)]
    return [(0.0, radius * math.sin(t), radius * (math.cos(first) - math.cos(t))) for t in turns]


def circle_deck(cell: float = 0.025, radius: float = RADIUS) -> list[str]:
    """The loop with a wire of one piece in its gap, which is fed."""
    corners = circle(cell)
    wires = [(a, b, 2) for a, b in pairwise(corners)] + [(corners[-1], corners[0], 1)]
    text = lambda points: " ".join(f"{q:.7f}" for point in points for q in point)  # noqa: E731
    cards = [f"GW {n} {pieces} {text((a, b))} {radius}" for n, (a, b, pieces) in enumerate(wires, 1)]
    return [*cards, "GE 0", f"EX 0 {len(wires)} 1 0 1 0"]


def answer(cards: list[str], frequency: float = C) -> Answer:
    """(impedance, gain ahead, gain behind) by nec2c at a frequency (MHz)."""
    cards = ["CM", "CE", *cards, f"FR 0 1 0 0 {frequency} 0", "RP 0 1 2 1000 90 0 0 180", "EN"]
    with tempfile.TemporaryDirectory() as folder:
        deck, out = Path(folder) / "deck.nec", Path(folder) / "out.txt"
        deck.write_text("\n".join(cards) + "\n")
        subprocess.run(["nec2c", "-i", str(deck), "-o", str(out)], check=True)
        text = out.read_text()
    number = r"[-+]?\d+\.\d+E[-+]\d+"
    after = text[text.index("ANTENNA INPUT PARAMETERS") :]
    row = re.findall(number, next(line for line in after.splitlines() if len(re.findall(number, line)) >= 9))
    pattern = text[text.index("RADIATION PATTERNS") :]
    rows = [line.split() for line in pattern.splitlines() if re.match(r"\s+90\.00\s", line)]
    return complex(float(row[4]), float(row[5])), float(rows[0][4]), float(rows[1][4])


Answer = tuple[complex, float, float]  # impedance (ohm), gain ahead and behind (dBi)
DECKS = {
    "dipole": elements_deck(DIPOLE, 1),
    "Yagi": elements_deck(YAGI, 2),
    "loop": loop_deck(),
    "log-periodic": log_periodic_deck(),
    "circle": circle_deck(),
}
ANSWERS: dict[str, Answer] = {
    "dipole": (73.361 + 4.3915j, 2.14, 2.14),
    "Yagi": (24.297 + 28.718j, 9.13, 4.06),
    "loop": (122.87 - 38.077j, 3.38, 3.38),
    "log-periodic": (178.07 + 2.8388j, 6.09, -8.79),
    "circle": (148.98 + 3.5857j, 3.69, 3.69),
}

if __name__ == "__main__":
    for name, cards in DECKS.items():
        print(name, *answer(cards))
