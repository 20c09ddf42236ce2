"""Field files of a run before it begins: which monitors have them, what they hold, their size and that of rings."""

from __future__ import annotations

import math
import shutil
from typing import cast

from nearfield.discretization.discretization import Discretization, Feature
from nearfield.formats.description import FieldDescription
from nearfield.formats.sizes import PredictedSize, predicted_size
from nearfield.lowering.context import Context
from nearfield.machine.group_memory import free_memory
from nearfield.plan.recorders import SnapshotBox
from nearfield.plan.sizes import BYTES_OF
from nearfield.records.records import PARTS
from nearfield.records.regions import Region
from nearfield.stream.names import folder as shared_memory

RING_BYTES = 640 << 20  # bytes of a monitor's rings on a host, if its snapshots are small: three of 200^3 cells
RING_SHARE = 1 / 8  # at most, of the room that is left for shared memory
LEAST_BLOCKS, MOST_BLOCKS = 2, 64  # snapshots in a ring: one is recorded while another is written


def features_with_files(setup: Discretization) -> dict[str, Feature]:
    """The monitors that have files of their own."""
    return {name: each for name, each in setup.lowered[2].items() if getattr(each.item, "file", None)}


def stored_features(setup: Discretization) -> dict[str, Feature]:
    """Those whose files hold the fields themselves, and not what another process finds in them."""
    return {name: each for name, each in features_with_files(setup).items() if not hasattr(each.item, "_analysis")}


def stored_regions(feature: Feature, context: Context) -> dict[str, Region]:
    """Stored regions of a monitor: of complex fields all real parts, then all imaginary ones, as recorders come."""
    found = feature.item._regions(context)
    parts = PARTS if feature.complex_fields else ("",)
    return {name + part: region for part in parts for name, region in found.items()}


def description_of(setup: Discretization, feature: Feature) -> FieldDescription:
    """The description of a monitor's file."""
    item, context = feature.item, setup.context
    return item.file.description(
        context.grid,
        stored_regions(feature, context),
        item._positions(context),
        len(item._steps(context)),
        context.precision,
        " ".join(filter(None, (setup.simulation.title, item.name))),
    )


def file_sizes(setup: Discretization) -> list[PredictedSize]:
    """The size of every file of a run."""
    found = [predicted_size(description_of(setup, feature)) for feature in stored_features(setup).values()]
    return found * len(setup.excitations)


def ring_bytes(setup: Discretization) -> int:
    """Memory of the rings of a run of one rank."""
    total, recorders = 0, cast("tuple[SnapshotBox, ...]", setup.plan.recorders)
    for feature in features_with_files(setup).values():
        own = recorders[feature.first : feature.first + feature.count]
        size = sum(term.samples for term in own) * BYTES_OF[setup.plan.precision]
        total += size * ring_blocks(size, len(feature.item._steps(setup.context)))
    return total


def ring_blocks(size: int, snapshots: int) -> int:
    """Blocks of the rings of snapshots of this size on a host."""
    room = min(RING_BYTES, RING_SHARE * min(shutil.disk_usage(shared_memory()).free, free_memory() or math.inf))
    return max(LEAST_BLOCKS, min(int(room / max(size, 1)), MOST_BLOCKS, snapshots))
