"""Halo exchange hidden behind computation on a chain of nodes: Eqs. (1) to (10) of Kim and Park (docs/literature.md).

Each node updates its main grid on a device (points per second G) and exchanges one plane of A points at both faces with
its neighbours: copies between device and host, messages between hosts. Equations are numbered as in the paper:

    (1)  t_copy    = 4 (2 b A / B_copy + L_copy)                  2 components; 2 faces, each to the host and back
    (2)  t_message = 4 (2 b A / B_message + L_message)            2 faces, each sent and received
    (3)  t_compute = t_copy + V / G                               V points of the node's main grid
    (4)  t_exchange = t_message + t_copy + A / G                  split: kernels of the boundary run first
                    = t_message + q A / C                         host buffer of q A points, C points/s of the host
    (5)  hidden where t_compute >= t_exchange
    (6)  R0 = 1 + G t_message / A                                 split
            = G (q / C + (t_message - t_copy) / A)                host buffer
    (7)  rate = P V / max(t_compute, t_exchange)                  P nodes
    (8)  R = V / A
    (9)  rate = P / (1 / G + t_copy / (R A))                      R >= R0
    (10) rate = P R / (1 / G + (t_message + t_copy) / A)          R < R0, split
              = P R / (q / C + t_message / A)                     R < R0, host buffer

Beyond the paper: every kernel launch costs `launch_latency`, and a split update launches twice as many, half of them
before the exchange; the "strict" host buffer starts its copies only after kernels and messages have ended,

    t = max(V / G, t_message + q A / C) + t_copy,    R0 = G (q / C + t_message / A);

and what is not hidden, with messages of all nodes at once ("none") or of one pair of nodes at a time ("blocking"):

    none            t = V / G + t_copy + t_message
    blocking_ring   t = V / G + t_copy + max(1, P / 2) t_message
    blocking_chain  t = V / G + t_copy + (P - 1) t_message / 2
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from nearfield.entry.schema import Schema
from nearfield.entry.triples import Triple
from nearfield.machine.described import described
from nearfield.machine.profile import Gpu, Link, Positive, Profile

SHIPPED = {"s4": Path(__file__).with_name("kim_park.json")}  # names that stand for a file of the package
COMPONENTS = 2  # tangential components of a plane that a neighbour needs
TRANSFERS = 4  # of a step: two faces, each way
HIDING = ("split", "host_buffer", "host_buffer_strict")
METHODS = (*HIDING, "none", "blocking_ring", "blocking_chain")
SWEEP = (0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 4.0)  # grids to show, in units of the largest threshold
LEAST_NETWORK = 1e-3  # of a message's time a byte that is not the processor's, where a probe found all of it to be
MEASURED = "`nearfield probe gpu` measures a card"

Count = Annotated[int, Field(ge=1)]


class OverlapNode(Schema):
    """What the model of hidden exchange knows of a node and its grid; rates in points/s, SI."""

    device: Positive
    "Points/s of the update of the main grid, G."
    host: Positive
    "Points/s of the host buffer's update, C."
    message: Link
    "Messages between hosts; the bandwidth is that of one of the four transfers while the others go on."
    cells: tuple[Count, Count, Count]
    "Main grid of a node; planes across the first axis are exchanged."
    format: Literal["nearfield overlap"] = "nearfield overlap"
    version: Literal[1] = 1
    name: str = "unnamed"
    beside: Positive | None = None
    "Points/s of the main grid while the host updates its buffer; left out, `device`."
    transfer: Link | None = None
    "Copies between device and host, packing included; left out, there are none."
    number_bytes: Literal[4, 8] = 4
    buffer_layers: Positive = 2
    "Points of the host buffer over those of a plane, q."
    launch_latency: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    "s a kernel launch."
    launches: int = Field(default=2, ge=1)
    "Kernels of a step that is not split."
    nodes: int = Field(default=6, ge=1)
    "The largest number of nodes to show."
    ratios: tuple[Positive, ...] = ()
    "Values of R to show; left out, around the threshold."
    sources: dict[str, str] = Field(default_factory=dict)
    "How the numbers are known."

    @property
    def plane(self) -> int:
        """Points of the exchanged plane, A."""
        return self.cells[1] * self.cells[2]

    @property
    def ratio(self) -> float:
        """Points of the main grid over those of the plane, R, Eq. (8)."""
        return float(self.cells[0])

    @property
    def copying(self) -> float:
        """Seconds of the copies of a step, Eq. (1)."""
        return 0.0 if self.transfer is None else self._transfers(self.transfer)

    @property
    def messaging(self) -> float:
        """Seconds of the messages of a step, Eq. (2)."""
        return self._transfers(self.message)

    def _transfers(self, link: Link) -> float:
        return link.seconds(TRANSFERS * COMPONENTS * self.number_bytes * self.plane, TRANSFERS)

    def throughput(self, method: str) -> float:
        """Points/s of the main grid while a method exchanges."""
        return self.beside or self.device if method.startswith("host_buffer") else self.device

    def launching(self, method: str) -> float:
        """Seconds of all kernel launches of a step; a split update launches each kernel twice."""
        return self.launch_latency * self.launches * (2 if method == "split" else 1)

    def computing(self, method: str, ratio: float) -> float:
        """Seconds of the update and the copies of a step, Eq. (3)."""
        return self.copying + ratio * self.plane / self.throughput(method) + self.launching(method)

    def exchanging(self, method: str) -> float:
        """Seconds from the start of a step to the end of its exchange, Eq. (4); `method` is one that hides it.

        Strict waits of the host buffer add the copies, which follow the messages.
        """
        if method == "split":
            return self.messaging + self.copying + self.plane / self.device + self.launching(method) / 2
        buffer = self.messaging + self.buffer_layers * self.plane / self.host
        return buffer + (self.copying if method == "host_buffer_strict" else 0.0)

    def threshold(self, method: str) -> float:
        """The R from which on a method hides the exchange, Eqs. (5) and (6); 0 where it always does."""
        fixed = self.computing(method, 0.0)
        return max(0.0, (self.exchanging(method) - fixed) * self.throughput(method) / self.plane)

    def step(self, method: str, ratio: float, nodes: int = 1) -> float:
        """Seconds of a step with R = `ratio` on every one of so many nodes."""
        computing = self.computing(method, ratio)
        if method in HIDING:
            return max(computing, self.exchanging(method))
        pairs = {"none": 1.0, "blocking_ring": max(1.0, nodes / 2), "blocking_chain": (nodes - 1) / 2}
        return computing + pairs[method] * self.messaging

    def rate(self, method: str, ratio: float, nodes: int = 1) -> float:
        """Points/s of all nodes together, Eq. (7), which is Eqs. (9) and (10) above and below the threshold."""
        return nodes * ratio * self.plane / self.step(method, ratio, nodes)

    def shown_ratios(self) -> tuple[float, ...]:
        """Values of R to show: those of the file, else around the largest threshold and the node's own."""
        if self.ratios:
            return self.ratios
        centre = max(1.0, *(self.threshold(method) for method in HIDING))
        return tuple(sorted({self.ratio, *(float(max(1, round(part * centre))) for part in SWEEP)}))


