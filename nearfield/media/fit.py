"""Media from tables: passive poles near a measured permittivity or refractive index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry import toml_text
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.entry.masked import unmasked
from nearfield.entry.messages import shown
from nearfield.entry.quantities import FREQUENCY, LENGTH, Dimension, Quantity
from nearfield.media.materials import Medium
from nearfield.media.poles import Debye, Drude, Lorentz
from nearfield.media.search import Problem, search

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("debye", "drude", "lorentz")
DEFAULT_POLES = 4
MOST_POLES = 12  # poles of one fit; more do not come nearer to anything measured
MOST_ROWS = 2000
TWO_PI = 2 * np.pi


@dataclass(frozen=True)
class MediumFit:
    """A medium near a table: `medium`, and how far from the table it is.

    `frequencies` (Hz, m), `table` and `fitted` (complex relative permittivity, exp(+j w t), m); `rms_error` and
    `largest_error` of abs(fitted - table)/abs(table), the latter at `largest_error_at` (Hz).
    """

    medium: Medium
    frequencies: np.ndarray
    table: np.ndarray

    @property
    def fitted(self) -> np.ndarray:
        """Relative permittivity of the medium at the table's frequencies."""
        return self.medium.relative_permittivity(self.frequencies)

    @property
    def deviation(self) -> np.ndarray:
        """abs(fitted - table)/abs(table), m."""
        return np.abs(self.fitted - self.table) / np.abs(self.table)

    @property
    def rms_error(self) -> float:
        """Root mean square of the relative deviation."""
        return float(np.sqrt(np.mean(self.deviation**2)))

    @property
    def largest_error(self) -> float:
        """Largest relative deviation."""
        return float(self.deviation.max())

    @property
    def largest_error_at(self) -> float:
        """Where it is (Hz)."""
        return float(self.frequencies[np.argmax(self.deviation)])

    def to_toml(self, name: str = "fitted") -> str:
        """The medium as an entry `[media.NAME]` of a model file."""
        return toml_text.table(f"[media.{toml_text.key(name)}]", toml_text.plain(self.medium)) + "\n"

    def plot(self, path: str | Path | None = None) -> Figure:
        """Table and medium over frequency, with the deviation; written to a .png or .svg where a path is given."""
        from nearfield.pictures.media import fit_figure, save

        figure = fit_figure(self)
        if path is not None:
            save(figure, Path(path))
        return figure


def fit_medium(
    frequency: Any = None,
    *,
    wavelength: Any = None,
    n: Any = None,
    k: Any = None,
    permittivity: Any = None,
    poles: int | None = None,
    error: float | None = None,
    kinds: Sequence[str] = KINDS,
    conductivity: bool = True,
    infinity: tuple[float, float] = (1.0, 1e9),
    loss_weight: float = 1.0,
    name: str | None = None,
) -> MediumFit:
    """A medium of few poles near a table, passive at every frequency: each pole is, and so is their sum.

    frequency (Hz) or wavelength (m, in vacuum), m of them, with n (and k, zero where left out) or the complex relative
    permittivity, m; its imaginary part may have either sign, but the same throughout. poles: how many (4 where neither
    is given); error: stop adding them when the root mean square of the relative deviation is below. kinds: of "debye",
    "drude", "lorentz". conductivity: whether a constant one may help. infinity: allowed range of the permittivity far
    above all poles; from 1 on, the time step of the vacuum does. loss_weight: how many times more a deviation of the
    imaginary part counts, for good dielectrics. Error: ModelError for a table that no passive medium can have.

    >>> import nearfield as nf
    >>> measured = [78.1 - 3.8j, 73.6 - 17.6j, 62.8 - 29.9j, 41.4 - 36.7j]
    >>> water = nf.fit_medium([1e9, 5e9, 10e9, 20e9], permittivity=measured, poles=1, name="water")
    >>> f"{water.medium.poles[0].relaxation_time * 1e12:.1f} ps, {100 * water.rms_error:.1f} %"
    '8.1 ps, 0.5 %'
    """
    axis, table = table_of(frequency, wavelength, n, k, permittivity)
    count = wanted(poles, error, axis.size)
    given: Any = kinds  # a name alone, too, and whatever else
    chosen: tuple[Any, ...] = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if not chosen or not all(isinstance(kind, str) and kind in KINDS for kind in chosen):
        raise ModelError(f"kinds: given {list(chosen)!r}; allowed: some of {', '.join(KINDS)}")
    weight = number("loss_weight", loss_weight)
    if not weight > 0.0:
        raise ModelError(f"loss_weight: given {loss_weight}; needs a number above 0")
    problem = Problem(TWO_PI * axis, table, weight, limits(infinity), bool(conductivity), chosen)
    found = search(problem, count, error)
    medium = Medium(
        permittivity=found.infinity,
        conductivity=found.conductivity,
        name=name,
        poles=tuple(pole_of(each, x) for each, x in zip(found.poles.tolist(), found.strengths.tolist()) if x > 0),
        valid_band=(float(axis[0]), float(axis[-1])),
    )
    return MediumFit(medium, axis, table)


def pole_of(row: tuple[str, float, float], strength: float) -> Debye | Drude | Lorentz:
    """The pole of a row of `POLE` as a medium has it."""
    kind, rate, damping = row
    if kind == "debye":
        return Debye(strength=strength, relaxation_time=1.0 / rate)
    if kind == "drude":
        return Drude(plasma_frequency=np.sqrt(strength).item() * rate / TWO_PI, collision_frequency=rate)
    return Lorentz(strength=strength, resonance_frequency=rate / TWO_PI, damping=0.5 * damping * rate)


