"""Figures of `bench output`: every fit has the band of its uncertainty, no curve goes far beyond what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nearfield.report import output_plots

FOUND = json.loads((Path(__file__).parents[2] / "benchmarks" / "results" / "output.json").read_text())


@pytest.mark.parametrize("name", ["hdf5_fits", "hdf5_times", "plain_times", "ratios"])
def test_every_fitted_curve_has_a_band_and_ends_a_decade_beyond_the_data(name):
    points = max(row["points"] for row in FOUND["cases"])
    text = max(row["raw_bytes"] for row in FOUND["cases"]) / output_plots.SAMPLE * output_plots.ASCII_A_POINT
    most = 10.001 * (text if name == "ratios" else points)
    figure = getattr(output_plots, name)(FOUND)
    curves = bands = 0
    for axes in figure.axes:
        fitted = [line for line in axes.lines if len(line.get_xdata()) in (60, 80)]
        assert all(max(line.get_xdata()) <= most for line in fitted)
        curves, bands = curves + len(fitted), bands + sum("Poly" in type(each).__name__ for each in axes.collections)
    assert curves == bands > 0
