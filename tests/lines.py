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


def slab(fine: int = 1, modes=1, plates: int = 2, **more) -> nf.Simulation:
    """A film of silicon, 0.22 um, in oxide between metal plates, light along z: E goes from plate to plate.

    `plates`: cells between them.
    """
    cell = 20e-9 / fine
    n, length = 11 * fine, 80 * fine
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


def silicon(slab: float = 0.0, length: int = 31, ports: int = 1, oxide: int = 10, **more) -> nf.Simulation:
    """A strip of silicon, 0.48 x 0.22 um, in so many cells of oxide, light along y; a rib where a slab of some height
    (m) goes on."""
    across = 60e-9 * np.arange(-4 - oxide - LAYER, 5 + oxide + LAYER)
    up, along = 55e-9 * np.arange(-oxide - LAYER, 5 + oxide + LAYER), 60e-9 * np.arange(length)
    ends = (across[LAYER], up[LAYER]), (across[-1 - LAYER], up[-1 - LAYER])
    places = (("in", 11 if ports > 1 else length // 2, "+y"), ("out", length - 12, "-y"))
    core = nf.Medium(3.48**2)
    boxes = [nf.Box((-240e-9, -1, 0), (240e-9, 1, 220e-9))]
    boxes += [nf.Box((-1, -1, 0), (1, 1, slab))] if slab else []
    settings = dict(precision="double", steps=10, waveform=nf.ModulatedGaussian(193.4e12, 20e12))
    return nf.Simulation(
        grid=nf.Grid(across, along, up),
        background=nf.Medium(1.44**2),
        structures=[nf.Structure(box, core) for box in boxes],
        boundaries=nf.Boundaries(nf.CPML(LAYER)),
        ports=[
            nf.WaveguidePort(name, *[(u, along[k], v) for u, v in ends], way, 1, "open")
            for name, k, way in places[:ports]
        ],
        **settings | more,
    )


def slot_line(width: float = 0.5, cells: int = 4, permittivity: float = 9.7, length: int = 31, ports: int = 1, **more):
    """A slot (mm) between two sheets that go on to both sides, on a board of 1 mm without a ground, along y."""
    room = more.pop("room", 5.0) * MM
    cell = width / cells * MM
    out = outward(0.5 * width * MM + 3 * cell, cell, room, 1.4, 0.8 * MM)
    x = np.concatenate((-out[::-1], cell * (np.arange(cells + 5) - 0.5 * cells - 2), out))
    board = round(MM / cell)
    up = outward(3 * cell, cell, room, 1.4, 0.8 * MM)
    z = np.concatenate((-board * cell - up[::-1], cell * np.arange(-board - 2, 3), up))
    y = 0.25 * MM * np.arange(length)
    sides = (x[0], -0.5 * cells * cell), (0.5 * cells * cell, x[-1])
    places = (("in", 11 if ports > 1 else length // 2, "+y"), ("out", length - 12, "-y"))
    settings = dict(waveform=nf.ModulatedGaussian(15e9, 6e9), precision="double", steps=10)
    return nf.Simulation(
        grid=nf.Grid(x, y, z),
        structures=[
            nf.Structure(nf.Box((x[0], y[0], -board * cell), (x[-1], y[-1], 0)), nf.Medium(permittivity)),
            *(nf.Structure(nf.Sheet((a, y[0], 0), (b, y[-1], 0)), nf.PEC) for a, b in sides),
        ],
        boundaries=nf.Boundaries(nf.CPML(LAYER)),
        ports=[
            nf.WaveguidePort(name, (x[LAYER], y[k], z[LAYER]), (x[-1 - LAYER], y[k], z[-1 - LAYER]), way, 1, "open")
            for name, k, way in places[:ports]
        ],
        **settings | more,
    )


def with_flux(model: nf.Simulation, along: int, node: int, frequencies) -> nf.Simulation:
    """The model with a monitor "power" of the flux through a whole plane of the grid."""
    low, high = ([float(part[end]) for part in model.grid.resolve().lines] for end in (0, -1))
    low[along] = high[along] = float(model.grid.resolve().lines[along][node])
    monitor = nf.Flux("power", tuple(low), tuple(high), tuple(frequencies))
    return model.model_copy(update={"monitors": (monitor,)})
