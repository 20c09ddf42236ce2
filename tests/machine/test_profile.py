"""Profiles of machines: kept, read back, refused when broken, and assumptions that say so."""

from __future__ import annotations

import json

import pytest

from nearfield.entry.errors import ModelError
from nearfield.machine.profile import ASSUMED_REMOTE, Link, Profile, Rates, load_profile, store

MEASURED = {
    "format": "nearfield profile",
    "version": 1,
    "name": "two nodes",
    "fdtd": {"pec": {"core": 500, "numa": 1200, "cores": 4}},
    "triad": {"core": 14.0, "numa": [30.0, 31.0], "all": 60.0},
    "bandwidth": [[20.0, 10.0], [12.0, 24.0]],
    "latency": [[90, 140], [140, 90]],
    "messages": {"numa": {"latency": 4e-7, "bandwidth": 8e9}},
}


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path))
    return tmp_path


def written(folder, entries) -> str:
    file = folder / "profile.json"
    file.write_text(entries if isinstance(entries, str) else json.dumps(entries))
    return str(file)


def test_a_profile_reads_back_as_it_was_written(tmp_path, own_cache):
    profile = Profile(**MEASURED)
    assert load_profile(written(tmp_path / "..", profile.as_dict())) == profile
    store(profile)
    assert load_profile() == profile


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 2}, "version"),
        ({"fdtd": {"pec": {"core": 0, "numa": 1, "cores": 1}}}, "fdtd.pec.core"),
        ({"bandwidth": [[1.0, 2.0]]}, "square"),
        ({"messages": {"numa": {"latency": -1, "bandwidth": 1}}}, "latency"),
        ({"messages": {"moon": {"latency": 1, "bandwidth": 1}}}, "messages"),
        ({"speed": 3}, "speed"),
    ],
)
def test_a_broken_profile_is_refused_with_its_place(tmp_path, change, said):
    with pytest.raises(ModelError, match=said):
        load_profile(written(tmp_path, MEASURED | change))


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "\udcff", "[1, 2]"])
def test_a_file_that_is_no_profile_is_refused(tmp_path, text):
    file = tmp_path / "p.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ModelError, match="profile"):
        load_profile(file)


def test_a_missing_profile_is_refused():
    with pytest.raises(ModelError, match=r"nowhere.*nearfield probe"):
        load_profile("nowhere.json")


def test_a_spoilt_store_counts_as_no_profile(own_cache):
    (own_cache / "profile.json").write_text("{")
    assert load_profile().fdtd == {}


def test_what_was_not_measured_is_said_to_be_assumed(own_cache):
    said = " ".join(Profile().assumptions())
    assert "Mcells/s" in said and "between hosts" in said and str(ASSUMED_REMOTE) in said
    measured = " ".join(Profile(**MEASURED).assumptions())
    assert "Mcells/s" not in measured and "within a NUMA node" not in measured and "between hosts" in measured


def test_the_remote_factor_is_the_mean_off_the_diagonal_over_that_on_it():
    assert Profile(**MEASURED).remote == pytest.approx(11.0 / 22.0)
    assert Profile().remote == ASSUMED_REMOTE


def test_memory_caps_many_cores_only_where_the_measurement_reached_the_cap():
    capped = Rates(core=500, numa=1200, cores=4)
    assert [capped.of(n) for n in (1, 2, 4, 8)] == [500, 1000, 1200, 1200]
    open_ended = Rates(core=500, numa=900, cores=2)
    assert [open_ended.of(n) for n in (1, 2, 4)] == [500, 900, 1800]


def test_messages_cost_latency_each_and_bytes_once():
    assert Link(latency=1e-6, bandwidth=1e9).seconds(1000, messages=3) == pytest.approx(3e-6 + 1e-6)
