"""Streams between rings and devices: four, to the devices in turn, from host to device and back.

Aligned: ring and both processes are on the device's NUMA node. Opposed: on another. Random: on nodes drawn by a seed.
"""

from __future__ import annotations

import os
import random

from nearfield.engines.cuda.device import VARIABLE, device, usable_card
from nearfield.engines.cuda.driver import Card
from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import this_machine
from nearfield.measure.ring_bench_team import Case, DeviceEnd, Stream

STREAMS = 4  # as in the tests of PSRDADA's users
SEED = 1  # of the random places
WAYS = {"reader": "Host to device", "writer": "Device to host"}


def to_devices() -> list[Case]:
    """The cases of the suite `gpu`. Error: there is no device, or the system does not say where a card is."""
    nodes = [node.os_index for node in this_machine().numa if node.cores]
    found = devices(nodes)
    ends = [found[n % len(found)] for n in range(STREAMS)]
    drawn = random.Random(SEED)
    places = {
        "aligned": [node for _, _, node in ends],
        "opposed": [nodes[(nodes.index(node) + 1) % len(nodes)] for _, _, node in ends],
        f"random, seed {SEED}": [drawn.choice(nodes) for _ in ends],
    }
    if len(nodes) == 1:
        del places["opposed"]  # there is no other node
    return [
        Case(
            f"{way}, {how}",
            tuple(Stream("ABCD"[n], at, at, at, DeviceEnd(role, *end)) for n, (end, at) in enumerate(zip(ends, where))),
        )
        for role, way in WAYS.items()
        for how, where in places.items()
    ]


def devices(nodes: list[int]) -> list[tuple[int, str, int]]:
    """Number, name and NUMA node of each card; the make-believe device lies on every node, where its memory is put."""
    if os.environ.get(VARIABLE):
        return [(0, device().name, node) for node in nodes]
    try:
        found = usable_card()
    except ModelError as error:
        instead = f"set {VARIABLE}=host for the make-believe device, or use --suite single or dual, between processes"
        raise ModelError(f"suite=gpu: it needs a card: {error}; {instead}") from None
    return [(card.number, card.name, node_of_card(card, nodes)) for card in found.driver.cards]


def node_of_card(card: Card, nodes: list[int]) -> int:
    """The NUMA node of a card; that of all where there is one. Error: the system does not say."""
    if len(nodes) == 1:
        return nodes[0]
    if card.node not in nodes:
        raise ModelError(
            f"suite=gpu: the system names no NUMA node with cores for {card} (numa_node of {card.bus} under "
            "/sys/bus/pci/devices), so that no place is aligned with it; use --suite single or dual"
        )
    return card.node
