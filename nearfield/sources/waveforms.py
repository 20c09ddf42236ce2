"""Source signals: functions of time only. Each knows when it has ended and which band it fills.

All vanish before t = 0 and after `end`. A pulse begins and ends at 1e-8 of its peak, so that switching it adds
nothing to its spectrum that single precision could see.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import (
    FREQUENCY,
    TIME,
    Angle,
    NonNegativeTime,
    Number,
    PositiveFrequency,
    PositiveNumber,
    readings,
)
from nearfield.entry.schema import Schema, tag
from nearfield.sources.sampled import Samples

EDGE_WIDTH = math.sqrt(math.log(10.0)) / math.pi  # f width at which exp(-(pi f width)^2) = 0.1, -20 dB
NEGLIGIBLE_WIDTH = math.sqrt(math.log(1000.0)) / math.pi  # f width at which it is 0.001, -60 dB

NO_DIRECT_PART = 1e-8  # of the peak: as little as what a pulse leaves out at its ends


class Pulse(Schema):
    """A pulse: its value in time, the band it fills, its spectrum.

    s(t) = amplitude shape((t - centre)/width) for 0 <= t <= end = centre + reach width.
    """

    reach: ClassVar[float] = 4.3  # exp(-4.3^2) = 1e-8
    if TYPE_CHECKING:

        @property
        def amplitude(self) -> float: ...
        @property
        def delay(self) -> float | None: ...

    @property
    def width(self) -> float:
        """The pulse's characteristic time (s)."""
        raise NotImplementedError

    @property
    def band(self) -> tuple[float, float]:
        """Lowest and highest useful frequency (Hz): there the spectrum is 20 dB below its peak."""
        raise NotImplementedError

    @property
    def highest_frequency(self) -> float:
        """Above this frequency (Hz) the spectrum is more than 60 dB below its peak."""
        raise NotImplementedError

    def _shape(self, x: np.ndarray) -> np.ndarray:
        """The pulse of unit peak at x = (t - centre)/width."""
        raise NotImplementedError

    @property
    def centre(self) -> float:
        """Time of the pulse's centre (s)."""
        return self.reach * self.width if self.delay is None else self.delay

    @property
    def end(self) -> float:
        """From this time on (s) the source is off."""
        return self.centre + self.reach * self.width

    def value(self, t: np.ndarray) -> np.ndarray:
        """The signal at the times t (s); zero before 0 and after `end`."""
        t = readings(TIME, t, "t")
        alive = (t >= 0.0) & (t <= self.end)
        inside = np.where(alive, (t - self.centre) / self.width, 0.0)
        return np.where(alive, self.amplitude * self._shape(inside), 0.0)

    def spectrum(self, frequencies: np.ndarray) -> np.ndarray:
        """The signal's Fourier integral, integral s(t) exp(-j 2 pi f t) dt: complex, in seconds times its unit."""
        from nearfield.analysis.spectra import fourier_integral

        frequencies = readings(FREQUENCY, frequencies, "frequencies")
        step = 1.0 / (6.0 * float(np.max(frequencies, initial=self.highest_frequency)))  # no alias above -200 dB
        t = step * np.arange(int(self.end / step) + 2)
        return fourier_integral(t, self.value(t), frequencies)


class Gaussian(Pulse):
    """A Gaussian pulse that fills the band from 0 to `maximum_frequency`.

    s(t) = amplitude exp(-((t - delay)/width)^2), width = sqrt(ln 10)/(pi maximum_frequency): its spectrum is 20 dB
    below its peak at maximum_frequency and 60 dB below at 1.73 times that. It holds a direct component: a current
    that follows it leaves a static charge behind, for which `GaussianDerivative` is the cure.

    >>> import nearfield as nf
    >>> round(nf.Gaussian("20 GHz").end * 1e12)  # ps
    208
    """

    kind: Literal["gaussian"] = tag("gaussian")
    maximum_frequency: PositiveFrequency
    """Upper edge of the useful band (Hz): the spectrum is 20 dB below its peak."""
    amplitude: Number = 1.0
    """Peak value; a factor on the source's own strength (volts at a port)."""
    delay: NonNegativeTime | None = None
    """Time of the peak (s); left out, 4.3 widths."""

    @property
    def width(self) -> float:
        return EDGE_WIDTH / self.maximum_frequency

    @property
    def band(self) -> tuple[float, float]:
        return 0.0, self.maximum_frequency

    @property
    def highest_frequency(self) -> float:
        return NEGLIGIBLE_WIDTH / self.width

    def _shape(self, x: np.ndarray) -> np.ndarray:
        return np.exp(-(x**2))


