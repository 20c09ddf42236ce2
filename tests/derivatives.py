"""Derivatives of S-parameters by runs on the grid of a model, and how far others are from them."""

import numpy as np

from nearfield.studies.varied import alike, varied

CELL, HIGH = 1e-3, 1e-3


def differences(make, values, name, step, frequencies):
    """(more - now, now - less) of S over the step, from runs on the grid of the model as it is."""
    model, pairs = alike(make, varied(values, {name: step}, make))
    more, less = pairs[list(values).index(name)]
    less, now, more = (each.run(threads=1).sparameters_at(frequencies).values for each in (less, model, more))
    return (more - now) / step, (now - less) / step


def agreement(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)
