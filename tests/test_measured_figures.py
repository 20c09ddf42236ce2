"""Figures in the documents are those of benchmarks/results: the same numbers, commands and pairs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PERFORMANCE, OUTPUT, README, PARALLEL = "docs/performance.md", "docs/output.md", "README.md", "docs/parallel.md"
CLUSTER = "docs/cluster.md"
EIGHT = "{:.2f} ms | {:.0f} Gcells/s | {:.2f}"
HALF_UP = 1 + 1e-12  # 150.5 is 151, not the even 150
PAIRS = 5  # at least, unless the page gives their number beside the command
RUN_OTHERWISE = {"cluster.json"}  # by `make cluster`, which gives the script its folder
NO_PAIRS = {"gpu.json", "gpu-first.json", "gpu_peers.json", "lost_ranks.json", "numa_guest.json", "rank_memory.json"}
NO_PAIRS |= {"lost_ranks-openmpi.json", "lost_ranks-openmpi-one-host.json", "predicted_clusters.json"}
NO_PAIRS |= {"right-answers.json", "ring.json", "two_nodes.json"}

Values = Callable[[Any], tuple[float, ...]]


def compared(number: int) -> Values:
    """Ratio of a comparison with a peer, its spread, and both rates."""

    def values(found: Any) -> tuple[float, ...]:
        row = found["comparisons"][number]
        rates = (row["nearfield_mcells_per_second"], row["peer_mcells_per_second"])
        return row["median_ratio"], row["lowest_ratio"], row["highest_ratio"], *map(median, rates)

    return values


def paired(*way: Any) -> Values:
    """Ratio and spread of a comparison of two runs."""

    def values(found: Any) -> tuple[float, ...]:
        for step in way:
            found = found[step]
        return found["ratio"], found["lowest"], found["highest"]

    return values


def of_case(name: str, entry: str = "share_of_vacuum") -> Callable[[Any], float]:
    """An entry of a case of `bench features`."""
    return lambda found: next(row[entry] for row in found["cases"] if row["name"] == name)


def lost(name: str) -> Callable[[Any], float]:
    """Per cent of the empty box's rate that a plane of Fourier sums costs."""
    return lambda found: 100 * (1 - next(row["share_of_vacuum"] for row in found["comparisons"] if row["name"] == name))


def sizes(*wanted: int) -> Values:
    """Costs of a cell over that at 200^3."""
    return lambda found: tuple(
        next(row["cost_over_reference"] for row in found["sizes"] if row["size"] == size) for size in wanted
    )


def together(*each: Callable[[Any], float]) -> Values:
    """Several single values."""
    return lambda found: tuple(one(found) for one in each)


def residence(found: Any) -> tuple[float, ...]:
    """The columns of the table of boxes that fit one level of caches after the other."""
    names = ("tiled_mcells_per_second", "stepwise_mcells_per_second", "ratio")
    return tuple(row[name] for row in found["boxes"] for name in names)


def predicted(cluster: str, scaling: str, nodes: int, precision: str = "single") -> dict[str, Any]:
    """A prediction of `predicted_clusters.json`."""
    rows = stored("predicted_clusters.json")["predicted"][cluster]
    return next(row for row in rows if (row["scaling"], row["nodes"], row["precision"]) == (scaling, nodes, precision))


def eight_cards(cluster: str, nodes: int, precision: str = "single") -> Values:
    """Step (ms), Gcells/s and the share of their own rate that eight cards keep."""

    def values(found: Any) -> tuple[float, ...]:
        row = predicted(cluster, "weak", nodes, precision)
        return 1e3 * row["step"], row["mcells_per_second"] / 1e3, row["efficiency"]

    return values


def of_ranks(ranks: int) -> Values:
    """Bytes a cell and over the share, of the plain and the rich model on so many ranks."""

    def values(found: Any) -> tuple[float, ...]:
        rows = [row for row in found["rows"] if row["ranks"] == ranks and max(row["own"]) < 300]
        by_model = sorted(rows, key=lambda row: row["model"])
        return tuple(row[name] for row in by_model for name in ("setup_bytes_per_cell", "setup_over_share"))

    return values


