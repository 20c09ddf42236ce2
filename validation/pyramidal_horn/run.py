"""A pyramidal horn before conformal metal: directivity and patterns against aperture theory.

.venv/bin/python -m validation.pyramidal_horn.run
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf
from validation.case import Case
from validation.picture import picture

C = 299792458.0
WAVELENGTH = 30e-3  # m
K = 2 * math.pi / WAVELENGTH
APERTURE = 5.5 * WAVELENGTH, 2.75 * WAVELENGTH  # along H and E
APEX = 6 * WAVELENGTH  # m from the virtual apex of both flares to the aperture
GUIDE = 0.8 * WAVELENGTH, 0.4 * WAVELENGTH  # as the pyramid is where it begins
JOIN = APEX * GUIDE[0] / APERTURE[0]  # m from the apex
WALL = 3e-3  # m
THETA = np.arange(0, 91.0)  # degrees
SIDES = [
    (0, 2, 1),
    (0, 3, 2),
    (4, 5, 6),
    (4, 6, 7),
    (0, 1, 5),
    (0, 5, 4),
    (1, 2, 6),
    (1, 6, 5),
    (2, 3, 7),
    (2, 7, 6),
    (3, 0, 4),
    (3, 4, 7),
]


def frustum(start: float, end: float, wall: float) -> nf.Mesh:
    """The pyramid between two distances from its apex, all of its sides moved outwards by `wall`."""
    corners = []
    for z in (start, end):
        x, y = (0.5 * side * z / APEX + wall for side in APERTURE)
        corners += [(-x, -y, z), (x, -y, z), (x, y, z), (-x, y, z)]
    return nf.Mesh(vertices=corners, triangles=SIDES)


def model(cell: float, space: float = 12e-3) -> nf.Simulation:
    """The horn along z, z counted from the apex; its guide leaves through the CPML behind the port."""
    layer, back = 10, 0.8 * WAVELENGTH
    port = JOIN - back
    x, y, before, beyond = (
        layer + math.ceil(length / cell - 1e-6)
        for length in (
            0.5 * APERTURE[0] + WALL + space,
            0.5 * APERTURE[1] + WALL + space,
            back + 4 * cell,
            APEX - JOIN + space,
        )
    )
    low = JOIN - before * cell
    a, b = (0.5 * side for side in GUIDE)
    metal = [nf.Box((-a - WALL, -b - WALL, low - 1), (a + WALL, b + WALL, JOIN)), frustum(JOIN, APEX, WALL)]
    inside = [nf.Box((-a, -b, low - 1), (a, b, JOIN)), frustum(JOIN, APEX + 2 * cell, 0.0)]
    return nf.Simulation(
        grid=nf.Grid.uniform(cell, (2 * x, 2 * y, before + beyond), (-x * cell, -y * cell, low)),
        structures=[nf.Structure(shape, nf.PEC) for shape in metal]
        + [nf.Structure(shape, nf.Medium()) for shape in inside],
        boundaries=nf.Boundaries(all=nf.CPML(layer)),
        ports=[nf.WaveguidePort("in", (-a, -b, port), (a, b, port), "+z", "TE10")],
        monitors=[nf.FarField("far", [C / WAVELENGTH], theta=[0.0], phi=[0.0])],
        waveform=nf.ModulatedGaussian(C / WAVELENGTH, 3e9),
        symmetry=nf.Symmetry(x="magnetic", y="electric"),
        metal="conformal",
        decay=1e-6,
    )


def aperture_theory(theta: np.ndarray, exact: bool) -> tuple[float, np.ndarray, np.ndarray]:
    """Directivity (dBi) and E at angles (rad) over that on the axis, in the E- and the H-plane.

    E = cos(pi x/a) exp(-j k way) in the aperture, power that of E^2 over the impedance of space, patterns times
    (1 + cos(theta))/2 (Balanis, Antenna Theory, 4th ed., section 13.4). The way is that of the book, (x^2 + y^2)/(2
    rho), or the true one from the apex less that to the middle.
    """
    place, weight = np.polynomial.legendre.leggauss(120)
    x, y = (0.5 * side * place for side in APERTURE)
    square = x[:, None] ** 2 + y**2
    way = np.sqrt(APEX**2 + square) - APEX if exact else square / (2 * APEX)
    field = np.outer(np.cos(math.pi * x / APERTURE[0]) * weight, weight) * np.exp(-1j * K * way)
    area = 0.25 * APERTURE[0] * APERTURE[1]
    gain = 4 * math.pi / WAVELENGTH**2 * (area * abs(field.sum())) ** 2 / (2 * area)
    cuts = (np.exp(1j * K * np.outer(np.sin(theta), at)) @ field.sum(axis=axis) for axis, at in ((0, y), (1, x)))
    return 10 * math.log10(gain), *(0.5 * (1 + np.cos(theta)) * cut / field.sum() for cut in cuts)


def main() -> None:
    case = Case(__file__, "Pyramidal horn, 5.5 x 2.75 wavelengths")
    book, *_ = aperture_theory(np.radians(THETA), exact=False)
    case.compare("aperture theory with a quadratic phase", 18.83, book, 0.01, absolute=True, unit="dBi")
    expected, *wanted = aperture_theory(np.radians(THETA), exact=True)
    cuts = []
    for cell in (WAVELENGTH / 15, WAVELENGTH / 20):
        result = model(cell).run(threads=2)
        far = result["far"].at(np.radians(THETA), np.radians([0, 90]))
        name = f"{WAVELENGTH / cell:.0f} cells a wavelength"
        directivity = float(far.directivity_dbi.values[0, 0].max())
        case.compare(f"directivity, {name}", expected, directivity, 0.4, absolute=True, unit="dBi")
        ratio = float(far.radiated_power[0] / far.surface_power[0])
        case.compare(f"radiated power over that through the surface, {name}", 1.0, ratio, 0.005)
        cuts = [far.e_theta.values[0, :, 1], far.e_phi.values[0, :, 0]]
    s = result.sparameters.sel(to="in", source="in").interp(frequency=C / WAVELENGTH)
    reflected = 1 - float(np.abs(s.values)) ** 2
    gain = result["far"].gain_dbi.values - result["far"].realized_gain_dbi.values
    case.compare("realized gain over gain: 1 - abs(S11)^2", reflected, float(10 ** (-gain.max() / 10)), 1e-3)
    with picture(case, columns=2, facts="20 cells a wavelength; dashed: aperture theory") as axes:
        for plane, name, values, theory in zip(axes, ("E", "H"), cuts, wanted):
            for cut, style in ((values, "-"), (theory, "--")):
                plane.plot(THETA, 20 * np.log10(np.abs(cut / cut[0])), style)
            plane.set(xlabel="theta (degrees)", ylabel="dB", ylim=(-40, 1), title=f"{name}-plane")
    case.finish()


if __name__ == "__main__":
    main()
