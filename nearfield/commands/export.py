"""`nearfield export MODEL --gltf|--stl|--vtk`: the bodies of a model as triangles for other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nearfield.commands.console import console, output_folder
from nearfield.entry.errors import ModelError
from nearfield.model_file import load
from nearfield.viewer.export import WRITERS, export, parts_of


def export_model(
    path: Path, kinds: Sequence[str], output: Path | None, parameters: Mapping[str, Any], as_json: bool
) -> int:
    """Write one file of each kind that is asked for."""
    if not kinds:
        raise ModelError("export needs a format: --gltf, --stl or --vtk, or several of them")
    model = load(path, parameters)
    suffixes = [WRITERS[kind][0] for kind in kinds]
    if output is not None and output.suffix and not output.is_dir():
        if [output.suffix.lower()] != suffixes:
            raise ModelError(f"--output {output}: a file that ends in {' or '.join(suffixes)} is meant, or a folder")
        files = [output]
    else:
        folder = output if output is not None else output_folder(path, None)
        files = [folder / f"{path.stem}{suffix}" for suffix in suffixes]
    with console(as_json) as out:
        parts = parts_of(model)
        written = [str(export(parts, kind, file)) for kind, file in zip(kinds, files)]
        count = sum(len(part.triangles) for part in parts)
        answer = {"model": str(path), "files": written, "bodies": len(model.structures), "triangles": count}
        bodies = "1 body" if len(model.structures) == 1 else f"{len(model.structures)} bodies"
        out.answer(answer, f"{count:,} triangles of {bodies} in {', '.join(written)}")
    return 0