def of_equation_9(method: str) -> Values:
    """The smallest and the largest share of Eq. (9) on two and three nodes, of points from 1.1 R0 on."""

    def values(found: Any) -> tuple[float, ...]:
        rows = [row for row in (*found["fig5"], *found["fig6"]) if row["nodes"] in (2, 3)]
        shares = [row[method]["of_equation_9"] for row in rows if "of_equation_9" in row[method]]
        return min(shares), max(shares)

    return values


SPREAD = ("efficiency", "lowest", "highest")


def of_clocked(found: Any, cells: int, how: str) -> dict[str, Any]:
    """What ranks did with halos of one layer over links that are clocks."""
    row: dict[str, Any] = next(row for row in found["comparisons"] if row["cells"] == cells)["kinds"]
    return row[f"one layer, {how}"]


def clocked(cells: int, how: str, names: tuple[str, ...]) -> Values:
    """Entries of that."""
    return lambda found: tuple(of_clocked(found, cells, how)[name] for name in names)


def of_card(case: str) -> Values:
    """Thousand Mcells/s of a case of a visit to a card."""
    return lambda found: (next(row for row in found["rates"] if row["case"] == case)["mcells_per_second"] / 1e3,)


def lost_to_copies(found: Any) -> tuple[float, ...]:
    """Per cent of their own rate that eight cards of one node lose."""
    return (100 * (1 - predicted("eight-cards, fat-tree", "weak", 1)["efficiency"]),)


def unequal(cut: str) -> Values:
    """Rate over that of an ideal split, and its spread."""
    return lambda found: tuple(found[cut][name] for name in ("of_ideal", "lowest", "highest"))


def slowest_end(found: Any) -> tuple[float, ...]:
    """Seconds to the end of the slowest run, of each kind of trial."""
    return tuple(found[how]["longest_seconds"] for how in ("killed", "stopped", "cut off"))


def of_the_largest(found: Any) -> tuple[float, ...]:
    """Bytes a cell and over the share of one rank of 10^9 cells, and its peak (GB)."""
    row = next(row for row in found["rows"] if max(row["own"]) >= 300)
    return row["setup_bytes_per_cell"], row["setup_over_share"], max(row["peak_bytes"].values()) / 1e9


