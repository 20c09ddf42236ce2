"""The layer at the end of a guide: it returns little of what travels and gives nearly nothing to what does not."""

import sys
from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from nearfield.discretization.cpml import guide_end

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from guide_ends import LOWEST, gain, in_band, near_cut_off, returned

MM = 1e-3
PULSE = nf.ModulatedGaussian(10e9, 5e9)
LINE = nf.CPML(alpha_maximum=0.0)
GUIDE = nf.CPML(**guide_end(LOWEST))


def test_a_guides_end_returns_less_than_75_db_in_its_band_and_60_db_near_the_cut_off():
    """At 1.01 to 1.1 of the cut-off the profile of an open box with alpha 0 returns -18 to -55 dB."""
    assert in_band(GUIDE, 20) < -75.0 and in_band(GUIDE, 40) < -79.0
    assert max(near_cut_off(GUIDE, 20)) < -60.0 < near_cut_off(LINE, 20)[0]


def test_a_guides_end_gives_a_hundredth_to_evanescent_waves_of_what_a_lines_end_gives():
    for cells in (15, 20, 30):
        assert gain(GUIDE, cells) < 0.01 * max(1.0, (cells / 20) ** 2) < 0.1 * gain(LINE, cells)


def chosen(structures=(), layer=None, high=8, **sides):
    """The layer at z_low of a small model."""
    return (
        nf.Simulation(
            grid=nf.Grid.uniform(MM, (12, high, 40)),
            boundaries=nf.Boundaries(z_low=layer or nf.CPML(), z_high=nf.CPML(), **({"all": nf.PEC} | sides)),
            structures=list(structures),
            sources=[nf.PointCurrent((6 * MM, 0.5 * MM, 20 * MM), "y", PULSE)],
            monitors=[nf.Probe("e", (6 * MM, 0.5 * MM, 22 * MM), "Ey")],
            steps=10,
        )
        ._setup()
        .boundaries.face(2, "low")
    )


def test_it_is_the_default_where_every_wave_has_a_cut_off():
    guide = chosen()
    assert (guide.order, guide.sigma_ratio, guide.kappa_maximum, guide.alpha_order) == (2.75, 2.3, 1.0, 0.0)
    assert guide.alpha_maximum == pytest.approx(0.22 * 2 * np.pi * 7.5e9 * 8.8541878e-12, rel=0.05)
    assert chosen(x_high=nf.PMC).order == 2.75  # half a guide
    assert chosen(layer=nf.CPML(16)) == guide.model_copy(update={"cells": 16})
    filled = chosen([nf.Structure(nf.Box((0, 0, 0), (12 * MM, 8 * MM, 40 * MM)), nf.Medium(4))])
    assert filled == guide.model_copy(update={"index": 2.0})


def test_waves_without_a_cut_off_keep_the_lines_end():
    inner = nf.Structure(nf.Box((5 * MM, 3 * MM, 0), (7 * MM, 5 * MM, 40 * MM)), nf.PEC)
    assert chosen([inner]) == LINE  # two conductors
    assert chosen(x="periodic", y="periodic") == LINE
    assert chosen(x=nf.PMC) == chosen(x=nf.PMC, high=1) == LINE  # two walls, however close
    assert chosen(x=nf.Bloch(phase=1.0), y="periodic") == LINE  # an angle's orders are wanted to the last digits


def test_a_profile_of_which_a_number_is_given_stays():
    assert chosen(layer=nf.CPML(sigma_ratio=0.9)) == nf.CPML(sigma_ratio=0.9, alpha_maximum=0.0)
    assert chosen(layer=LINE) == LINE


def test_runs_return_what_the_layers_numbers_say():
    """WR-90 of 18 cells, layers of 4: S11 of a port is the return of the layer behind it."""
    h, cells = 1.27 * MM, 60
    side = (18 * h, 8 * h)
    ends = [((0, 0, n * h), (*side, n * h)) for n in (14, cells - 14)]
    guide = nf.Simulation(
        grid=nf.Grid.uniform(h, (18, 8, cells)),
        boundaries=nf.Boundaries(nf.PEC, z_low=nf.CPML(4), z_high=nf.CPML(4)),
        ports=[nf.WaveguidePort(n, *end, way, "TE10") for n, end, way in zip(("in", "out"), ends, ("+z", "-z"))],
        waveform=PULSE,
        excitations=["in"],
        precision="double",
    )
    frequencies = np.array([8e9, 9e9, 10e9, 12e9])
    cut_off = 299792458.0 * 2 * np.sin(np.pi / 36) / h / (2 * np.pi)
    exact = np.abs(returned(nf.CPML(4, **guide_end(guide._setup().band[0])), h, cut_off, frequencies))
    found = np.abs(guide.run(threads=1).sparameters_at(frequencies).sel(source="in", to="in").values)
    assert exact.min() > 0.01 and found == pytest.approx(exact, rel=0.01)
