"""A paraboloid before a dual-mode horn: return loss, and directivity beside aperture theory with the horn's own field.

    .venv/bin/python -m examples.reflector [PICTURE]

The same geometry at two sizes: examples/reflector.toml for a laptop, examples/reflector_full.toml for a cluster.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import nearfield as nf
from examples import figures
from examples.dual_mode_horn import BACK, HORN, WALL, profile
from nearfield.analysis.farfield import intensity, unit_vectors
from nearfield.analysis.pattern import FarFieldResult
from validation.physical_optics import ETA, C, Paraboloid, beamwidth

FREQUENCY = 12e9  # Hz
WAVELENGTH = C / FREQUENCY
BAND = (11e9, 13e9)
FOCAL_RATIO = 0.74  # focal length over diameter
DISH = 4e-3  # m, of metal along the axis
SEGMENTS = 20  # straight pieces of the paraboloid: 0.06 mm off at the largest size
CUTS = np.radians([90.0, 0.0])  # E- and H-plane
STEP = round(HORN.cylinder + HORN.cone, 7)  # m, z of the horn's step: its aperture lies in the focus


@dataclass(frozen=True)
class Size:
    """A dish, the cells it is stepped in; lengths in m."""

    diameter: float
    coarse: float
    fine: float  # at the horn, along all axes
    side: float  # half the width of the box
    low: float  # where the box begins, behind the dish
    high: float  # where it ends, round the horn's guide
    cells: tuple[int, int]  # across the whole box, along it
    angle: float = 0.5  # degrees between directions: a tenth of a lobe

    @property
    def focal_length(self) -> float:
        return FOCAL_RATIO * self.diameter

    @property
    def theta(self) -> np.ndarray:
        """Directions (rad) from the axis."""
        return np.radians(np.linspace(0.0, 180.0, round(180 / self.angle) + 1))

    @property
    def frequencies(self) -> list[float]:
        """Five (Hz) about the middle one, over a period of the standing wave between horn and dish, c/(2 f)."""
        return [round(FREQUENCY + n * C / (10 * self.focal_length), -6) for n in range(-2, 3)]


LAPTOP = Size(0.3, 1.8e-3, 1.25e-3, 0.184, -0.261, 0.125, (224, 256))
LARGER = Size(0.48, 1.8e-3, 1.25e-3, 0.274, -0.3942, 0.125, (324, 330), 0.3)
WIDE = Size(0.72, 1.8e-3, 1.25e-3, 0.394, -0.5718, 0.125, (458, 428), 0.2)  # the full dish in the laptop's cells
WIDEST = Size(1.2, 1.8e-3, 1.25e-3, 0.634, -0.927, 0.125, (726, 625), 0.12)
FULL = Size(0.72, 0.7e-3, 0.5e-3, 0.385, -0.5552, 0.1148, (1138, 1144), 0.2)


def horn(end: float) -> nf.Revolved:
    """The horn, its aperture in the focus and towards -z, its guide up to z = `end` (m)."""
    return nf.Revolved("z", [(r, round(STEP - along, 7)) for r, along in profile(HORN, STEP - end)])


def dish(size: Size) -> nf.Revolved:
    """The paraboloid, its focus at the origin; its back is its face, moved along the axis."""
    f = size.focal_length
    radii = np.linspace(0, size.diameter / 2, SEGMENTS + 1).round(6).tolist()
    face = [(r, round(r**2 / (4 * f) - f, 7)) for r in radii]
    return nf.Revolved("z", face + [(r, round(z - DISH, 7)) for r, z in face[::-1]])


def model(size: Size = LAPTOP, mirror: bool = True) -> nf.Simulation:
    """Dish and horn, a quarter of them; or the horn alone in the same box."""
    near = HORN.aperture + WALL
    guide, port = HORN.guide, STEP + BACK
    sizes = size.coarse, size.coarse, size.fine, size.fine, size.coarse, size.coarse
    across = nf.Grading((-size.side, -2 * near, -near, near, 2 * near, size.side), sizes, size.cells[0])
    along = nf.Grading((size.low, -2 * near, -near, size.high), sizes[:4], size.cells[1])
    structures = [nf.Structure(horn(size.high + 0.01), nf.PEC, "horn")]
    structures += [nf.Structure(dish(size), nf.PEC, "dish")] if mirror else []
    return nf.Simulation(
        title="Paraboloid before a dual-mode horn", grid=nf.GradedGrid(across, across, along), structures=structures,
        ports=[nf.WaveguidePort("in", (-guide, -guide, port), (guide, guide, port), "-z", "TE11y", "circular")],
        waveform=nf.ModulatedGaussian(FREQUENCY, 3e9),
        monitors=[nf.FarField("far", size.frequencies)],
        symmetry=nf.Symmetry(x="magnetic", y="electric"), metal="conformal", decay=1e-6,
    )  # fmt: skip


def horn_field(cuts: FarFieldResult, which: int, angles: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """H (A/m) at places (m), by the horn's own far field: a body of revolution fed with TE11 along y."""
    parts = cuts.e_theta.values[which, :, 0], cuts.e_phi.values[which, :, 1]
    k = 2 * math.pi * cuts.frequencies[which] / C

    def field(places: np.ndarray) -> np.ndarray:
        distance = np.linalg.norm(places, axis=1)
        theta, phi = np.arccos(places[:, 2] / distance), np.arctan2(places[:, 1], places[:, 0])
        _, along_theta, along_phi = unit_vectors(theta, phi)
        wave = np.exp(-1j * k * distance) / (ETA * distance)
        e_theta, e_phi = wave * np.interp(theta, angles, parts[0]), wave * np.interp(theta, angles, parts[1])
        return (e_theta * np.sin(phi))[:, None] * along_phi - (e_phi * np.cos(phi))[:, None] * along_theta

    return field