class Peaked(Pulse):
    """A pulse whose spectrum peaks at `frequency`; its width in time is 1/(rate frequency)."""

    rate: ClassVar[float]
    edges: ClassVar[tuple[float, float]]  # of the band, over `frequency`: x at which the spectrum is 0.1 of its peak
    negligible: ClassVar[float]  # x at which it is 0.001 of its peak
    kind: str = tag("")
    frequency: PositiveFrequency
    """Frequency of the spectrum's peak (Hz)."""
    amplitude: Number = 1.0
    """Peak value; a factor on the source's own strength (volts at a port)."""
    delay: NonNegativeTime | None = None
    """Time of the peak (s); left out, `reach` widths."""

    @property
    def width(self) -> float:
        return 1.0 / (self.rate * self.frequency)

    @property
    def band(self) -> tuple[float, float]:
        return self.frequency * self.edges[0], self.frequency * self.edges[1]

    @property
    def maximum_frequency(self) -> float:
        """Upper edge of the useful band (Hz)."""
        return self.band[1]

    @property
    def highest_frequency(self) -> float:
        return self.frequency * self.negligible


class GaussianDerivative(Peaked):
    """The derivative of a Gaussian: its spectrum f exp(-f^2/(2 frequency^2)) peaks at `frequency` and is zero at 0.

    s(t) = -amplitude x exp((1 - x^2)/2), x = 2 pi frequency (t - delay): first positive, then negative. Useful from
    0.061 to 2.76 times the peak frequency (20 dB down).

    >>> import nearfield as nf
    >>> round(nf.GaussianDerivative("9.42 GHz").maximum_frequency / 1e9, 1)
    26.0
    """

    reach: ClassVar[float] = 6.5  # 6.5 exp((1 - 6.5^2)/2) = 7e-9
    rate: ClassVar[float] = 2.0 * math.pi
    edges: ClassVar[tuple[float, float]] = (0.06076515, 2.76375688)  # of x exp((1 - x^2)/2)
    negligible: ClassVar[float] = 4.20576043
    kind: Literal["gaussian-derivative"] = tag("gaussian-derivative")
    delay: NonNegativeTime | None = None
    """Time of the zero crossing (s); left out, 6.5/(2 pi frequency)."""

    def _shape(self, x: np.ndarray) -> np.ndarray:
        return -x * np.exp(0.5 * (1.0 - x**2))


class Ricker(Peaked):
    """The Ricker wavelet: its spectrum f^2 exp(-f^2/frequency^2) peaks at `frequency` and is zero at 0.

    s(t) = amplitude (1 - 2 x^2) exp(-x^2), x = pi frequency (t - delay), the second derivative of a Gaussian. Useful
    from 0.196 to 2.21 times the peak frequency (20 dB down).

    >>> import nearfield as nf
    >>> round(nf.Ricker("1 GHz").maximum_frequency / 1e9, 1)
    2.2
    """

    reach: ClassVar[float] = 4.8  # 2 4.8^2 exp(-4.8^2) = 5e-9
    rate: ClassVar[float] = math.pi
    edges: ClassVar[tuple[float, float]] = (0.19550254, 2.21127117)  # of x^2 exp(1 - x^2)
    negligible: ClassVar[float] = 3.19897069
    kind: Literal["ricker"] = tag("ricker")
    delay: NonNegativeTime | None = None
    """Time of the peak (s); left out, 4.8/(pi frequency)."""

    def _shape(self, x: np.ndarray) -> np.ndarray:
        return (1.0 - 2.0 * x**2) * np.exp(-(x**2))


