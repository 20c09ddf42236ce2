"""Hybrid modes of filled guides, and a ridge guide: wave numbers and cut-offs beside closed forms, leak and purity.

.venv/bin/python -m validation.loaded_guide.run
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

import nearfield as nf
from validation.case import Case
from validation.picture import picture

C = 299792458.0
WIDTH, HEIGHT, SLAB, FILLING = 22.86e-3, 10.16e-3, 7.62e-3, 2.56  # m: WR-90, a slab of polystyrene in its middle
BAND = (8e9, 12e9)
RIDGE = (24e-3, 12e-3, 8e-3, 4e-3)  # m: width and height of a guide, width of its ridge, gap below that
RIDGE_CUTOFF = 76.6666  # 1/m: mode matching, 96 modes (tests/test_any_guides.py)


def slab_wave_number(
    frequency: float, width: float = WIDTH, slab: float = SLAB, permittivity: float = FILLING
) -> float:
    """beta (1/m) of the first mode: E along the slab, even about the middle, kd tan(kd w/2) = k0 cot(k0 (a - w)/2)."""
    k = 2 * math.pi * frequency / C

    def miss(square: float) -> float:
        inside, outside = (np.sqrt(complex(index * k**2 - square)) for index in (permittivity, 1.0))
        x, y = 0.5 * inside * slab, 0.5 * outside * (width - slab)
        return (inside * np.sin(x) * np.sin(y) / outside - np.cos(x) * np.cos(y)).real

    squares = np.linspace(0.9999 * permittivity, 0.0, 2000) * k**2
    values = [miss(square) for square in squares]
    first = np.flatnonzero(np.diff(np.sign(values)))[0]
    return math.sqrt(brentq(miss, squares[first], squares[first + 1]))


def slab_guide(cell: float = 0.635e-3, length: int = 90, **more) -> nf.Simulation:
    """WR-90 with the slab, ports 20 cells from both ends."""
    step = round(WIDTH / cell), round(HEIGHT / cell)
    slab = nf.Box((0.5 * (WIDTH - SLAB), 0, 0), (0.5 * (WIDTH + SLAB), HEIGHT, 1))
    ports = [
        nf.WaveguidePort(name, (0, 0, n * cell), (WIDTH, HEIGHT, n * cell), way, "1", "any")
        for name, n, way in (("in", 20, "+z"), ("out", length - 20, "-z"))
    ]
    settings = {"waveform": nf.ModulatedGaussian(10e9, 4e9), "decay": 1e-10, "precision": "double"} | more
    return nf.Simulation(
        grid=nf.Grid.uniform(cell, (*step, length)),
        structures=[nf.Structure(slab, nf.Medium(FILLING))],
        ports=ports,
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(12), z_high=nf.CPML(12)),
        **settings,
    )


def ridge_cutoff(cell: float) -> float:
    """The first cut-off (1/m) on the grid."""
    width, height, ridge, gap = RIDGE
    body = nf.Box((0.5 * (width - ridge), gap, 0), (0.5 * (width + ridge), height, 1))
    port = nf.WaveguidePort("in", (0, 0, 10 * cell), (width, height, 10 * cell), "+z", "1", "any")
    model = nf.Simulation(
        grid=nf.Grid.uniform(cell, (round(width / cell), round(height / cell), 20)),
        ports=[port],
        structures=[nf.Structure(body, nf.PEC)],
        boundaries=nf.Boundaries(nf.PEC),
        waveform=nf.ModulatedGaussian(8e9, 4e9),
    )
    return port._placed(model._setup().context).mode.cutoff


def leak() -> float:
    """Largest E behind the port over the largest of all, dB, before anything comes back from the far end."""
    model = slab_guide(length=330, decay=None, steps=820, excitations=("in",))
    corners = [tuple(line[end] for line in model.grid.resolve().lines) for end in (0, -1)]
    last = (model.steps - 1) * model._setup().time_step
    window = nf.Snapshot("all", *corners, "Ey", times=[last * n / 8 for n in range(3, 9)])
    field = np.abs(model.model_copy(update={"monitors": (window,)}).run(threads=2)["all"]["Ey"])
    return 20 * math.log10(field.sel(z=slice(None, 19.5 * 0.635e-3)).max() / field.max())


def main() -> None:
    case = Case(__file__, "Guides with a slab and with a ridge")
    frequencies = np.linspace(*BAND, 41)
    exact = np.array([slab_wave_number(f) for f in frequencies])
    errors = {}
    for cell in (0.635e-3, 0.3175e-3):
        model = slab_guide(cell, 40)
        line = model.ports[0]._placed(model._setup().context).line
        errors[cell] = -np.angle(line.per_cell(frequencies)) / cell / exact - 1
        case.at_most(
            f"slab, {1e3 * cell:.4g} mm cells: error of beta, 8 to 12 GHz",
            0.003 * (cell / 0.635e-3) ** 2,
            float(np.abs(errors[cell]).max()),
        )
    s = slab_guide().run(threads=2).sparameters.sel(frequency=slice(*BAND))
    model = slab_guide()
    line = model.ports[0]._placed(model._setup().context).line
    phase = s.sel(to="out", source="in").values / line.per_cell(s.frequency.values) ** 50
    case.at_most("slab: phase from port to port beside the line's", 1e-3, float(np.abs(phase - 1).max()))
    back = 20 * math.log10(np.abs(s.sel(to="in", source="in")).max())
    case.at_most("slab: reflection of the even guide", -100.0, back, unit="dB")
    case.at_most("slab: power gained or lost", 1e-3, float(np.abs((np.abs(s) ** 2).sum("to") - 1).max()))
    case.at_most("slab: leak behind the port, double precision", -100.0, leak(), unit="dB")
    ridge = [ridge_cutoff(cell) for cell in (1e-3, 0.5e-3, 0.25e-3)]
    case.compare("ridge guide: cut-off, 0.25 mm cells", RIDGE_CUTOFF, ridge[2], 0.002, unit="1/m")
    case.at_least(
        "ridge guide: error of 0.5 mm cells over that of 0.25 mm",
        2.0,
        (RIDGE_CUTOFF - ridge[1]) / (RIDGE_CUTOFF - ridge[2]),
    )
    with picture(case, facts="beta of the first mode of WR-90 with a slab, grid over closed form") as (axes,):
        for cell, error in errors.items():
            axes.plot(frequencies / 1e9, 100 * error, label=f"{1e3 * cell:.4g} mm cells")
        axes.set(xlabel="frequency (GHz)", ylabel="error (%)")
        axes.legend()
    case.finish()


if __name__ == "__main__":
    main()
