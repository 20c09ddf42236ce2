"""Metal where it is drawn: patches in tenths of a cell, irises, bow-ties, defaults, thirds, wires."""

from __future__ import annotations

import numpy as np
from row import Row

import nearfield as nf
from examples import iris as guide
from validation import coupled_wires, round_post
from validation.mie import mie
from validation.sphere.run import RADIUS, C, model
from validation.wire_antennas import nec
from validation.wire_antennas import run as wires

MM = 1e-3


def patch_dip(length: float, cell: float = MM, metal: str | None = None) -> float:
    """Frequency (Hz) at which a patch of some length (m), 24 mm wide, 3 mm over a ground rings."""
    ends = (14 * MM, 14 * MM, 0.0)
    size = (54 * MM, 52 * MM, 21 * MM)
    drive = (ends[0] + 5 * MM, ends[1] + 12 * MM, 1 * MM)
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(cell, tuple(round(length / cell) for length in size)),
        boundaries=nf.Boundaries(nf.CPML(8), z_low=nf.PEC),
        structures=[
            nf.Structure(nf.Box((0, 0, 0), (*size[:2], 3 * MM)), nf.Medium(2.2)),
            nf.Structure(nf.Sheet((*ends[:2], 3 * MM), (ends[0] + length, ends[1] + 24 * MM, 3 * MM)), nf.PEC),
        ],
        sources=[nf.PointCurrent(drive, "z", nf.ModulatedGaussian(5e9, 4e9))],
        monitors=[nf.Probe("tip", drive)],
        duration=3e-9,
        **({"metal": metal} if metal else {}),
    )
    found = nf.resonances(simulation.run(threads=2), (3.5e9, 6.5e9), probe="tip")
    return float(found.frequency.values[np.argmax(np.abs(found.amplitude.values))])


def patch_in_tenths() -> list[Row]:
    """A1: its dip against its length, and on a grid twice as fine."""
    lengths = np.arange(20.0, 21.01, 0.1) * MM
    dips = np.array([patch_dip(length, metal="conformal") for length in lengths])
    straight = np.polyval(np.polyfit(lengths, dips, 2), lengths)
    rough = float(np.abs(dips / straight - 1).max())
    fine = patch_dip(20.4 * MM, 0.5 * MM, "conformal")
    off = float(abs(dips[4] / fine - 1))
    same = [patch_dip(length * MM) for length in (20.0, 20.9)]
    return [
        Row(
            "A1",
            "dip of a patch over its length in tenths of a cell, off a smooth curve",
            "20.0 and 20.9 mm the same bits, 21.1 mm 8 % lower",
            "0.05 %",
            f"{100 * rough:.3f} %",
            rough < 5e-4,
        ),
        Row(
            "A1",
            "the same, off cells of a half (15 cells a wavelength in the board)",
            "8 %",
            "0.3 %",
            f"{100 * off:.2f} %",
            off < 3e-3,
        ),
        Row(
            "A1",
            "patch of 20.0 and of 20.9 mm with nothing stated",
            "the same bits",
            "apart",
            f"{same[0] / 1e9:.3f} and {same[1] / 1e9:.3f} GHz",
            abs(same[0] / same[1] - 1) > 0.02,
        ),
    ]


def iris() -> list[Row]:
    """A1: abs(S) of an inductive iris in a guide of 20 cells across its broad side, faces between lines."""
    cell = guide.WIDTH / 20, guide.HEIGHT / 10, guide.WIDTH / 20
    ports_at, face = 16 * cell[2], 40.3 * cell[2]
    length = 80 * cell[2] + guide.THICKNESS
    cells = 20, 10, round(length / cell[2])
    side = 0.5 * (guide.WIDTH - guide.APERTURE)
    faces = face, face + guide.THICKNESS
    ports = [
        nf.WaveguidePort(name, (0, 0, z), (guide.WIDTH, guide.HEIGHT, z), way, "TE10", reference_plane=plane)
        for name, z, way, plane in (
            ("in", ports_at, "+z", faces[0]),
            ("out", (cells[2] - 16) * cell[2], "-z", faces[1]),
        )
    ]
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(cell, cells),
        boundaries=nf.Boundaries(nf.PEC, z_low=guide.LAYER, z_high=guide.LAYER),
        structures=[
            nf.Structure(nf.Box((x0, 0, faces[0]), (x1, guide.HEIGHT, faces[1])), nf.PEC)
            for x0, x1 in ((0, side), (guide.WIDTH - side, guide.WIDTH))
        ],
        ports=ports,
        waveform=guide.PULSE,
        symmetry=nf.Symmetry(x="magnetic", y="electric"),
        decay=1e-8,
    )
    s = simulation.run(threads=2).sparameters.sel(frequency=slice(8e9, 12e9))
    found = np.abs([s.sel(to=name, source="in").values for name in ("in", "out")])
    exact = np.abs(guide.exact_iris(s.frequency.values))
    off = float(np.abs(found - exact).max())
    return [
        Row(
            "A1",
            "iris in 20 cells across a guide, faces between lines: abs(S) off mode matching",
            "0.025 to 0.040",
            "0.005",
            f"{off:.4f}",
            off < 5e-3,
        )
    ]


