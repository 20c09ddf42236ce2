"""Sums of decaying exponentials from evenly spaced samples, by the matrix pencil.

Y. Hua and T. K. Sarkar, IEEE Transactions on Acoustics, Speech, and Signal Processing 38 (1990) 814-824. Signals are
reduced to a band by a filter first: an exponential stays one, z^n -> H z^n with H known, so only samples are lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

STOP_BAND = 240.0  # dB: stopped frequencies fold back below rounding when samples are left out
BEYOND = 1.1  # half widths of a band's part within which a wave is reported, as errors leave its place open
ROUNDING = 1e-13  # error of the reduced signal relative to its largest sample
NOISE_MARGIN = 4.0  # singular values below so many times the noise's floor are noise, whose own spread is about 2
REFINEMENTS = 3  # steps of Gauss and Newton
STRAYING = np.pi  # rad over the signal, half of Fourier's resolution: roots of noise differ more between two pencils
CLEAR = 30.0  # errors of an amplitude from which on one pencil is enough
DEEPEST = 1e-11  # smallest amplitude relative to the whole signal's largest sample: below are leaks of the filter


@dataclass(frozen=True)
class Exponentials:
    """The sum over k of amplitude[k] exp(rate[k] t), t from the first sample."""

    rate: np.ndarray  # complex, 1/s
    amplitude: np.ndarray  # complex
    rate_error: np.ndarray  # one standard deviation of the real and of the imaginary part
    amplitude_error: np.ndarray


def low_pass(width: float, step: float) -> np.ndarray:
    """Taps of a Kaiser filter that passes below width/2 (Hz) and stops above 3 width/2, at samples `step` (s) apart."""
    beta = 0.1102 * (STOP_BAND - 8.7)
    count = int(np.ceil((STOP_BAND - 8.0) / (2.285 * 2 * np.pi * width * step))) + 1
    n = np.arange(count) - 0.5 * (count - 1)
    return 2 * width * step * np.sinc(2 * width * step * n) * np.kaiser(count, beta)


def reduced(samples: np.ndarray, step: float, centre: float, width: float) -> tuple[np.ndarray, int, np.ndarray]:
    """The signal about `centre` (Hz) in a band `width` (Hz) wide, shifted to 0: samples, their distance, the filter."""
    taps = low_pass(width, step)
    stride = max(1, int(0.5 / (width * step)))
    shifted = samples * np.exp(-2j * np.pi * centre * step * np.arange(samples.size))
    starts = range(0, samples.size - taps.size + 1, stride)
    return np.array([shifted[first : first + taps.size] @ taps for first in starts]), stride, taps


def exponentials_in(samples: np.ndarray, step: float, centre: float, width: float) -> Exponentials:
    """The exponentials in a band (Hz) about `centre`, `width` wide, and a little beyond."""
    small, stride, taps = reduced(samples, step, centre, width)
    delay = 0.5 * (taps.size - 1)  # the filter's, at whose middle a reduced sample lies
    excess = 1.0 / (stride * float(taps @ taps))  # of the noise's density in the band over that of all reduced samples
    smallest = DEEPEST * np.abs(samples).max(initial=0.0)
    shifted = exponentials(small, stride * step, smallest, delay / stride, excess)
    near = np.abs(shifted.rate.imag) < BEYOND * np.pi * width
    rate = shifted.rate[near]
    gain = np.exp(np.outer(rate, step * (np.arange(taps.size) - delay))) @ taps
    amplitude, error = shifted.amplitude[near] / gain, shifted.amplitude_error[near] / np.abs(gain)
    return Exponentials(rate + 2j * np.pi * centre, amplitude, shifted.rate_error[near], error)


def exponentials(
    samples: np.ndarray, step: float, smallest: float = 0.0, before: float = 0.0, excess: float = 1.0
) -> Exponentials:
    """The exponentials of amplitudes above `smallest` whose sum evenly spaced samples are, `step` (s) apart.

    Amplitudes are those `before` samples before the first. excess: of the noise's density where the exponentials are
    over its mean.

    Errors are from least squares, by the residual. Weak exponentials that a pencil of another size does not confirm are
    left out.
    """
    largest = np.abs(samples).max(initial=0.0)
    if samples.size < 8 or largest == 0:
        return Exponentials(*(np.zeros(0, kind) for kind in (complex, complex, float, float)))
    z, amplitude = refined(samples, roots(samples, samples.size // 2))
    other = roots(samples, samples.size // 3)
    amplitude = amplitude * np.exp(-before * np.log(z))
    variance = excess * residual_variance(samples, z, amplitude, before) + (ROUNDING * largest) ** 2
    jacobian, scale = slopes(samples.size, z, amplitude, before)
    spread = np.sqrt(variance * np.abs(np.diag(np.linalg.pinv(jacobian.conj().T @ jacobian)))) / scale
    apart = np.abs(np.log(z)[:, None] - np.log(other)[None, :]).min(axis=1, initial=np.inf)
    sure = (apart * samples.size < STRAYING) | (np.abs(amplitude) > CLEAR * spread[: z.size])
    sure &= np.abs(amplitude) > smallest
    root_error = spread[z.size :] / np.abs(z) / np.sqrt(2)
    return Exponentials(*(found[sure] for found in (np.log(z) / step, amplitude, root_error / step, spread[: z.size])))


def roots(samples: np.ndarray, pencil: int) -> np.ndarray:
    """The z of z^n, from the subspace that the signal's windows of length `pencil` span."""
    windows = np.lib.stride_tricks.sliding_window_view(samples, pencil + 1)
    _, singular, right = np.linalg.svd(windows, full_matrices=False)
    # noise fills the lower half; where signals do, it is only at the very end, where its own values are small
    floor = min(
        NOISE_MARGIN * np.median(singular[n:]) * factor
        for n, factor in ((singular.size // 2, 1.0), (9 * singular.size // 10, 15.0))
    )
    order = int(np.count_nonzero(singular > max(floor, ROUNDING * singular[0])))
    basis = right[: min(max(order, 1), singular.size - 1)].T
    z = np.linalg.eigvals(np.linalg.lstsq(basis[:-1], basis[1:], rcond=None)[0])
    return z[(np.abs(z) > 1e-3) & (np.abs(z) < 1e3 ** (1 / samples.size) * 1.05)]


def powers(count: int, z: np.ndarray, before: float = 0.0) -> np.ndarray:
    """z^(n + before), a column each."""
    return np.exp((before + np.arange(count))[:, None] * np.log(z)[None, :])


def slopes(count: int, z: np.ndarray, amplitude: np.ndarray, before: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of the sum by each amplitude, then by each z: columns of length 1, and their lengths (1 for zero)."""
    table = powers(count, z, before)
    jacobian = np.concatenate((table, amplitude / z * (before + np.arange(count))[:, None] * table), axis=1)
    scale = np.linalg.norm(jacobian, axis=0)
    scale[scale == 0] = 1.0
    return jacobian / scale, scale


def amplitudes(samples: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Amplitudes of z^n by least squares."""
    table = powers(samples.size, z)
    scale = np.linalg.norm(table, axis=0)
    return np.linalg.lstsq(table / scale, samples, rcond=None)[0] / scale


def residual_variance(samples: np.ndarray, z: np.ndarray, amplitude: np.ndarray, before: float = 0.0) -> float:
    """Mean square of the samples less the exponentials, per degree of freedom."""
    rest = samples - powers(samples.size, z, before) @ amplitude
    return float(np.vdot(rest, rest).real / max(samples.size - 2 * z.size, 1))


def refined(samples: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The z and amplitudes of least squares, by a few steps of Gauss and Newton while the residual falls."""
    amplitude = amplitudes(samples, z)
    best = residual_variance(samples, z, amplitude)
    for _ in range(REFINEMENTS if z.size else 0):
        jacobian, scale = slopes(samples.size, z, amplitude)
        rest = samples - powers(samples.size, z) @ amplitude
        change = np.linalg.lstsq(jacobian, rest, rcond=1e-13)[0] / scale
        moved = z + change[z.size :]
        if not np.isfinite(moved).all() or (np.abs(moved) > 1.1).any() or (moved == 0).any():
            break
        tried = amplitudes(samples, moved)
        now = residual_variance(samples, moved, tried)
        if not now < best:
            break
        z, amplitude, best = moved, tried, now
    return z, amplitude
