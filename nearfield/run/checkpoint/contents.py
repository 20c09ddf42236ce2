"""The model of a run as a checkpoint holds it, without other files, and the fingerprint of its plan."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.bodies.files import KINDS, checksum
from nearfield.discretization.model import Model, stated
from nearfield.entry.errors import ModelError
from nearfield.entry.toml_text import children, dumps, inline
from nearfield.plan.plan import Plan
from nearfield.run.checkpoint.folder import Checkpoint
from nearfield.sources.sampled import read_samples

METAL_UNSTATED = (
    "staircase"  # what `metal` was where a checkpoint does not state it: the default of the version that wrote it
)


def self_contained(simulation: Model) -> str:
    """The model as TOML that can be read anywhere: samples of waveforms are in it, files of shapes have their whole
    paths and checksums."""
    values = stated(simulation)
    _take_in_files(values)
    return dumps(values)


def _take_in_files(value: Any) -> None:
    if isinstance(value, dict) and value.get("kind") == "samples" and "file" in value:
        times, samples = read_samples(Path(value.pop("file")))
        value |= {"times": times.tolist(), "values": samples.tolist()}
    elif isinstance(value, dict) and value.get("kind") in KINDS and "file" in value:
        value |= {"file": str(Path(value["file"]).resolve()), "checksum": checksum(value["file"])}
    for inner in children(value):
        _take_in_files(inner)


def model_of(checkpoint: Checkpoint, given: Model | None, read: Callable[..., Model]) -> Model:
    """The model of a checkpoint, `read` from its text. Error: another one was given."""
    stored = checkpoint.manifest["model"]
    try:
        wanted = tomllib.loads(stored)
    except ValueError as error:
        raise ModelError(
            f"{checkpoint.path} holds no model that can be read ({error}): no run wrote it; resume from another "
            "checkpoint, or run the model from the start"
        ) from None
    if "metal" not in wanted:
        wanted["metal"] = METAL_UNSTATED
        stored = f"metal = {inline(METAL_UNSTATED)}\n{stored}"
    found = wanted if given is None else tomllib.loads(self_contained(given))
    differ = [name for name in {**wanted, **found} if wanted.get(name) != found.get(name)]
    if differ:
        raise ModelError(
            f"{checkpoint.path} is of another model: they differ in {', '.join(differ)}. Leave the model out to go on "
            "with the checkpoint's own, or run this one into another folder"
        )
    return given if given is not None else read(stored, name=str(checkpoint.path))


def fingerprint(plan: Plan) -> str:
    """A checksum of the shape of a plan: samples, time step, and where each term lies.

    Weights and coefficients are left out, whose last digits differ between processors.
    """
    digest = hashlib.sha256()
    shape: list[object] = [plan.cells, plan.active, plan.cpml, plan.precision, f"{plan.time_step:.12e}"]
    if plan.storage != "full":
        shape.append(plan.storage)
    if any(phase is not None for phase in plan.phases):
        shape += [[None if phase is None else f"{phase:.12e}" for phase in plan.phases], plan.complex_fields]
    digest.update(json.dumps(shape).encode())
    for term in plan.terms:
        digest.update(type(term).__name__.encode())
        for name in ("component", "i", "j", "k", "lower", "upper", "steps", "stride"):
            digest.update(np.asarray(getattr(term, name, -1), "<i8").tobytes())
        digest.update(f"{len(getattr(term, 'frequencies', ()))}".encode())
    return digest.hexdigest()
