"""Guides along z in cells of 1 mm with ports of counted modes at both ends, for tests."""

import numpy as np

import nearfield as nf

MM = 1e-3


def guide(structures=(), cells=(12, 7), count=1, length=60, number=None, pulse=None, **more) -> nf.Simulation:
    """The first `count` modes, or mode `number`; ports 12 cells from both ends."""
    names = (number,) if number else tuple(range(1, count + 1))
    top = [n * MM for n in cells]
    ports = [
        nf.WaveguidePort(name, (0, 0, z), (*top, z), way, names, "any")
        for name, z, way in (("in", 12 * MM, "+z"), ("out", (length - 12) * MM, "-z"))
    ]
    settings = dict(ports=ports, structures=structures, waveform=pulse or nf.ModulatedGaussian(20e9, 12e9), steps=95)
    faces = nf.Boundaries(nf.PEC, z_low=nf.CPML(8), z_high=nf.CPML(8))
    grid = nf.Grid.uniform(MM, (*cells, length))
    return nf.Simulation(grid=grid, precision="double", boundaries=faces, **settings | more)


def behind(model: nf.Simulation) -> float:
    """Largest field behind the first port over the largest of all, E and H each, at the end of the run."""
    model = model.model_copy(update={"excitations": (model._channels[0].name,)})
    setup = model._setup()
    corners = [tuple(line[end] for line in setup.grid.lines) for end in (0, -1)]
    last = (setup.steps - 0.5) * setup.time_step
    fields = model.model_copy(update={"monitors": (nf.Snapshot("all", *corners, times=[last]),)}).run(threads=1)["all"]
    found = []
    for letter in "EH":
        parts = [fields[letter + axis] for axis in "xyz"]
        largest = max(np.abs(part).max() for part in parts)
        assert largest > 0
        found.append(max(np.abs(part.sel(z=slice(None, 11.4 * MM))).max() for part in parts) / largest)
    return float(max(found))
