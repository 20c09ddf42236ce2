"""The Touchstone version 1 text of a scattering matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

PAIRS_PER_LINE = 4  # the format's limit


def touchstone_text(frequencies: np.ndarray, matrix: np.ndarray, impedance: float, comments: Sequence[str] = ()) -> str:
    """S (frequency, to, source) over Hz as Touchstone 1: real and imaginary parts, one reference impedance (ohm).

    One port: a line each frequency. Two ports: one line, in the format's own order S11 S21 S12 S22. More: the matrix
    row by row, each row on lines of its own with at most four pairs, the frequency before the first.

    >>> import numpy as np
    >>> print(touchstone_text(np.array([1e9]), np.array([[[0.5 - 0.25j]]]), 50.0, ["port 1 = feed"]), end="")
    ! Nearfield, exp(+j w t)
    ! port 1 = feed
    # Hz S RI R 50
    1000000000 0.5 -0.25
    """
    lines = ["! Nearfield, exp(+j w t)", *(f"! {comment}" for comment in comments), f"# Hz S RI R {impedance:.10g}"]
    for frequency, values in zip(frequencies, matrix):
        ports = len(values)
        rows = [values.T.ravel()] if ports <= 2 else list(values)
        head = f"{frequency:.12g} "
        for row in rows:
            for start in range(0, len(row), PAIRS_PER_LINE):
                pairs = " ".join(f"{value.real:.9g} {value.imag:.9g}" for value in row[start : start + PAIRS_PER_LINE])
                lines.append(head + pairs)
                head = "  "
    return "\n".join(lines) + "\n"
