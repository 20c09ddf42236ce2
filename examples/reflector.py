"""A paraboloid before a dual-mode horn: return loss and directivity, beside aperture theory with the horn's own pattern.

    .venv/bin/python -m examples.reflector [PICTURE]

The same geometry at two sizes: examples/reflector.toml for a laptop, examples/reflector_full.toml for a cluster.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

import nearfield as nf
from nearfield.analysis.farfield import intensity, unit_vectors
from nearfield.analysis.pattern import FarFieldResult
from validation.physical_optics import ETA, C, Paraboloid, beamwidth

FREQUENCY = 12e9  # Hz
WAVELENGTH = C / FREQUENCY
BAND = (11e9, 13e9)
FOCAL_RATIO = 0.7  # focal length over diameter
SEGMENTS = 20  # straight pieces of the paraboloid: 0.06 mm off at the largest size
THETA = np.radians(np.arange(0.0, 180.25, 0.25))
CUTS = np.radians([90.0, 0.0])  # E- and H-plane

GUIDE, THROAT, APERTURE = 12.5e-3, 16.24e-3, WAVELENGTH  # m, radii of the horn
PHASING, FLARE = 15e-3, 62e-3  # m, lengths
BEHIND = 5.5e-3  # m, from its aperture to the centre of its waves


@dataclass(frozen=True)
class Size:
    """A dish, the cells it is stepped in, and the metal's thickness; lengths in m."""

    diameter: float
    coarse: float
    fine: float  # at the horn, along all axes
    wall: float
    side: float  # half the width of the box
    low: float  # where the box begins, behind the dish
    high: float  # where it ends, round the horn's guide
    cells: tuple[int, int]  # across the whole box, along it

    @property
    def focal_length(self) -> float:
        return FOCAL_RATIO * self.diameter


LAPTOP = Size(0.3, 1.8e-3, 1.25e-3, 2.5e-3, 0.184, -0.25, 0.122, (224, 246))
FULL = Size(0.72, 0.68e-3, 0.5e-3, 2e-3, 0.385, -0.524, 0.146, (1138, 1144))


def horn(wall: float, end: float) -> nf.Revolved:
    """The horn, its aperture towards -z and the centre of its waves at the focus; its guide runs to z = `end` (m)."""
    mouth = -BEHIND
    throat = mouth + FLARE + PHASING
    inner = [(APERTURE, mouth), (THROAT, mouth + FLARE), (THROAT, throat), (GUIDE, throat), (GUIDE, end)]
    outer = [(GUIDE + wall, end), (GUIDE + wall, throat + wall), (THROAT + wall, throat + wall),
             (THROAT + wall, mouth + FLARE), (APERTURE + wall, mouth)]  # fmt: skip
    return nf.Revolved("z", inner + outer)


def dish(size: Size) -> nf.Revolved:
    """The paraboloid, its focus at the origin; its back is its face, moved along the axis."""
    f = size.focal_length
    radii = np.linspace(0, size.diameter / 2, SEGMENTS + 1).round(6).tolist()
    face = [(r, round(r**2 / (4 * f) - f, 7)) for r in radii]
    return nf.Revolved("z", face + [(r, round(z - 2 * size.wall, 7)) for r, z in face[::-1]])


def model(size: Size = LAPTOP, mirror: bool = True) -> nf.Simulation:
    """Dish and horn, a quarter of them; or the horn alone in the same box."""
    near = APERTURE + size.wall
    port = size.high - 20 * size.fine
    sizes = size.coarse, size.coarse, size.fine, size.fine, size.coarse, size.coarse
    across = nf.Grading((-size.side, -2 * near, -near, near, 2 * near, size.side), sizes, size.cells[0])
    along = nf.Grading((size.low, -2 * near, -near, size.high), sizes[:4], size.cells[1])
    structures = [nf.Structure(horn(size.wall, size.high + 0.01), nf.PEC, "horn")]
    structures += [nf.Structure(dish(size), nf.PEC, "dish")] if mirror else []
    return nf.Simulation(
        title="Paraboloid before a dual-mode horn", grid=nf.GradedGrid(across, across, along), structures=structures,
        ports=[nf.WaveguidePort("in", (-GUIDE, -GUIDE, port), (GUIDE, GUIDE, port), "-z", "TE11y", "circular")],
        waveform=nf.ModulatedGaussian(FREQUENCY, 3e9),
        monitors=[nf.FarField("far", [FREQUENCY], theta=THETA, phi=np.concatenate((CUTS, CUTS + math.pi)))],
        symmetry=nf.Symmetry(x="magnetic", y="electric"), metal="conformal",
    )  # fmt: skip


def horn_field(far: FarFieldResult):
    """H (A/m) at places (m), by the horn's own far field: a body of revolution fed with TE11 along y."""
    e_theta, e_phi = far.e_theta.values[0][:, 0], far.e_phi.values[0][:, 1]

    def field(places: np.ndarray) -> np.ndarray:
        distance = np.linalg.norm(places, axis=1)
        theta, phi = np.arccos(places[:, 2] / distance), np.arctan2(places[:, 1], places[:, 0])
        radial, along_theta, along_phi = unit_vectors(theta, phi)
        wave = np.exp(-2j * math.pi / WAVELENGTH * distance) / (ETA * distance)
        parts = np.interp(theta, THETA, e_theta) * np.sin(phi), np.interp(theta, THETA, e_phi) * np.cos(phi)
        return (wave * parts[0])[:, None] * along_phi - (wave * parts[1])[:, None] * along_theta

    return field


def aperture_theory(size: Size, far: FarFieldResult) -> np.ndarray:
    """Directivity (theta, cut) of what the horn alone sends to the dish, the horn's shadow left out, and of the horn."""
    mirror = Paraboloid(size.diameter, size.focal_length, blocked=APERTURE + size.wall)
    theta, phi = (angle.ravel() for angle in np.meshgrid(THETA, CUTS, indexing="ij"))
    scattered = mirror.far_fields(horn_field(far), FREQUENCY, theta, phi)
    own = (part.values[0][:, : CUTS.size].ravel() for part in (far.e_theta, far.e_phi))
    found = intensity(*(sum(pair) for pair in zip(scattered, own)), ETA)
    return (4 * math.pi * found / float(far.radiated_power[0])).reshape(THETA.size, CUTS.size)