CLAIMS: list[tuple[str, str, str, Values]] = [  # page, its words with places for numbers, result, the numbers
    (
        PERFORMANCE,
        "3.7 x (4.5) | {:.2f} ({:.2f} to {:.2f}): {:.0f} against {:.0f} Mcells/s",
        "peers-openems",
        compared(0),
    ),
    (PERFORMANCE, "6 x (9) | {:.2f} ({:.2f} to {:.2f}): {:.0f} against {:.0f}", "peers-openems", compared(1)),
    (PERFORMANCE, "4 x (6) | {:.2f} ({:.2f} to {:.2f}): {:.0f} against {:.0f}", "peers-openems-patch", compared(0)),
    (PERFORMANCE, "PEC {:.2f} ({:.2f} to {:.2f}), CPML", "peers-meep", lambda found: compared(0)(found)[:3]),
    (PERFORMANCE, "CPML {:.2f} ({:.2f} to {:.2f}) |", "peers-meep", lambda found: compared(1)(found)[:3]),
    (
        PERFORMANCE,
        "{:.1f} (triad {:.1f} GB/s)",
        "features",
        together(of_case("vacuum", "roofline_multiple"), lambda found: found["triad_gb_per_second"]),
    ),
    (
        PERFORMANCE,
        "in a slower hour {:.1f} ({:.1f} GB/s)",
        "media-and-waves",
        together(of_case("vacuum", "roofline_multiple"), lambda found: found["triad_gb_per_second"]),
    ),
    (PERFORMANCE, "PEC {:.2f} ({:.2f} to {:.2f}), CPML **missed**", "scaling", paired("comparisons", 0)),
    (PERFORMANCE, "**missed**: {:.2f} ({:.2f} to {:.2f}) |", "scaling", paired("comparisons", 1)),
    (
        PERFORMANCE,
        "64^3 {:.2f}, 65^3 {:.2f}, 320^3 {:.2f}, 400^3 {:.2f}, 512^3 {:.2f}, 640^3 {:.2f}, 700^3 {:.2f}",
        "sizes",
        sizes(64, 65, 320, 400, 512, 640, 700),
    ),
    (PERFORMANCE, "slowest over fastest {:.2f}", "sizes", together(lambda found: found["slowest_over_fastest"])),
    (
        PERFORMANCE,
        "within {:.0f} % of 200^3 from 96^3 to 257^3",
        "sizes",
        lambda found: (
            max(100 * abs(row["cost_over_reference"] - 1) for row in found["sizes"] if 96 <= row["size"] <= 257),
        ),
    ),
    (
        PERFORMANCE,
        "E alone {:.1f} % along the rows, {:.1f} % across; six components (nine sheets of samples) {:.1f} %, across "
        "the rows **missed**: {:.1f} %",
        "dft_plane",
        together(
            *(
                lost(f"{where}, {what}")
                for what in ("E alone", "six components")
                for where in ("along the rows", "across the rows")
            )
        ),
    ),
    (PERFORMANCE, "0.95 | {:.2f} ({:.2f} to {:.2f})", "denormals", paired()),
    (PERFORMANCE, "0.4 (0.5) | {:.2f} ({:.2f} to {:.2f})", "busy_neighbour", paired()),
    (PERFORMANCE, "Periodic faces on all axes keep {:.2f}", "media-and-waves", together(of_case("periodic faces"))),
    (PERFORMANCE, "Bloch faces keep {:.2f}", "media-and-waves", together(of_case("Bloch faces"))),
    (
        PERFORMANCE,
        "Two Debye poles in a tenth keep {:.2f}, a plane wave along the rows {:.2f}, across them {:.2f}, at an angle "
        "{:.2f}",
        "media-and-waves",
        together(
            of_case("two Debye poles in a tenth"),
            *(of_case(f"plane wave {way}") for way in ("along rows", "across rows", "at an angle")),
        ),
    ),
    (
        PERFORMANCE,
        "metal sphere keeps {:.2f} in staircases and {:.2f} where it is cut, a dielectric one {:.2f}",
        "media-and-waves",
        together(of_case("metal sphere, staircase"), of_case("metal sphere, conformal"), of_case("dielectric sphere")),
    ),
    (OUTPUT, "6000 steps | {:.2f} ({:.2f} to {:.2f}) |", "streaming", paired("comparisons", 0, "steps_ratio")),
    (OUTPUT, ") | {:.2f} ({:.2f} to {:.2f}) | | one core", "streaming", paired("comparisons", 0, "whole_ratio")),
    (OUTPUT, "1000 steps | {:.2f} ({:.2f} to {:.2f}) |", "streaming", paired("comparisons", 1, "steps_ratio")),
    (OUTPUT, ") | {:.2f} ({:.2f} to {:.2f}) | The first", "streaming", paired("comparisons", 1, "whole_ratio")),
    (
        OUTPUT,
        "{:.1f} times its rate ({:.1f} to {:.1f})",
        "peers-dumps",
        lambda found: tuple(found["nearfield_over_openems"][name] for name in ("median", "lowest", "highest")),
    ),
    (
        OUTPUT,
        "it keeps {:.2f} ({:.2f} to {:.2f}), openEMS {:.2f} ({:.2f} to {:.2f})",
        "peers-dumps",
        lambda found: tuple(
            found[f"{name}_kept"][part] for name in ("nearfield", "openems") for part in ("median", "lowest", "highest")
        ),
    ),
    (README, "**{:.1f} times** its rate with PEC walls", "peers-openems", lambda found: compared(0)(found)[:1]),
    (README, "({:.0f} against {:.0f} million", "peers-openems", lambda found: compared(0)(found)[3:]),
    (README, "**{:.1f} times** with CPML", "peers-openems", lambda found: compared(1)(found)[:1]),
    (README, "its cells **{:.1f} times**", "peers-openems-patch", lambda found: compared(0)(found)[:1]),
    (README, "512^3 makes {:.1f} thousand million", "gpu", of_card("PEC 512^3 two steps a pass")),
    (README, "{:.1f} with CPML, with the same bits", "gpu", of_card("CPML 512^3")),
    (CLUSTER, f"one node, single precision | {EIGHT}", "predicted_clusters", eight_cards("eight-cards, fat-tree", 1)),
    (CLUSTER, f"double precision | {EIGHT}", "predicted_clusters", eight_cards("eight-cards, fat-tree", 1, "double")),
    (CLUSTER, f"each, single | {EIGHT}", "predicted_clusters", eight_cards("one-card, fat-tree", 8)),
    (CLUSTER, "Halos pass through the host: {:.0f} %", "predicted_clusters", lost_to_copies),
    (CLUSTER, "`split` reaches {:.3f} to {:.3f} of that", "overlap", of_equation_9("split")),
    (CLUSTER, "`host-buffer` reaches {:.3f} to {:.3f}:", "overlap", of_equation_9("host-buffer")),
    (PARALLEL, "keeps {:.2f} ({:.2f} to {:.2f}) at 256^3 and", "clocked_links", clocked(256, "split", SPREAD)),
    (PARALLEL, "256^3 and {:.2f} at 128^3", "clocked_links", clocked(128, "split", SPREAD[:1])),
    (PARALLEL, "at 128^3, {:.2f} with nothing hidden", "clocked_links", clocked(256, "not hidden", SPREAD[:1])),
    (
        PARALLEL,
        "computed for {:.2f} of their time, packed for {:.2f} and waited for {:.2f};",
        "clocked_links",
        lambda found: tuple(of_clocked(found, 256, "split")["parts"][part] for part in ("compute", "pack", "wait")),
    ),
    (CLUSTER, "the run had {:.2f} ({:.2f} to {:.2f}) of", "unequal_nodes", unequal("measured")),
    (CLUSTER, "ideal split, {:.2f} with", "unequal_nodes", lambda found: unequal("even")(found)[:1]),
    (PARALLEL, "killed ranks within {:.1f} s, stopped {:.1f} s, cut off {:.1f} s", "lost_ranks-openmpi", slowest_end),
    (
        PARALLEL,
        "MPICH left up to {:.1f} MB in /dev/shm",
        "lost_ranks",
        lambda found: (max(found[how]["shared_bytes_left"] for how in ("killed", "stopped", "cut off")) / 1e6,),
    ),
    *(
        (CLUSTER, f"| {ranks} | {{:.1f}}, {{:.2f}} | {{:.1f}}, {{:.2f}} |", "rank_memory", of_ranks(ranks))
        for ranks in (1, 2, 4, 8)
    ),
    (CLUSTER, "{:.1f} bytes a cell, {:.2f} of its share, {:.2f} GB with", "rank_memory", of_the_largest),
]