def overlap(node: OverlapNode) -> dict[str, Any]:
    """Thresholds, efficiency and two sweeps of a cluster of such nodes: rates in Mpoint/s.

    - `r0`: the ratio R from which on each method hides the exchange
    - `efficiency`: share of the devices' rate that remains with a split update of the node's own grid
    - `fig5`: one node over R, as Fig. 5 of the paper
    - `fig6`: 1 to `node.nodes` nodes, each with the node's own grid, as Fig. 6; `limit` is that of the devices alone
    """

    def rates(methods: tuple[str, ...], ratio: float, nodes: int = 1) -> dict[str, float]:
        return {method: node.rate(method, ratio, nodes) / 1e6 for method in methods}

    one_node = METHODS[: METHODS.index("none") + 1]
    return {
        "r0": {method: node.threshold(method) for method in HIDING},
        "efficiency": node.rate("split", node.ratio) / node.device,
        "fig5": [{"r": ratio, **rates(one_node, ratio)} for ratio in node.shown_ratios()],
        "fig6": [
            {"nodes": count, "limit": count * node.device / 1e6, **rates(METHODS, node.ratio, count)}
            for count in range(1, node.nodes + 1)
        ],
    }


def load_node(given: str) -> OverlapNode:
    """The node of a file, or the one that the package has under this name.

    Error: no such file or name, no JSON, or anything else in it than `OverlapNode` has.
    """
    return described(OverlapNode, given, SHIPPED, "--tables", f". {MEASURED}")


def probed_node(profile: Profile, cells: Triple) -> tuple[OverlapNode, list[str]]:
    """A node of a probed machine, and what was assumed: its card, where the profile has one, else CPU cores as a rank.

    A face is sent while one comes, so that four transfers take two times a message. The processor's own part of them
    (`busy`), which nothing hides, stands for the copies. A host buffer takes a core for itself.
    """
    rates, link = profile.rates(), profile.link("hosts")
    if profile.gpu and "pec" in profile.gpu.update:
        return card_node(profile, profile.gpu, cells), list(profile.assumptions())
    alone = rates.cores == 1
    network = max(1 / link.bandwidth - link.busy, LEAST_NETWORK / link.bandwidth)
    node = OverlapNode(
        name=f"ranks of CPU cores, a NUMA node each; profile: {profile.name}",
        device=1e6 * rates.numa,
        host=1e6 * (rates.core / 2 if alone else rates.core),
        beside=1e6 * (rates.numa / 2 if alone else rates.of(rates.cores - 1)),
        transfer=Link(latency=0.0, bandwidth=2 / link.busy) if link.busy > 0 else None,
        message=Link(latency=link.latency / 2, bandwidth=2 / network),
        cells=cells,
    )
    buffer = "half the time of the only core" if alone else f"one of the {rates.cores} cores"
    said = [f"no card: this profile has none; {MEASURED}, and --tables FILE gives one"]
    return node, [*said, f"a host buffer takes {buffer}", *profile.assumptions()]


def card_node(profile: Profile, card: Gpu, cells: Triple) -> OverlapNode:
    """A node with a probed card: half the copies of Eq. (1) go each way; a NUMA node updates a host buffer."""
    link, ways = profile.link("hosts"), (card.to_card, card.to_host)
    return OverlapNode(
        name=f"{card.name}, one a node; profile: {profile.name}",
        device=1e6 * card.update["pec"],
        host=1e6 * profile.rates().numa,
        transfer=Link(
            latency=sum(way.latency for way in ways) / 2, bandwidth=2 / sum(1 / way.bandwidth for way in ways)
        ),
        message=Link(latency=link.latency / 2, bandwidth=2 * link.bandwidth),
        cells=cells,
    )
