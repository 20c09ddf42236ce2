"""Tasks of the processes that write field files: where each file is, what it holds, whose boxes go into it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, product, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.discretization.discretization import Discretization, Feature
from nearfield.entry.errors import ModelError
from nearfield.formats.layout import Boxes, part_path, stored_domains
from nearfield.monitors.field_file import SUFFIXES
from nearfield.output.field_sizes import description_of, stored_features, stored_regions
from nearfield.output.writers import Writers, boxes
from nearfield.plan.recorders import taken_by

Sent = list[dict[str, Any]]  # what each rank sends: ring and pieces by the name of the monitor
Layouts = Mapping[str, list[Boxes] | None]  # boxes in each of a monitor's files; None: there is one


@dataclass(frozen=True)
class FileTasks:
    """The files of a run's monitors in `folder`."""

    setup: Discretization
    features: Mapping[str, Feature]
    folder: Path
    writers: Writers

    @property
    def relayed(self) -> tuple[str, ...]:
        """The monitors of which ranks on other hosts send their part to the writer of rank 0's."""
        return tuple(
            name for name, each in self.features.items() if self.writers.several and each.item.file.needs_whole
        )

    def path(self, name: str, excitation: str) -> Path:
        """The file of a monitor in an excitation."""
        return self.folder / self._names[name, excitation]

    @cached_property
    def _names(self) -> dict[tuple[str, str], str]:
        """Names of all files by monitor and excitation; of those that would be alike all but the first are numbered."""
        wanted = {(name, each): self._wanted(name, each) for each in self.setup.excitations for name in self.features}
        found: dict[tuple[str, str], str] = {}
        for pair, (stem, suffix) in wanted.items():
            numbered = (f"{stem}-{n}" for n in count(2) if (f"{stem}-{n}", suffix) not in wanted.values())
            free = (each + suffix for each in chain([stem], numbered) if each + suffix not in found.values())
            found[pair] = next(free)
        return found

    def _wanted(self, name: str, excitation: str) -> tuple[str, str]:
        """Stem and suffix of a file that needs no number."""
        free = "".join(c if c.isalnum() or c in "-_." else "_" for c in f"{name}-{excitation}")
        return free.lstrip("."), SUFFIXES[self.features[name].item.file.format]

    def bytes_there(self, excitations: Iterable[str]) -> int:
        """Bytes of the files of fields of these excitations, and of the parts that they join."""
        found = 0
        for excitation, name in product(excitations, stored_features(self.setup)):
            path = self.path(name, excitation)
            parts = takewhile(Path.is_file, (part_path(path, number) for number in count()))
            found += sum(each.stat().st_size for each in (path, *parts) if each.is_file())
        return found

    def taken(self, name: str, step: int) -> int:
        """Snapshots of a monitor up to a step."""
        return taken_by(self.features[name].item._steps(self.setup.context), step)

    def layouts(self, everywhere: Sent, excitation: str, step: int) -> Layouts:
        """Layouts of all monitors. A run that goes on from a step keeps what it finds."""
        return {
            name: self._layout(name, [each[name] for each in everywhere if name in each], excitation, step)
            for name in self.features
        }

    def _layout(self, name: str, parts: Sent, excitation: str, step: int) -> list[Boxes] | None:
        several = self.writers.several and name not in self.relayed
        apart = several or self.features[name].item.file.per_domain
        now = [boxes for each in self._boxes(name, parts) for boxes in each] if apart else None
        if not step:
            return now
        path = self.path(name, excitation)
        stored = stored_domains(path)
        if several and stored != now:
            raise ModelError(
                f"{path} was begun by other ranks, and ranks on several hosts each go on with a file of "
                "their own; go on with the ranks it was begun with, or on one host"
            )
        return stored

    def _boxes(self, name: str, parts: Sent) -> list[list[Boxes]]:
        """Boxes that each rank sends of a monitor."""
        regions = stored_regions(self.features[name], self.setup.context)
        return boxes({n: r.shape for n, r in regions.items()}, [part["pieces"] for part in parts])

    def of(self, everywhere: Sent, layouts: Layouts, excitation: str, step: int) -> tuple[Sent, Sent]:
        """Tasks of the writer of this host, and files that join others."""
        found = []
        for name, layout in layouts.items():
            senders = [rank for rank, sent in enumerate(everywhere) if name in sent]
            read = self._read(name)
            here = [number for number, rank in enumerate(senders) if rank in read]
            if not here:
                continue
            parts = [everywhere[rank][name] for rank in senders]
            task = self._task(name, [parts[number] for number in here], excitation, step)
            if layout:
                sent = [(rank, boxes) for rank, each in enumerate(self._boxes(name, parts)) for boxes in each]
                own = [number for number, (rank, _) in enumerate(sent) if rank in here]
                files = own if self.writers.several else list(range(len(layout)))
                task |= {"domains": layout, "here": files, "boxes": [sent[number][1] for number in own]}
            found.append(task)
        joined = [self._whole(name, excitation) | {"domains": layout} for name, layout in layouts.items() if layout]
        return found, joined

    def _read(self, name: str) -> list[int]:
        """The ranks whose part of a monitor the writer of this host reads."""
        if name not in self.relayed:
            return self.writers.here
        return list(range(self.setup.ranks.size)) if 0 in self.writers.here else []

    def _task(self, name: str, pieces: Sent, excitation: str, step: int) -> dict[str, Any]:
        """The task of a writer for one file, the same for one and for one a domain."""
        feature, context, plan = self.features[name], self.setup.context, self.setup.plan
        file, steps = feature.item.file, np.asarray(feature.item._steps(context))
        return {
            **self._whole(name, excitation),
            "name": name,
            "keep": self.taken(name, step) if step else None,  # snapshots that are there; None: the file begins
            "parts": pieces,
            "dtype": np.dtype(plan.dtype).str,
            "regions": {n: {"dims": r.dims, "shape": r.shape} for n, r in stored_regions(feature, context).items()},
            "positions": {n: v.array.tolist() for n, v in feature.item._positions(context).items()},
            "steps": steps.tolist(),
            "times": [plan.recording_times(half, steps).tolist() for half in (False, True)],
            "averaged": file.averaged,
            "sample_every": file.sample_every,
            "domains": None,
            "analysis": feature.item._analysis(context) if hasattr(feature.item, "_analysis") else None,
        }

    def _whole(self, name: str, excitation: str) -> dict[str, Any]:
        description = description_of(self.setup, self.features[name]).to_json()
        return {"path": str(self.path(name, excitation)), "description": description}
