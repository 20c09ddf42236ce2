"""Statistics of elements: how long they are, how much the field changes over them, and both together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray

BINS = 40
FARTHEST = 4.0  # of the bins, in mean lengths and mean differences; densities count what lies beyond in their norm


def taylor_scale(field: np.ndarray, widths: Sequence[np.ndarray]) -> float:
    """sqrt(<f^2> / <(df/dx)^2>), f the field less its mean, derivatives along all axes.

    Differences to the next points stand for derivatives: too long by (k h)^2 / 24 of waves of k on points h apart. The
    mean of f^2 counts every point once.
    """
    total = square = 0.0
    slopes = np.zeros(field.ndim)
    mean = float(field.mean(dtype=np.float64))
    for axis, along in enumerate(widths):
        rows = np.moveaxis(field, axis, 0)
        for position, width in enumerate(along):
            step = rows[(position + 1) % len(rows)].astype(np.float64) - rows[position]
            slopes[axis] += np.mean(step**2) / width
        slopes[axis] /= along.sum()
    for plane in field:
        square += float(np.sum((plane.astype(np.float64) - mean) ** 2))
        total += plane.size
    return float(np.sqrt(square / total / slopes.mean()))


def statistics(length: np.ndarray, difference: np.ndarray, scale: float) -> xarray.Dataset:
    """Densities over the elements, each counted once; `scale` is the field's Taylor scale.

    - `length_density` P(l) and `difference_density` P(dphi), of integral 1 over all elements
    - `joint_density` P(l, dphi)
    - `conditional_difference` mean of dphi of the elements of a bin of l, nan where there is none, and `elements` there
    - attributes `mean_length`, `mean_difference`, `taylor_scale`, `length_over_taylor_scale`, and `beyond_bins`, the
      share of elements longer or stronger than the last bin
    """
    import xarray

    edges = [np.linspace(0, FARTHEST * values.mean(), BINS + 1) for values in (length, difference)]
    steps = [edge[1] for edge in edges]
    joint, *_ = np.histogram2d(length, difference, edges)
    counts, _ = np.histogram(length, edges[0])
    sums, _ = np.histogram(length, edges[0], weights=difference)
    strengths, _ = np.histogram(difference, edges[1])
    conditional = np.divide(sums, counts, out=np.full(BINS, np.nan), where=counts > 0)
    return xarray.Dataset(
        {
            "length_density": ("length", counts / (len(length) * steps[0])),
            "difference_density": ("difference", strengths / (len(length) * steps[1])),
            "joint_density": (("length", "difference"), joint / (len(length) * steps[0] * steps[1])),
            "conditional_difference": ("length", conditional),
            "elements_of_length": ("length", counts),
        },
        {name: 0.5 * (edge[1:] + edge[:-1]) for name, edge in zip(("length", "difference"), edges)},
        {
            "mean_length": length.mean(),
            "mean_difference": difference.mean(),
            "taylor_scale": scale,
            "length_over_taylor_scale": length.mean() / scale,
            "beyond_bins": 1 - joint.sum() / len(length),
        },
    )
