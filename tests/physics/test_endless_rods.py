"""Rods without end of dispersive media in a plane wave at an angle: what they scatter and absorb, by Mie's series."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import h2vp, hankel2, jv, jvp

import nearfield as nf
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED

CELL, RADIUS, FREQUENCY = 20e-9, 0.2e-6, 300e12
PLASMA = nf.Medium(1.5, poles=[nf.Drude(450e12, 60e12)])
DIRECTION = (np.cos(np.radians(33)), np.sin(np.radians(33)), 0)


def widths(radius: float) -> tuple[float, float]:
    """Widths (m) over which a rod of plasma takes power from a wave with E along it: scattered, and absorbed.

    E = exp(-j k x) = sum (-j)^n J_n exp(j n phi), plus a_n H2_n of the rod: Bohren and Huffman, section 8.4.
    """
    k, n = 2 * np.pi * FREQUENCY / VACUUM_SPEED, np.arange(-15, 16)
    index = np.sqrt(complex(PLASMA.relative_permittivity([FREQUENCY])[0]))
    x, inside = k * radius, index * k * radius
    bessel = jvp(n, x) * jv(n, inside) - index * jv(n, x) * jvp(n, inside)
    hankel = h2vp(n, x) * jv(n, inside) - index * hankel2(n, x) * jvp(n, inside)
    parts = bessel / hankel
    scattered, taken = 4 / k * np.sum(np.abs(parts) ** 2), 4 / k * np.sum(parts.real)
    return scattered, taken - scattered


def rod(medium: nf.Medium, ends: str, reach: float = 1.0, direction=DIRECTION) -> nf.Simulation:
    """A rod along z between faces of a cell, `reach` (cells) beyond them, in a box over all of z."""
    half, count = 0.4e-6, 60
    corner = -count * CELL / 2

    def box(side: float):
        return (-side, -side, 0), (side, side, CELL)

    return nf.Simulation(
        nf.Grid.uniform(CELL, (count, count, 1), origin=(corner, corner, 0)),
        structures=[nf.Structure(nf.Cylinder((0, 0, -reach * CELL), (0, 0, (1 + reach) * CELL), RADIUS), medium)],
        boundaries=nf.Boundaries(nf.CPML(8), z=ends),
        sources=[nf.PlaneWave(*box(half), direction, "z", nf.ModulatedGaussian(300e12, 200e12))],
        monitors=[
            nf.Flux("scattered", *box(half + 2 * CELL), [FREQUENCY]),
            nf.Flux("absorbed", *box(half - 3 * CELL), [FREQUENCY], direction="-"),
        ],
        decay=1e-6,
    )


@pytest.mark.parametrize("ends", ["periodic", "pec"])
def test_an_endless_rod_of_plasma_scatters_and_absorbs_a_wave_at_an_angle(ends):
    """Within a quarter of a cell of its surface, and as from along an axis but for numerical dispersion, (k d)^2/12."""

    def found(direction) -> np.ndarray:
        run = rod(PLASMA, ends, direction=direction).run(threads=1).per_source()
        powers = np.array([run[name].values[0] for name in ("scattered", "absorbed")])
        return powers * 2 * VACUUM_IMPEDANCE / CELL

    oblique, dispersion = found(DIRECTION), (2 * np.pi * FREQUENCY / VACUUM_SPEED * CELL) ** 2 / 12
    smaller, larger = (np.array(widths(RADIUS + off * CELL)) for off in (-0.25, 0.25))
    assert (smaller < oblique).all() and (oblique < larger).all()
    assert oblique == pytest.approx(found("+x"), rel=dispersion)


@pytest.mark.parametrize("medium", [PLASMA, nf.Medium((2.0, 3.0, 4.0))])
def test_media_may_end_on_faces_that_the_box_does_not_have(medium):
    for reach in (0.0, 5.0):
        assert rod(medium, "periodic", reach)._setup().plan is not None
    model = rod(medium, "periodic")
    wide = [nf.Structure(nf.Cylinder((0, 0, -1), (0, 0, 1), 0.39e-6), medium)]
    with pytest.raises(nf.ModelError, match=r"it spans x -3.9e-07 to 3.9e-07 m, allowed is x -3.8e-07 to 3.8e-07 m"):
        assert model.replace(structures=wide)._setup().plan is None
    with pytest.raises(nf.ModelError, match="it is everywhere"):
        assert model.replace(structures=[], background=medium)._setup().plan is None