class ModulatedGaussian(Pulse):
    """A carrier under a Gaussian, filling `bandwidth` about `frequency`.

    s(t) = amplitude exp(-((t - delay)/width)^2) cos(2 pi frequency (t - delay)); its spectrum is 20 dB below its peak
    at frequency - bandwidth/2 and frequency + bandwidth/2. A bandwidth above 0.7 of the carrier would leave a direct
    part of more than 1e-8, which a current leaves as charge: it is taken off, (cos(...) - d)/(1 - d) in place of the
    cosine with d = 10^-(2 frequency/bandwidth)^2, at most 0.1 of the peak, 0.17 % at 1.2 times the carrier.

    >>> import nearfield as nf
    >>> nf.ModulatedGaussian("10 GHz", "4 GHz").band
    (8000000000.0, 12000000000.0)
    """

    kind: Literal["modulated-gaussian"] = tag("modulated-gaussian")
    frequency: PositiveFrequency
    """Carrier, the centre of the band (Hz)."""
    bandwidth: PositiveFrequency
    """Full width of the useful band (Hz), at most twice the carrier."""
    amplitude: Number = 1.0
    """Peak value; a factor on the source's own strength (volts at a port)."""
    delay: NonNegativeTime | None = None
    """Time of the peak (s); left out, 4.3 widths."""

    @model_validator(mode="after")
    def _above_zero(self) -> ModulatedGaussian:
        if self.bandwidth > 2.0 * self.frequency:
            raise ValueError(
                f"bandwidth {self.bandwidth:.6g} Hz reaches below zero frequency about {self.frequency:.6g} Hz; "
                f"allowed: at most {2 * self.frequency:.6g} Hz. For a band from 0 use a Gaussian"
            )
        return self

    @property
    def width(self) -> float:
        return EDGE_WIDTH / (0.5 * self.bandwidth)

    @property
    def band(self) -> tuple[float, float]:
        return self.frequency - 0.5 * self.bandwidth, self.frequency + 0.5 * self.bandwidth

    @property
    def maximum_frequency(self) -> float:
        """Upper edge of the useful band (Hz)."""
        return self.band[1]

    @property
    def highest_frequency(self) -> float:
        return self.frequency + NEGLIGIBLE_WIDTH / self.width

    @property
    def _direct(self) -> float:
        """Height, over the peak, of the Gaussian that holds the carrier's direct part; 0 where it is negligible."""
        direct = 10.0 ** -((2.0 * self.frequency / self.bandwidth) ** 2)
        return direct if direct > NO_DIRECT_PART else 0.0

    def _shape(self, x: np.ndarray) -> np.ndarray:
        carrier = np.cos(2.0 * math.pi * self.frequency * self.width * x)
        if direct := self._direct:
            carrier = (carrier - direct) / (1.0 - direct)
        return np.exp(-(x**2)) * carrier


class ContinuousWave(Schema):
    """A carrier that rises smoothly and never ends.

    s(t) = amplitude ramp(t) cos(2 pi frequency t + phase); the ramp is half a raised cosine, `ramp_cycles` periods
    long. After it the phasor is amplitude exp(j phase). `end` is infinite, so the run needs `steps` or `duration`.

    >>> import nearfield as nf
    >>> nf.ContinuousWave("1 GHz").end
    inf
    """

    kind: Literal["continuous-wave"] = tag("continuous-wave")
    frequency: PositiveFrequency
    """Carrier (Hz)."""
    ramp_cycles: PositiveNumber = 5.0
    """Length of the rise in periods."""
    phase: Angle = 0.0
    """Phase of the steady state (rad)."""
    amplitude: Number = 1.0
    """Amplitude of the steady state; a factor on the source's own strength (volts at a port)."""

    @property
    def end(self) -> float:
        """Infinity: it never ends."""
        return math.inf

    @property
    def band(self) -> tuple[float, float]:
        """The carrier, as lowest and highest useful frequency (Hz)."""
        return self.frequency, self.frequency

    @property
    def maximum_frequency(self) -> float:
        """The carrier (Hz)."""
        return self.frequency

    @property
    def highest_frequency(self) -> float:
        """Above this frequency (Hz) the transient of the ramp, once past, is negligible."""
        return self.frequency * (1.0 + 3.0 / self.ramp_cycles)

    def spectrum(self, frequencies: np.ndarray) -> np.ndarray:
        """None: ModelError says what to ask for."""
        raise ModelError(
            "a ContinuousWave never ends, so it has no spectrum; after its ramp its phasor is amplitude exp(j phase). "
            "For a spectrum give a pulse, such as ModulatedGaussian"
        )

    @property
    def sum_after_ramp(self) -> float:
        """Mean of the signal's integral after the ramp over the amplitude of its swing, amplitude/(2 pi frequency).

        abs(sin(phase + pi n) cos(pi n)/(1 - 4 n^2)) after n cycles: 0 at phase 0 and whole n.
        """
        n = self.ramp_cycles
        ramp = 0.25 * math.pi * (np.sinc(n - 0.5) + np.sinc(n + 0.5))  # cos(pi n)/(1 - 4 n^2), at n = 1/2 too
        return float(abs(math.sin(self.phase + math.pi * n) * ramp))

    def value(self, t: np.ndarray) -> np.ndarray:
        """The signal at the times t (s); zero before 0."""
        t = readings(TIME, t, "t")
        ramp = 0.5 - 0.5 * np.cos(math.pi * np.clip(t * self.frequency / self.ramp_cycles, 0.0, 1.0))
        return self.amplitude * ramp * np.cos(2.0 * math.pi * self.frequency * t + self.phase)


AnyWaveform = Annotated[
    Gaussian | GaussianDerivative | ModulatedGaussian | Ricker | ContinuousWave | Samples, Field(discriminator="kind")
]
