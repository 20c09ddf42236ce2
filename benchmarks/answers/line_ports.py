"""Lines and their ports: power by flux and by waves, impedances, lines drawn on, S of one excitation of several."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
from row import Row
from scipy.special import ellipk

import nearfield as nf
from nearfield.entry.errors import ModelError
from validation.microstrip.run import expected

MM, UM, FAR = 1e-3, 1e-6, 1.0
Section = tuple[tuple[float, float], tuple[float, float]]  # low and high corners of the rectangle, across and up (m)


def endless(bodies, section: Section, length: float, cells: float, pulse, walls: dict, mode: int = 1) -> nf.Simulation:
    """A line along y from CPML to CPML, drawn as users do on an automatic grid, its two ports and a flux midway."""
    (x0, z0), (x1, z1) = section
    middle, ends = 0.0, (-0.25 * length, 0.25 * length)
    low, high = pulse.band
    return nf.Simulation(
        grid=nf.AutoGrid(cells, high, lower=(x0, -0.5 * length, z0), upper=(x1, 0.5 * length, z1)),
        structures=[nf.Structure(shape, medium) for shape, medium in bodies],
        boundaries=nf.Boundaries(all=nf.CPML(), **walls),
        ports=[
            nf.WaveguidePort(name, (x0, y, z0), (x1, y, z1), way, mode, "open")
            for name, y, way in zip(("in", "out"), ends, ("+y", "-y"))
        ],
        monitors=[
            nf.Flux("power", (x0, middle, z0), (x1, middle, z1), tuple(low + (high - low) * np.array([0.2, 0.5, 0.9])))
        ],
        waveform=pulse,
        excitations=["in"],
    )


def sheet(a: float, b: float, z: float):
    return nf.Sheet((a, -FAR, z), (b, FAR, z)), nf.PEC


def board(permittivity: float, low: float, high: float):
    return nf.Box((-FAR, -FAR, low), (FAR, FAR, high)), nf.Medium(permittivity)


def models() -> dict[str, nf.Simulation]:
    """Each kind of line."""
    ground, shut = {"z_low": nf.PEC}, {"z_low": nf.PEC, "z_high": nf.PEC}
    h, b = 0.635 * MM, 1.2 * MM
    wide = ((-7 * MM, 0.0), (7 * MM, 6.5 * MM))
    around, further = (((-r * MM, -r * MM), (r * MM, r * MM)) for r in (5.5, 6.0))
    plain, pair = nf.Gaussian(12e9), ((-1.1 * MM, -0.2 * MM), (0.2 * MM, 1.1 * MM))
    slot, light = nf.ModulatedGaussian(20e9, 8e9), nf.ModulatedGaussian(193e12, 40e12)
    strips = [sheet(*ends, 0.5 * b) for ends in pair]
    core = (nf.Box((-0.25 * UM, -FAR, 0), (0.25 * UM, FAR, 0.22 * UM)), nf.Medium(3.48**2))
    planes = [sheet(-FAR, -0.9 * MM, 0), sheet(-0.4 * MM, 0.4 * MM, 0), sheet(0.9 * MM, FAR, 0)]
    gap = [sheet(-FAR, -0.3 * MM, 0), sheet(0.3 * MM, FAR, 0)]
    inner = ((-5 * MM, 0.0), (5 * MM, b))
    optical = ((-0.9 * UM, -0.7 * UM), (0.9 * UM, 0.9 * UM))
    guide = endless([core], optical, 3 * UM, 9, light, {})
    return {
        "microstrip": endless([board(4.4, 0, h), sheet(-0.6 * MM, 0.6 * MM, h)], wide, 20 * MM, 20, plain, ground),
        "stripline": endless([board(2.9, 0, b), sheet(-0.45 * MM, 0.45 * MM, b / 2)], inner, 20 * MM, 20, plain, shut),
        "coplanar line": endless([board(6.0, -MM, 0), *planes], around, 16 * MM, 20, plain, {}),
        "slot line": endless([board(9.8, -0.8 * MM, 0), *gap], further, 16 * MM, 20, slot, {}),
        "coupled strips, even": endless([board(2.9, 0, b), *strips], inner, 20 * MM, 20, plain, shut, 2),
        "coupled strips, odd": endless([board(2.9, 0, b), *strips], inner, 20 * MM, 20, plain, shut, 1),
        "silicon strip in oxide": guide.model_copy(update={"background": nf.Medium(1.444**2)}),
    }


def powers() -> list[Row]:
    """C11: flux through the rectangle off the waves' power times the mode's part there (`power_within`)."""
    rows = []
    for name, model in models().items():
        ours = model.run(threads=2).excitation("in")
        flux = ours["power"]
        f = flux.frequency.values
        part = model.guide_modes(f).power_within.values[0]
        near, far = (ours.waves(port, f) for port in ("in", "out"))
        sums = [0.5 * (np.abs(a) ** 2 - np.abs(b) ** 2).values for a, b in ((near.a, near.b), (far.b, far.a))]
        bare, off = ([float(np.abs(flux.values / (p * w) - 1).max()) for p in sums] for w in (1.0, part))
        rows.append(
            Row(
                "C11",
                f"{name}: flux off abs(a)^2 - abs(b)^2 at both ports, in their rectangle "
                f"({100 * float(1 - part.min()):.2g} % of the mode lies beyond it)",
                "0.4 to 1.6 % (microstrip port)",
                "0.1 %",
                f"{100 * off[0]:.3f} and {100 * off[1]:.3f} % (of all of the mode {100 * max(bare):.2f} %)",
                max(off) < 1e-3,
            )
        )
    return rows


def stripline_impedances(width: float, spacing: float, height: float, permittivity: float) -> tuple[float, float]:
    """(even, odd) of two strips midway between planes (ohm): S. B. Cohn, IRE Trans. MTT-3, 29 (1955); exact."""
    even = math.tanh(0.5 * math.pi * width / height) * math.tanh(0.5 * math.pi * (width + spacing) / height)
    odd = math.tanh(0.5 * math.pi * width / height) / math.tanh(0.5 * math.pi * (width + spacing) / height)
    scale = 376.730313 / 4 / math.sqrt(permittivity)
    return scale * ellipk(1 - even**2) / ellipk(even**2), scale * ellipk(1 - odd**2) / ellipk(odd**2)


def impedances() -> list[Row]:
    """C11, C12: impedances of lines with closed forms; of two strips the pair's, by the current in both or in each."""
    known = models()
    low = 0.5e9

    def found(name: str) -> float:
        return float(known[name].guide_modes([low]).characteristic_impedance.values[0, 0].real)

    even, odd = stripline_impedances(0.9 * MM, 0.4 * MM, 1.2 * MM, 2.9)
    scale = 376.730313 / 4 / math.sqrt(2.9)
    k = math.tanh(0.5 * math.pi * 0.9 / 1.2)
    wanted = {
        "microstrip": expected(1.2 * MM, 0.635 * MM, 4.4)[0],
        "stripline": scale * float(ellipk(1 - k**2) / ellipk(k**2)),
        "coupled strips, even": 0.5 * even,
        "coupled strips, odd": 2.0 * odd,
    }
    rows = []
    for name, value in wanted.items():
        got = found(name)
        rows.append(
            Row(
                "C11",
                f"{name}: impedance (ohm)",
                "none",
                f"{value:.2f}, 1.5 %",
                f"{got:.2f}",
                abs(got / value - 1) < 0.015,
            )
        )
    core = float(known["silicon strip in oxide"].guide_modes([193e12]).line_impedance.values[0])
    rows.append(Row("C12", "line impedance of a guide without conductors", "0", "NaN", f"{core}", math.isnan(core)))
    return rows