def bow_tie_impedance(fine: int, metal: str) -> complex:
    """At 2 GHz, of arms of 60 mm flared by 60 degrees in a plane, fed over a cell of 2 mm."""
    cell, arm, half = 2 * MM / fine, 60 * MM, 2 * MM
    wide = arm * np.tan(np.radians(30))
    arms = [
        nf.Polygon("z", [(sign * half, -2 * MM), (sign * arm, -wide), (sign * arm, wide), (sign * half, 2 * MM)], 0, 0)
        for sign in (-1, 1)
    ]
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(cell, (96 * fine, 72 * fine, 44 * fine), (-96 * MM, -72 * MM, -44 * MM)),
        boundaries=nf.Boundaries(nf.CPML(10)),
        structures=[nf.Structure(shape, nf.PEC) for shape in arms],
        ports=[nf.LumpedPort("feed", (-half, 0, 0), (half, 0, 0), "x", 200.0)],
        symmetry=nf.Symmetry(y="magnetic"),
        waveform=nf.ModulatedGaussian(2e9, 2e9),
        metal=metal,
    )
    s = simulation.run(threads=2).sparameters.sel(to="feed", source="feed")
    own = np.interp(2e9, s.frequency.values, s.values)
    return complex(200 * (1 + own) / (1 - own))


def bow_tie() -> list[Row]:
    """A2: a flat plate with slanting rims on two grids, followed and in steps."""
    found = {metal: [bow_tie_impedance(fine, metal) for fine in (1, 2)] for metal in ("conformal", "staircase")}
    apart = {metal: abs(one / other - 1) for metal, (one, other) in found.items()}
    text = {metal: " and ".join(f"{z.real:.0f}{z.imag:+.0f}j" for z in pair) for metal, pair in found.items()}
    return [
        Row(
            "A2",
            "bow-tie on cells of 1 and a half, rims followed (ohm)",
            "the bits of its staircase",
            "closer than steps",
            f"{text['conformal']} ({100 * apart['conformal']:.1f} % apart)",
            apart["conformal"] < apart["staircase"],
        ),
        Row(
            "A2",
            "the same in steps (ohm)",
            "244-141j and 299-108j (another bow-tie)",
            "",
            f"{text['staircase']} ({100 * apart['staircase']:.1f} % apart)",
            True,
        ),
    ]


def default() -> list[Row]:
    """A3: with nothing stated about metal, a sphere and a round guide."""
    sizes = np.array([1.0, 2.0, 3.0])
    far = model(nf.PEC, 14, sizes, metal="auto").run(threads=2)["far"]
    back = far.monostatic_cross_section.values / (np.pi * RADIUS**2)
    wanted = np.array([mie(size, None)[2] for size in sizes])
    off = float(np.abs(10 * np.log10(back / wanted)).max())
    cell = 10 * MM / 14
    half = 16 * cell
    solids = [
        nf.Structure(nf.Box((-half, -half, 0), (half, half, 40 * cell)), nf.PEC),
        nf.Structure(nf.Cylinder((0, 0, 0), (0, 0, 40 * cell), 10 * MM), nf.Medium()),
    ]
    port = nf.WaveguidePort(
        "in", (-10 * MM,) * 2 + (20 * cell,), (10 * MM,) * 2 + (20 * cell,), "+z", "TE11", "circular"
    )
    hollow = nf.Simulation(
        grid=nf.Grid.uniform(cell, (32, 32, 40), (-half, -half, 0)),
        structures=solids,
        ports=[port],
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(8), z_high=nf.CPML(8)),
        waveform=nf.ModulatedGaussian(11e9, 3e9),
        steps=10,
    )
    cutoff = float(hollow.guide_modes().cutoff_frequency[0]) / (1.841183781 * C / (2 * np.pi * 10 * MM)) - 1
    return [
        Row(
            "A3",
            "metal sphere of 14 cells a radius, nothing stated: backward, off Mie up to k a = 3",
            "2.8 dB",
            "conformal, 0.05 dB",
            f"{off:.3f} dB",
            off < 0.05,
        ),
        Row(
            "A3",
            "TE11 of a round guide of 14 cells a radius, nothing stated: cut-off",
            "2.6 % low",
            "0.18 %",
            f"{100 * cutoff:+.2f} %",
            abs(cutoff) < 1.8e-3,
        ),
    ]


