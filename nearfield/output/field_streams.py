"""Snapshots on their way out of a run: recorded into rings of shared memory, which another process empties into files.

Each monitor that has a file gets a ring on every rank. Before a block of steps the blocks of the ring that its
snapshots need are acquired, and the sweep records straight into them; after it they are committed. A process beside the
solver (writer.py) puts the pieces of all ranks together and writes. Only a full ring makes the solver wait.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nearfield import stream
from nearfield.discretization import Discretization, Feature
from nearfield.engine import CpuEngine
from nearfield.errors import ModelError, RunFailed
from nearfield.machine.hardware import this_machine
from nearfield.monitors.field_file import SUFFIXES
from nearfield.output.formats.description import FieldDescription
from nearfield.output.formats.sizes import PredictedSize, predicted_size, refuse_full_disk
from nearfield.output.writer_process import WriterProcess
from nearfield.parallel.ranks import RankEngine
from nearfield.parallel.start import Started
from nearfield.plan import VACUUM_IMPEDANCE, RecordingTerm
from nearfield.prediction import BYTES_OF
from nearfield.records import RunRecord
from nearfield.regions import active_shape
from nearfield.stream.rings import remove as remove_ring

RING = "run."  # begins the names of rings
RING_BYTES = 256 << 20  # of a monitor's ring, if its snapshots are small
LEAST_BLOCKS, MOST_BLOCKS = 2, 64  # snapshots in a ring: one is recorded while another is written
ALIGNED = 64  # bytes
PATIENCE = 60.0  # s, for the writer to open its files
MANY = 1 << 62  # steps


@dataclass
class Outlet:
    """What one rank sends of one monitor: its recorders, where in a block each snapshot lies, and the ring."""

    name: str
    steps: np.ndarray
    recorders: list[int] = field(default_factory=list)  # of the rank's own engine
    pieces: list[dict[str, Any]] = field(default_factory=list)  # of each: what the writer must know of it
    block_bytes: int = 0
    blocks: int = LEAST_BLOCKS
    ring: stream.Writer | None = None
    waiting: list[int] = field(default_factory=list)  # steps of the blocks that are acquired

    def taken(self, step: int) -> int:
        """Snapshots up to a step."""
        return int(np.searchsorted(self.steps, step, side="right"))

    def room(self, step: int) -> int:
        """Steps that a block of steps may have from here on."""
        last = self.taken(step) + max(1, self.blocks // 2)
        return int(self.steps[last]) - 1 - step if last < len(self.steps) else int(self.steps[-1]) + 1


class FieldStreams:
    """All monitors of a run that have files. All ranks call the same methods in the same order.

    `failure` says, on every rank, what broke on the way. Errors: `ModelError` from the constructor for what cannot be
    written, before the run.
    """

    def __init__(self, setup: Discretization, started: Started, output: str | Path | None, space_check: bool = True
                 ) -> None:  # fmt: skip
        self.setup, self.started, self.ranks = setup, started, started.ranks
        self.features = features_with_files(setup)
        self.failure: str | None = None
        self.stalled = 0.0  # s, in waits for a free block
        self.opening = self.closing = 0.0  # s, until files are open, and until what is in rings is in files
        self.sent = self.held = 0  # bytes that went out, and of rings
        self._outlets: list[Outlet] = []
        self._excitation = ""
        self._rooms: list[Outlet] = []  # of all ranks, for the length of blocks of steps
        self._writer: WriterProcess | None = None  # rank 0's
        self._engine: CpuEngine = started.local
        if self.features:
            self.folder = self._folder(output)
            self._refuse_hosts()
            for feature in self.features.values():
                feature.item.file.storage(setup.plan.precision)["codec"].refuse_missing()
            if space_check and self.ranks.rank == 0:
                refuse_full_disk(self.folder, file_sizes(setup), ", or run without the check: --no-space-check")

    def _folder(self, output: str | Path | None) -> Path:
        if output is None:
            first = next(iter(self.features.values())).item.place
            raise ModelError(f"{first} has a file of its own, but the run has no output; give `output`, or leave "
                             "`file` out to keep the snapshots in memory")  # fmt: skip
        path = Path(output).absolute()
        return path.parent / f"{path.stem}-fields"

    def _refuse_hosts(self) -> None:
        hosts = sorted(set(self.ranks.hosts))
        if len(hosts) > 1:
            raise ModelError(f"the ranks run on {len(hosts)} hosts ({', '.join(hosts[:4])}), but files of monitors are "
                             "so far written by one process, beside ranks of one host; leave `file` out of the "
                             "monitors, or run on one host")  # fmt: skip

    # ---- what is to be written

    def path(self, name: str, excitation: str) -> Path:
        """The file of a monitor in an excitation."""
        free = "".join(c if c.isalnum() or c in "-_." else "_" for c in f"{name}-{excitation}")
        return self.folder / (free.lstrip(".") + SUFFIXES[self.features[name].item.file.format])

    def file_of(self, name: str, excitation: str) -> Path | None:
        """Where a monitor's fields are; None where the result holds them."""
        return self.path(name, excitation) if name in self.features else None

    def claim(self, record: RunRecord) -> None:
        """Say of excitations that an earlier run finished where the fields of their monitors are."""
        for excitation, found in record.excitations.items():
            for name, monitor in found.monitors.items():
                monitor.file = self.file_of(name, excitation)

    def _outlet(self, name: str, feature: Feature) -> Outlet:
        """This rank's recorders of a monitor, and how they lie in a block."""
        context, engine = self.setup.context, self.started.engine
        active = active_shape(context)
        held = [each for each in feature.item.regions(context).items() if each[1].is_held(active)]
        part = engine.part if isinstance(engine, RankEngine) else None
        local = [term for term in self._engine.plan.terms if isinstance(term, RecordingTerm)]
        found = Outlet(name, np.asarray(feature.item.steps(context)))
        for number, term in enumerate(local):
            everywhere = part.recorders[number] if part else number
            if not feature.first <= everywhere < feature.first + feature.count:
                continue
            component, region = held[everywhere - feature.first]
            shift = part.held.lower if part else (0, 0, 0)
            shape = self._engine.snapshot_shape(term)
            found.recorders.append(number)
            found.pieces.append({
                "component": component, "at": found.block_bytes, "shape": shape,
                "turned": [self._engine.plan.storage_axes.index(axis) for axis in range(3)],
                "offset": [int(a + s - b) for a, s, b in zip(term.lower, shift, region.lower)],
                "scale": 1.0 / VACUUM_IMPEDANCE if term.component >= 3 else 1.0,
            })  # fmt: skip
            found.block_bytes += -(-math.prod(shape) * self._itemsize // ALIGNED) * ALIGNED
        return found

    @property
    def _itemsize(self) -> int:
        return np.dtype(self._engine.plan.dtype).itemsize

    def _task(self, name: str, pieces: list[dict[str, Any]], keep: int | None) -> dict[str, Any]:
        """What the writer must know of a file."""
        feature, context, plan = self.features[name], self.setup.context, self.setup.plan
        file, steps = feature.item.file, np.asarray(feature.item.steps(context))
        return {
            "name": name, "path": str(self.path(name, self._excitation)), "keep": keep, "parts": pieces,
            "description": described(self.setup, feature).to_json(), "dtype": np.dtype(plan.dtype).str,
            "regions": {n: {"dims": r.dims, "shape": r.shape} for n, r in feature.item.regions(context).items()},
            "positions": {n: v.array.tolist() for n, v in feature.item.positions(context).items()},
            "steps": steps.tolist(), "times": [plan.recording_times(half, steps).tolist() for half in (False, True)],
            "averaged": file.averaged, "sample_every": file.sample_every, "per_domain": file.per_domain,
        }  # fmt: skip

    # ---- under way

    def begin(self, excitation: str, step: int = 0) -> None:
        """Open the files of an excitation, or go on with those that hold what was recorded up to a step."""
        if not self.features:
            return
        begun, self._excitation, self._outlets, self.held = time.perf_counter(), excitation, [], 0
        remove_left_rings()
        sent: dict[str, dict[str, Any]] = {}
        for number, (name, feature) in enumerate(self.features.items()):
            outlet = self._outlet(name, feature)
            if not outlet.recorders:
                continue
            outlet.blocks = ring_blocks(outlet.block_bytes, len(outlet.steps))
            outlet.ring = stream.create(f"{RING}{os.getpid()}.{number}", outlet.blocks, outlet.block_bytes)
            self._outlets.append(outlet)
            self.held += outlet.blocks * outlet.block_bytes
            sent[name] = {"ring": outlet.ring.name, "pieces": outlet.pieces}
        everywhere = self.ranks.everywhere(sent)
        refused = None
        if self.ranks.rank == 0:
            parts = {name: [each[name] for each in everywhere if name in each] for name in self.features}
            refused = self._opened(parts, step)
        if refused := self.ranks.from_root(refused):
            self.close()
            raise ModelError(refused)
        for outlet in self._outlets:
            outlet.ring.wait_for_readers(1, PATIENCE)
        self._even_room()
        self.opening += time.perf_counter() - begun

    def _even_room(self) -> None:
        """Ranks hold rings of different lengths; the shortest says how long blocks of steps may be."""
        fewest: dict[str, int] = {}
        for each in self.ranks.everywhere({outlet.name: outlet.blocks for outlet in self._outlets}):
            for name, blocks in each.items():
                fewest[name] = min(blocks, fewest.get(name, blocks))
        steps = {name: np.asarray(each.item.steps(self.setup.context)) for name, each in self.features.items()}
        self._rooms = [Outlet(name, steps[name], blocks=blocks) for name, blocks in fewest.items()]

    def _opened(self, parts: dict[str, list[dict[str, Any]]], step: int) -> str | None:
        """Have the writer open the files; what it refuses."""
        tasks = []
        for name, pieces in parts.items():
            steps = np.asarray(self.features[name].item.steps(self.setup.context))
            keep = int(np.searchsorted(steps, step, side="right")) if step else None
            tasks.append(self._task(name, pieces, keep))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._writer = self._writer or WriterProcess(spare_processors(self.started))
            self._writer.ask({"do": "open", "tasks": tasks})
        except (OSError, RunFailed, ModelError) as error:
            return str(error)
        return None

    def room(self, step: int) -> int:
        """Steps that the next block may have: no more snapshots than half of a ring holds."""
        return min((each.room(step) for each in self._rooms), default=MANY) if self.features else MANY

    def before(self, step: int, size: int) -> None:
        """Take the ring's blocks that the next steps will fill."""
        begun = time.perf_counter()
        for outlet in self._outlets:
            steps = outlet.steps[outlet.taken(step) : outlet.taken(step + size)]
            blocks = [outlet.ring.acquire() for _ in steps]
            outlet.waiting = steps.tolist()
            for recorder, piece in zip(outlet.recorders, outlet.pieces):
                count = math.prod(piece["shape"]) * self._itemsize
                places = [block[piece["at"] : piece["at"] + count].view(self._engine.plan.dtype).reshape(piece["shape"])
                          for block in blocks]  # fmt: skip
                self._engine.place_snapshots(recorder, places)
        self.stalled += time.perf_counter() - begun

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
        if self.features and self.failure is None:
            self.failure = self.ranks.from_root(self._writer.failure if self._writer else None)

    def flush(self, step: int) -> None:
        """Return when all that was recorded up to a step is in the files; for a checkpoint."""
        if not self.features or self.failure:
            return
        broken = None
        if self._writer:
            counts = {name: int(np.searchsorted(each.item.steps(self.setup.context), step, side="right"))
                      for name, each in self.features.items()}  # fmt: skip
            try:
                self._writer.ask({"do": "flush", "counts": counts})
            except RunFailed as error:
                broken = str(error)
        self.failure = self.ranks.from_root(broken)

    def end(self, complete: bool, reason: str = "") -> None:
        """Close the files of the excitation: complete, or broken off for a reason."""
        begun = time.perf_counter()
        for outlet in self._outlets:
            outlet.ring.close()
        self._outlets = []
        broken = None
        if self._writer and self.failure is None:
            try:
                self._writer.ask({"do": "close", "complete": complete, "reason": reason})
            except RunFailed as error:
                broken = str(error)
        if self.features:
            self.failure = self.failure or self.ranks.from_root(broken)
        self.closing += time.perf_counter() - begun

    def close(self) -> None:
        """Let go of rings and writer, whatever became of them."""
        for outlet in self._outlets:
            outlet.ring.close()
        self._outlets = []
        if self._writer:
            self._writer.close()
            self._writer = None

    def facts(self) -> dict[str, Any]:
        """Bytes that went out and that rings held; seconds each rank waited for room, and all for files to be open and
        to be whole.
        """
        if not self.features:
            return {}
        each = self.ranks.everywhere((self.sent, self.held, self.stalled, self.opening, self.closing))
        sent, held, stalled, opening, closing = zip(*each)
        return {"fields": {"folder": str(self.folder), "bytes": sum(sent), "ring_bytes": sum(held),
                           "stalled_seconds": list(stalled), "opening_seconds": max(opening),
                           "closing_seconds": max(closing)}}  # fmt: skip


def features_with_files(setup: Discretization) -> dict[str, Feature]:
    """The monitors that have files of their own."""
    return {name: each for name, each in setup.lowered[2].items() if getattr(each.item, "file", None)}


def described(setup: Discretization, feature: Feature) -> FieldDescription:
    """What the file of a monitor will hold."""
    item, context = feature.item, setup.context
    return item.file.description(
        context.grid, item.regions(context), item.positions(context), len(item.steps(context)), context.precision,
        " ".join(filter(None, (setup.simulation.title, item.name))),
    )  # fmt: skip


def file_sizes(setup: Discretization) -> list[PredictedSize]:
    """The size of every file of a run."""
    found = [predicted_size(described(setup, feature)) for feature in features_with_files(setup).values()]
    return found * len(setup.excitations)


def ring_bytes(setup: Discretization) -> int:
    """Memory of the rings of a run of one rank."""
    total = 0
    for feature in features_with_files(setup).values():
        regions, steps = feature.item.regions(setup.context), feature.item.steps(setup.context)
        size = sum(region.samples for region in regions.values()) * BYTES_OF[setup.plan.precision]
        total += size * ring_blocks(size, len(steps))
    return total


def ring_blocks(size: int, snapshots: int) -> int:
    """Blocks of a ring of snapshots of this size."""
    return max(LEAST_BLOCKS, min(RING_BYTES // max(size, 1), MOST_BLOCKS, snapshots))


def remove_left_rings() -> None:
    """Remove what runs left that were killed together with their writers."""
    for each in stream.rings():
        if each.name.startswith(RING) and each.stale:
            with contextlib.suppress(ModelError):
                remove_ring(each)


def spare_processors(started: Started) -> list[int]:
    """Processors of this host that no thread of a rank was bound to; all where there is none."""
    everything = set(this_machine().processors)
    used = {processor for processors in started.binding.processors for processor in processors}
    return sorted(everything - used) or sorted(everything)
