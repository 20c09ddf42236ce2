"""Layers of GDS files as extruded bodies and plates."""

from __future__ import annotations

import numpy as np
import pytest
from solids_made import SEED, coefficients

import nearfield as nf
from nearfield.grid.grid import Grid


def test_a_layer_holds_what_its_boxes_hold(layout):
    shape = nf.Layout(layout, 2, 0, "0.22 um")
    boxes = nf.Box((1e-6, 1e-6, 0), (5e-6, 2e-6, 0.22e-6)), nf.Box((3.5e-6, 1.5e-6, 0), (6e-6, 3.25e-6, 0.22e-6))
    assert shape.bounds() == ((1e-6, 1e-6, 0.0), (6e-6, 3.25e-6, 2.2e-7))
    x, y = np.random.default_rng(SEED).uniform(0, 7e-6, (2, 5000))
    inside = boxes[0].contains(x, y, 1e-7) | boxes[1].contains(x, y, 1e-7)
    assert np.array_equal(shape.contains(x, y, 1e-7), inside) and not shape.contains(x, y, 3e-7).any()
    assert shape._levels(0) == [1e-6, 3.5e-6, 5e-6, 6e-6]
    first, second = nf.gds(layout, 2, 0, "0.22 um")
    assert {polygon.bounds() for polygon in (first, second)} == {box.bounds() for box in boxes}


def test_a_layer_is_extruded_along_any_axis_and_moved(layout):
    shape = nf.Layout(layout, 2, 0, 1e-6, datatype=1, cell="ARM", axis="x", offset=("1 um", 0), scale=2.0)
    assert np.allclose(shape.bounds(), ((0, 14e-6, 1e-6), (1e-6, 20e-6, 7e-6)), rtol=1e-3)
    assert shape.contains(5e-7, 17e-6, 4e-6) and not shape.contains(5e-7, 13.9e-6, 4e-6)


def test_a_flat_layer_of_metal_is_the_plate_of_its_polygons(layout):
    grid = Grid.uniform(0.25e-6, (32, 32, 4)).resolve()
    flat = [nf.Structure(nf.Layout(layout, 2, 0.5e-6, 0.5e-6), "pec")]
    single = [nf.Structure(polygon, "pec") for polygon in nf.gds(layout, 2, 0.5e-6, 0.5e-6)]
    for one, other in zip(coefficients(flat, grid), coefficients(single, grid)):
        assert np.array_equal(one, other)


def test_layers_and_cells_that_are_not_there_are_named(layout, tmp_path):
    with pytest.raises(nf.ModelError, match=r"no polygon on layer 9, datatype 0 .*\(2, 0\), \(2, 1\), \(3, 0\)"):
        nf.gds(layout, 9, 0, 1e-6)
    with pytest.raises(nf.ModelError, match="no cell 'LEG'; it has: ARM, TOP"):
        nf.gds(layout, 2, 0, 1e-6, cell="LEG")
    (tmp_path / "broken.gds").write_bytes(b"rubbish")
    with pytest.raises(nf.ModelError, match="no GDSII file that can be read"):
        nf.gds(str(tmp_path / "broken.gds"), 2, 0, 1e-6)