def stub() -> list[Row]:
    """A4: the line's own impedance on the automatic grid of a strip with a stub, and without."""

    def impedance(stubbed: bool) -> float:
        metal = [nf.Structure(nf.Sheet((-0.3 * MM, -10 * MM, 0.254 * MM), (0.3 * MM, 10 * MM, 0.254 * MM)), nf.PEC)]
        if stubbed:
            metal.append(
                nf.Structure(nf.Sheet((0.3 * MM, -0.3 * MM, 0.254 * MM), (5 * MM, 0.3 * MM, 0.254 * MM)), nf.PEC)
            )
        grid = nf.AutoGrid(
            cells_per_wavelength=20,
            maximum_frequency=7e9,
            lower=(-8 * MM, -10 * MM, 0),
            upper=(8 * MM, 10 * MM, 5 * MM),
        )
        simulation = nf.Simulation(
            grid=grid,
            structures=[
                nf.Structure(nf.Box((-8 * MM, -10 * MM, 0), (8 * MM, 10 * MM, 0.254 * MM)), nf.Medium(3.66)),
                *metal,
            ],
            boundaries=nf.Boundaries(nf.CPML(8), z_low=nf.PEC),
            waveform=nf.ModulatedGaussian(3.5e9, 3e9),
            steps=10,
        )
        lines = simulation.grid.resolve(simulation).lines
        inside = [line[8:-8] for line in lines]
        low, high = ((inside[0][end], lines[1][13], z) for end, z in ((0, 0.0), (-1, lines[2][-9])))
        port = nf.WaveguidePort("in", low, high, "+y", 1, "open")
        found = simulation.model_copy(update={"grid": nf.Grid(*lines), "ports": (port,)}).guide_modes([2e9])
        return float(found.characteristic_impedance.values.real.ravel()[0])

    alone, stubbed = impedance(False), impedance(True)
    return [
        Row(
            "A4",
            "line of 0.6 mm on 0.254 mm of eps_r 3.66 (47.7 ohm by formula), thirds, with a stub of 0.6 mm",
            "44.6 ohm, without it 48.1",
            "the same as without",
            f"{stubbed:.2f} ohm, without it {alone:.2f}",
            abs(stubbed / alone - 1) < 0.01,
        )
    ]


def yagi() -> list[Row]:
    """A5: the Yagi of three elements, automatic grid of 60 cells a wavelength."""
    impedance, ahead, behind = wires.answer(wires.of_elements(nec.YAGI, 1).run(threads=2))
    expected, gain, back = nec.ANSWERS["Yagi"]
    return [
        Row(
            "A5",
            "Yagi: impedance (ohm)",
            "28.6+53j",
            "24.6+29j (NEC2; 11 to 101 pieces: 25 to 33j)",
            f"{impedance.real:.1f}{impedance.imag:+.1f}j",
            abs(impedance - expected) < 8,
        ),
        Row("A5", "Yagi: gain ahead", "8.28 dBi", "9.12 dBi", f"{ahead:.2f} dBi", abs(ahead - gain) < 0.2),
        Row(
            "A5",
            "Yagi: front to back",
            "3.37 dB",
            "5.06 dB",
            f"{ahead - behind:.2f} dB",
            abs(ahead - behind - gain + back) < 0.4,
        ),
    ]


def posts() -> list[Row]:
    """A1: round posts across a guide of 20 cells, from 0.4 to 4 cells thick, at six places in a cell, 10 GHz."""
    rows = []
    places = [(10.0, 25.0), (10.3, 25.2), (10.5, 25.5), (10.5, 25.0), (6.15, 25.4), (6.7, 25.25)]
    for wide, before, wanted in (
        (0.4, "not known", 0.03),
        (1.0, "0.19", 0.012),
        (1.9, "0.13", 0.012),
        (2.5, "0.017", 0.012),
        (4.0, "0.009", 0.012),
    ):
        off = max(round_post.off(round_post.model(*place, wide), place[0], wide, threads=2) for place in places)
        what = f"round post of {wide:g} cells across a guide of 20, six places: abs(S) off an integral equation"
        rows.append(Row("A1", what, before, f"{wanted:g}", f"{off:.4f}", off < wanted))
    return rows


def wire_places() -> list[Row]:
    """A1: wires beside each other, their distance in parts of a cell."""
    places = [5.0, 5.25, 5.5, 5.75, 6.0, 6.3, 6.6, 7.0]
    rough = []
    for metal in ("staircase", "auto"):
        models = [coupled_wires.model(apart, metal=metal) for apart in places]
        found = [coupled_wires.impedance(model.run(threads=2)).real for model in models]
        rough.append(float(np.abs(found - np.polyval(np.polyfit(places, found, 2), places)).max()))
    before, now = (f"{value:.2f} ohm" for value in rough)
    what = "resistance of a dipole over the distance of a wire beside it, 5 to 7 cells, off a smooth curve"
    return [Row("A1", what, before, "0.15 ohm", now, rough[1] < 0.15)]


CASES = (patch_in_tenths, iris, posts, bow_tie, default, stub, yagi, wire_places)
