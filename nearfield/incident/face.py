"""The samples of an incident wave on a face of its box, listed where they are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from nearfield.incident.crossings import Crossing, Reads
from nearfield.lowering.context import Context
from nearfield.plan.boxes import Box
from nearfield.plan.excitations import IncidentWave
from nearfield.plan.terms import IncidentTerm


@dataclass(frozen=True)
class WaveFace(ABC):
    """The samples of a crossing, which read the table of a wave; `part`: what the table's numbers are multiplied by."""

    context: Context
    crossing: Crossing
    wave: IncidentWave
    part: float

    @abstractmethod
    def columns(self, across: Reads) -> tuple[np.ndarray, np.ndarray]:
        """The columns of the table that samples read, and the share of each; (samples, taps)."""

    @property
    def box(self) -> Box:
        """The samples."""
        return self.crossing.box

    def drawn(self, box: Box) -> IncidentTerm | None:
        """Those that lie in a box; None without any."""
        across, _, drive = self.crossing.reads(box).weighted(self.context)
        if not drive.size:
            return None
        column, share = self.columns(across)
        component, weight = np.full(drive.size, self.crossing.component), drive * self.crossing.factor * self.part
        i, j, k = across.index
        return IncidentTerm(component, i, j, k, weight, column, share, self.wave)
