"""Grids as users give them: every line, even or graded cells, or fitted to the waves. All become a `YeeGrid`."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, field_validator, model_validator

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import (
    Lengths,
    Position,
    PositiveFrequency,
    PositiveLength,
    PositiveNumber,
    Read,
    Spacing,
    Whole,
    three,
)
from nearfield.entry.schema import Schema, tag
from nearfield.entry.triples import triple
from nearfield.entry.wording import counted
from nearfield.grid.grading import MOST_LINES
from nearfield.grid.yee import AXES, YeeGrid

if TYPE_CHECKING:
    from nearfield.grid.meshing import Meshed

MOST_CELLS = 10**10  # 300 GB of single-precision state; more is a slip of the pen


def refuse_cell_count(cells: tuple[int, ...], advice: str) -> None:
    """Stop a grid that no machine holds before any array of its size is made."""
    total = float(cells[0]) * float(cells[1]) * float(cells[2])
    text = " x ".join(f"{count:.12g}" for count in cells)
    if not total <= MOST_CELLS:
        limit = f"at most {MOST_CELLS:,} are allowed"
    elif max(cells) >= MOST_LINES:
        limit = f"fewer than {MOST_LINES:,} along one axis are allowed"
    else:
        return
    whole = f"{total:,.0f}" if total < 1e15 else f"{total:.3g}"
    raise ModelError(f"the grid would have {text} = {whole} cells, {limit}; {advice}")


class Grid(Schema):
    """A grid with every line given: each of x, y, z lists at least two increasing coordinates (m).

    The CPML, where there is one, takes its cells from the outermost ones.

    >>> import nearfield as nf
    >>> nf.Grid(x=[0, 1e-3, 3e-3], y=[0, 1e-3], z=["0 mm", "1 mm"]).resolve().cells
    (2, 1, 1)
    """

    kind: Literal["lines"] = tag("lines")
    x: Lengths
    """Grid lines along x (m), increasing, at least two."""
    y: Lengths
    """Grid lines along y (m), increasing, at least two."""
    z: Lengths
    """Grid lines along z (m), increasing, at least two."""

    @field_validator("x", "y", "z")
    @classmethod
    def _increase(cls, lines: tuple[float, ...]) -> tuple[float, ...]:
        if len(lines) < 2:
            raise ValueError(f"{len(lines)} lines given, at least 2 (one cell) are needed")
        line = np.asarray(lines)
        spacing = np.diff(line)
        too_close = spacing <= 1e-12 * max(np.abs(line).max(), float(line[-1] - line[0]))
        if too_close.any():
            at = int(np.argmax(too_close))
            raise ValueError(
                f"grid lines must increase, but line {at + 1} ({lines[at + 1]:.9g} m) "
                f"does not exceed line {at} ({lines[at]:.9g} m); sort them and remove doubles"
            )
        return lines

    @model_validator(mode="after")
    def _fits(self) -> Grid:
        refuse_cell_count(tuple(len(line) - 1 for line in (self.x, self.y, self.z)), "use fewer lines")
        return self

    @staticmethod
    def uniform(spacing: Any, cells: Any, origin: Any = (0.0, 0.0, 0.0)) -> UniformGrid:
        """An evenly spaced grid of `cells` (nx, ny, nz) cells from `origin`; `spacing` is one length or three."""
        return UniformGrid(spacing=spacing, cells=cells, origin=origin)

    def resolve(self, simulation: Meshed | None = None) -> YeeGrid:
        """The Yee grid between these lines; the simulation is not needed."""
        return YeeGrid(triple(np.asarray(line, dtype=float) for line in (self.x, self.y, self.z)))


def _three(value: Any) -> Any:
    """Three values from one that stands for all axes; None stays None."""
    alone = value is not None and not isinstance(value, (list, tuple, np.ndarray))
    return value if value is None else three((value, value, value) if alone else value)


def _told_apart(axis: int, line: np.ndarray) -> np.ndarray:
    """The lines of an axis. Error: `ModelError`, some are one and the same number."""
    same = np.flatnonzero(~(np.diff(line) > 0.0))
    if same.size:
        raise ModelError(
            f"grid: {counted(same.size, 'cell')} along {AXES[axis]} are too small to be told apart at "
            f"{line[same[0]]:.6g} m, where numbers end after 16 digits; give larger cells, or an origin nearer to them"
        )
    return line


class UniformGrid(Schema):
    """A grid of `cells` equal cells: line i along an axis lies at origin + i spacing.

    >>> import nearfield as nf
    >>> nf.Grid.uniform("1 mm", (10, 10, 20)).resolve().cells
    (10, 10, 20)
    """

    kind: Literal["uniform"] = tag("uniform")
    spacing: Annotated[Read[Spacing], BeforeValidator(_three)]
    """Cell length (m): one for all axes, or three."""
    cells: Annotated[Read[tuple[Whole, Whole, Whole]], BeforeValidator(three)]
    """Number of cells along x, y, z, each at least 1."""
    origin: Position = (0.0, 0.0, 0.0)
    """Lower corner of the grid (m)."""

    @model_validator(mode="after")
    def _fits(self) -> UniformGrid:
        for axis in range(3):
            spacing, count, start = self.spacing[axis], self.cells[axis], self.origin[axis]
            if count < 1:
                raise ValueError(f"cells along {AXES[axis]} is {count}; at least 1 is needed")
            if not abs(start) + spacing * float(count) < 1e12 * spacing:
                raise ValueError(f"spacing {spacing:.9g} m is lost in rounding at {AXES[axis]}={start:.9g} m")
        refuse_cell_count(self.cells, "use fewer or larger cells")
        return self

    def resolve(self, simulation: Meshed | None = None) -> YeeGrid:
        """The Yee grid with these cells; the simulation is not needed."""
        return YeeGrid(triple(_told_apart(axis, self._line(axis)) for axis in range(3)))

    def _line(self, axis: int) -> np.ndarray:
        spacing = self.spacing[axis]
        line = self.origin[axis] + spacing * np.arange(self.cells[axis] + 1)
        return np.where(np.abs(line) < 1e-9 * spacing, 0.0, line)  # the origin itself, whatever rounding says


class Grading(Schema):
    """Cells along an axis whose size is given at some places, and changes linearly between them.

    Sizes are scaled by one factor so that a whole number of cells, `cells` of them if given, fits between the ends.

    >>> import nearfield as nf
    >>> print(nf.Grading([0, "6 mm"], ["1 mm", "2 mm"], cells=4).lines().round(6))
    [0.       0.001135 0.002485 0.004091 0.006   ]
    """

    at: Lengths
    """Places (m), increasing, at least two: the first and the last are the ends of the axis."""
    size: Lengths
    """Size of the cells (m) at each of the places."""
    cells: Annotated[Whole, Field(ge=1)] | None = None
    """Number of cells; left out, the least of which none is larger than the given sizes."""

    @model_validator(mode="after")
    def _sizes_between_ends(self) -> Grading:
        if len(self.at) < 2 or len(self.at) != len(self.size):
            raise ValueError(f"{len(self.at)} places and {len(self.size)} sizes given; give at least two of both")
        for low, high in pairwise(self.at):
            if not low < high:
                raise ValueError(f"places must increase, but {high:.9g} m follows {low:.9g} m; sort them")
        if min(self.size) <= 0.0:
            raise ValueError(f"a size of {min(self.size):.9g} m given; sizes of cells must be positive")
        return self

    @property
    def _counts(self) -> list[float]:
        """Cells of these sizes between neighbouring places: the integral of 1/size."""
        return [
            (high - low) / first * _logarithm_over(last / first)
            for (low, high), (first, last) in zip(pairwise(self.at), pairwise(self.size))
        ]

    @property
    def count(self) -> int:
        """The number of cells."""
        return self.cells or math.ceil(sum(self._counts) - 1e-9)

    def lines(self) -> np.ndarray:
        """The grid lines (m): cells of linearly changing size grow by one ratio, x = low + h (exp(s n) - 1)/s."""
        counts = self._counts
        ends = np.concatenate(([0.0], np.cumsum(counts)))
        place = np.linspace(0.0, ends[-1], self.count + 1)
        part = np.clip(np.searchsorted(ends, place, side="right") - 1, 0, len(counts) - 1)
        low, size = np.asarray(self.at)[part], np.asarray(self.size)[part]
        slope = (np.diff(self.size) / np.diff(self.at))[part]
        here = place - ends[part]
        grown = np.where(slope == 0.0, here, np.expm1(slope * here) / np.where(slope == 0.0, 1.0, slope))
        line = low + size * grown
        line[-1] = self.at[-1]
        return np.where(np.abs(line) < 1e-9 * min(self.size), 0.0, line)  # the origin itself, whatever rounding says


def _logarithm_over(ratio: float) -> float:
    """ln(ratio)/(ratio - 1), good to rounding about a ratio of 1 too."""
    growth = ratio - 1.0
    if abs(growth) > 0.1:
        return math.log(ratio) / growth
    return math.log1p(growth) / growth if growth else 1.0


class GradedGrid(Schema):
    """A grid whose cells change their size along each axis: small where the model is fine, larger elsewhere.

    >>> import nearfield as nf
    >>> even = nf.Grading([0, "10 mm"], ["1 mm", "1 mm"])
    >>> fine_below = nf.Grading([0, "4 mm", "20 mm"], ["0.5 mm", "0.5 mm", "2 mm"])
    >>> nf.GradedGrid(even, even, fine_below).resolve().cells
    (10, 10, 23)
    """

    kind: Literal["graded"] = tag("graded")
    x: Grading
    """Cells along x."""
    y: Grading
    """Cells along y."""
    z: Grading
    """Cells along z."""

    @model_validator(mode="after")
    def _fits(self) -> GradedGrid:
        refuse_cell_count(tuple(grading.count for grading in (self.x, self.y, self.z)), "use larger cells")
        return self

    def resolve(self, simulation: Meshed | None = None) -> YeeGrid:
        """The Yee grid with these cells; the simulation is not needed."""
        return YeeGrid(triple(_told_apart(axis, each.lines()) for axis, each in enumerate((self.x, self.y, self.z))))


class FineCells(Schema):
    """A box in which an `AutoGrid` has smaller cells; they go on, along each axis, where it ends along the others.

    For fields that change faster than waves do: between plates closer than a cell, around gaps and feeds.
    Errors: `ModelError` for corners that are not in order.

    >>> import nearfield as nf
    >>> nf.FineCells((0, 0, 0), ("5 mm", "5 mm", "1 mm"), "0.1 mm").cell
    (0.0001, 0.0001, 0.0001)
    """

    lower: Position
    """Corner with the smallest coordinates (m)."""
    upper: Position
    """Opposite corner (m); equal along an axis that needs no smaller cells."""
    cell: Annotated[Read[Spacing], BeforeValidator(_three)]
    """Largest cell (m) in there: one length, or three along x, y, z."""

    @model_validator(mode="after")
    def _in_order(self) -> FineCells:
        for axis, low, high in zip(AXES, self.lower, self.upper):
            if low > high:
                raise ModelError(f"fine cells: lower {axis}={low:g} m lies above upper {axis}={high:g} m; swap them")
        return self


class AutoGrid(Schema):
    """A grid fitted to the model: fine enough for the shortest wavelength in each medium, lines on every edge.

    The space inside the CPML spans the structures, ports, sources and monitors, with `padding` at CPML faces; walls
    stand at the outermost of them. `lower` and `upper` set it instead. The CPML's cells are added outside. Faces of
    media and ends of wires less than half a cell from another line get none, nor do inner steps of a medium's Polygon
    or Layout: they act where they are without.
    Errors: `ModelError` for more than 1e10 cells, where nothing says how large the space is, and for a wavelength at
    `maximum_frequency` above 100,000 sizes of the model (8 for "8 GHz").

    >>> import nearfield as nf
    >>> grid = nf.AutoGrid(20, "3 GHz", lower=(0, 0, 0), upper=("50 mm", "50 mm", "50 mm"))
    """

    kind: Literal["auto"] = tag("auto")
    cells_per_wavelength: Annotated[PositiveNumber, Field(ge=3, le=1e4)] = 20.0
    """Cells per shortest wavelength in each medium, 3 to 10000."""
    maximum_frequency: PositiveFrequency  # type: ignore[misc]
    """Frequency (Hz) of that shortest wavelength; also the band of the default port waveform."""
    lower: Position | None = None
    """Lower corner (m) of the space inside the CPML; left out, from the model."""
    upper: Position | None = None
    """Upper corner (m) of the space inside the CPML; left out, from the model."""
    padding: Annotated[Read[Spacing | None], BeforeValidator(_three)] = None
    """Space (m) between model and CPML faces: one length or three; left out, half a wavelength in the background."""
    maximum_ratio: Annotated[PositiveNumber, Field(ge=1.1, le=10)] = 1.5
    """Largest ratio between neighbouring cells, 1.1 to 10."""
    thirds_rule: bool = True
    """End thin metal a third of a cell inside its true edges, where its singular field makes it look its true size."""
    minimum_cell: PositiveLength | None = None
    """Lines are not drawn closer than this (m); left out, a fiftieth of the finest wanted cell."""
    finer: tuple[FineCells, ...] = ()
    """Boxes with smaller cells."""

    def resolve(self, simulation: Meshed) -> YeeGrid:
        """The fitted grid, CPML included."""
        from nearfield.grid.meshing import fitted_grid

        return fitted_grid(self, simulation)


AnyGrid = Annotated[Grid | UniformGrid | GradedGrid | AutoGrid, Field(discriminator="kind")]
