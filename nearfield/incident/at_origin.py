"""The plane wave that cross-sections are taken over, as the grid carries it: its field at the origin, its power."""

from __future__ import annotations

import numpy as np

from nearfield.analysis.faces import time_factor
from nearfield.analysis.farfield import Exterior
from nearfield.analysis.grid_waves import grid_wavenumbers
from nearfield.analysis.surface import grid_lines
from nearfield.entry.triples import triple
from nearfield.incident.oblique import GridWave
from nearfield.lowering.context import Context, Illumination
from nearfield.records.records import Variable, Variables


def incident_variables(context: Context, light: Illumination, exterior: Exterior, frequencies: np.ndarray) -> Variables:
    """E at the origin of coordinates and the power density along the wave, (frequency,); empty of one without end.

    From the corner that it meets first the wave is followed over the grid's own lines, as the far field's are. The
    density is that of the flux, 1/2 E H* averaged to faces and to whole steps: cos(q h/2) cos(w dt/2) of E^2/(2 eta).
    """
    if light.spectrum is None:
        return {}
    numbers = _wave_vector(context, light, exterior, frequencies)
    free, lines = (
        exterior.wavenumber(frequencies),
        grid_lines(context.grid.lines, exterior.places),
    )
    electric, carried = light.amplitude * light.spectrum(frequencies), np.zeros(frequencies.size)
    share = numbers**2 / grid_wavenumbers(free, frequencies, context.time_step) ** 2
    for axis, line in enumerate(lines):
        on_nodes, _ = line.waves(numbers[axis], free * light.travels[axis])
        electric = electric / on_nodes[line.index(light.corner[axis])].conj()
        carried += share[axis] * line.power(numbers[axis])
    density = np.abs(electric) ** 2 / (2 * exterior.impedance) * carried * time_factor(frequencies, context.time_step)
    notes = {"units": "V/m s", "travels": light.travels.tolist(), "electric": light.electric.tolist()}
    return {
        "incident": Variable(("frequency",), electric, notes),
        "incident_power": Variable(("frequency",), density, {"units": "W s^2/m^2"}),
    }


def _wave_vector(context: Context, light: Illumination, exterior: Exterior, frequencies: np.ndarray) -> np.ndarray:
    """K (1/m) of the wave along each axis, (3, frequency), in the even cells about its box."""
    cells = triple(float(context.grid.primary(axis)[light.first[axis]]) for axis in range(3))
    constants = exterior.permittivity, exterior.permeability
    wave = GridWave(cells, context.time_step, light.travels, light.electric, *constants)
    return 2 * wave.sines(wave.wave_number(np.asarray(frequencies, dtype=float)))
