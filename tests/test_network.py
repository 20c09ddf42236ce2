"""What is read off S-parameters and ports: levels, group delay, other frequencies, the modes' own numbers."""

import numpy as np
import pytest
import xarray

import nearfield as nf
from nearfield.analysis.network import dips
from nearfield.entry.constants import VACUUM_SPEED
from tests.guides import MM, guide


@pytest.fixture(scope="module")
def line() -> nf.Result:
    """An empty guide of 12 x 7 mm, 36 mm between its ports."""
    return guide(steps=3000).run(threads=1)


def test_group_delay_of_an_empty_guide_is_that_of_its_mode(line):
    f = np.linspace(17e9, 23e9, 25)
    found = nf.group_delay(line.sparameters_at(f).sel(to="out", source="in"))
    beta = guide().guide_modes(f).propagation_constant.sel(port="in").values.imag
    wanted = 36 * MM * np.gradient(beta, 2 * np.pi * f)
    assert np.abs(found.values[1:-1] / wanted[1:-1] - 1).max() < 3e-3  # differences of the second order, both
    slow = 36 * MM / VACUUM_SPEED / np.sqrt(1 - (12.49e9 / f) ** 2)
    assert np.abs(found.values / slow - 1).max() < 0.05  # 13 cells a wavelength


def test_group_delay_keeps_the_shape_and_nan_stays_where_it_is():
    f = np.array([1e9, 2e9, 4e9, 5e9])
    values = np.exp(-2j * np.pi * f * 3e-11)[:, None] * np.array([1.0, 2j])
    values[0, 1] = np.nan
    found = nf.group_delay(xarray.DataArray(values, {"frequency": f}, ["frequency", "to"]))
    assert found.dims == ("frequency", "to")
    np.testing.assert_allclose(found[:, 0], 3e-11, rtol=1e-12)
    np.testing.assert_array_equal(np.isnan(found[:, 1]), [True, True, False, False])


def test_group_delay_is_of_the_second_order_at_uneven_frequencies_and_at_the_ends():
    """Of a phase of second order in frequency, whose delay is a straight line, it is exact."""
    f = np.array([1e9, 1.1e9, 1.7e9, 1.8e9, 2.5e9])
    wanted = 3e-11 + 2e-20 * f
    phase = 2 * np.pi * (3e-11 * f + 1e-20 * f**2)
    found = nf.group_delay(xarray.DataArray(np.exp(-1j * phase), {"frequency": f}, ["frequency"]))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    two = nf.group_delay(found[:2] * 0 + 1j)
    np.testing.assert_allclose(two, 0.0, atol=1e-20)


@pytest.mark.parametrize("coordinates", [{"frequency": [1e9, 1e9, 2e9]}, {"frequency": [3e9, 1e9, 2e9]}, {}])
def test_group_delay_needs_rising_frequencies(coordinates):
    with pytest.raises(nf.ModelError, match="rising frequencies"):
        nf.group_delay(xarray.DataArray(np.ones(3), coordinates, ["frequency"]))


def test_a_dip_between_uneven_frequencies_lies_at_the_vertex_of_the_parabola():
    f = np.array([1e9, 1.4e9, 2e9, 2.1e9, 3e9])
    (((place, level)),) = dips(f, (f / 1e9 - 1.83) ** 2)
    assert place == pytest.approx(1.83e9, rel=1e-12) and level == pytest.approx(0.17**2)


def test_s_at_other_frequencies_is_that_of_the_run(line, tmp_path):
    known = line.sparameters
    some = known.frequency.values[[400, 600]]
    wanted = known.sel(frequency=some).values
    for result in (line, nf.open_result(line.save(tmp_path / "r.h5"))):
        np.testing.assert_allclose(result.sparameters_at(some).values, wanted, rtol=1e-9, atol=1e-12)
    assert line.sparameters_at("19.99 GHz").frequency.values == [19.99e9]
    assert np.isnan(line.sparameters_at(2e9)).all()  # no pulse there
    with pytest.raises(nf.ModelError, match="frequencies: given '3 mm'"):
        line.sparameters_at(["3 mm"])


def test_modes_are_known_without_a_run():
    model = guide(count=2)
    found = model.guide_modes(["10 GHz", 20e9])
    assert list(found.port.values) == ["in:1", "in:2", "out:1", "out:2"]
    assert list(found.family.values) == ["TE"] * 4
    cutoff, beta = found.cutoff_frequency.values[0], found.propagation_constant.sel(port="in:1").values
    assert cutoff == pytest.approx(VACUUM_SPEED / (24 * MM), rel=0.01)
    assert beta[0].real > 0 and abs(beta[0].imag) < 1e-9 * beta[0].real  # below the cut-off it decays
    assert abs(beta[1].real) < 1e-9 * beta[1].imag
    assert beta[1].imag == pytest.approx(2 * np.pi / VACUUM_SPEED * np.sqrt(20e9**2 - cutoff**2), rel=0.02)
    assert found.impedance.values[0, 1].real == pytest.approx(376.73 / np.sqrt(1 - (cutoff / 20e9) ** 2), rel=0.03)
    one, other = str(model.check()).split("modes of the waveguide ports")[1].splitlines()[1:3]
    assert "in:1" in one and "mm at 20 GHz" in one and "in:2" in other and "below cut-off" in other


def test_the_line_impedance_of_a_coaxial_guide_converges_to_its_closed_form():
    wanted = 59.958 / 2.08**0.5 * np.log(6 / 2.4)  # ohm

    def miss(cell: float) -> float:
        half, end = 8 * MM, 40 * cell
        solids = [nf.Structure(nf.Box((-half, -half, 0), (half, half, end)), nf.PEC)]
        for radius, medium in ((6 * MM, nf.Medium(2.08)), (2.4 * MM, nf.PEC)):
            solids.append(nf.Structure(nf.Cylinder((0, 0, 0), (0, 0, end), radius), medium))
        port = nf.WaveguidePort("p", (-6e-3, -6e-3, 20 * cell), (6e-3, 6e-3, 20 * cell), "+z", "TEM", "coaxial", 2.4e-3)
        model = nf.Simulation(
            nf.Grid.uniform(cell, (round(2 * half / cell),) * 2 + (40,), (-half, -half, 0)),
            solids,
            ports=[port],
            boundaries=nf.Boundaries(nf.PEC, z=nf.CPML(8)),
            waveform=nf.Gaussian(5e9),
            metal="conformal",
            steps=1,
        )
        return float(model.guide_modes(1e9).line_impedance[0]) / wanted - 1

    coarse, fine = miss(1 * MM), miss(0.5 * MM)
    assert 0 < fine < 0.4 * coarse < 0.004


def test_a_model_without_a_guide_has_no_modes():
    model = nf.Simulation(nf.Grid.uniform(1e-3, (9, 9, 9)), boundaries=nf.Boundaries(nf.PEC), steps=1)
    with pytest.raises(nf.ModelError, match="no waveguide port"):
        model.guide_modes()
