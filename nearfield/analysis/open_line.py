"""The wave of an open line's mode, of which the port's rectangle holds a part `within` of the power.

V and I are those of the whole line, V I its power: sums over the rectangle divided by `within`. Next to the plane that
launches it a wave is seen together with what the rectangle's border cuts off. Half of what is launched jumps there
alone, with all of its amplitude within the rectangle, so it counts 1/within, while the other half, the field that both
sides share, is the mode's own: the wave seems (1 + 1/within)/2 too large, to some 0.2 (1 - within).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.analysis.loaded_line import LoadedLine


@dataclass(frozen=True)
class OpenLine(LoadedLine):
    """`within`, `currents` (points,): part of the power in the rectangle; amperes in the conductors over modal ones."""

    within: np.ndarray
    currents: np.ndarray

    def weights(self, name: str, frequencies: np.ndarray) -> np.ndarray:
        return super().weights(name, frequencies) / self.inside(frequencies)[:, None]

    def inside(self, frequencies: np.ndarray) -> np.ndarray:
        """The part of the power that lies in the rectangle."""
        found: np.ndarray = self.shares(frequencies) @ self.within
        return found

    def excess(self, frequencies: np.ndarray) -> np.ndarray:
        """The wave that the port measures over the one that it launches."""
        return 0.5 + 0.5 / self.inside(frequencies)

    def impedances(self, frequencies: np.ndarray) -> np.ndarray:
        """Power over the square of the current in the conductors (ohm); NaN where there are none."""
        on, back = self.admittances(frequencies)
        with np.errstate(divide="ignore", invalid="ignore"):
            found: np.ndarray = np.real(2.0 / (on - back)) / (self.shares(frequencies) @ self.currents) ** 2
        return np.where(np.isfinite(found), found, np.nan)

    def restated(
        self, incident: np.ndarray, outgoing: np.ndarray, frequencies: np.ndarray, impedance: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Waves of the line as waves of a reference impedance (ohm), with the V and I of the conductors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(self.impedances(frequencies) / impedance)
            same, mixed = 0.5 * (root + 1 / root), 0.5 * (root - 1 / root)
            a, b = same * incident + mixed * outgoing, mixed * incident + same * outgoing
        good = np.isfinite(root) & (root > 0.0)  # below a cut-off its waves carry no power
        return np.where(good, a, 0.0), np.where(good, b, 0.0)
