"""Open lines along y with ports at both ends, for tests."""

import numpy as np

import nearfield as nf

MM = 1e-3
LAYER = 8  # cells of the CPML


def outward(first: float, cell: float, room: float, growth: float = 1.3, largest: float = 1.0 * MM) -> np.ndarray:
    """Lines from `first` on over `room` in growing cells, and those of a CPML behind."""
    lines = [first]
    while lines[-1] < first + room:
        cell = min(cell * growth, largest)
        lines.append(lines[-1] + cell)
    return np.concatenate((lines, lines[-1] + cell * np.arange(1, LAYER + 1)))


def line(
    strips=((-1.0, 1.0),),
    cells=0.5,
    height=1.0,
    layers=2,
    room=6.0,
    length=36,
    modes=1,
    shielded=False,
    growth=1.3,
    **more,
) -> nf.Simulation:
    """Strips from a to b (mm) on a board of eps_r 2.2 over a ground, or `shielded` midway between two, ports 11 cells
    from both ends, their rectangle as wide as the grid without its CPML."""
    medium = more.pop("medium", nf.Medium(2.2))
    low, high = min(a for a, _ in strips) * MM, max(b for _, b in strips) * MM
    across = outward(0.0, cells * MM, room * MM, growth)
    inner = np.linspace(low, high, round((high - low) / (cells * MM)) + 1)
    x = np.concatenate((low - across[:0:-1], inner, high + across[1:]))
    board = np.linspace(0, height * MM, layers + 1)
    z = (
        np.linspace(0, 2 * height * MM, 2 * layers + 1)
        if shielded
        else np.concatenate((board, height * MM + outward(0.0, height * MM / layers, room * MM, growth)[1:]))
    )
    y = 0.5 * MM * np.arange(length + 1)
    top = z[-1] if shielded else z[-1 - LAYER]
    filled = z[-1] if shielded else height * MM
    ports = [
        nf.WaveguidePort(name, (x[LAYER], y[n], 0), (x[-1 - LAYER], y[n], top), way, modes, "open")
        for name, n, way in (("in", 11, "+y"), ("out", length - 11, "-y"))
    ]
    metal = [
        nf.Structure(nf.Sheet((a * MM, y[0], height * MM), (b * MM, y[-1], height * MM)), nf.PEC) for a, b in strips
    ]
    faces = {name: nf.CPML(LAYER) for name in ("x_low", "x_high", "y_low", "y_high", "z_high")}
    if shielded:
        faces["z_high"] = nf.PEC
    settings = dict(ports=ports, waveform=nf.Gaussian(8e9), precision="double", steps=500, excitations=None)
    return nf.Simulation(
        grid=nf.Grid(x, y, z),
        structures=[nf.Structure(nf.Box((x[0], y[0], 0), (x[-1], y[-1], filled)), medium), *metal],
        boundaries=nf.Boundaries(z_low=nf.PEC, **faces),
        **settings | more,
    )


def slab(fine: int = 1, modes=1, **more) -> nf.Simulation:
    """A film of silicon, 0.22 um, in oxide between metal plates, light along z: E goes from plate to plate."""
    cell = 20e-9 / fine
    n, plates, length = 11 * fine, 2, 80 * fine
    x = cell * (np.arange(n + 2 * (40 * fine + LAYER) + 1) - 40 * fine - LAYER)
    ends = x[LAYER], x[-1 - LAYER]
    y, z = cell * np.arange(plates + 1), cell * np.arange(length + 1)
    ports = [
        nf.WaveguidePort(name, (ends[0], 0, z[k]), (ends[1], y[-1], z[k]), way, modes, "open")
        for name, k, way in (("in", 16, "+z"), ("out", length - 16, "-z"))
    ]
    faces = {name: nf.CPML(LAYER) for name in ("x_low", "x_high", "z_low", "z_high")}
    settings = dict(ports=ports, precision="double", steps=3500, waveform=nf.ModulatedGaussian(193.4e12, 80e12))
    core = nf.Structure(nf.Box((0, -1, -1), (n * cell, 1, 1)), nf.Medium(3.48**2))
    return nf.Simulation(
        grid=nf.Grid(x, y, z),
        background=nf.Medium(1.44**2),
        structures=[core],
        boundaries=nf.Boundaries(nf.PEC, **faces),
        **settings | more,
    )
