"""Tables of what `nearfield probe` measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nearfield.commands.tables import columns
from nearfield.entry.wording import counted
from nearfield.machine.profile import WHERE
from nearfield.measure.probe_gpu import KINDS
from nearfield.measure.probe_stream import LOOPS

BETWEEN = WHERE | {"processes": "between processes that the system may move"}
SECONDS = ("min", "median", "max")
WIDEST = 90  # letters of a placement in a table


def stream_text(found: dict[str, Any]) -> str:
    """STREAM's table a NUMA node, and all together."""
    blocks = [f"STREAM, best of {found['passes']}; {found['rule']}"]
    groups = {"one core": found["core"], **{f"node {each['node']}": each for each in found["nodes"]}}
    if len(found["nodes"]) > 1:
        groups["all"] = found["all"]
    for name, each in groups.items():
        lines = [["function", "best MB/s", "min s", "median s", "max s", "spread"]]
        for loop in LOOPS:
            seconds = each[loop]["seconds"]
            times = (f"{seconds[which]:.6f}" for which in SECONDS)
            rate = f"{1e3 * each[loop]['best_gb_per_second']:.1f}"
            lines.append([loop, rate, *times, f"{100 * seconds['spread']:.1f} %"])
        size = each["array_bytes"] / 1e6
        blocks.append(f"{name}: {each['placement']}; each array {size:.0f} MB\n{columns(lines)}")
    blocks.append(f"triad of all over the sum of the nodes: {100 * found['share_of_sum']:.0f} %")
    return "\n\n".join(blocks)


def scale_text(found: dict[str, Any]) -> str:
    """The triad over numbers of cores, in boards where there are several; then what lies between the nodes."""
    several = found["boards"] > 1
    heads = ["best MB/s", "over 1 core", "min s", "median s", "max s", "placement"]
    lines = [["cores", "NUMA nodes", *(["boards"] if several else []), *heads]]
    for point in found["points"]:
        rate, gain = f"{1e3 * point['best_gb_per_second']:.0f}", f"{point['over_first']:.2f}"
        seconds = (f"{point['seconds'][which]:.6f}" for which in SECONDS)
        boards = [str(point["boards"] or "-")] if several else []
        place = [str(point["cores"]), str(point["numa_nodes"]), *boards, rate, gain, *seconds]
        lines.append([*place, point["placement"] if len(point["placement"]) < WIDEST else "as above, more of them"])
    table = f"triad over cores, best of {found['passes']}; {found['rule']}\n{columns(lines)}"
    return "\n\n".join([table, *([gain_text(found["points"])] if several else []), pairs_text(found["matrix"])])


def gain_text(points: Sequence[dict[str, Any]]) -> str:
    """What all boards give over one and over eight."""
    rates = {point["boards"]: point["best_gb_per_second"] for point in points if point["boards"]}
    most = max(rates)
    gains = (f"{rates[most] / rates[few]:.2f} times {counted(few, 'board')}" for few in (1, 8) if few in rates)
    return f"{counted(most, 'board')}: {rates[most]:.0f} GB/s, {', '.join(gains)}"


def pairs_text(matrix: dict[str, Any]) -> str:
    """Rate and latency between nodes: a line for each latency that pairs have."""
    groups: dict[float, list[float]] = {}
    for times, rates in zip(matrix["latency_ns"], matrix["bandwidth_gb_per_second"]):
        for time, rate in zip(times, rates):
            groups.setdefault(float(f"{time:.3g}"), []).append(rate)
    lines = [["latency ns", "pairs", "read GB/s, least", "most"]]
    for time, rates in sorted(groups.items()):
        lines.append([f"{time:g}", str(len(rates)), f"{min(rates):.3g}", f"{max(rates):.3g}"])
    head = f"nodes of the cores x nodes of the memory: {len(matrix['rows'])} x {len(matrix['columns'])}, medians"
    return f"{head}; all of them with --json\n{columns(lines)}"


def latency_text(found: dict[str, Any]) -> str:
    """Both matrices, median with least and most."""
    blocks, head = [], ["cores of node \\ memory of node", *map(str, found["columns"])]
    how = f"median (least..most) of {found['passes']}, {found['bytes'] / 2**20:.0f} MiB"
    matrices = {"read bandwidth, GB/s": ("bandwidth_gb_per_second", 1), "latency of a load, ns": ("latency_ns", 0)}
    for title, (name, digits) in matrices.items():
        lines = [[str(node), *(cell(each, digits) for each in row)] for node, row in zip(found["rows"], found[name])]
        blocks.append(f"{title}: {how}\n{columns([head, *lines])}")
    return "\n\n".join([*blocks, "\n".join(dict.fromkeys(found["placements"]))])


def cell(spread: dict[str, float], digits: int) -> str:
    """ "21.0 (20.1..21.4)"."""
    return f"{spread['median']:.{digits}f} ({spread['min']:.{digits}f}..{spread['max']:.{digits}f})"