def drawn_on() -> list[Row]:
    """C11: a strip that goes on behind a microstrip port's sheet is named, one that ends there is not."""
    cell, top = 0.25 * MM, 0.75 * MM

    def warned(behind: int) -> bool:
        x, y, z = (cell * np.arange(low, high) for low, high in ((-16, 17), (0, 61), (0, 22)))
        half, feed = 4 * cell, y[16]
        model = nf.Simulation(
            grid=nf.Grid(x, y, z),
            structures=[
                nf.Structure(nf.Box((x[0], 0, 0), (x[-1], y[-1], top)), nf.Medium(3.2)),
                nf.Structure(nf.Sheet((-half, y[16 - behind], top), (half, y[-1], top)), nf.PEC),
            ],
            boundaries=nf.Boundaries(nf.CPML(8), z_low=nf.PEC),
            ports=[nf.MicrostripPort("in", (-half, feed, 0), (half, feed, top), "z", "+y", reference_plane=y[24])],
            waveform=nf.GaussianDerivative(6e9),
        )
        return any("behind its sheet" in text for text in model.check().warnings)

    behind = {cells: warned(cells) for cells in (0, 1, 16)}
    said = ", ".join(f"{cells} cells: {'named' if told else 'silent'}" for cells, told in behind.items())
    return [
        Row(
            "C11",
            "a line drawn on behind the port's sheet",
            "silent",
            "named",
            said,
            list(behind.values()) == [False, True, True],
        )
    ]


def one_of_several() -> list[Row]:
    """C10: a line with ports of 50 and 70 ohm, one of them driven."""
    cell = 2 * MM

    def line(**more) -> nf.Simulation:
        ports = [
            nf.LumpedPort(
                f"p{n}", (4 * cell, y * cell, 0), (6 * cell, y * cell, 2 * cell), "z", ohms, reference_impedance=50.0
            )
            for n, (y, ohms) in enumerate(((6, 50.0), (34, 70.0)))
        ]
        return nf.Simulation(
            grid=nf.Grid.uniform(cell, (10, 40, 10)),
            structures=[
                nf.Structure(nf.Sheet((4 * cell, 6 * cell, 2 * cell), (6 * cell, 34 * cell, 2 * cell)), nf.PEC)
            ],
            boundaries=nf.Boundaries(nf.PEC),
            ports=ports,
            waveform=nf.GaussianDerivative(3e9),
            duration=60e-9,
            **more,
        )

    one, both = line(excitations=["p0"]).run(threads=2), line().run(threads=2)
    (entry,) = [each for each in one.trust if each.name.startswith("waves sent back")]
    apart = np.abs((one.sparameters - both.sparameters).sel(source="p0")).values
    words = [str(each) for each in one.trust] + list(one.facts["warnings"])
    with tempfile.TemporaryDirectory() as folder:
        try:
            refused = str(one.write_touchstone(Path(folder) / "x.s2p"))
        except ModelError as error:
            refused = str(error)
    return [
        Row(
            "C10",
            "one of two ports driven: what the other's end spoils of S, as stated, and as found with both driven",
            "FAIL nan",
            "stated, no nan",
            f"{entry.value:.3f} stated, {np.nanmax(apart):.3f} found",
            bool(np.nanmax(apart) <= entry.value * 1.05) and not any("nan" in text.split() for text in words),
        ),
        Row(
            "C10",
            "write_touchstone('x.s2p') of one column",
            "a file",
            "refused in words",
            refused[:60] + " ...",
            "x.s1p" in refused,
        ),
    ]


CASES = (powers, impedances, drawn_on, one_of_several)
