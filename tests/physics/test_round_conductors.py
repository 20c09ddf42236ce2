"""Losses of flat conductors that round metal meets: the TM010 mode of a pillbox, in closed form."""

import numpy as np
import pytest
from scipy.constants import c, mu_0, physical_constants

import nearfield as nf

MM = 1e-3
ETA0 = physical_constants["characteristic impedance of vacuum"][0]
ROOT = 2.404826  # of J0
COPPERLIKE = nf.Conductor(2e6)


def quality(radius: float, height: float, lossy: set[str]) -> float:
    """By perturbation: eta0 root/(2 Rs (1 + R/h)), the first term of the side, the second of the ends."""
    resistance = np.sqrt(np.pi * ROOT * c / (2 * np.pi * radius) * mu_0 / COPPERLIKE.conductivity)
    losses = {"side": 1.0, "ends": radius / height}
    return ETA0 * ROOT / (2 * resistance * sum(losses[part] for part in lossy))


@pytest.mark.parametrize(
    "lossy, ends", [({"ends"}, "walls"), ({"ends"}, "plates"), ({"side", "ends"}, "walls"), ({"side"}, "walls")]
)
@pytest.mark.parametrize("radius", [8.3 * MM, 8.6 * MM])
def test_a_round_cavity_loses_what_its_flat_ends_and_its_side_do(radius, lossy, ends):
    """1 %: cells of an eighth of the radius, and losses of second order (found: 0.5 %; 4 to 11 % where rims of the ends
    beside the round side count whole, or not at all)."""
    half, height, more = 11, 8 * MM, 3 if ends == "plates" else 0
    frequency = ROOT * c / (2 * np.pi * radius)
    side = COPPERLIKE if "side" in lossy else nf.PEC
    bodies = [
        nf.Structure(nf.Box((-1, -1, -1), (1, 1, 1)), side),
        nf.Structure(nf.Cylinder((0, 0, -1), (0, 0, 1), radius), nf.Medium()),
    ]
    if ends == "plates":
        bodies += [nf.Structure(nf.Box((-1, -1, a), (1, 1, b)), COPPERLIKE) for a, b in ((-1, 0), (height, 1))]
    walls = {"conductor": COPPERLIKE} if ends == "walls" and "ends" in lossy else {}
    found = nf.Simulation(
        grid=nf.Grid.uniform(MM, (2 * half, 2 * half, 8 + 2 * more), origin=(-half * MM, -half * MM, -more * MM)),
        structures=bodies,
        boundaries=nf.Boundaries("pec", **walls),
        sources=[nf.PointCurrent((3 * MM, MM, 4 * MM), "z", nf.ModulatedGaussian(frequency, 4e9))],
        monitors=[nf.Probe("p", (-3 * MM, 2 * MM, 4 * MM), "Ez")],
        steps=6000,
    ).run(threads=1, progress=False)
    modes = nf.resonances(found, (0.8 * frequency, 1.15 * frequency), probe="p")
    assert modes.quality_factor.values[0] == pytest.approx(quality(radius, height, lossy), rel=0.01)
