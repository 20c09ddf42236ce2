"""Flux and far field of whole runs: what the grid's own power balance promises, to the accuracy it promises."""

import numpy as np
import pytest

import nearfield as nf

FREQUENCY = 1e9
WAVELENGTH = 299792458.0 / FREQUENCY


@pytest.fixture(scope="module")
def point_current():
    """A current moment of 1e-3 A m on a sample, 20 cells per wavelength, in a time step of 0.99 of the limit."""
    cell = WAVELENGTH / 20
    corner = -22 * cell
    boxes = {"small": 4 * cell, "big": 9 * cell}
    return (
        nf.Simulation(
            grid=nf.Grid.uniform(cell, (44, 44, 44), origin=(corner, corner, corner)),
            sources=[nf.PointCurrent((0, 0, cell / 2), "z", nf.GaussianDerivative(FREQUENCY), moment=1e-3)],
            monitors=[nf.FarField("pattern", [FREQUENCY])]
            + [nf.Flux(name, (-size,) * 3, (size,) * 3, [FREQUENCY]) for name, size in boxes.items()],
            precision="double",
        )
        .run()
        .per_source()
    )


def test_radiated_power_of_a_current_moment_is_the_closed_form_and_the_grid_s_dispersion(point_current):
    # Density of states of the grid (kh)^2/8, minus (w dt)^2/12 of the discrete frequency and (w dt)^2/8 of averaging in
    # time, (w dt)^2 = (kh)^2/3 at the limit; the next order is (kh)^4.
    kh2 = (2 * np.pi / 20) ** 2
    expected = 4.389528e-3 * (1 + kh2 * (1 / 8 - 0.99**2 * (1 / 36 + 1 / 24)))
    assert point_current["small"].item() == pytest.approx(expected, rel=kh2**2 / 8)


def test_the_flux_does_not_depend_on_the_box(point_current):
    assert point_current["small"].item() == pytest.approx(point_current["big"].item(), rel=1e-6)


def test_the_far_field_carries_the_power_of_the_flux(point_current):
    pattern = point_current["pattern"]
    assert pattern.radiated_power.item() == pytest.approx(point_current["big"].item(), rel=2e-3)
    assert pattern.surface_power.item() == pytest.approx(point_current["big"].item(), rel=1e-6)
    assert pattern.directivity.max().item() == pytest.approx(1.5, rel=0.0115)  # 0.05 dB


def test_a_lossless_antenna_has_the_efficiency_one_though_its_cells_are_coarse():
    cell, arm = 10e-3, 70e-3
    corner = (-0.24, -0.24, -0.245)
    feed = (0, 0, -cell / 2), (0, 0, cell / 2)
    wires = [nf.Wire([feed[1], (0, 0, cell / 2 + arm)]), nf.Wire([(0, 0, -cell / 2 - arm), feed[0]])]
    result = nf.Simulation(
        grid=nf.Grid.uniform(cell, (48, 48, 49), origin=corner),
        structures=[nf.Structure(wire, nf.PEC) for wire in wires],
        ports=[nf.LumpedPort("feed", *feed, "z", resistance=73)],
        waveform=nf.Gaussian(2e9),
        monitors=[nf.FarField("pattern", [0.9e9, 1.5e9])],
    ).run()
    pattern = result["pattern"]
    # the run ends at 1e-6 of the energy: amplitudes to 1e-3, powers to 2e-3; the rims of the surface as much again
    assert pattern.radiation_efficiency.values == pytest.approx([1, 1], abs=4e-3)
    reflection = result.sparameters.sel(to="feed", source="feed").interp(frequency=[0.9e9, 1.5e9]).values
    ratio = (pattern.realized_gain / pattern.gain).max(("theta", "phi")).values
    assert ratio == pytest.approx(1 - np.abs(reflection) ** 2, rel=2e-3)