def stored(name: str) -> Any:
    """A result."""
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def page(name: str) -> str:
    """The words of a page, on one line."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    "name, words, result, values", CLAIMS, ids=[f"{claim[2]}: {claim[1][:40]}" for claim in CLAIMS]
)
def test_a_figure_on_a_page_is_the_one_that_was_measured(name, words, result, values):
    stated = words.format(*(value * HALF_UP for value in values(stored(f"{result}.json"))))
    assert stated in page(name), f"{name} does not say {stated!r}, which {result}.json holds"


def test_the_table_of_cache_levels_has_the_measured_rows():
    found = stored("residence.json")
    for row in found["boxes"]:
        sides = " x ".join(map(str, row["shape"]))
        numbers = "{:.0f} | {:.0f} | ".format(row["tiled_mcells_per_second"], row["stepwise_mcells_per_second"])
        line = next(line for line in (ROOT / PERFORMANCE).read_text().splitlines() if line.startswith(f"| {sides} |"))
        assert numbers in line and line.endswith(f"| {row['ratio']:.2f} |")
    assert f"| {found['triad_gb_per_second']:.1f} | |" in page(PERFORMANCE)


def test_the_table_of_predicted_clusters_has_the_predicted_rows():
    names = {"eight H200 cards": "eight-cards", "one H200 card": "one-card", "two CPUs of 32 cores": "two-cpus"}
    lines = [line.strip("| ").split(" | ") for line in (ROOT / CLUSTER).read_text().splitlines()]
    table = [cells for cells in lines if cells[0] in names and cells[1] in ("weak", "strong")]
    for node, scaling, nodes, *shares in table:
        for kind, share in zip(("fat-tree", "torus", "dragonfly"), shares):
            row = predicted(f"{names[node]}, {kind}", scaling, int(nodes))
            assert share == f"{row['efficiency']:.2f} ({row['unhidden_efficiency']:.2f})"
    assert len(table) == 29


CASES_OF_CARDS = [  # of gpu.json, as docs/gpu.md has them one after the other
    *(f"PEC 512^3{how}" for how in ("", " one pass", " two steps a pass")),
    *(f"CPML 512^3{how}" for how in ("", " one pass", " two steps a pass")),
    *(f"PEC 256^3{how}" for how in ("", " two steps a pass")),
    *(f"PEC {side}^3" for side in (128, 64, 32)),
    *(f"PEC 512^3 double{how}" for how in ("", " two steps a pass")),
    *(f"PEC 512^3 {what}{how}" for what in ("DFT plane", "snapshots") for how in ("", " two steps a pass")),
]


def test_the_table_of_cards_has_the_measured_rates():
    now, first = ({row["case"]: row for row in stored(name)["rates"]} for name in ("gpu.json", "gpu-first.json"))
    lines = [line.strip("|").split("|") for line in (ROOT / "docs/gpu.md").read_text().splitlines()]
    table = [[cell.strip() for cell in cells] for cells in lines if len(cells) == 5 and "^3" in cells[0]]
    by_name = {cells[0]: cells[1:] for cells in table}
    for name in CASES_OF_CARDS:
        thousands = [f"{row[name]['mcells_per_second'] / 1e3:.1f}" if name in row else "" for row in (first, now)]
        guess = first.get(name, {}).get("predicted")
        assert by_name[name][:3] == [f"{guess / 1e3:.0f}" if guess else "", *thousands], name


def rows() -> list[tuple[str, str]]:
    """Command and result of each row of the table of benchmarks."""
    found, command = [], ""
    for line in (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 5 or not line.startswith("|"):
            continue
        given = re.match(r"`([^`]*(?:\.py|nearfield )[^`]*)`", cells[3])
        command = given[1] if given else command if cells[3].startswith("the same") else ""
        file = re.search(r"`([\w-]+\.json)`", cells[4])
        if command and file and (RESULTS / file[1]).exists() and file[1] not in RUN_OTHERWISE:
            found.append((command, file[1]))
    return found


@pytest.mark.parametrize("command, result", rows())
def test_a_command_in_the_table_is_the_one_that_was_run(command, result):
    found = stored(result)
    assert found["command"].removeprefix(".venv/bin/") == command.removeprefix(".venv/bin/")
    pairs = found.get("pairs", found.get("rounds"))
    if result not in NO_PAIRS:
        assert (
            pairs >= PAIRS or f"--pairs {pairs}" in command or f"--rounds {pairs}" in command or result == "output.json"
        )


def test_the_table_of_benchmarks_names_most_results():
    assert len({result for _, result in rows()}) >= 15
