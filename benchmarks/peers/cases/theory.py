"""What is known of the tutorials' cases without a field solver: closed forms, Mie's series, tanks of a unit cell."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import spherical_jn, spherical_yn

LIGHT = 299792458.0


def guide_phase_constant(frequency: np.ndarray, width: float) -> np.ndarray:
    """beta (rad/m) of TE10 in an empty guide."""
    return np.sqrt((2 * np.pi * frequency / LIGHT) ** 2 - (np.pi / width) ** 2)


def sphere_cross_section(frequency: float, radius: float, angle: np.ndarray) -> np.ndarray:
    """Radar cross-section (m^2) of a metal sphere at angles (rad) from the wave's direction, in the plane across E.

    4 pi/k^2 abs(S1)^2 (Bohren and Huffman, chapter 4).
    """
    k = 2 * np.pi * frequency / LIGHT
    size = k * radius
    n = np.arange(1, int(size + 4 * size ** (1 / 3) + 12) + 1)
    bessel, slope = spherical_jn(n, size), spherical_jn(n, size, True)
    hankel, fall = bessel + 1j * spherical_yn(n, size), slope + 1j * spherical_yn(n, size, True)
    electric = (bessel + size * slope) / (hankel + size * fall)
    magnetic = bessel / hankel
    cosine = np.cos(angle)
    functions = [np.zeros_like(cosine), np.ones_like(cosine)]  # pi_0, pi_1, ...
    for order in n[1:]:
        functions.append(((2 * order - 1) * cosine * functions[-1] - order * functions[-2]) / (order - 1))
    wave = np.zeros(cosine.shape, dtype=complex)
    for order, a, b in zip(n, electric, magnetic):
        here, before = functions[order], functions[order - 1]
        turned = order * cosine * here - (order + 1) * before
        wave += (2 * order + 1) / (order * (order + 1)) * (a * here + b * turned)
    return 4 * np.pi / k**2 * np.abs(wave) ** 2


def microstrip(width: float, height: float, permittivity: float) -> tuple[float, float, float]:
    """(Impedance (ohm), effective permittivity, what an open end adds in length (m)) at low frequencies.

    Hammerstad and Jensen 1980 (0.2 %, 0.01 ohm); open end: Hammerstad 1981 (5 %).
    """
    u = width / height
    a = 1 + math.log((u**4 + (u / 52) ** 2) / (u**4 + 0.432)) / 49 + math.log(1 + (u / 18.1) ** 3) / 18.7
    b = 0.564 * ((permittivity - 0.9) / (permittivity + 3)) ** 0.053
    effective = 0.5 * (permittivity + 1) + 0.5 * (permittivity - 1) * (1 + 10 / u) ** (-a * b)
    f = 6 + (2 * math.pi - 6) * math.exp(-((30.666 / u) ** 0.7528))
    impedance = 59.9584916 * math.log(f / u + math.sqrt(1 + (2 / u) ** 2)) / math.sqrt(effective)
    extra = 0.412 * (effective + 0.3) * (u + 0.264) / ((effective - 0.258) * (u + 0.8))
    return impedance, effective, extra * height


def notch_bounds(width: float, height: float, permittivity: float, stub: float) -> tuple[float, float]:
    """Frequencies (Hz) at which a stub is a quarter wave long from the line's middle and from its near edge."""
    _, effective, extra = microstrip(width, height, permittivity)
    lengths = stub + extra + 0.5 * width, stub + extra
    return tuple(LIGHT / (4 * length * math.sqrt(effective)) for length in lengths)


def patch_resonance(length: float, width: float, height: float, permittivity: float) -> float:
    """Half a wave (Hz) of the line that a patch is, ends included."""
    _, effective, extra = microstrip(width, height, permittivity)
    return LIGHT / (2 * (length + 2 * extra) * math.sqrt(effective))


def tanks(frequency: np.ndarray, s11: np.ndarray, s21: np.ndarray, impedance: np.ndarray) -> dict[str, float]:
    """Series and shunt tank of a symmetric unit cell between lines of the given impedance (ohm).

    The cell is half its series impedance, its shunt admittance, the other half: A = 1 + Z Y/2 and C = Y of its chain
    matrix (Pozar, Microwave Engineering, 4th ed., table 4.2). Each tank resonates where its reactance crosses 0, and
    its slope there is twice the inductance, or the capacitance, that stands in it (Caloz and Itoh, chapter 3).
    """
    a = ((1 + s11) * (1 - s11) + s21**2) / (2 * s21)
    shunt = ((1 - s11) ** 2 - s21**2) / (2 * s21 * impedance)
    series = 2 * (a - 1) / shunt
    f_series, slope_series = zero(frequency, series.imag)
    f_shunt, slope_shunt = zero(frequency, shunt.imag)
    inductance, capacitance = (slope / (4 * np.pi) for slope in (slope_series, slope_shunt))
    return {
        "series_frequency": f_series,
        "shunt_frequency": f_shunt,
        "right_inductance": inductance,
        "left_capacitance": 1 / ((2 * np.pi * f_series) ** 2 * inductance),
        "right_capacitance": capacitance,
        "left_inductance": 1 / ((2 * np.pi * f_shunt) ** 2 * capacitance),
    }


def zero(frequency: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """(Frequency of the first rise through 0, slope there)."""
    at = int(np.nonzero((values[:-1] < 0) & (values[1:] >= 0))[0][0])
    slope = (values[at + 1] - values[at]) / (frequency[at + 1] - frequency[at])
    return float(frequency[at] - values[at] / slope), float(slope)
