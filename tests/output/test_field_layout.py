"""One file a domain: the parts make up the whole, whoever is ahead, and the file that joins them says how it stands."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from fields_made import at_points, blocks, staggered, storage, values_of

from nearfield.entry.errors import ModelError
from nearfield.formats.description import Block
from nearfield.formats.layout import DomainFiles, boxes_of, part_path
from nearfield.formats.reading import ABANDONED, open_fields

FORMATS = ["hdf5", "vtkhdf", "binary", "ascii"]
LAST = (100, 100, 100)


def cut_in_three(format: str, snapshots: int = 4, codec: str = "none"):
    """A description, and its boxes in three domains that meet at x = 3, y = 2 of Yee's indices."""
    domains = [((0, 0, 0), (3, *LAST[1:])), ((3, 0, 0), (100, 2, 100)), ((3, 2, 0), LAST)]
    if format in ("hdf5", "binary"):
        description, regions = staggered(snapshots, **storage(format, codec))
        return description, [boxes_of(regions, lower, upper) for lower, upper in domains]
    description = at_points(snapshots, **storage(format, codec))
    boxes = [((0, 0, 0), (3, 4, 6)), ((3, 0, 0), (2, 2, 6)), ((3, 2, 0), (2, 2, 6))]
    return description, [{name: box for name in description.components} for box in boxes]


@pytest.mark.parametrize("format", FORMATS)
def test_the_parts_make_up_the_whole(format, tmp_path):
    path, (description, domains) = tmp_path / "fields.dat", cut_in_three(format)
    values = values_of(description)
    with DomainFiles(path, description, domains, threads=2) as file:
        for block in blocks(description, values):  # these reach over domains
            file.write(block)
            file.flush()
            found = open_fields(path)
            assert found.status == "running" and found.sizes["time"] == file.committed
    found = open_fields(path)
    assert found.status == "complete" and list(found.step) == [0, 10, 20, 30]
    for name, wanted in values.items():
        assert np.array_equal(found[name], wanted)
        assert np.array_equal(found[name][2, 1:, ::-1, 3], wanted[2, 1:, ::-1, 3])


@pytest.mark.parametrize("format", FORMATS)
def test_while_a_domain_is_ahead_the_shortest_part_counts(format, tmp_path):
    path, (description, domains) = tmp_path / "fields.dat", cut_in_three(format)
    values, file = values_of(description), DomainFiles(path, description, domains)
    for number, boxes in enumerate(domains):
        for name, (offset, shape) in boxes.items():
            box = tuple(slice(a, a + n) for a, n in zip(offset, shape))
            for snapshot in range(3 - number):
                file.write(Block(name, snapshot, snapshot, 1e-12 * snapshot, values[name][(snapshot, *box)], offset))
    assert file.flush() == 1 and open_fields(path).sizes["time"] == 1
    assert np.array_equal(open_fields(path).Hz, values["Hz"][:1])
    if format == "hdf5":
        with h5py.File(path) as joined:  # as anyone sees it: as long as the longest, nan where nothing is yet
            assert joined["Ez"].shape[0] == 3 and np.isnan(joined["Ez"][2]).any()
            assert np.array_equal(joined["Ez"][0], values["Ez"][0])
    file.close()
    found = open_fields(path)
    assert found.status == "interrupted: the domains have different numbers of snapshots" and found.sizes["time"] == 1
    if format == "hdf5":
        with h5py.File(path) as joined:
            assert joined["Ez"].shape[0] == 1 and np.array_equal(joined["Ez"], values["Ez"][:1])


def test_any_hdf5_reads_the_joined_file_as_one(tmp_path):
    path, (description, domains) = tmp_path / "fields.h5", cut_in_three("hdf5", codec="zlib")
    values = values_of(description)
    with DomainFiles(path, description, domains) as file:
        for block in blocks(description, values):
            file.write(block)
    (tmp_path / "moved").mkdir()
    for one in (path, *(part_path(path, number) for number in range(3))):
        one.rename(tmp_path / "moved" / one.name)  # together: names of parts are relative
    with h5py.File(tmp_path / "moved" / "fields.h5") as joined:
        assert joined.attrs["status"] == "complete" and joined["Ex"].is_virtual and joined["Ex"].maxshape[0] == 4
        assert all(np.array_equal(joined[name], wanted) for name, wanted in values.items())
        assert [dim.label for dim in joined["Hx"].dims] == ["time_half", "x", "y_half", "z_half"]


@pytest.mark.parametrize("format", ["hdf5", "binary"])
def test_a_part_that_is_gone_is_named(format, tmp_path):
    path, (description, domains) = tmp_path / "fields.dat", cut_in_three(format)
    DomainFiles(path, description, domains).close(complete=False)
    part_path(path, 1).unlink()
    with pytest.raises(ModelError, match=r"fields\.d1\.dat"):
        open_fields(path)


@pytest.mark.parametrize("format", ["hdf5", "binary"])
def test_a_link_in_place_of_a_part_is_not_followed(format, tmp_path):
    path, (description, domains) = tmp_path / "fields.dat", cut_in_three(format)
    with DomainFiles(path, description, domains) as file:
        for block in blocks(description, values_of(description)):
            file.write(block)
    opened = open_fields(path)  # the link comes after the file was looked at
    elsewhere = tmp_path / "elsewhere"
    part_path(path, 1).rename(elsewhere)
    part_path(path, 1).symlink_to(elsewhere)
    with pytest.raises(ModelError, match=r"joins fields\.d1\.dat, which is a link"):
        open_fields(path)
    if format == "hdf5":
        with pytest.raises(ModelError, match="which is a link"):
            opened["Ez"].values.sum()


@pytest.mark.parametrize("format", ["hdf5", "binary"])
def test_a_second_run_on_the_same_name_is_refused(format, tmp_path):
    path, (description, domains) = tmp_path / "fields.dat", cut_in_three(format)
    with DomainFiles(path, description, domains), pytest.raises(ModelError, match="being written by another run"):
        DomainFiles(path, description, domains)


@pytest.mark.parametrize("format", ["hdf5", "binary"])
def test_domain_files_are_gone_on_with(format, tmp_path):
    path, (description, domains) = tmp_path / "fields.dat", cut_in_three(format)
    values = values_of(description)
    file = DomainFiles(path, description, domains)
    for block in blocks(description, values):
        if block.snapshot < 3:
            file.write(block)
    file.close(complete=False, reason="out of time")
    assert open_fields(path).status == "interrupted: out of time"
    with DomainFiles(path, description, domains, keep=2) as file:
        for block in blocks(description, values, first=2):
            file.write(block)
    found = open_fields(path)
    assert found.status == "complete" and all(np.array_equal(found[name], wanted) for name, wanted in values.items())


def test_domains_with_gaps_are_a_mistake(tmp_path):
    description, domains = cut_in_three("hdf5")
    with pytest.raises(ValueError, match="do not make up the whole"):
        DomainFiles(tmp_path / "fields.h5", description, domains[:2])
    assert list(tmp_path.iterdir()) == []


def test_a_writer_of_domain_files_that_vanished_is_noticed(tmp_path):
    import os

    path, (description, domains) = tmp_path / "fields.h5", cut_in_three("hdf5")
    child = os.fork()
    if child == 0:
        DomainFiles(path, description, domains)
        os._exit(0)
    os.waitpid(child, 0)
    assert open_fields(path).status == ABANDONED
