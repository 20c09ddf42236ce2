"""A round post across a rectangular guide, exactly: an integral equation with spectral accuracy.

E along the post is incident TE10 plus the field of its current, by the guide's Green function in two dimensions, whose
sum over modes has the closed static part taken out (Collin, Field Theory of Guided Waves, ch. 5); the logarithm on the
circle is integrated by Kress's weights (Linear Integral Equations, ch. 12).
"""

import numpy as np

import nearfield as nf

LIGHT = 299792458.0
MODES = 400
WIDTH = 22.86e-3  # m


def post(width, middle, radius, frequency, half=24):
    """abs(S11) and abs(S21); lengths (m), `middle` from the side wall."""
    k, count = 2 * np.pi * frequency / LIGHT, 2 * half
    angle = np.arange(count) * np.pi / half
    x, z = middle + radius * np.cos(angle), radius * np.sin(angle)
    across = np.arange(1, MODES + 1) * np.pi / width
    along = np.sqrt((across**2 - k**2).astype(complex))
    apart, shape = np.abs(z[:, None] - z), np.sin(np.outer(x, across))
    smooth = sum(
        np.outer(s, s) * (np.exp(-g * apart) / g - np.exp(-q * apart) / q) / width
        for s, g, q in zip(shape.T, along, across)
    )
    turned, fall = angle[:, None] - angle, np.exp(-np.pi * apart / width)
    image = 1 - 2 * fall * np.cos(np.pi * (x[:, None] + x) / width) + fall**2
    own = 1 - 2 * fall * np.cos(np.pi * (x[:, None] - x) / width) + fall**2
    with np.errstate(invalid="ignore"):
        ratio = own / (4 * np.sin(turned / 2) ** 2)
    np.fill_diagonal(ratio, (np.pi * radius / width) ** 2)
    smooth = smooth + np.log(image / ratio) / (4 * np.pi)
    order = np.arange(1, half)[:, None, None]
    logarithm = -2 * np.pi / half * (np.cos(order * turned) / order).sum(0) - np.pi / half**2 * np.cos(half * turned)
    system = (smooth * np.pi / half - logarithm / (4 * np.pi)) * radius
    first = np.sin(np.pi * x / width)
    charge = np.linalg.solve(system, -first * np.exp(-along[0] * z)) * radius * np.pi / half / (width * along[0])
    back, ahead = (first * np.exp(way * along[0] * z) @ charge for way in (-1, 1))
    return abs(back), abs(1 + ahead)


def model(middle: float, along: float, diameter: float, cells: int = 20) -> nf.Simulation:
    """A post in a WR-90 guide along z, two twentieths of its width high; lengths in twentieths, `cells` across."""
    part = WIDTH / 20
    ends = [(middle * part, height * part, along * part) for height in (-1, 3)]
    return nf.Simulation(
        grid=nf.Grid.uniform(WIDTH / cells, (cells, cells // 10, cells * 5 // 2)),
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(10), z_high=nf.CPML(10)),
        structures=[nf.Structure(nf.Cylinder(*ends, diameter * part / 2), nf.PEC)],
        ports=[
            nf.WaveguidePort(name, (0, 0, at * part), (WIDTH, 2 * part, at * part), way, "TE10")
            for name, at, way in (("in", 14, "+z"), ("out", 36, "-z"))
        ],
        excitations=["in"],
        waveform=nf.ModulatedGaussian(10e9, 3e9),
        decay=1e-6,
    )


def off(simulation: nf.Simulation, middle: float, diameter: float, threads: int) -> float:
    """By how much abs(S11) or abs(S21) of a model is off at 10 GHz; lengths in twentieths of the width."""
    waves = np.abs(simulation.run(threads=threads).sparameters_at([10e9]).sel(source="in").values).ravel()
    return float(np.abs(waves - post(WIDTH, middle * WIDTH / 20, diameter * WIDTH / 40, 10e9)).max())
