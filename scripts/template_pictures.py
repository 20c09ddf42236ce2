"""Draws docs/images/template_NAME.png for every template: the model in three dimensions beside what its run gives.

    .venv/bin/python -m scripts.template_pictures [NAME ...]

Needs Chromium and its driver, as the viewer's tests do.
"""

from __future__ import annotations

import base64
import io
import sys
import tempfile
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

import nearfield as nf
from nearfield.commands.new import TEMPLATES, template_path
from nearfield.pictures.style import styled
from nearfield.viewer.page import page_of

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
HEIGHT = 300  # pixels
POLAR = ("patch", "inset-patch", "horn", "yagi", "dipole")


def scene(simulation: nf.Simulation) -> Image.Image:
    """The model as the viewer shows it first, its ground included."""
    from browser import chromium

    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page = Path(folder) / "page.html"
        page.write_text(page_of(simulation), encoding="utf-8")
        browser.go(page)
        code = browser.run("nearfield.look([1, -1.5, 1.1]); return nearfield.picture()").split(",")[1]
    picture = Image.open(io.BytesIO(base64.b64decode(code))).convert("RGB")
    side = min(picture.size)
    left = (picture.width - side) // 2
    return picture.crop((left, 0, left + side, side)).resize((HEIGHT, HEIGHT), Image.Resampling.LANCZOS)


@styled
def answer(name: str, result: nf.Result) -> Image.Image:
    """The plot that a user of the template looks at first."""
    figure = Figure(figsize=(4.6, 3.0), dpi=HEIGHT / 3.0, layout="constrained")
    axes = figure.subplots()
    if name == "gpr":
        wave = result["wave"]
        wave.plot(at=float(wave["Ey"].time[wave["Ey"].sizes["time"] // 3]), ax=axes)
    elif name == "fss-cell":
        passed = result.per_source()["behind"] / (376.73 / 8 * 12e-3**2)
        nf.decibels(passed**0.5).rename("power passed").assign_attrs(units="dB").plot(ax=axes)
    elif name in POLAR:
        result["pattern"].plot(ax=axes)
    else:
        result.plot(ax=axes)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": "Nearfield"})
    return Image.open(buffer).convert("RGB")


def main(names: list[str]) -> None:
    """Draw the pictures of these templates, all where none is named."""
    for name in names or TEMPLATES:
        simulation = nf.load(template_path(name))
        left, right = scene(simulation), answer(name, simulation.run())
        whole = Image.new("RGB", (left.width + right.width, HEIGHT), "white")
        whole.paste(left, (0, 0))
        whole.paste(right, (left.width, 0))
        path = ROOT / "docs" / "images" / f"template_{name}.png"
        whole.quantize(128).save(path, optimize=True)
        print(path.relative_to(ROOT), path.stat().st_size)


if __name__ == "__main__":
    main(sys.argv[1:])
