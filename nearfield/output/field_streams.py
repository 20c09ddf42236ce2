"""Snapshots on their way out of a run: recorded into rings of shared memory, which another process empties into files.

Each monitor that has a file gets a ring on every rank. Before a block of steps the blocks of the ring that its
snapshots need are acquired, and the sweep records straight into them; after it they are committed. A process beside the
solver (writer.py) puts the pieces of all ranks of a host together and writes: into one file, or where ranks run on
several hosts into one a rank, joined by one more; what must be whole goes to rank 0's host (relays.py). Only a full
ring makes the solver wait.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from nearfield.discretization.discretization import Discretization, Feature
from nearfield.engines.protocol import LocalEngine
from nearfield.entry.errors import ModelError
from nearfield.formats.direct import PAGE
from nearfield.formats.sizes import PredictedSize, refuse_full_disk
from nearfield.machine.interruption import Interruption
from nearfield.machine.transport import agreed
from nearfield.monitors.regions import is_held
from nearfield.output.disk_rate import ENOUGH, outlook, streamed
from nearfield.output.element_file import cost, slows
from nearfield.output.field_sizes import (
    LEAST_BLOCKS,
    features_with_files,
    file_sizes,
    ring_blocks,
    stored_regions,
)
from nearfield.output.file_tasks import FileTasks
from nearfield.output.images import cut_edges, piece_of
from nearfield.output.relays import Relays, Store, is_remote
from nearfield.output.run_rings import new_ring, remove_left_rings
from nearfield.output.writer_process import LOOK_EVERY, Patience, WriterProcess
from nearfield.output.writers import Writers
from nearfield.parallel.start import Started
from nearfield.plan.recorders import SnapshotBox, taken_by
from nearfield.records.records import RunRecord
from nearfield.stream import TimedOut, Writer

ALIGNED = PAGE  # bytes: the disk takes components from where they lie
PATIENCE = 60.0  # s, for the writer to open its files
MANY = 1 << 62  # steps


class Expected(Protocol):
    """A prediction of a run's time."""

    @property
    def seconds(self) -> float: ...


