"""Lines through output times, what is kept of them, and the advice that they give."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from nearfield.cli import main
from nearfield.entry.errors import ModelError
from nearfield.measure.advice import Line, best, candidates, fit, fits, keep, stored_fits, where_faster

DOMAINS, RAW = (grid.ravel() for grid in np.meshgrid([1, 2, 4, 8], [1e6, 3e6, 1e7, 1e8]))
TRUE = (0.05, 0.02, 4e-9)
NAMES = ("start", "per_domain", "per_byte")
NOTHING = ((0.0,) * 3,) * 3


def exact(coefficients=TRUE, domains=DOMAINS, raw=RAW) -> np.ndarray:
    return coefficients[0] + coefficients[1] * domains + coefficients[2] * raw


def line(start: float, per_domain: float, per_byte: float, scatter: float = 0.01) -> Line:
    return Line(start, per_domain, per_byte, NOTHING, scatter)


def row(form: str, codec: str, mode: str, domains: int, raw: float, seconds: float, size: float) -> dict:
    timer = {"mean": seconds, "values": [seconds, seconds], "spread": 0.0}
    opening = {"values": [0.25, 0.25]}
    return {
        "format": form,
        "codec": codec,
        "mode": mode,
        "domains": domains,
        "raw_bytes": raw,
        "bytes": size,
        "output": timer,
        "opening": opening,
    }


# binary at 1 GB/s; HDF5 at 100 MB/s into half the bytes; a file more costs 0.2 s; of one domain modes are the same
WAYS = {
    ("binary", "none", "server"): ((0.2, 0.001, 1e-9), 1.0),
    ("hdf5", "zlib:1", "server"): ((0.2, 0.001, 1e-8), 0.5),
    ("binary", "none", "file-per-domain"): ((0.001, 0.2, 1e-9), 1.0),
}


def sweep_rows(ways=WAYS) -> list[dict]:
    return [
        row(*way, int(domains), raw, seconds, share * raw)
        for way, (coefficients, share) in ways.items()
        for domains, raw, seconds in zip(DOMAINS, RAW, exact(coefficients))
        if domains > 1 or way[2] == "server"
    ]


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path / "cache"))

    def store(fields: str = "filled", ways=WAYS) -> None:
        keep(
            {
                "fields": fields,
                "fits": fits(sweep_rows(ways)),
                "folder": "/disk",
                "rounds": 2,
                "when": "now",
                "processor": "one",
            }
        )

    return store


def advised(capsys, *arguments: str) -> dict:
    assert main(["advise-output", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_fit_gives_back_the_coefficients_of_exact_times():
    found = fit(DOMAINS, RAW, exact())
    assert [getattr(found, name) for name in NAMES] == pytest.approx(TRUE, rel=1e-9)
    # what is left is rounding, some 1e-16 of the times
    assert found.scatter < 1e-12 and found.reliable
    assert found.at(16, 1e9)[0] == pytest.approx(0.05 + 16 * 0.02 + 4.0)


def test_the_errors_of_a_fit_are_standard_deviations():
    generator = np.random.default_rng(5)
    off = []
    for _ in range(400):
        found = fit(DOMAINS, RAW, exact() * (1 + 0.05 * generator.standard_normal(len(RAW))), exact())
        errors = found.errors()
        off.append([(getattr(found, name) - true) / errors[f"{name}_error"] for name, true in zip(NAMES, TRUE)])
    # 16 times less 3 coefficients: Student's t of 13 degrees has a variance of 13 / 11; 400 draws know it to 10 %
    assert np.sqrt(np.mean(np.square(off), axis=0)) == pytest.approx(math.sqrt(13 / 11), rel=0.2)
    assert np.abs(np.mean(off, axis=0)).max() < 4 / math.sqrt(400) * math.sqrt(13 / 11)


def test_no_coefficient_is_below_zero_and_one_number_of_domains_says_nothing_of_others():
    falling = fit(DOMAINS, RAW, exact((0.5, -0.05, 4e-9)))
    assert falling.per_domain == 0 and falling.per_byte > 0
    alone = fit([2, 2, 2], [1e6, 2e6, 4e6], exact(TRUE, 2, np.array([1e6, 2e6, 4e6])))
    assert (alone.per_domain, alone.start) == (0, pytest.approx(0.09)) and alone.per_byte == pytest.approx(4e-9)


def test_too_few_cases_and_times_that_do_not_grow_give_no_fit():
    assert fit([1, 1], [1e6, 2e6], [1.0, 2.0]) is None  # two values, two coefficients: no error
    assert fit([1, 1, 1], [1e6] * 3, [1.0, 1.1, 0.9]) is None
    assert fit([1, 1, 1], [1e6, 2e6, 3e6], [3.0, 2.0, 1.0]) is None


@pytest.mark.parametrize(
    "one, other",
    [
        ((1, 0, 1e-9), (0, 0, 2e-9)),
        ((0, 0, 2e-9), (1, 0, 1e-9)),
        ((0, 0, 1e-9), (1, 0, 2e-9)),
        ((1, 0, 2e-9), (0, 0, 1e-9)),
        ((0, 1, 1e-9), (0, 0, 2e-9)),
        ((0, 0, 1e-9), (1, 0, 1e-9)),
    ],
)
def test_where_one_way_is_faster_agrees_with_the_lines(one, other):
    first, second = line(*one), line(*other)
    for domains in (1, 4):
        answer, size = where_faster(first, second, domains)
        for raw in (1e3, 1e8, 9e8, 1.1e9, 3.9e9, 4.1e9, 1e12):
            expected = {"always": True, "never": False}.get(answer)
            if expected is None:
                expected = raw > size if answer == "above" else raw < size
            assert (first.at(domains, raw)[0] < second.at(domains, raw)[0]) == expected


def test_lines_that_differ_by_less_than_their_errors_are_alike():
    steep, flat = line(0.1, 0, 1.1e-9), line(0.1, 0, 1e-9)
    assert where_faster(flat, steep, 1) == ("always", None)
    known = ((0.0,) * 3, (0.0,) * 3, (0.0, 0.0, 1e-20))  # slopes to 1e-10 each
    unsure = [Line(each.start, 0, each.per_byte, known, 0.01) for each in (flat, steep)]
    assert where_faster(*unsure, 1) == ("alike", None)
    late = Line(0.2, 0, 1e-9, known, 0.01)
    assert [where_faster(*pair, 1)[0] for pair in ((unsure[1], late), (late, unsure[1]))] == ["always", "never"]


def test_one_domain_counts_for_both_modes(stored):
    found = {(each["format"], each["mode"]): each for each in fits(sweep_rows())}
    assert found["binary", "file-per-domain"]["domains"] == [1, 2, 4, 8]
    line = found["binary", "file-per-domain"]["seconds"]
    assert line["count"] == len(RAW) and [line[name] for name in NAMES] == pytest.approx([0.001, 0.2, 1e-9])


def test_the_fastest_way_is_advised(stored, capsys):
    stored()
    found = advised(capsys, "--ranks", "4", "--points", "1e6", "--steps", "10")
    assert found["raw_bytes"] == 240_000_000
    assert (found["best"]["format"], found["best"]["mode"]) == ("binary", "server")
    assert found["best"]["seconds"] == pytest.approx(0.25 + 0.2 + 0.004 + 0.24)
    assert found["best"]["bytes"] == pytest.approx(2.4e8)
    assert {each["mode"] for each in found["candidates"]} == {"server", "file-per-domain"}
    (rule,) = [each for each in found["rules"] if each["one"] == "hdf5 zlib:1, server"]
    assert {each["faster"] for each in rule["domains"].values()} == {"never"}
    alone = advised(capsys, "--ranks", "1", "--points", "1e6", "--steps", "10")
    assert {each["mode"] for each in alone["candidates"]} == {"server"}


def test_the_text_says_what_to_write_into_a_model(stored, capsys):
    stored(
        ways={
            ("hdf5", "zlib:1", "file-per-domain"): ((0.1, 0.1, 1e-8), 0.5),
            ("ascii", "none", "server"): ((0.1, 0.1, 1e-6), 6.0),
        }
    )
    assert main(["advise-output", "--ranks", "4", "--points", "1e6", "--steps", "10"]) == 0
    said = capsys.readouterr().out
    assert 'file = { format = "hdf5", codec = "zlib:1", per_domain = true }' in said and "3.15" in said


def test_what_does_not_fit_on_the_disk_is_not_advised(stored):
    stored()
    found = candidates(stored_fits(), 2, 10**6, 10, free=1.3e8)
    assert best(found)[0].format == "hdf5"
    with pytest.raises(ModelError, match="no format fits on the disk: the smallest, hdf5 zlib:1"):
        best(candidates(stored_fits(), 2, 10**6, 10, free=1e6))


def test_of_ways_that_are_as_fast_within_the_errors_the_smaller_one_is_advised():
    entry = {
        "fits": fits(
            sweep_rows(
                {
                    ("binary", "none", "server"): ((0.1, 0.0, 1e-9), 1.0),
                    ("hdf5", "lz4", "server"): ((0.1, 0.0, 1.05e-9), 0.5),
                }
            )
        )
    }
    certain, _ = best(candidates(entry, 1, 10**8, 10))
    for each in entry["fits"]:
        each["seconds"]["scatter"] = 0.1
    uncertain, why = best(candidates(entry, 1, 10**8, 10))
    assert certain.format == "binary" and uncertain.codec == "lz4" and "50 % of its bytes" in why


def test_advice_prefers_filled_fields_and_warns_of_early_ones(stored, capsys):
    compressed = {("hdf5", "zlib:1", "server"): WAYS["hdf5", "zlib:1", "server"]}
    stored("early", compressed)
    found = advised(capsys, "--ranks", "64", "--points", "1e9", "--steps", "1")
    assert found["measured"]["fields"] == "early"
    assert "mostly zeros" in found["warnings"][0] and "64 ranks are extrapolated from up to 8" in found["warnings"][1]
    stored("filled")
    assert advised(capsys, "--ranks", "4", "--points", "1e6", "--steps", "1")["measured"]["fields"] == "filled"


def test_without_a_measurement_the_command_to_make_one_is_named(stored, capsys):
    assert main(["advise-output", "--ranks", "2", "--points", "1e6", "--steps", "10", "--json"]) == 2
    said = capsys.readouterr()
    assert "run `nearfield bench output`" in json.loads(said.out)["error"]
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("given", [["--ranks", "0"], ["--points", "0"], ["--steps", "-1"], ["--points", "many"]])
def test_wrong_numbers_are_refused(given, capsys):
    line = {"--ranks": "2", "--points": "1e6", "--steps": "10"} | dict([given])
    assert main(["advise-output", *(word for pair in line.items() for word in pair)]) == 2
    assert given[0] in capsys.readouterr().err