def aperture_theory(size: Size, far: FarFieldResult, shadow: bool = True) -> np.ndarray:
    """Directivity (frequency, theta, cut) of the horn and of the dish in the horn's own field.

    What the horn hides counts as dark, and what it sends out as all that is radiated.
    """
    mirror = Paraboloid(size.diameter, size.focal_length, HORN.aperture + WALL if shadow else 0.0)
    theta, phi = (angle.ravel() for angle in np.meshgrid(size.theta, CUTS, indexing="ij"))
    cuts, found = far.at(size.theta, CUTS), []
    for which, frequency in enumerate(far.frequencies):
        dish = mirror.far_fields(horn_field(cuts, which, size.theta), frequency, theta, phi)
        own = (part.values[which].ravel() for part in (cuts.e_theta, cuts.e_phi))
        found.append(intensity(*(sum(pair) for pair in zip(dish, own)), ETA) / float(far.radiated_power[which]))
    return 4 * math.pi * np.reshape(found, (-1, size.theta.size, CUTS.size))


def decibels(power):
    return 10 * np.log10(power)


def compared(result: nf.Result, alone: nf.Result, size: Size = LAPTOP) -> tuple[dict, tuple[np.ndarray, np.ndarray]]:
    """Figures for the page, and directivity (theta, cut) in the middle of the band, found and by aperture theory."""
    horn_cuts, cuts = alone["far"].at(np.pi - size.theta, CUTS), result["far"].at(size.theta, CUTS)
    own, found = horn_cuts.directivity.values, cuts.directivity.values
    theory, clear = aperture_theory(size, alone["far"]), aperture_theory(size, alone["far"], shadow=False)
    middle = len(cuts.frequencies) // 2
    levels = {"horn": own, "found": found, "theory": theory, "clear": clear}
    values: dict = {name: decibels(each[:, 0, 0]).tolist() for name, each in levels.items()}
    values |= {f"{name}_mean": float(np.mean(values[name])) for name in levels}
    values["gigahertz"] = (np.array(cuts.frequencies) / 1e9).tolist()
    values["largest_difference"] = float(np.abs(np.subtract(values["found"], values["theory"])).max())
    values["mean_difference"] = abs(values["found_mean"] - values["theory_mean"])
    for column, plane in enumerate("EH"):
        widths = [beamwidth(size.theta, each[middle, :, column]) for each in (found, theory)]
        values[f"beamwidth_{plane}"], values[f"theory_beamwidth_{plane}"] = map(float, widths)
    for name, each in (("alone", alone), ("before_dish", result)):
        s = 2 * decibels(np.abs(reflected(each)))
        values[f"s11_{name}"], values[f"largest_s11_{name}"] = s.interp(frequency=FREQUENCY).item(), s.max().item()
    values["vertex"] = vertex(alone, size)
    values["vertex_db"] = float(2 * decibels(values["vertex"]))
    values["steps"] = result.facts["runs"]["in"]["steps"]
    return values, (found[middle], theory[middle])


