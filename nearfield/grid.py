"""The graded Cartesian Yee grid: where the six field components lie, and how long a time step may be.

Cells nx, ny, nz between grid lines x[0..nx], y[0..ny], z[0..nz]. Component numbers 0..5 = Ex Ey Ez Hx Hy Hz.
Ex lies at (i+1/2, j, k), Hx at (i, j+1/2, k+1/2); y and z follow by cyclic exchange.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, field_validator, model_validator

from nearfield.errors import ModelError
from nearfield.plan import VACUUM_SPEED
from nearfield.quantities import (
    Lengths,
    Position,
    PositiveFrequency,
    PositiveLength,
    PositiveNumber,
    Spacing,
    Whole,
    three,
)
from nearfield.schema import Schema

if TYPE_CHECKING:
    from nearfield.simulation import Simulation

AXES = "xyz"
MOST_CELLS = 10**10  # 300 GB of single-precision state; more is a slip of the pen
MOST_LINES = 10**6  # along one axis
SAMPLE_TOLERANCE = 1e-6  # cells; a point nearer to a sample than this is taken to be on it


def is_half(component: int, axis: int) -> bool:
    """Whether the component's samples lie midway between grid lines along the axis."""
    return (component % 3 == axis) == (component < 3)


@dataclass(frozen=True)
class YeeGrid:
    """Positions and lengths of the Yee grid between given grid lines.

    `lines` are three increasing arrays (m), n+1 values for n cells. Errors: `ModelError` for a point outside.

    >>> import nearfield as nf
    >>> grid = nf.Grid.uniform(1e-3, (4, 5, 6)).resolve()
    >>> grid.cells, grid.component_shape(0)
    ((4, 5, 6), (4, 6, 7))
    """

    lines: tuple[np.ndarray, np.ndarray, np.ndarray]

    @cached_property
    def cells(self) -> tuple[int, int, int]:
        """Number of cells along x, y, z."""
        return tuple(line.size - 1 for line in self.lines)

    def primary(self, axis: int) -> np.ndarray:
        """Cell lengths (m), n values; exactly constant where the lines are evenly spaced but for rounding."""
        return self._primary[axis]

    @cached_property
    def _primary(self) -> tuple[np.ndarray, ...]:
        return tuple(_lengths(line) for line in self.lines)

    def dual(self, axis: int) -> np.ndarray:
        """Distances between cell centres (m), n+1 values, one for each line; half a cell at the two walls."""
        padded = np.concatenate(([0.0], self.primary(axis), [0.0]))
        return 0.5 * (padded[1:] + padded[:-1])

    def centres(self, axis: int) -> np.ndarray:
        """Coordinates of the cell centres (m), n values."""
        return self._centres[axis]

    @cached_property
    def _centres(self) -> tuple[np.ndarray, ...]:
        return tuple(0.5 * (line[1:] + line[:-1]) for line in self.lines)

    def component_shape(self, component: int) -> tuple[int, int, int]:
        """Full shape of a component's array, samples on all walls included."""
        return tuple(n + (not is_half(component, axis)) for axis, n in enumerate(self.cells))

    def component_axes(self, component: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The x, y and z coordinates (m) of a component's samples."""
        return tuple(self.centres(a) if is_half(component, a) else self.lines[a] for a in range(3))

    def maximum_time_step(self, minimum_index: float = 1.0) -> float:
        """Longest stable time step (s) in media whose refractive index is nowhere below `minimum_index`.

        dt = n / (c sqrt(1/dx^2 + 1/dy^2 + 1/dz^2)), where dx^2 is the least product of two neighbouring cell
        lengths (or the square of an end cell): Gershgorin's bound of the one-dimensional difference operators, equal
        to the Courant limit on a uniform grid and safe on a graded one.
        """
        total = 0.0
        for axis in range(3):
            length = self.primary(axis)
            products = np.concatenate((length[:1] ** 2, length[1:] * length[:-1], length[-1:] ** 2))
            total += 1.0 / products.min()
        return minimum_index / (VACUUM_SPEED * total**0.5)

    def nearest_node(self, axis: int, coordinate: float) -> int:
        """Index of the grid line nearest to a coordinate."""
        line = self.lines[axis]
        above = int(np.clip(np.searchsorted(line, coordinate), 1, line.size - 1))
        return above - int(coordinate - line[above - 1] <= line[above] - coordinate)

    def contains(self, position: tuple[float, float, float]) -> bool:
        """Whether a point lies in the grid, walls included, with a millionth of a cell to spare."""
        for axis, coordinate in enumerate(position):
            line, length = self.lines[axis], self.primary(axis)
            low, high = line[0] - SAMPLE_TOLERANCE * length[0], line[-1] + SAMPLE_TOLERANCE * length[-1]
            if not low <= coordinate <= high:
                return False
        return True

    def interpolation(
        self, component: int, position: tuple[float, float, float], cubic: bool = False
    ) -> list[tuple[int, int, int, float]]:
        """Nearest samples (i, j, k, weight) of a component about a point: trilinear, exact on a sample.

        Up to eight entries whose weights sum to one. Past the outermost samples (half a cell from a wall) the last
        one stands. `cubic`: Lagrange's weights of four samples an axis instead, where there are four; the error falls
        from (k d)^2/8 to 3 (k d)^4/128 for waves of wave number k on samples d apart. Error: a point outside the grid.
        """
        if not self.contains(position):
            raise ModelError(f"position {tuple(position)} lies outside the grid, {self.extent_text()}; move it inside")
        along = _cubic if cubic else _linear
        axes = [along(samples, value) for samples, value in zip(self.component_axes(component), position)]
        return [(i, j, k, wi * wj * wk) for i, wi in axes[0] for j, wj in axes[1] for k, wk in axes[2]]

    def extent_text(self) -> str:
        """The grid's extent for messages: `x 0 to 0.01, y ... m`."""
        return ", ".join(f"{AXES[a]} {line[0]:.9g} to {line[-1]:.9g}" for a, line in enumerate(self.lines)) + " m"


def _lengths(line: np.ndarray) -> np.ndarray:
    length = np.diff(line)
    mean = (line[-1] - line[0]) / length.size
    # rounding of the coordinates must not make an evenly spaced grid look graded to the engine
    rounding = 4 * np.finfo(float).eps * np.abs(line[[0, -1]]).max()
    even = np.abs(length - mean).max() <= max(rounding, 1e-9 * mean)
    return np.full(length.size, mean) if even else length


def _linear(samples: np.ndarray, value: float) -> list[tuple[int, float]]:
    if samples.size == 1 or value <= samples[0]:
        return [(0, 1.0)]
    if value >= samples[-1]:
        return [(samples.size - 1, 1.0)]
    above = int(np.searchsorted(samples, value))
    part = float((value - samples[above - 1]) / (samples[above] - samples[above - 1]))
    if part < SAMPLE_TOLERANCE:
        return [(above - 1, 1.0)]
    if part > 1.0 - SAMPLE_TOLERANCE:
        return [(above, 1.0)]
    return [(above - 1, 1.0 - part), (above, part)]


def _cubic(samples: np.ndarray, value: float) -> list[tuple[int, float]]:
    nearest = _linear(samples, value)
    first = nearest[0][0] - 1
    if len(nearest) == 1 or first < 0 or first + 4 > samples.size:
        return nearest
    at = samples[first : first + 4]
    weights = [np.prod([(value - q) / (p - q) for q in at if q != p]) for p in at]
    return [(first + n, float(weight)) for n, weight in enumerate(weights)]


def refuse_cell_count(cells: tuple[int, ...], advice: str) -> None:
    """Stop a grid that no machine holds before any array of its size is made."""
    total = float(cells[0]) * float(cells[1]) * float(cells[2])
    text = " x ".join(f"{count:.12g}" for count in cells)
    if not total <= MOST_CELLS:
        limit = f"at most {MOST_CELLS:.0e} are allowed"
    elif max(cells) >= MOST_LINES:
        limit = f"fewer than {MOST_LINES:.0e} along one axis are allowed"
    else:
        return
    raise ModelError(f"the grid would have {text} = {total:.3g} cells, {limit}; {advice}")


class Grid(Schema):
    """A grid with every line given: each of x, y, z lists at least two increasing coordinates (m).

    The CPML, where there is one, takes its cells from the outermost ones.

    >>> import nearfield as nf
    >>> nf.Grid(x=[0, 1e-3, 3e-3], y=[0, 1e-3], z=["0 mm", "1 mm"]).resolve().cells
    (2, 1, 1)
    """

    kind: Literal["lines"] = "lines"
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

    def resolve(self, simulation: Simulation | None = None) -> YeeGrid:
        """The Yee grid between these lines; the simulation is not needed."""
        return YeeGrid(tuple(np.asarray(line, dtype=float) for line in (self.x, self.y, self.z)))


def _three(value: Any) -> Any:
    """One spacing stands for all three axes."""
    return three(value if isinstance(value, (list, tuple, np.ndarray)) else (value, value, value))


class UniformGrid(Schema):
    """A grid of `cells` equal cells: line i along an axis lies at origin + i spacing.

    >>> import nearfield as nf
    >>> nf.Grid.uniform("1 mm", (10, 10, 20)).resolve().cells
    (10, 10, 20)
    """

    kind: Literal["uniform"] = "uniform"
    spacing: Annotated[Spacing, BeforeValidator(_three)]
    """Cell length (m): one for all axes, or three."""
    cells: Annotated[tuple[Whole, Whole, Whole], BeforeValidator(three)]
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

    def resolve(self, simulation: Simulation | None = None) -> YeeGrid:
        """The Yee grid with these cells; the simulation is not needed."""
        return YeeGrid(tuple(self._line(axis) for axis in range(3)))

    def _line(self, axis: int) -> np.ndarray:
        spacing = self.spacing[axis]
        line = self.origin[axis] + spacing * np.arange(self.cells[axis] + 1)
        return np.where(np.abs(line) < 1e-9 * spacing, 0.0, line)  # the origin itself, whatever rounding says


def _padding(value: Any) -> Any:
    if value is None:
        return None
    return three(value if isinstance(value, (list, tuple, np.ndarray)) else (value, value, value))


class AutoGrid(Schema):
    """A grid fitted to the model: fine enough for the shortest wavelength in each medium, lines on every edge.

    The space inside the CPML spans the structures, ports, sources and monitors, with `padding` at CPML faces; walls
    stand at the outermost of them. `lower` and `upper` set it instead. The CPML's cells are added outside.
    Errors: `ModelError` for more than 1e10 cells, or where nothing says how large the space is.

    >>> import nearfield as nf
    >>> grid = nf.AutoGrid(20, "3 GHz", lower=(0, 0, 0), upper=("50 mm", "50 mm", "50 mm"))
    """

    kind: Literal["auto"] = "auto"
    cells_per_wavelength: Annotated[PositiveNumber, Field(ge=3, le=1e4)] = 20.0
    """Cells per shortest wavelength in each medium, 3 to 10000."""
    maximum_frequency: PositiveFrequency
    """Frequency (Hz) of that shortest wavelength; also the band of the default port waveform."""
    lower: Position | None = None
    """Lower corner (m) of the space inside the CPML; left out, from the model."""
    upper: Position | None = None
    """Upper corner (m) of the space inside the CPML; left out, from the model."""
    padding: Annotated[Spacing | None, BeforeValidator(_padding)] = None
    """Space (m) between model and CPML faces: one length or three; left out, half a wavelength in the background."""
    maximum_ratio: Annotated[PositiveNumber, Field(ge=1.1, le=10)] = 1.5
    """Largest ratio between neighbouring cells, 1.1 to 10."""
    thirds_rule: bool = True
    """End thin metal a third of a cell inside its true edges, where its singular field makes it look its true size."""
    minimum_cell: PositiveLength | None = None
    """Lines are not drawn closer than this (m); left out, a fiftieth of the finest wanted cell."""

    def resolve(self, simulation: Simulation) -> YeeGrid:
        """The fitted grid, CPML included."""
        from nearfield.meshing import fitted_grid

        return fitted_grid(self, simulation)


AnyGrid = Annotated[Grid | UniformGrid | AutoGrid, Field(discriminator="kind")]
