"""A ring resonator in two dimensions: frequency and Q of its modes by harmonic inversion, beside the exact ones.

    .venv/bin/python -m examples.ring_resonator [PICTURE]

Prints a table over three cell sizes and, with a name, draws the picture of examples/ring_resonator.md.
"""

from __future__ import annotations

import math
import sys

import numpy as np
import xarray
from scipy import special

import nearfield as nf
from examples import figures

C = 299792458.0
WIDTH = 1e-6  # m, of the ring; its inner radius is the same
INDEX = 3.4
BAND = (0.1, 0.2)  # c/width
LOSSIEST = 10.0  # modes of a lower Q are left out
GAP, LAYER = 3, 1  # widths from the ring to the CPML, of the CPML
CELLS = (10, 20, 40)  # in the width
MAGNETIC = nf.Symmetry(y="magnetic")


def model(cells: int, widths: float = 300.0, symmetry: nf.Symmetry = MAGNETIC) -> nf.Simulation:
    """The ring with so many cells in its width; `widths`: of time after the pulse, in width/c."""
    cell, half = WIDTH / cells, (2 + GAP + LAYER) * cells
    low, high = (0, 0, -cell), (0, 0, 3 * cell)
    pulse = nf.ModulatedGaussian(sum(BAND) / 2 * C / WIDTH, (BAND[1] - BAND[0]) * C / WIDTH)
    end = pulse.end + widths * WIDTH / C
    return nf.Simulation(
        title="Ring resonator", precision="double", check_every=10**6, duration=1.001 * end,
        grid=nf.Grid.uniform((cell, cell, 2 * cell), (2 * half, 2 * half, 1), (-half * cell, -half * cell, 0)),
        boundaries=nf.Boundaries(x=nf.CPML(LAYER * cells), y=nf.CPML(LAYER * cells), z="periodic"), symmetry=symmetry,
        structures=[
            nf.Structure(nf.Cylinder(low, high, 2 * WIDTH), nf.Medium(INDEX**2)),
            nf.Structure(nf.Cylinder(low, high, WIDTH), nf.Medium(1.0)),
        ],
        sources=[nf.LineCurrent((1.1 * WIDTH, 0, 0), (1.1 * WIDTH, 0, 2 * cell), pulse)],
        monitors=[
            nf.Probe("inside", (-1.5 * WIDTH, 0, cell), "Ez"),
            nf.Snapshot("wave", (-4 * WIDTH, -4 * WIDTH, 0), (4 * WIDTH, 4 * WIDTH, 0), "Ez", times=[end]),
        ],
    )  # fmt: skip


def found(cells: int, **options) -> xarray.Dataset:
    """The modes that ring after the pulse."""
    result = model(cells, **options).run()
    return nf.resonances(result, [f * C / WIDTH for f in BAND], probe="inside", smallest_q=LOSSIEST)


def mismatch(order: int, k: np.ndarray) -> np.ndarray:
    """How far Ez of angular order m, J_m inside the ring and continuous, is from H2_m outside it; k: w width/c."""
    inner, outer = INDEX * k, 2 * INDEX * k
    value, slope = special.jv(order, k), special.jvp(order, k) / INDEX
    # in the ring first J_m + second Y_m; the Wronskian of J_m and Y_m is 2/(pi x)
    first = value * special.yvp(order, inner) - slope * special.yv(order, inner)
    second = slope * special.jv(order, inner) - value * special.jvp(order, inner)
    value = first * special.jv(order, outer) + second * special.yv(order, outer)
    slope = INDEX * (first * special.jvp(order, outer) + second * special.yvp(order, outer))
    return value * special.h2vp(order, 2 * k) - slope * special.hankel2(order, 2 * k)


def exact(highest: int = 8) -> list[tuple[int, float, float]]:
    """Angular order, frequency (c/width) and Q of the modes in the band: complex zeros of `mismatch`.

    The modulus of an analytic function has minima only at its zeros: those of a lattice start secants.
    """
    real = 2 * math.pi * np.linspace(0.9 * BAND[0], 1.1 * BAND[1], 200)
    imaginary = np.geomspace(1e-5, BAND[1] / LOSSIEST, 60) * 2 * math.pi
    k = real[:, None] + 1j * imaginary
    modes = []
    for order in range(highest):
        size = np.abs(mismatch(order, k))
        around = np.stack([size[1 + i : 199 + i, 1 + j : 59 + j] for i in (-1, 0, 1) for j in (-1, 0, 1)])
        for start in k[1:-1, 1:-1][around.argmin(axis=0) == 4]:
            root = zero(order, start)
            frequency, quality = root.real / (2 * math.pi), root.real / (2 * root.imag)
            if BAND[0] <= frequency <= BAND[1] and quality >= LOSSIEST:
                modes.append((order, frequency, quality))
    return sorted(modes, key=lambda mode: mode[1])