def reflected(result: nf.Result):
    """S11 over the band."""
    return result.sparameters.sel(to="in", source="in", frequency=slice(*BAND))


def vertex(alone: nf.Result, size: Size = LAPTOP) -> float:
    """What the dish sends back into the horn, over what it sent out: G lambda/(4 pi f), G its directivity."""
    gain = float(alone["far"].at([np.pi], [0.0]).directivity.sel(frequency=FREQUENCY, method="nearest").item())
    return gain * WAVELENGTH / (4 * math.pi * size.focal_length)


def draw(result: nf.Result, alone: nf.Result, cuts: tuple[np.ndarray, np.ndarray], path: str) -> None:
    """Return loss, and directivity in both planes over aperture theory."""
    import matplotlib

    from nearfield.pictures.style import COLOURS, SETTINGS, blank, headline

    with matplotlib.rc_context(SETTINGS):
        figure = blank(13, 4.4)
        headline(figure, "Paraboloid of 300 mm before a dual-mode horn", "thin: aperture theory; 12 GHz")
        loss, *patterns = (figure.add_subplot(1, 3, number) for number in (1, 2, 3))
        for colour, (name, each) in zip(COLOURS[1::-1], (("horn alone", alone), ("before the dish", result))):
            s = reflected(each)
            loss.plot(s.frequency / 1e9, 2 * decibels(np.abs(s)), color=colour, label=name)
        loss.axhline(20 * math.log10(vertex(alone)), color="k", linewidth=0.7)
        loss.set(xlabel="frequency (GHz)", ylabel="abs(S11) (dB)", ylim=(-45, 0), title="thin: from the vertex")
        loss.legend(loc="lower left")
        for column, (axes, plane) in enumerate(zip(patterns, "EH")):
            axes.plot(np.degrees(LAPTOP.theta), decibels(cuts[0][:, column]), color=COLOURS[0])
            axes.plot(np.degrees(LAPTOP.theta), decibels(cuts[1][:, column]), "k", linewidth=0.7)
            axes.set(xlabel="angle from the axis (degrees)", ylabel="directivity (dBi)", ylim=(-30, 32),
                     title=f"{plane}-plane")  # fmt: skip
        figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> None:
    """Run horn and reflector, compare, keep the figures, draw."""
    alone, result = model(mirror=False).run(), model().run()
    values, cuts = compared(result, alone)
    for name, check in (("laptop", model().check()), ("full", model(FULL).check())):
        values[name] = {"steps": check.steps, "gibibytes": check.memory_bytes / 2**30}
        values[name]["bytes_per_cell"] = check.memory_bytes / check.total_cells
    print(f"figures in {figures.keep(__file__, values)}; `python -m scripts.write_pages` puts them into the page")
    if len(sys.argv) > 1:
        draw(result, alone, cuts, sys.argv[1])


if __name__ == "__main__":
    main()
