"""Derivatives of S-parameters by runs on the grid of a model, and how far others are from them."""

import numpy as np

import nearfield as nf
from nearfield.studies.varied import alike, varied

CELL, HIGH = 1e-3, 1e-3


def covered(body, **entries):
    """A small patch over ground with a body above it."""
    lines = (np.arange(-9, 10) * CELL).tolist()
    sheet = nf.Sheet((-3e-3, -3e-3, HIGH), (3e-3, 3e-3, HIGH))
    return nf.Simulation(
        nf.Grid(lines, lines, (np.arange(12) * CELL).tolist()),
        structures=[nf.Structure(sheet, nf.PEC), body],
        boundaries=nf.Boundaries(all=nf.CPML(4), z_low=nf.PEC),
        ports=[nf.LumpedPort("feed", (0, -2e-3, 0), (0, -2e-3, HIGH), "z")],
        waveform=nf.ModulatedGaussian("9 GHz", "5 GHz"),
        **{"metal": "conformal", "precision": "double", "decay": 1e-7, **entries},
    )


def differences(make, values, name, step, frequencies):
    """(more - now, now - less) of S over the step, from runs on the grid of the model as it is."""
    model, pairs = alike(make, varied(values, {name: step}, make))
    more, less = pairs[list(values).index(name)]
    less, now, more = (each.run(threads=1).sparameters_at(frequencies).values for each in (less, model, more))
    return (more - now) / step, (now - less) / step


def agreement(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)
