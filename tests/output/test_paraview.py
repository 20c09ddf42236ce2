"""What ParaView is given: VTKHDF for boxes of even spacing, XDMF for other meshes, both pointing at the same arrays.

VTK's own readers were held against both once (vtkHDFReader and vtkXdmfReader of VTK 9.7): what they need is asked
here.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import h5py
import numpy as np
import pytest
from fields_made import at_points, blocks, left_by_a_killed_writer, storage, values_of

from nearfield.formats.description import of_points
from nearfield.formats.opening import open_field_file
from nearfield.formats.paraview import write_xdmf

GRADED = (np.array([0.0, 1e-3, 3e-3]), np.array([0.0, 1e-3]), np.array([0.0, 2e-3, 3e-3, 7e-3]))
PLANE = (np.array([0.0, 1e-3, 2e-3]), np.array([0.0, 1e-3]), np.array([5e-3]))


def written(path, description):
    values = values_of(description)
    with open_field_file(path, description) as file:
        for block in blocks(description, values):
            file.write(block)
            file.flush()
    return values


def test_an_even_box_is_a_temporal_image(tmp_path):
    description = at_points(3, **storage("vtkhdf", "zlib"))
    values = written(tmp_path / "fields.vtkhdf", description)
    assert [path.name for path in tmp_path.iterdir()] == ["fields.vtkhdf"]
    with h5py.File(tmp_path / "fields.vtkhdf") as file:
        root = file["VTKHDF"]
        assert root.attrs["Type"] == b"ImageData" and list(root.attrs["Version"]) == [2, 0]
        assert list(root.attrs["WholeExtent"]) == [0, 4, 0, 3, 0, 5]
        assert np.allclose(root.attrs["Spacing"], 1e-3) and np.allclose(root.attrs["Origin"], 0)
        assert root["Steps"].attrs["NSteps"] == 3 and np.allclose(root["Steps/Values"], file["time"])
        for name, wanted in values.items():
            assert root["PointData"][name] == file[name]  # one array of two names
            assert np.array_equal(root["PointData"][name], wanted.transpose(0, 3, 2, 1))


def test_a_running_file_shows_paraview_the_committed_steps(tmp_path):
    description = at_points(3, **storage("vtkhdf"))
    with open_field_file(tmp_path / "fields.vtkhdf", description) as file:
        for block in blocks(description, values_of(description)):
            file.write(block)
            told = file.flush()
            with h5py.File(tmp_path / "fields.vtkhdf") as seen:
                assert seen["VTKHDF/Steps"].attrs["NSteps"] == told == len(seen["VTKHDF/Steps/Values"])


@pytest.mark.parametrize("lines", [GRADED, PLANE], ids=["graded", "plane"])
def test_other_meshes_have_xdmf_that_points_into_the_file(lines, tmp_path):
    description = of_points(lines, 2, **storage("vtkhdf"))
    values = written(tmp_path / "a & b.vtkhdf", description)
    root = ElementTree.parse(tmp_path / "a & b.xdmf").getroot()
    grids = root.findall("Domain/Grid/Grid")
    assert [float(grid.find("Time").get("Value")) for grid in grids] == [0.0, 1e-12]
    shape = [len(line) for line in lines[::-1]]
    with h5py.File(tmp_path / "a & b.vtkhdf") as file:
        assert "VTKHDF" not in file
        for number, grid in enumerate(grids):
            assert list(map(int, grid.find("Topology").get("Dimensions").split())) == shape
            for item, line in zip(grid.findall("Geometry/DataItem"), lines):
                name, _, place = item.text.partition(":")
                assert name == "a & b.vtkhdf" and np.array_equal(file[place], line)
            for attribute in grid.findall("Attribute"):
                slab, source = attribute.findall("DataItem/DataItem")
                start, stride, count = np.array(slab.text.split(), int).reshape(3, 4)
                array = file[source.text.partition(":")[2]]
                assert list(array.shape) == list(map(int, source.get("Dimensions").split())) and (stride == 1).all()
                found = array[tuple(slice(a, a + n) for a, n in zip(start, count))][0]
                assert np.array_equal(found, values[attribute.get("Name")][number].T)


def test_xdmf_can_be_written_for_a_file_whose_writer_was_killed(tmp_path):
    path, description = tmp_path / "fields.vtkhdf", of_points(GRADED, 3, **storage("vtkhdf"))
    left_by_a_killed_writer(path, description, flushed=2)
    assert write_xdmf(path) == tmp_path / "fields.xdmf"
    assert len(ElementTree.parse(tmp_path / "fields.xdmf").getroot().findall("Domain/Grid/Grid")) == 2
