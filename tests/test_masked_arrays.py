"""Masked arrays are refused in words wherever users give arrays: their masks would be lost, in silence."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf
from nearfield.analysis.network import frequency_list
from nearfield.analysis.spectra import spectrum
from nearfield.entry.errors import ModelError

FIELD = np.random.default_rng(1).standard_normal((6, 5, 4))
SIGNAL = np.sin(np.arange(200.0) / 7)


def masked(values, count: int = 2) -> np.ma.MaskedArray:
    """The values, the first few of which are masked."""
    values = np.asarray(values)
    return np.ma.array(values, mask=np.arange(values.size).reshape(values.shape) < count)


@pytest.mark.parametrize(
    ("label", "use"),
    [
        ("the field", lambda: nf.elements(masked(FIELD))),
        ("spacing of x", lambda: nf.elements(FIELD, [masked(np.arange(6.0)), 1.0, 1.0])),
        ("points of trajectories", lambda: nf.elements(FIELD).trajectories(masked([1, 2, 3]))),
        ("Samples: values", lambda: nf.Samples((0.0, 1e-10, 2e-10), masked([0.0, 1.0, 0.0]))),
        ("Voxels: array", lambda: nf.Voxels(array=masked(np.ones((2, 2, 2), int)), spacing=1e-3)),
        ("Mesh: vertices", lambda: nf.Mesh(vertices=masked(np.eye(3)), triangles=[[0, 1, 2]])),
        ("Probe: position", lambda: nf.Probe("p", masked([1e-3, 1e-3, 1e-3]))),
        ("frequencies", lambda: frequency_list(masked([1e9, 2e9, 3e9]))),
        ("FieldDFT: frequencies", lambda: nf.FieldDFT("f", (0, 0, 0), (1, 1, 1), frequencies=masked([1e9, 2e9, 3e9]))),
        ("permittivity", lambda: nf.fit_medium([1e9, 2e9, 3e9, 4e9], permittivity=masked([2.0, 3.0, 2.0, 2.0]))),
        ("the signal", lambda: nf.resonances(masked(SIGNAL), (1e9, 1e11), time_step=1e-12)),
    ],
)
def test_masked_values_are_refused_and_counted(label, use):
    with pytest.raises(ModelError, match=rf"^{label}: 2 values of \d+ are masked, .*array.filled"):
        use()


def test_frequencies_and_angles_of_results_are_asked_alike():
    from nearfield.analysis.pattern import FarFieldResult

    with pytest.raises(ModelError, match="theta: 2 values of 3 are masked"):
        FarFieldResult.at(None, masked([0.1, 0.2, 0.3]), 0.0)
    xarray = pytest.importorskip("xarray")
    signal = xarray.DataArray(SIGNAL, {"time": np.arange(200.0)}, ["time"])
    with pytest.raises(ModelError, match="frequencies: 2 values of 3 are masked"):
        spectrum(signal, masked([0.1, 0.2, 0.3]))


def test_an_array_whose_mask_hides_nothing_is_taken_as_it_is():
    assert nf.elements(np.ma.array(FIELD)).summary()["elements"] == nf.elements(FIELD).summary()["elements"]


def test_masked_arrays_in_xarray_are_refused_as_nan():
    xarray = pytest.importorskip("xarray")
    with pytest.raises(ModelError, match="2 values not finite"):
        nf.elements(xarray.DataArray(masked(FIELD), dims=["x", "y", "z"]))