def mpi_text(found: dict[str, Any]) -> str:
    """A table a pair: size, half a round trip, bandwidth one way and both ways; then the fit."""
    blocks = [f"messages through mpi4py over {found['library']}; MB = 10^6 B, a window of {found['window']} messages"]
    for pair in found["pairs"]:
        lines = [["Size", "Latency (us)", "min", "max", "Bandwidth (MB/s)", "Bidirectional (MB/s)"]]
        for row in pair["sizes"]:
            times = (f"{1e6 * row['latency'][name]:.2f}" for name in ("median", "min", "max"))
            rates = (f"{row[name]['median'] / 1e6:.2f}" for name in ("bandwidth", "bidirectional"))
            lines.append([str(row["bytes"]), *times, *rates])
        line = pair["fit"]
        blocks.append(
            f"# {BETWEEN[pair['where']]}: {pair['binding']}\n{columns(lines)}\n"
            f"fit: latency {1e6 * line['latency']:.2f} +- {1e6 * line['latency_error']:.2f} us, "
            f"bandwidth {line['bandwidth'] / 1e6:.0f} +- {line['bandwidth_error'] / 1e6:.0f} MB/s; "
            f"the processor spends {1e9 * line['busy']:.2g} ns a byte"
        )
    return "\n\n".join(blocks + ([matrix_text(found["matrix"])] if found.get("matrix") else []))


def matrix_text(found: dict[str, Any]) -> str:
    """Bandwidth, also in NetPIPE's unit, and latency between all nodes."""
    blocks = []
    for title, kind, scale in (
        (f"bandwidth of messages of {found['bytes']} B, MB/s", "bandwidth", 1e-6),
        ("the same in Mbit/s of 2^20 bit, as NetPIPE counts", "mbit_per_second", 1.0),
        ("latency of one byte, us", "latency", 1e6),
    ):
        rows = [[name, *(matrix_cell(value, scale) for value in row)] for name, row in zip(found["nodes"], found[kind])]
        blocks.append(f"# node x node: {title}\n{columns([['', *found['nodes']], *rows])}")
    return "\n\n".join(blocks)


def matrix_cell(value: float | None, scale: float) -> str:
    """A number, or a dash where a node has one rank alone."""
    return "-" if value is None else f"{scale * value:.4g}"


def update_text(found: dict[str, Any]) -> str:
    """Rates of the update by walls and cores."""
    lines = [["walls", "Mcells/s", "min", "max", "placement"]]
    for boundary, each in found["boundaries"].items():
        for unit in (each["core"], each["numa"]):
            rates = (f"{unit['mcells_per_second'][which]:.0f}" for which in ("median", "min", "max"))
            lines.append([boundary.upper(), *rates, f"{unit['placement']}, {unit['isa']}"])
    head = f"update of a box of {found['cells']}^3 cells, {found['precision']} precision"
    return f"{head}, median of {found['passes']} runs of {found['steps']} steps\n{columns(lines)}"


def card_text(found: dict[str, Any]) -> str:
    """Times of copies over sizes, their lines, and rates of the update."""
    kinds = list(found["copies"])
    lines = [["Mpoint", *(f"{KINDS[kind]}, us" for kind in kinds)]]
    for number, row in enumerate(found["copies"][kinds[0]]["sizes"]):
        times = (found["copies"][kind]["sizes"][number]["seconds"]["median"] for kind in kinds)
        lines.append([f"{row['points'] / 1e6:g}", *(f"{1e6 * time:.1f}" for time in times)])
    blocks = [
        f"{found['name']} ({found['card_memory'] / 2**30:.4g} GiB), driver for CUDA {found['driver']}; "
        f"4 bytes a point, pinned memory, median of {found['passes']}\n{columns(lines)}"
    ]
    for kind in kinds:
        line = found["copies"][kind]["fit"]
        blocks.append(
            f"{KINDS[kind]}: latency {1e6 * line['latency']:.2f} +- {1e6 * line['latency_error']:.2f} us, "
            f"bandwidth {line['bandwidth'] / 1e9:.2f} +- {line['bandwidth_error'] / 1e9:.2f} GB/s"
        )
    rate = found["memory_bytes_per_second"]
    best = f"{rate['median'] / 1e9:.0f} ({rate['min'] / 1e9:.0f}..{rate['max'] / 1e9:.0f})"
    blocks.append(f"memory: {best} GB/s, read and written by long copies")
    update = found["update"]
    for boundary, rate in update["mcells_per_second"].items():
        blocks.append(
            f"update, {boundary.upper()}, {update['cells']}^3, {update['precision']}: {rate['median']:.0f} "
            f"({rate['min']:.0f}..{rate['max']:.0f}) Mcells/s"
        )
    return "\n".join(blocks)


TEXTS: dict[str, Callable[[dict[str, Any]], str]] = {"stream": stream_text, "scale": scale_text}
TEXTS |= {"latency": latency_text, "mpi": mpi_text, "fdtd": update_text, "gpu": card_text}


def readable(answer: dict[str, Any]) -> str:
    """A block of lines a part."""
    made = "numbers follow from its description" if answer["sources"] else "made-up numbers"
    simulated = f"  SIMULATED: {made}, nothing was measured" if answer["simulated"] else ""
    nodes = counted(answer["numa_nodes"], "NUMA node")
    text = [f"machine: {answer['machine']}, {answer['cores']} cores, {nodes}{simulated}"]
    text += [write(answer[part]) for part, write in TEXTS.items() if part in answer]
    if answer["sources"]:
        text.append("\n".join(f"{name}: {how}" for name, how in answer["sources"].items()))
    if "not_kept" in answer:
        text.append(f"this machine's profile is {answer['not_kept']}")
    elif "profile" in answer:
        text.append("kept as this machine's profile, for check, place and predict")
    return "\n\n".join(text)
