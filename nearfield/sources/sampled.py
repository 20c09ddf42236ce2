"""A source signal given by its samples, in lists or in a text file."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, model_validator

from nearfield.entry.quantities import FREQUENCY, TIME, FileName, Number, Read, Times, readings, several
from nearfield.entry.schema import Schema, tag

BAND_EDGE = 0.1  # amplitude at the edges of the useful band, relative to the spectrum's peak: -20 dB
NEGLIGIBLE = 1e-3  # -60 dB
LARGEST_SAMPLE = 1e30  # fields in single precision hold 3.4e38


def read_samples(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Times and values from a text file: two columns parted by blanks or commas; `#` opens a comment."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device might never end
            raise ValueError(f"file {str(path)!r} is not an ordinary file; give a text file")
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"file {str(path)!r} cannot be read ({error.strerror}); give a readable text file") from None
    except UnicodeDecodeError:
        lines = ["not text"]
    rows = [line.split("#")[0].replace(",", " ").split() for line in lines]
    try:
        table = np.array([[float(item) for item in row] for row in rows if row])
    except ValueError:
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] != 2:
        raise ValueError(f"file {str(path)!r} must hold two columns of numbers, time (s) and value; nothing else")
    return table[:, 0], table[:, 1]


class Samples(Schema):
    """A signal through given points (time, value), linear in between, zero before the first and after the last.

    Give `times` and `values`, or `file`, a text file of two columns: time (s) and value. The band is taken from the
    signal's own spectrum.

    >>> import nearfield as nf
    >>> float(nf.Samples(times=[0, 1, 2], values=[0, 1, 0]).value(0.5))
    0.5
    """

    kind: Literal["samples"] = tag("samples")
    times: Times | None = None
    """Increasing times (s), the first not below 0."""
    values: Annotated[Read[tuple[Number, ...]], BeforeValidator(several)] | None = None
    """The signal at these times; a factor on the source's own strength (volts at a port)."""
    file: FileName | None = None
    """Text file of two columns, time (s) and value, in place of the two lists."""

    @model_validator(mode="after")
    def _usable(self) -> Samples:
        lists = (self.times is not None) + (self.values is not None)
        if lists != (2 if self.file is None else 0):
            raise ValueError("needs either both `times` and `values`, or `file` alone")
        times, values = self.table
        if times.size != values.size or times.size < 2:
            raise ValueError(f"{times.size} times and {values.size} values given; needs as many of each, at least 2")
        if not (np.isfinite(times).all() and np.isfinite(values).all() and (np.diff(times) > 0).all()):
            raise ValueError("times must increase and all numbers must be finite; sort and clean the samples")
        if abs(values).max() > LARGEST_SAMPLE:
            raise ValueError(
                f"the largest value is {abs(values).max():.3g}, and no field may exceed 1e38; give at most "
                f"{LARGEST_SAMPLE:g}, in the unit of the source's strength"
            )
        if times[0] < 0.0:
            raise ValueError(f"the first time is {times[0]:.6g} s, but a run begins at 0; shift the samples")
        if not values.any():
            raise ValueError("all values are zero, so the source would do nothing; give a signal or remove the source")
        return self

    @cached_property
    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """Times (s) and values, whichever way they were given."""
        if self.file is not None:
            return read_samples(Path(self.file))
        return np.asarray(self.times, dtype=float), np.asarray(self.values, dtype=float)

    @property
    def end(self) -> float:
        """Time (s) of the first zero after the signal, or of the last sample; from then on the source is off."""
        times, values = self.table
        return float(times[: np.flatnonzero(values)[-1] + 2][-1])

    def value(self, t: np.ndarray) -> np.ndarray:
        """The signal at the times t (s)."""
        times, values = self.table
        return np.interp(readings(TIME, t, "t"), times, values, left=0.0, right=0.0)

    def spectrum(self, frequencies: np.ndarray) -> np.ndarray:
        """The signal's Fourier integral, integral s(t) exp(-j 2 pi f t) dt: complex, in seconds times its unit.

        The trapezoidal rule between the samples, each interval cut so that none exceeds a 20th of the period.
        """
        from nearfield.analysis.spectra import fourier_integral

        frequencies = readings(FREQUENCY, frequencies, "frequencies")
        times, _ = self.table
        wanted = 20.0 * float(np.max(frequencies, initial=0.0))
        parts = np.minimum(np.ceil(np.diff(times) * wanted), 10_000).astype(int).clip(1)
        fine = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(times[:-1], times[1:], parts)]
        t = np.concatenate((*fine, times[-1:]))
        return fourier_integral(t, self.value(t), frequencies)

    @cached_property
    def _levels(self) -> tuple[np.ndarray, np.ndarray]:
        """Frequencies (Hz) and the spectrum's level relative to its peak."""
        times, values = self.table
        alive = np.flatnonzero(values)
        times = times[max(alive[0] - 1, 0) : alive[-1] + 2]  # from the last zero before the signal to the next after it
        finest = (times[-1] - times[0]) / float(np.diff(times).min())
        count = 1 << int(np.clip(np.ceil(np.log2(4.0 * finest)), 12, 18))
        t = np.linspace(times[0], times[-1], count)
        level = np.abs(np.fft.rfft(self.value(t), 16 * count))  # padded: a 16th of 1/length apart
        return np.fft.rfftfreq(16 * count, t[1] - t[0]), level / max(level.max(), np.finfo(float).tiny)

    @property
    def band(self) -> tuple[float, float]:
        """Lowest and highest useful frequency (Hz): outside, the spectrum is 20 dB below its peak or less."""
        frequencies, level = self._levels
        useful = frequencies[level >= BAND_EDGE]
        return float(useful[0]), float(useful[-1])

    @property
    def maximum_frequency(self) -> float:
        """Upper edge of the useful band (Hz)."""
        return self.band[1]

    @property
    def highest_frequency(self) -> float:
        """Above this frequency (Hz) the spectrum is more than 60 dB below its peak."""
        frequencies, level = self._levels
        return float(frequencies[level >= NEGLIGIBLE][-1])
