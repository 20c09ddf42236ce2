"""Voxel models: media and metal on any grid, tables from numbers to media, files."""

from __future__ import annotations

import numpy as np
import pytest
from solids_made import SEED, coefficients, uniform

import nearfield as nf
from nearfield.media.materials import Medium


def test_voxels_on_any_grid_average_as_their_boxes_do():
    numbers = np.random.default_rng(SEED).integers(0, 3, (4, 3, 5))
    size, lower, media = (1.3e-3, 2.1e-3, 1.7e-3), (0.4e-3, 1e-3, 0.9e-3), {1: Medium(3.0), 2: Medium(5.0, 0.2)}
    voxels = nf.Voxels(array=numbers, spacing=size, lower=lower)
    parts = nf.Structure(voxels, {0: "none", **media}).parts()
    boxes = []
    for index in np.argwhere(numbers):
        ends = [np.add(lower, np.multiply(index + end, size)).tolist() for end in (0, 1)]
        boxes.append(nf.Structure(nf.Box(*ends), media[int(numbers[tuple(index)])]))
    for one, other in zip(*(coefficients(structures, uniform(11, 1e-3)) for structures in (parts, boxes))):
        assert np.allclose(one, other, rtol=1e-12, atol=0)


def test_metal_voxels_on_grid_lines_take_the_cells_of_their_boxes():
    numbers = np.zeros((6, 6, 6), int)
    numbers[1:4, 2:5, 1:3] = numbers[3:5, 1:3, 2:6] = 9
    parts = nf.Structure(nf.Voxels(array=numbers, spacing=1e-3), {0: "none", 9: "pec"}).parts()
    boxes = [
        nf.Structure(nf.Box((1e-3, 2e-3, 1e-3), (4e-3, 5e-3, 3e-3)), "pec"),
        nf.Structure(nf.Box((3e-3, 1e-3, 2e-3), (5e-3, 3e-3, 6e-3)), "pec"),
    ]
    for one, other in zip(*(coefficients(structures, uniform(8, 1e-3)) for structures in (parts, boxes))):
        assert np.array_equal(one, other)


def test_the_distance_of_voxels_is_that_of_the_nearest_box_of_the_other_kind():
    numbers = np.random.default_rng(SEED).integers(0, 2, (5, 5, 5))
    voxels = nf.Voxels(array=numbers, spacing=1.0)
    points = np.random.default_rng(SEED).uniform(-0.9, 5.9, (3, 3000))
    found, inside = voxels._signed_distance(*points), voxels.contains(*points)
    padded = np.pad(numbers, 1)
    true = np.full(points.shape[1], np.inf)
    for index in np.ndindex(padded.shape):
        low = np.array(index)[:, None] - 1.0
        gap = np.linalg.norm(np.maximum(np.maximum(low - points, points - low - 1), 0.0), axis=0)
        true = np.where(padded[index] != inside, np.minimum(true, gap), true)
    assert np.array_equal(found < 0, inside)
    assert np.allclose(np.abs(found), np.minimum(true, 1.0))


def test_numbers_without_a_medium_and_media_without_a_box_are_named(tmp_path):
    numbers = np.zeros((2, 2, 3), np.uint8)
    numbers[0, 0] = 4, 7, 7
    np.save(tmp_path / "head.npy", numbers)
    voxels = nf.Voxels(str(tmp_path / "head.npy"), 1e-3)
    with pytest.raises(nf.ModelError, match=r"without a medium: 4 \(1 boxes\), 7 \(2 boxes\)"):
        nf.Structure(voxels, {0: "none"})
    with pytest.raises(nf.ModelError, match="no box carries 5; there are 0, 4, 7"):
        nf.Voxels(str(tmp_path / "head.npy"), 1e-3, ids=5)
    with pytest.raises(nf.ModelError, match="a table by numbers is for a shape of voxels"):
        nf.Structure(nf.Sphere((0, 0, 0), 1), {1: "pec"})


def test_a_numpy_file_that_is_broken_or_of_another_kind_is_named(tmp_path):
    file = tmp_path / "head.npy"
    np.save(file, np.arange(8.0).reshape(2, 2, 2))
    with pytest.raises(nf.ModelError, match=r"head\.npy' holds float64 .*astype"):
        nf.Voxels(file, 1e-3)
    np.save(file, np.arange(8).reshape(2, 2, 2))
    for content in (b"rubbish" * 9, file.read_bytes()[:-9]):
        file.write_bytes(content)
        with pytest.raises(nf.ModelError, match=r"head\.npy' is broken"):
            nf.Voxels(file, 1e-3)


def test_hdf5_voxels_are_read_by_the_name_of_their_data_set(tmp_path):
    import h5py

    file = str(tmp_path / "head.h5")
    with h5py.File(file, "w") as made:
        made["tissue/ids"], made["tissue/doses"], made["names"] = np.eye(3, dtype=int)[None], np.ones((2, 2, 2)), [1]
    assert nf.Voxels(file, 1e-3, dataset="tissue/ids")._counts == {0: 6, 1: 3}
    with pytest.raises(nf.ModelError, match="2 data sets over three axes"):
        nf.Voxels(file, 1e-3)
    with pytest.raises(nf.ModelError, match="no data set 'ids'"):
        nf.Voxels(file, 1e-3, dataset="ids")
    with pytest.raises(nf.ModelError, match="holds float64"):
        nf.Voxels(file, 1e-3, dataset="tissue/doses")
