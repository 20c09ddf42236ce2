"""Fields in motion: snapshots one after the other, or a spectrum through one period; pages, GIF and MP4."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter

from nearfield.entry.errors import ModelError
from nearfield.entry.whole_file import write_whole
from nearfield.pictures import style
from nearfield.pictures.planes import Flat, Plane, draw_plane, flat, plane_at

if TYPE_CHECKING:
    import xarray

A_PERIOD = 24  # frames of a period
ENDINGS = (".html", ".gif", ".mp4")
LARGEST_PAGE = 2000.0  # MB, above which matplotlib would leave frames out
DPI = 100


class Film(FuncAnimation):
    """matplotlib's animation, which notebooks show with its controls."""

    frames: int

    def _repr_html_(self) -> str:
        return page_of(self)

    def __del__(self) -> None:
        """Nothing: matplotlib warns of an animation that was never shown, and that is no mistake here."""

    def __repr__(self) -> str:
        return f"<nearfield animation of {self.frames} frames>"


@dataclass(frozen=True)
class Motion:
    """Signed values on one plane, (frame, across, up), the label of each frame, and the plane of the first."""

    plane: Plane
    values: np.ndarray
    labels: list[str]


def motion(on: Flat, at: float | None, frames: int | None) -> Motion:
    """The strongest component through its snapshots, or through one period at the frequency nearest to `at`."""
    part = max(on.parts, key=lambda name: float(np.nanmax(np.abs(on.parts[name].values), initial=0.0)))
    array = on.parts[part]
    along, only = array[on.leading].values, replace(on, parts={part: array})
    if on.leading == "time":
        numbers = style.picked(along.size, frames or along.size)
        labels = [f"{part} at {style.quantity(float(along[number]), 's', 3)}" for number in numbers]
        return Motion(plane_at("", only, numbers[0]), np.real(array.values[numbers]), labels)
    number = along.size // 2 if at is None else int(np.argmin(np.abs(along - at)))
    turns = np.arange(frames or A_PERIOD) / (frames or A_PERIOD)
    values = np.real(array.values[number] * np.exp(2j * np.pi * turns)[:, None, None])
    where = style.quantity(float(along[number]), "Hz", 3)
    labels = [f"{part} at {where}, {360 * turn:.0f}°" for turn in turns]
    plane = replace(plane_at("", only, number), values=values[0], signed=True)
    return Motion(plane, values, labels)


@style.styled
def animated(
    components: Mapping[str, xarray.DataArray],
    at: float | None,
    cut: Mapping[str, float],
    frames: int | None,
    frames_per_second: float,
) -> Film:
    """An animation of a field on a plane, one scale of colours for all frames. Error: no plane, or no field."""
    if frames is not None and frames < 1:
        raise ModelError(f"frames: given {frames}; an animation has at least one")
    if not frames_per_second > 0:
        raise ModelError(f"frames_per_second: given {frames_per_second}; give a number above 0")
    on = flat(components, None if len(components) > 1 else next(iter(components)), cut)
    if on is None or on.leading not in ("time", "frequency"):
        raise ModelError("an animation needs snapshots or a spectrum on a plane: two sides of two samples at least")
    moving = motion(on, at, frames)
    finite = np.abs(moving.values[np.isfinite(moving.values)])
    if not finite.size or not finite.max() > 0:
        raise ModelError("an animation needs a field: every recorded value on this plane is zero or not finite")
    figure, axes = style.chart(6.5, 5.2)
    brightest = int(np.argmax(np.nan_to_num(np.abs(moving.values)).max(axis=(1, 2))))
    mesh: Any = draw_plane(axes, replace(moving.plane, values=moving.values[brightest], label=moving.labels[0]))
    limit = float(np.quantile(finite, 0.998)) or float(finite.max())
    factor = style.axis_prefix(float(np.nanmax(np.abs(moving.values[brightest]))))[0]  # the one of the colour bar
    mesh.set_clim(-limit * factor, limit * factor)

    def draw(number: int) -> tuple[Any, ...]:
        mesh.set_array(moving.values[number].T * factor)
        axes.set_title(moving.labels[number], loc="left", fontsize=10, fontweight="bold", pad=18)
        return (mesh,)

    film = Film(figure, draw, frames=len(moving.labels), interval=1000.0 / frames_per_second)
    film.frames = len(moving.labels)
    return film


@style.styled
def page_of(film: FuncAnimation, frames_per_second: float | None = None) -> str:
    """An animation as HTML with its controls and all frames inside."""
    with matplotlib.rc_context({"animation.embed_limit": LARGEST_PAGE, "savefig.dpi": DPI}):
        return film.to_jshtml(fps=frames_per_second)  # type: ignore[arg-type]


def ffmpeg() -> str | None:
    """The program ffmpeg: the system's, else that of the package imageio-ffmpeg; None where neither is there."""
    if FFMpegWriter.isAvailable():
        return str(FFMpegWriter.bin_path())
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):  # RuntimeError: the package has no program for this platform
        return None


@style.styled
def save(film: FuncAnimation, path: Path, frames_per_second: float) -> None:
    """Write an animation; the name's ending says which kind. Errors: another ending, or no ffmpeg for `.mp4`."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ModelError(f"{path}: given the ending {ending!r}; allowed: {', '.join(ENDINGS)}")
    program = ffmpeg() if ending == ".mp4" else None
    if ending == ".mp4" and program is None:
        raise ModelError(
            f"{path}: MP4 needs the program ffmpeg, which is not installed; install it, or "
            '`pip install "nearfield[movies]"`, or give .gif or .html'
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    if ending == ".html":
        page = '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Nearfield</title></head><body>\n'
        write_whole(path, page + page_of(film, frames_per_second) + "</body></html>\n")
        return
    kind: Any = PillowWriter if ending == ".gif" else FFMpegWriter
    given: Any = {"animation.ffmpeg_path": program} if program else {}
    with tempfile.TemporaryDirectory() as folder, matplotlib.rc_context(given):
        made = Path(folder) / f"film{ending}"
        film.save(made, writer=kind(fps=frames_per_second), dpi=DPI)
        write_whole(path, made.read_bytes())