def zero(order: int, start: complex) -> complex:
    """The zero of `mismatch` next to a point, by secants."""
    last, here = start * 1.001, start
    before, value = mismatch(order, last), mismatch(order, here)
    for _ in range(50):
        if here == last or value == before:
            break
        last, here, before = here, here - value * (here - last) / (value - before), value
        value = mismatch(order, here)
    return complex(here)


def draw(modes: dict[int, xarray.Dataset], wanted: list[tuple[int, float, float]], path: str) -> None:
    """Ez of the two upper modes, each alone, and how far from the exact modes each cell size is."""
    import matplotlib

    from nearfield.pictures.style import COLOURS, SETTINGS, blank, headline

    # about an electric plane x = 0 only odd orders ring, and of those 5 longer than 3
    alone = {4: model(20, 600, nf.Symmetry(x="magnetic", y="magnetic")),
             5: model(20, 1500, nf.Symmetry(x="electric", y="magnetic"))}  # fmt: skip
    with matplotlib.rc_context(SETTINGS | {"axes.prop_cycle": matplotlib.cycler(color=COLOURS)}):
        figure = blank(12.5, 4.4)
        headline(figure, "Ring resonator of index 3.4", "inner radius and width a, Ez across the plane")
        panels = [figure.add_subplot(1, 3, n) for n in (1, 2, 3)]
        for axes, (order, simulation) in zip(panels, alone.items()):
            field = simulation.run()["wave"]["Ez"].squeeze()
            field = field / abs(field).max()
            axes.pcolormesh(field.x / WIDTH, field.y / WIDTH, field.T, cmap="RdBu_r", vmin=-1, vmax=1, rasterized=True)
            for radius in (1, 2):
                axes.add_patch(matplotlib.patches.Circle((0, 0), radius, fill=False, linewidth=0.8))
            axes.grid(False)
            axes.set(aspect="equal", xlabel="x (a)", ylabel="y (a)", title=f"Ez, order {order}")
        for n, (order, *mode) in enumerate(wanted):
            for value, style, name in ((0, "o-", f"order {order}"), (1, "s--", None)):
                off = [abs(numbers(each)[n][value] / mode[value] - 1) for each in modes.values()]
                panels[2].loglog(list(modes), off, style, color=COLOURS[n], markersize=4, label=name)
        squares = [0.1 * (CELLS[0] / cells) ** 2 for cells in modes]
        panels[2].loglog(list(modes), squares, ":", color="#6B7785", label="cell squared")
        panels[2].set(xlabel="cells in a", ylabel="off the exact one, relative", title="Frequency (solid), Q (dashed)")
        panels[2].set_xticks(list(modes), [str(cells) for cells in modes])
        panels[2].minorticks_off()
        panels[2].yaxis.set_major_formatter("{x:g}")
        panels[2].legend(loc="lower left", fontsize=7)
        figure.savefig(path, dpi=110, metadata={"Software": None})


def numbers(modes: xarray.Dataset) -> list[tuple[float, float]]:
    """Frequency (c/width) and Q of each mode."""
    return list(zip(modes.frequency.values * WIDTH / C, modes.quality_factor.values))


def main() -> None:
    """Compare, print, draw."""
    wanted, modes = exact(), {cells: found(cells) for cells in CELLS}
    print("order", "    exact       Q", *(f"{cells:4} cells       Q" for cells in CELLS), " fine limit       Q")
    values = {}
    for n, (order, *mode) in enumerate(wanted):
        each = [numbers(modes[cells])[n] for cells in CELLS]
        limit = [fine + (fine - coarse) / 3 for coarse, fine in zip(each[-2], each[-1])]  # errors go as cell squared
        print(f"{order:5}", *(f"{frequency:10.6f} {q:8.2f}" for frequency, q in [mode, *each, limit]))
        values[f"m{order}"] = {"frequency": [float(f) for f, _ in [mode, *each, limit]],
                               "q": [float(q) for _, q in [mode, *each, limit]]}  # fmt: skip
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")
    if len(sys.argv) > 1:
        draw(modes, wanted, sys.argv[1])


if __name__ == "__main__":
    main()
