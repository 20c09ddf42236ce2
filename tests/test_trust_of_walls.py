"""What the trust report says of layers that end the grid: what comes back, as runs with and without it have it."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.discretization.discretization import Discretization
from nearfield.trust.model import model_trust
from nearfield.trust.walls import factors, reflection


@pytest.mark.parametrize(
    ("medium", "cells"), [(nf.Medium(), 5), (nf.Medium(6), 4), (nf.Medium(10, conductivity=0.01), 5)]
)
def test_the_return_of_a_cpml_is_that_of_a_run(medium, cells):
    """One plane wave, with the layer and with a line too long to answer; the estimate is exact but for where E is."""
    highest, cell = 1e9, 299792458.0 / 1e9 / 20 / medium.permittivity**0.5
    frequencies = np.linspace(0.3e9, 1e9, 8)

    def model(length, end):
        return nf.Simulation(
            grid=nf.Grid.uniform(cell, (1, 1, length)),
            background=medium,
            boundaries=nf.Boundaries(x="periodic", y="periodic", z_low=nf.PEC, z_high=end),
            sources=[
                nf.CurrentSheet(
                    (0, 0, 300 * cell), (cell, cell, 300 * cell), "x", nf.ModulatedGaussian(highest / 2, highest)
                )
            ],
            monitors=[nf.Probe("e", (0.5 * cell, 0, 310 * cell), "Ex")],
            precision="double",
            steps=900,
        )

    layered = model(315 + cells, nf.CPML(cells))
    with_layer, endless = (
        nf.spectrum(each.run(threads=1)["e"], frequencies).values for each in (layered, model(800, nf.PEC))
    )
    setup = Discretization(layered)
    nodes, halves = factors(setup, 2, "high", frequencies)
    turn = 2j * np.sin(np.pi * frequencies * setup.time_step)
    media = medium.relative_permittivity(frequencies), np.ones(frequencies.size)
    estimate = np.abs(reflection(nodes, halves, cells, turn, *media))
    found = np.abs(with_layer / endless - 1)
    lossy = medium.conductivity > 0  # the way from the probe to the layer and back takes some of the wave
    way = np.exp(10 * cell * 2 * np.pi * frequencies / 299792458.0 * np.sqrt(media[0]).imag) if lossy else 1.0
    # of a lossy medium the steps' own permittivity differs from the medium's, and slow tails are cut off: within 1 dB
    np.testing.assert_allclose(found / way, estimate, rtol=0.1 if lossy else 0.02)
    assert returned(layered).value >= 20 * np.log10(estimate.max()) - 0.5


@pytest.mark.parametrize(("along", "verdict"), [(0.5, "good"), (0.95, "bad"), (1.05, "bad"), (2.0, "good")])
def test_the_return_of_a_cpml_in_a_bloch_cell_is_that_of_its_angle(along, verdict):
    """At k = along w/c, of waves and of fields that fall towards it; to 0.5 dB, as grazing waves ring on for long.

    With a record over time nobody says which frequencies are looked at, so nothing is bad.
    """
    frequency, cell, cells, room = 1e9, 299792458.0 / 1e9 / 20, 6, 4
    k = along * 2 * np.pi * frequency / 299792458.0

    def model(length, end):
        return nf.Simulation(
            grid=nf.Grid.uniform(cell, (1, 1, length)),
            boundaries=nf.Boundaries(x=nf.Bloch(wave_number=k), y="periodic", z_low=nf.CPML(60), z_high=end),
            sources=[
                nf.CurrentSheet(
                    (0, 0, 100 * cell), (cell, cell, 100 * cell), "x", nf.ModulatedGaussian(frequency, 0.7e9)
                )
            ],
            monitors=[nf.FieldDFT("e", (0, 0, 100 * cell), (cell, cell, 100 * cell), [frequency])],
            precision="double",
            steps=2500,
        )

    layered = model(100 + room + cells, nf.CPML(cells))
    with_layer, endless = (
        each.run(threads=1)["e"]["Ex"].values.ravel()[0] for each in (layered, model(200, nf.CPML(60)))
    )
    found = abs(with_layer / endless - 1)
    entry = returned(layered)
    assert entry.value == pytest.approx(20 * np.log10(found), abs=0.5)
    assert entry.verdict == verdict and ("evanescent" in entry.text) == (along > 1)
    timed = layered.model_copy(update={"monitors": (nf.Probe("e", (0.5 * cell, 0, 100 * cell), "Ex"),)})
    assert returned(timed).verdict != "bad"


def returned(model):
    """The entry of a model's CPML."""
    (found,) = [each for each in model_trust(Discretization(model)) if each.name == "CPML return"]
    return found
