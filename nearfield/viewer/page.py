"""A model as one page of HTML that needs no network: three.js, the data of the scene and what draws it, all inside."""

from __future__ import annotations

import json
import os
import re
import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.entry.errors import ModelError
from nearfield.entry.whole_file import unwritable, write_whole
from nearfield.viewer.scene import scene_of

if TYPE_CHECKING:
    from nearfield.discretization.model import Model


def part(name: str) -> str:
    """A file of the page."""
    return resources.files("nearfield.viewer").joinpath(name).read_text(encoding="utf-8")


def page_of(model: Model, results: dict[str, Any] | None = None) -> str:
    """The page as text, with `results` on the model (`nearfield.report.on_model`). Error: the model has no grid."""
    return page_of_scene(scene_of(model) | {"results": results})


def page_of_scene(scene: dict[str, Any]) -> str:
    """The page as text of a scene as `scene_of` makes it."""
    data = json.dumps(scene, ensure_ascii=False, separators=(",", ":"))
    licence = part("vendor/LICENSE-three.txt").replace("*/", "")
    inner = {"scene": data.replace("<", "\\u003c"), "licence": licence, "viewer": part("viewer.js")}
    inner["results"] = part("results.js") if scene.get("results") else ""
    inner["three"] = part("vendor/three.min.js").replace("</script", "<\\/script")
    return re.sub(f"@({'|'.join(inner)})@", lambda found: inner[found.group(1)], part("page.html"))


def has_screen() -> bool:
    """Whether a browser can show itself here."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def open_page(path: Path) -> bool:
    """Open a page in the browser, where there is a screen; whether that was done."""
    import webbrowser

    return has_screen() and webbrowser.open(path.resolve().as_uri())


def write_page(model: Model, path: Path) -> Path:
    """Write the page of a model. Error: the file is no page by its name, or cannot be written."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ModelError(
            f"{path}: the page in three dimensions is HTML; give a file such as {path.with_suffix('.html').name!r}. "
            f"For a picture of cuts: sim.plot().savefig({path.with_suffix('.png').name!r})"
        )
    return written(page_of(model), path)


def written(content: str | bytes, path: Path) -> Path:
    """The path of a file, once it holds the content, whole. Error: it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise unwritable(path, error) from None
    return path
