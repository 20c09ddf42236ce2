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
    for number, row in enumerate(field):  # in the order of memory, which may be a disk's
        plane = np.asarray(row, np.float64)
        square += float(np.sum((plane - mean) ** 2))
        total += plane.size
        if number < len(widths[0]):
            slopes[0] += np.mean((field[(number + 1) % len(field)] - plane) ** 2) / widths[0][number] / widths[0].sum()
        for axis, along in enumerate(widths[1:]):
            steps = np.diff(plane, axis=axis, append=plane.take([0], axis)).take(range(len(along)), axis)
            across = tuple(other for other in range(plane.ndim) if other != axis)
            slopes[axis + 1] += np.sum(np.mean(steps**2, axis=across) / along) / along.sum() / len(field)
    return float(np.sqrt(square / total / slopes.mean()))


def statistics(length: np.ndarray, difference: np.ndarray, scale: float) -> xarray.Dataset:
    """Densities over the elements, each counted once; `scale` is the field's Taylor scale.

    - `length_density` P(l) and `difference_density` P(dphi), of integral 1 over all elements
    - `joint_density` P(l, dphi)
    - `conditional_difference` mean of dphi of the elements of a bin of l, its standard error `conditional_error`, nan
      where there are none (of the error, fewer than two), and `elements_of_length`, how many there are
    - attributes `elements`, `mean_length`, `mean_difference`, `taylor_scale`, `length_over_taylor_scale`, and
      `beyond_bins`, the share of elements longer or stronger than the last bin
    """
    import xarray

    edges = [np.linspace(0, FARTHEST * values.mean(), BINS + 1) for values in (length, difference)]
    steps = [edge[1] for edge in edges]
    joint, *_ = np.histogram2d(length, difference, edges)
    counts, _ = np.histogram(length, edges[0])
    sums, _ = np.histogram(length, edges[0], weights=difference)
    strengths, _ = np.histogram(difference, edges[1])
    conditional = np.divide(sums, counts, out=np.full(BINS, np.nan), where=counts > 0)
    bins = np.clip(np.searchsorted(edges[0], length, "right") - 1, 0, BINS - 1)
    inside = length <= edges[0][-1]  # as numpy counts: the last edge belongs to the last bin
    squares = np.bincount(bins[inside], (difference - conditional[bins])[inside] ** 2, minlength=BINS)
    error = np.divide(squares, counts * (counts - 1.0), out=np.full(BINS, np.nan), where=counts > 1) ** 0.5
    return xarray.Dataset(
        {
            "length_density": ("length", counts / (len(length) * steps[0])),
            "difference_density": ("difference", strengths / (len(length) * steps[1])),
            "joint_density": (("length", "difference"), joint / (len(length) * steps[0] * steps[1])),
            "conditional_difference": ("length", conditional),
            "conditional_error": ("length", error),
            "elements_of_length": ("length", counts),
        },
        {name: 0.5 * (edge[1:] + edge[:-1]) for name, edge in zip(("length", "difference"), edges)},
        {
            "elements": len(length),
            "mean_length": length.mean(),
            "mean_difference": difference.mean(),
            "taylor_scale": scale,
            "length_over_taylor_scale": length.mean() / scale,
            "beyond_bins": 1 - joint.sum() / len(length),
        },
    )


def arc_dataset(mean: np.ndarray, lines: np.ndarray, length: np.ndarray) -> xarray.Dataset:
    """Arc lengths of elements, and their density over the elements that have one, in bins up to four means."""
    import xarray

    known = mean[np.isfinite(mean)]
    average = float(known.mean()) if known.size else np.nan
    edges = np.linspace(0, FARTHEST * (average if known.size else 1.0), BINS + 1)
    counts, _ = np.histogram(known, edges)
    straight = float(length[np.isfinite(mean)].mean()) if known.size else np.nan
    return xarray.Dataset(
        {
            "arc_length": ("element", mean),
            "arc_lines": ("element", lines),
            "arc_density": ("arc", counts / (max(known.size, 1) * edges[1])),
        },
        {"arc": 0.5 * (edges[1:] + edges[:-1])},
        {"mean_arc_length": average, "arc_over_length": average / straight},
    )