def limits(infinity: Any) -> tuple[float, float]:
    """The range of the permittivity above all poles."""
    values = numbers("infinity", infinity, wanted="two finite numbers from 0.01 on, lower first")
    if values.size != 2 or np.iscomplexobj(values) or not 1e-2 <= values[0] <= values[1]:
        raise ModelError(f"infinity: given {shown(infinity)}; needs two numbers from 0.01 on, lower first")
    return float(values[0]), float(values[1])


def number(name: str, given: Any) -> float:
    """One finite number."""
    values = numbers(name, given, wanted="one finite number")
    if values.size != 1 or np.iscomplexobj(values):
        raise ModelError(f"{name}: given {shown(given)}; needs one number")
    return float(values[0])


def wanted(poles: int | None, error: float | None, rows: int) -> int:
    """Largest number of poles."""
    if error is not None and not 0.0 < number("error", error) < 1.0:
        raise ModelError(f"error: given {error}; needs a part of 1, such as 0.01 for one percent")
    if poles is None:
        most = MOST_POLES if error is not None else DEFAULT_POLES
        return min(most, max(1, (2 * rows - 2) // 3))
    if isinstance(poles, (bool, str)) or number("poles", poles) not in range(MOST_POLES + 1):
        raise ModelError(f"poles: given {shown(poles)}; allowed: 0 to {MOST_POLES}")
    if 3 * poles + 2 > 2 * rows:
        raise ModelError(
            f"poles: {poles} have up to {3 * poles + 2} unknown numbers, but the table holds only {2 * rows}; give "
            "fewer poles or more rows"
        )
    return int(poles)


def table_of(frequency: Any, wavelength: Any, n: Any, k: Any, permittivity: Any) -> tuple[np.ndarray, np.ndarray]:
    """Increasing frequencies (Hz) and complex permittivity, exp(+j w t)."""
    if (frequency is None) == (wavelength is None):
        raise ModelError("fit_medium() needs either `frequency` (Hz) or `wavelength` (m), and not both")
    if (n is None) == (permittivity is None) or (k is not None and n is None):
        raise ModelError("fit_medium() needs either `n` (and `k` with losses) or a complex `permittivity`")
    name, given, dimension = (
        ("frequency", frequency, FREQUENCY) if wavelength is None else ("wavelength", wavelength, LENGTH)
    )
    axis = numbers(name, given, dimension)
    if np.iscomplexobj(axis) or (axis <= 0).any():
        raise ModelError(f"{name}: {axis.real.min():.6g} is not above 0; leave that row out")
    axis = axis if wavelength is None else VACUUM_SPEED / axis
    if permittivity is not None:
        values = one_sign(numbers("permittivity", permittivity))
    else:
        index, loss = numbers("n", n), numbers("k", 0.0 * axis if k is None else k)
        if index.size != loss.size:
            raise ModelError(f"n has {index.size} values and k {loss.size}; give as many of each")
        if (index.real < 0).any() or (loss.real < 0).any() or np.iscomplexobj(index) or np.iscomplexobj(loss):
            raise ModelError("n and k must be real and not below 0; a passive medium has n >= 0 and k >= 0")
        values = (index - 1j * loss) ** 2
    if values.size != axis.size:
        raise ModelError(f"{axis.size} frequencies and {values.size} values given; give as many of each")
    if not 2 <= axis.size <= MOST_ROWS:
        raise ModelError(f"the table has {axis.size} rows; allowed: 2 to {MOST_ROWS}")
    order = np.argsort(axis)
    axis, values = axis[order], values[order]
    if (np.diff(axis) <= 1e-12 * axis[1:]).any():
        twice = axis[1:][np.diff(axis) <= 1e-12 * axis[1:]][0]
        raise ModelError(f"the frequency {twice:.9g} Hz stands in the table twice; keep one row of it")
    if (np.abs(values) < 1e-12).any():
        raise ModelError("a permittivity of 0 has no relative deviation; leave that row out")
    return axis, values


def one_sign(values: np.ndarray) -> np.ndarray:
    """Permittivity with losses below 0, as exp(+j w t) has them; tables with the other sign are turned over."""
    values = values.astype(complex)
    if (values.imag > 0).any() and (values.imag < 0).any():
        raise ModelError(
            "permittivity: the imaginary part is above 0 at some frequencies and below at others; a passive medium "
            "only absorbs, so it must have one sign throughout"
        )
    return values.real - 1j * np.abs(values.imag)


def numbers(name: str, given: Any, dimension: Dimension | None = None, wanted: str = "") -> np.ndarray:
    """A row of finite numbers, text with units where there is a dimension; `wanted` says what is no column."""
    unmasked(name, given)
    try:
        entries = list(np.atleast_1d(given)) if not isinstance(given, (list, tuple)) else list(given)
        if dimension is not None and any(isinstance(entry, str) for entry in entries):
            entries = [Quantity(dimension).read(str(e) if isinstance(e, str) else e) for e in entries]
        values = np.asarray(entries, dtype=complex)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{name}: {error}; needs a list of numbers") from None
    finite = np.isfinite(values)
    if wanted and not (values.ndim == 1 and finite.all()):
        raise ModelError(f"{name}: given {shown(given)}; needs {wanted}")
    if values.ndim != 1:
        raise ModelError(f"{name}: needs a list of finite numbers, one for each row of the table")
    if not finite.all():
        at = int(np.argmin(finite))
        raise ModelError(f"{name}: row {at + 1} of the table holds {entries[at]}; give finite numbers, or leave it out")
    return values if values.imag.any() else values.real