@dataclass
class Outlet:
    """Data that one rank sends of one monitor: its recorders, where in a block each snapshot lies, and the ring."""

    name: str
    steps: np.ndarray
    recorders: list[int] = field(default_factory=list)  # of the rank's own engine
    pieces: list[dict[str, Any]] = field(default_factory=list)  # of each: what the writer must know of it
    recorded: list[tuple[slice, ...]] = field(default_factory=list)  # of each: the rest is zero, on a high wall
    block_bytes: int = 0
    blocks: int = LEAST_BLOCKS
    ring: Writer | Store = field(init=False, repr=False)  # once the files are to be opened
    waiting: list[int] = field(default_factory=list)  # steps of the blocks that are acquired

    def taken(self, step: int) -> int:
        """Snapshots up to a step."""
        return taken_by(self.steps, step)

    def room(self, step: int) -> int:
        """Steps that a block of steps may have from here on."""
        last = self.taken(step) + max(1, self.blocks // 2)
        return int(self.steps[last]) - 1 - step if last < len(self.steps) else MANY


class FieldStreams:
    """All monitors of a run that have files. All ranks call the same methods in the same order.

    `failure` says, on every rank, what broke on the way. Errors: `ModelError` from the constructor for what cannot be
    written, before the run.
    """

    def __init__(
        self,
        setup: Discretization,
        started: Started,
        output: str | Path | None,
        space_check: bool = True,
        writer: WriterProcess | None = None,
        begun: Sequence[str] = (),
    ) -> None:
        """`begun`: excitations of a resumed run whose files lie there, so that they need less room."""
        self.setup, self.started, self.ranks = setup, started, started.ranks
        self.features = features_with_files(setup)
        self.failure: str | None = None
        self.stalled = 0.0  # s, in waits for a free block
        self.opening = self.closing = 0.0  # s, until files are open, and until what is in rings is in files
        self.sent = self.held = 0  # bytes that went out, and of rings
        self.outlook = ""  # what the disk was measured to leave of the run's rate
        self.planned = 0  # bytes of all files, on the rank that looks for room on the disk
        self._outlets: list[Outlet] = []
        self._relays = Relays(self.ranks, (), ())
        self._due: dict[str, list[int]] = {}  # steps of the snapshots that a block of steps makes
        self._rooms: list[Outlet] = []  # of all ranks, for the length of blocks of steps
        self._engine: LocalEngine = started.local
        self._stop = Interruption()
        self._patience, self._moved = Patience(), -math.inf  # the last time that a full ring got room
        if self.features:
            self._writers = Writers(started, writer)
            self.folder = self._folder(output)
            self.tasks = FileTasks(setup, self.features, self.folder, self._writers)
            agreed(self.ranks, lambda: self._refuse(begun, space_check and self.ranks.rank == 0))
            self._writers.start()

    def foresee(self, expected: Callable[[], Expected], tell: Callable[[str], None]) -> list[str]:
        """The warning, which `tell` is given at once, where the disk will slow the run down; rank 0 measures it.

        `expected`: the run's time without files. What was found stands in `facts`.
        """
        if not self.features:
            return []
        seconds = expected().seconds
        slower = slows(self.setup, seconds, self._writers.shared_processors)
        if self.ranks.rank == 0 and (said := slower or cost(self.setup)):
            tell(said)
        return [*([slower] if slower else []), *self._foresee_disk(seconds, tell)]

    def _foresee_disk(self, seconds: float, tell: Callable[[str], None]) -> list[str]:
        demand = streamed(self.setup, seconds)
        if not demand or self.ranks.rank:
            return []
        self.outlook, share = outlook(self.folder, demand, seconds, self._writers.shared_processors)
        if share >= ENOUGH:
            return []
        tell(self.outlook)
        return [self.outlook]

    def _folder(self, output: str | Path | None) -> Path:
        if output is None:
            first = next(iter(self.features.values())).item
            if first.kind == "elements":
                raise ModelError(
                    f"{first._label} writes its statistics beside the result while the run goes on, but the run has no "
                    "output; give `output`"
                )
            raise ModelError(
                f"{first._label} has a file of its own, but the run has no output; give `output`, or leave "
                "`file` out to keep the snapshots in memory"
            )
        path = Path(output).absolute()
        return path.parent / f"{path.stem}-fields"

    def _refuse(self, begun: Sequence[str], space_check: bool) -> None:
        for feature in self.features.values():
            file = feature.item.file
            file.storage(self.setup.plan.precision)["codec"].refuse_missing()
            if feature.count == 0:
                raise ModelError(
                    f"{feature.item._label} has a file, but lies on a wall where all that it records is "
                    "zero; leave `file` out, or move it"
                )
        if space_check:
            whole = sum(file_sizes(self.setup), PredictedSize(0, True))
            self.planned = max(0, whole.bytes - self.tasks.bytes_there(begun))
            left = PredictedSize(self.planned, whole.exact)
            refuse_full_disk(self.folder, [left], "; `nearfield run --no-space-check` does not look")

    def claim(self, record: RunRecord) -> None:
        """Say of excitations that an earlier run finished where the fields of their monitors are."""
        for excitation, found in record.excitations.items():
            for name, monitor in found.monitors.items():
                monitor.file = self.file_of(name, excitation)

    def file_of(self, name: str, excitation: str) -> Path | None:
        """Where a monitor's fields are; None where the result holds them."""
        return self.tasks.path(name, excitation) if name in self.features else None

    def _outlet(self, name: str, feature: Feature) -> Outlet:
        """This rank's recorders of a monitor, and how they lie in a block."""
        context, engine = self.setup.context, self.started.engine
        active, axes = context.active, self._engine.plan.storage_axes
        held = [each for each in stored_regions(feature, context).items() if is_held(each[1], context)]
        part, local = engine.part, cast("tuple[SnapshotBox, ...]", self._engine.plan.recorders)
        found = Outlet(name, np.asarray(feature.item._steps(context)))
        for number, (everywhere, term) in enumerate(zip(part.recorders if part else count(), local)):
            if not feature.first <= everywhere < feature.first + feature.count:
                continue
            name, region = held[everywhere - feature.first]
            whole = part.there(term.box) if part else term.box
            piece = piece_of(context.grid, name, region, whole.lower, whole.upper, active, axes)
            extent = [piece["shape"][n] for n in piece["turned"]]
            piece |= cut_edges(context, region.component, whole.lower, extent)
            found.recorders.append(number)
            found.recorded.append(tuple(slice(0, n) for n in self._engine.snapshot_shape(term)))
            found.pieces.append(piece | {"at": found.block_bytes})
            found.block_bytes += -(-math.prod(piece["shape"]) * self._itemsize // ALIGNED) * ALIGNED
        return found

    @property
    def _itemsize(self) -> int:
        return np.dtype(self._engine.plan.dtype).itemsize

    # ---- under way

    def begin(self, excitation: str, step: int = 0) -> None:
        """Open the files of an excitation, or go on with those that hold what was recorded up to a step."""
        if not self.features:
            return
        begun, self._outlets, self.held = time.perf_counter(), [], 0
        remove_left_rings()
        sent: dict[str, dict[str, Any]] = {}
        relayed = self.tasks.relayed
        for name, feature in self.features.items():
            outlet = self._outlet(name, feature)
            if not outlet.recorders:
                continue
            outlet.blocks = ring_blocks(outlet.block_bytes * len(self._writers.here), len(outlet.steps))
            sent[name] = {"pieces": outlet.pieces, "blocks": outlet.blocks, "block_bytes": outlet.block_bytes}
            if name in relayed and is_remote(self.ranks, self.ranks.rank):
                outlet.ring = Store(outlet.blocks, outlet.block_bytes)
            else:
                outlet.ring = new_ring(outlet.blocks, outlet.block_bytes)
                sent[name]["ring"] = outlet.ring.name
            self._outlets.append(outlet)
            self.held += outlet.blocks * outlet.block_bytes
        everywhere = self.ranks.everywhere(sent)
        self._relays = agreed(self.ranks, lambda: Relays(self.ranks, relayed, everywhere))
        self.held += self._relays.held
        agreed(self.ranks, self._make_folder)
        layouts = agreed(self.ranks, lambda: self.tasks.layouts(everywhere, excitation, step), at_root=True)
        self._writers.open(*self.tasks.of(everywhere, layouts, excitation, step))
        for outlet in self._outlets:
            outlet.ring.wait_for_readers(1, PATIENCE)
        self._relays.wait_for_readers(PATIENCE)
        self._even_room()
        self.opening += time.perf_counter() - begun

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(f"{self.folder} cannot be made ({error.strerror}); choose another --output") from error

    def _even_room(self) -> None:
        """Ranks hold rings of different lengths; the shortest says how long blocks of steps may be."""
        fewest: dict[str, int] = {}
        for each in self.ranks.everywhere({outlet.name: outlet.blocks for outlet in self._outlets}):
            for name, blocks in each.items():
                fewest[name] = min(blocks, fewest.get(name, blocks))
        steps = {name: np.asarray(each.item._steps(self.setup.context)) for name, each in self.features.items()}
        self._rooms = [Outlet(name, steps[name], blocks=blocks) for name, blocks in fewest.items()]

    def room(self, step: int) -> int:
        """Steps that the next block may have: no more snapshots than half of a ring holds."""
        return min((each.room(step) for each in self._rooms), default=MANY) if self.features else MANY

    def watch(self, stop: Interruption) -> None:
        """Wait without end only while no signal ends the run."""
        self._stop = stop
        if self.features:
            self._writers.watch(stop.came)

    def before(self, step: int, size: int) -> bool:
        """Take the ring's blocks that the next steps will fill; False where a signal ended that on some rank."""
        if not self.features:
            return True
        begun = time.perf_counter()
        self._due = {each.name: each.steps[each.taken(step) : each.taken(step + size)].tolist() for each in self._rooms}
        ready = all(self._take(outlet, self._due[outlet.name]) for outlet in self._outlets)
        self.stalled += time.perf_counter() - begun
        return not self.ranks.any(not ready)

    def _take(self, outlet: Outlet, steps: list[int]) -> bool:
        """Have the snapshots of these steps recorded into blocks of a ring; False where a signal ended the wait."""
        blocks: list[np.ndarray] = []
        for step in steps:
            block = self._free_block(outlet.ring)
            if block is None:
                return False
            outlet.waiting.append(step)
            blocks.append(block)
        for recorder, piece, recorded in zip(outlet.recorders, outlet.pieces, outlet.recorded):
            count = math.prod(piece["shape"]) * self._itemsize
            flat: list[np.ndarray] = [
                block[piece["at"] : piece["at"] + count].view(self._engine.plan.dtype) for block in blocks
            ]
            places = [values.reshape(piece["shape"])[recorded] for values in flat]
            self._engine.place_snapshots(recorder, places)
        return True

    def _free_block(self, ring: Writer | Store) -> np.ndarray | None:
        """The next block of a ring; None where there is none while a signal ends the run.

        One that ends it with a checkpoint leaves the writer time to make one free, as long as it makes progress.
        """
        waited = False
        while not self._stop.asked():
            with contextlib.suppress(TimedOut):
                block = ring.acquire(LOOK_EVERY)
                self._moved = time.monotonic() if waited else self._moved
                return block
            waited = True
            if self._patience.is_over(self._stop.terminated(), max(self._moved, self._writers.heard)):
                break
        return None

    def after(self, made: bool) -> None:
        """Hand over what was recorded; `made`: the block of steps was made to its end."""
        for outlet in self._outlets:
            for step in outlet.waiting:
                if made:
                    outlet.ring.commit(outlet.block_bytes, step)
                    self.sent += outlet.block_bytes
                else:
                    outlet.ring.abandon()
            outlet.waiting = []
        if made:
            begun = time.perf_counter()
            stores = {each.name: each.ring for each in self._outlets if isinstance(each.ring, Store)}
            self._relays.send(self._due, stores, self._free_block)
            self.stalled += time.perf_counter() - begun
        if self.features and self.failure is None:
            self.failure = self._writers.failure()

    def flush(self, step: int) -> None:
        """Return when all that was recorded up to a step is in the files; for a checkpoint."""
        if not self.features or self.failure:
            return
        self.failure = self._writers.flush({name: self.tasks.taken(name, step) for name in self.features})

    def end(self, complete: bool, reason: str = "") -> None:
        """Close the files of the excitation: complete, or broken off for a reason."""
        begun = time.perf_counter()
        self._close_rings()
        if self.features:
            broken = self._writers.finish(complete and not self.failure, self.failure or reason)
            self.failure = self.failure or broken
        self.closing += time.perf_counter() - begun

    def close(self) -> None:
        """Let go of rings and writer, whatever became of them."""
        self._close_rings()
        if self.features:
            self._writers.close()

    def _close_rings(self) -> None:
        for outlet in self._outlets:
            outlet.ring.close()
        self._outlets = []
        self._relays.close()

    def facts(self) -> dict[str, Any]:
        """Bytes that went out and that rings held; seconds each rank waited for room, and all for files to be open and
        to be whole.
        """
        if not self.features:
            return {}
        each = self.ranks.everywhere((self.sent, self.held, self.stalled, self.opening, self.closing))
        sent, held, stalled, opening, closing = zip(*each)
        return {
            "fields": {
                "folder": str(self.folder),
                "bytes": sum(sent),
                "ring_bytes": sum(held),
                "stalled_seconds": list(stalled),
                "opening_seconds": max(opening),
                "closing_seconds": max(closing),
            }
            | ({"outlook": self.outlook} if self.outlook else {})
        }
