"""Executes the notebooks of examples/notebooks/ in a kernel and keeps their pictures for docs/notebooks.md.

    .venv/bin/python -m scripts.notebooks [NAME ...] [--ipynb FOLDER]

Pictures come from cells with the tag "picture"; the first goes to docs/images/notebook_NAME.png. With `--ipynb` the
executed notebooks are left there too.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import jupytext
from jupyter_client.manager import AsyncKernelManager as KernelManager
from nbclient import NotebookClient
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
FOLDER, IMAGES = ROOT / "examples" / "notebooks", ROOT / "docs" / "images"
WIDEST = 900  # pixels
COLOURS = 128
LONGEST = 900  # seconds of a cell, on a busy machine


def names() -> list[str]:
    """The notebooks there are."""
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def executed(path: Path) -> Any:
    """A notebook after all of its cells, run in a kernel of this Python. Error: that of the cell that failed."""
    notebook = jupytext.read(path)
    with tempfile.TemporaryDirectory() as folder:
        old = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), old]))
        try:
            kernel = KernelManager(transport="ipc", connection_file=f"{folder}/kernel.json")
            NotebookClient(notebook, kernel, timeout=LONGEST, resources={"metadata": {"path": folder}}).execute()
        finally:
            os.environ.pop("PYTHONPATH") if old is None else os.environ.update(PYTHONPATH=old)
    return notebook


def outputs(notebook: Any, kind: str) -> list[str]:
    """The outputs of one kind that its cells show, such as "text/html"."""
    shown = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    return [output["data"][kind] for output in shown if kind in output.get("data", {})]


def pictures(notebook: Any) -> list[bytes]:
    """PNG of the cells that are tagged as pictures."""
    cells = [cell for cell in notebook.cells if "picture" in cell.metadata.get("tags", ())]
    shown = (output for cell in cells for output in cell.outputs if "image/png" in output.get("data", {}))
    return [base64.b64decode(output["data"]["image/png"]) for output in shown]


def keep_picture(name: str, picture: bytes) -> Path:
    """The picture, small enough for the repository."""
    path, image = IMAGES / f"notebook_{name}.png", Image.open(io.BytesIO(picture)).convert("RGB")
    if image.width > WIDEST:
        image = image.resize((WIDEST, round(image.height * WIDEST / image.width)), Image.Resampling.LANCZOS)
    image.quantize(COLOURS).save(path, optimize=True)
    return path


def main() -> None:
    """Execute notebooks one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--ipynb", type=Path)
    given = parser.parse_args()
    for name in given.names or names():
        begun = time.perf_counter()
        notebook = executed(FOLDER / f"{name}.py")
        path = keep_picture(name, pictures(notebook)[0])
        print(f"{name}: {time.perf_counter() - begun:.0f} s, {path.stat().st_size / 1e3:.0f} kB", flush=True)
        if given.ipynb:
            given.ipynb.mkdir(parents=True, exist_ok=True)
            jupytext.write(notebook, given.ipynb / f"{name}.ipynb")


if __name__ == "__main__":
    main()
