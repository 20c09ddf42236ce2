"""A plane wave over the whole cross-section of a periodic cell: gratings and slabs, what they reflect and pass."""

import numpy as np
import pytest
from test_plane_wave import CELL, SMOOTH, C, cell

import nearfield as nf
from nearfield.incident.along_axis import lead_in
from nearfield.incident.box import Beam


def grating(place, **entries) -> nf.Simulation:
    """Ridges of 5 of 12 cells, 4 high, with their middles at `place` (m) and a period further on, on a substrate."""
    ridges = [
        nf.Structure(nf.Box((middle - 2.5e-3, -1, 26e-3), (middle + 2.5e-3, 1, 30e-3)), nf.Medium(6.0))
        for middle in (place - 12e-3, place, place + 12e-3)
    ]
    ground = nf.Structure(nf.Box((-1, -1, 30e-3), (1, 1, 1)), nf.Medium(2.0))
    planes = {"back": (14, "-"), "net": (22, "+"), "through": (36, "+"), "behind": (44, "+")}
    return nf.Simulation(
        nf.Grid.uniform(CELL, (12, 1, 60)),
        boundaries=nf.Boundaries(x="periodic", y="periodic", z=nf.CPML(10)),
        structures=[*ridges, ground],
        sources=[nf.PlaneWave((0, 0, 18e-3), (12e-3, 1e-3, 40e-3), "+z", "y", nf.GaussianDerivative(14e9))],
        monitors=[
            nf.Flux(name, (0, 0, n * CELL), (12e-3, 1e-3, n * CELL), [6e9, 11e9], direction)
            for name, (n, direction) in planes.items()
        ],
        decay=1e-7,
        **entries,
    )


def test_a_grating_in_a_periodic_cell_reflects_alike_wherever_its_ridges_lie():
    # with a ridge at the corner of the box its layers were part of the incident wave: R 0.55 for 0.035 of one grating
    falls = 12e-3 * 1e-3 / (2 * 376.73)
    found = []
    for place in (6e-3, 0.0, 3e-3):
        run = grating(place).run(threads=1).per_source()
        found.append([run[name].values / falls for name in ("back", "net", "through", "behind")])
    back, net, through, behind = found[0]
    assert np.allclose(found, found[0], rtol=1e-3)
    assert back.min() > 0.02
    assert np.allclose(back, 1 - net, atol=0.01)  # (k d)^2/24 and the like: what falls is that of free space
    assert np.allclose(through, net, rtol=1e-3) and np.allclose(behind, net, rtol=1e-3)


@pytest.mark.parametrize("direction", ["+z", "-z"])
def test_a_slab_over_a_periodic_cell_reflects_into_the_scattered_field(direction):
    slab = nf.Structure(nf.Box((-1, -1, 36e-3), (1, 1, 46e-3)), nf.Medium(4.0))
    places = {"+z": (16, 70), "-z": (64, 12)}[direction]
    probes = [nf.Probe(name, (0, 0.5e-3, n * CELL), "Ey") for name, n in zip(("front", "rear"), places)]
    model = cell("periodic", direction=direction, structures=[slab], monitors=probes)
    run = model.model_copy(update={"steps": 1200}).run(threads=1)
    frequencies = np.array([2e9, 3.75e9])
    sent = SMOOTH.spectrum(frequencies)
    r, t = (np.abs(nf.spectrum(run[name], frequencies).values / sent) for name in ("front", "rear"))
    phase = 2 * np.pi * frequencies * 2 * 10e-3 / C
    expected = 1 / np.abs(np.cos(phase) + 1j * 0.5 * (2 + 0.5) * np.sin(phase))
    assert np.allclose(t, expected, rtol=1e-2)
    assert np.allclose(r, np.sqrt(1 - expected**2), atol=1e-2)
    assert run["front"].fields == "scattered" and run["rear"].fields == "total"


@pytest.mark.parametrize("direction", ["+z", "-z"])
def test_a_signal_that_begins_at_full_height_comes_whole(direction):
    """What it had while it travelled to the box was never launched: 2 cells of some 8, a quarter of its sum."""
    pulse = nf.Samples(times=[0.0, 8 * CELL / C], values=[1.0, 1.0])
    wave = nf.PlaneWave((0, 0, 20 * CELL), (CELL, CELL, 60 * CELL), direction, "x", pulse)
    walls = nf.Boundaries(x_low="pec", x_high="pec", y_low="pmc", y_high="pmc", z=nf.CPML(10))
    probe = nf.Probe("middle", (0.5 * CELL, 0, 40 * CELL), "Ex")
    grid = nf.Grid.uniform(CELL, (1, 1, 80))
    run = nf.Simulation(grid, [], walls, sources=[wave], monitors=[probe], precision="double", steps=400).run(threads=1)
    assert float(run["middle"].integrate("time")) == pytest.approx(pulse.end, rel=0.02 + 0.5 / 14)


def test_pulses_with_their_own_delay_set_out_with_the_run():
    """At 10 cells a wavelength in their band: what they have before the first step is 1e-6 of their peak or less."""
    for pulse in (nf.Gaussian(10e9), nf.GaussianDerivative(3.6e9), nf.Ricker(4.5e9), nf.ModulatedGaussian(8e9, 4e9)):
        signals = Beam("", (0, 0, 0), (1, 1, 1), np.eye(3)[2], np.eye(3)[0], 2, pulse.value, pulse.end, "sources")
        assert lead_in(signals, 2 * 3e-3 / C, 3e-3 / C / 3**0.5) == 0
