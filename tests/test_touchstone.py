"""Touchstone files, read back by scikit-rf."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.analysis.exchange import skrf_network
from nearfield.analysis.sparameters import write_touchstone

xarray = pytest.importorskip("xarray")
skrf = pytest.importorskip("skrf")
F = np.linspace(1e9, 20e9, 7)


def array(ports, seed=0):
    random = np.random.default_rng(seed)
    values = random.uniform(-1, 1, (7, ports, ports)) + 1j * random.uniform(-1, 1, (7, ports, ports))
    names = [f"port{n}" for n in range(ports)]
    return xarray.DataArray(
        values, {"frequency": F, "to": names, "source": names}, ("frequency", "to", "source"), "sparameters"
    )


def reference(values):
    return {str(name): 50.0 for name in values["to"].values}


@pytest.mark.parametrize("ports", [1, 2, 3, 4, 5, 9])
def test_scikit_rf_reads_back_what_was_written(tmp_path, ports):
    values = array(ports)
    path = write_touchstone(tmp_path / "line", values, reference(values))
    assert path.name == f"line.s{ports}p"
    read = skrf.Network(str(path))
    assert read.f == pytest.approx(F)
    assert np.abs(read.s - values.values).max() < 1e-8
    assert read.z0 == pytest.approx(np.full((7, ports), 50.0))


def test_order_of_the_dims_does_not_matter(tmp_path):
    values = array(2)
    path = write_touchstone(tmp_path / "line.s2p", values.transpose("source", "frequency", "to"), reference(values))
    assert np.abs(skrf.Network(str(path)).s - values.values).max() < 1e-8


def test_ports_of_different_impedance_are_restated_for_50_ohm(tmp_path):
    values = array(3)
    impedances = {"port0": 50.0, "port1": 75.0, "port2": 20.0}
    read = skrf.Network(str(write_touchstone(tmp_path / "x.s3p", values, impedances)))
    wanted = skrf.Network(f=F, f_unit="Hz", s=values.values, z0=[50.0, 75.0, 20.0])
    wanted.renormalize(50.0, s_def="power")
    assert np.abs(read.s - wanted.s).max() < 1e-7


def test_a_folder_that_is_missing_is_made_and_a_place_that_cannot_be_written_refused(tmp_path):
    values = array(2)
    assert write_touchstone(tmp_path / "new" / "x.s2p", values).is_file()
    (tmp_path / "file").write_text("")
    with pytest.raises(nf.ModelError, match=r"file/x.s2p cannot be written"):
        write_touchstone(tmp_path / "file" / "x.s2p", values)


def test_a_common_impedance_is_kept(tmp_path):
    values = array(2)
    path = write_touchstone(tmp_path / "x.s2p", values, {"port0": 75.0, "port1": 75.0})
    assert skrf.Network(str(path)).z0 == pytest.approx(np.full((7, 2), 75.0))


def test_ports_not_excited_and_frequencies_without_energy_are_left_out(tmp_path):
    values = array(3)
    values[:, :, 1] = np.nan
    values[0] = np.nan
    with pytest.raises(
        nf.ModelError, match=r"given the file name x.s3p; allowed: x.s2p, because 2 of 3 ports.*port1 too"
    ):
        write_touchstone(tmp_path / "x.s3p", values, reference(values))
    path = write_touchstone(tmp_path / "x", values, reference(values))
    assert path.suffix == ".s2p" and "port1 was not excited" in path.read_text()
    read = skrf.Network(str(path))
    assert read.f == pytest.approx(F[1:])
    assert np.abs(read.s - values.values[1:][:, [0, 2]][:, :, [0, 2]]).max() < 1e-8


def test_nothing_to_write_is_refused(tmp_path):
    values = array(1) * np.nan
    with pytest.raises(nf.ModelError, match="no port was excited"):
        write_touchstone(tmp_path / "x.s1p", values, reference(values))
    with pytest.raises(nf.ModelError, match="names no file"):
        write_touchstone("", array(1), reference(values))


def two_ports(excitations=None) -> nf.Result:
    """A strip line between two unlike ports in a closed box, so short that all that matters is what is handed on."""
    ends = [nf.LumpedPort(name, (x, 4e-3, 0), (x, 4e-3, 2e-3), "z", ohm) for name, x, ohm in TWO]
    strip = nf.Structure(nf.Wire([(2e-3, 4e-3, 2e-3), (8e-3, 4e-3, 2e-3)]), nf.PEC)
    grid, walls = nf.Grid.uniform(1e-3, (10, 8, 6)), nf.Boundaries(all=nf.PEC)
    pulse = nf.Gaussian(8e9)
    model = nf.Simulation(grid, [strip], walls, ports=ends, waveform=pulse, excitations=excitations, steps=400)
    return model.run(threads=1)


TWO = (("left", 2e-3, 50.0), ("right", 8e-3, 75.0))


def test_a_network_of_scikit_rf_has_the_numbers_and_the_impedance_of_each_port():
    result = two_ports()
    network = result.to_skrf()
    at = network.f.searchsorted(4e9)
    assert network.z0[0].tolist() == [50.0, 75.0] and network.port_names == ["left", "right"]
    own = result.sparameters.sel(frequency=network.f[at])
    assert np.array_equal(network.s[at], own.transpose("to", "source").values)
    table = result.to_pandas()
    assert table.loc[network.f[at], "S(right, left)"] == own.sel(to="right", source="left").item()
    assert two_ports(["left"]).to_skrf().nports == 1  # the other stays in its termination


def test_a_name_with_a_dot_keeps_all_of_it(tmp_path):
    names = [write_touchstone(tmp_path / name, array(1)).name for name in ("patch_2.4", "patch_2.5", "x.txt", "y.S1P")]
    assert names == ["patch_2.4.s1p", "patch_2.5.s1p", "x.txt.s1p", "y.S1P"]


def test_frequencies_come_in_rising_order_and_once(tmp_path):
    values = array(2)
    mixed = values.isel(frequency=[3, 0, 6, 3, 1])
    read = skrf.Network(str(write_touchstone(tmp_path / "x", mixed)))
    handed = skrf_network(mixed, reference(values), "")
    for network in (read, handed):
        assert network.f == pytest.approx(F[[0, 1, 3, 6]])
        assert np.abs(network.s - values.values[[0, 1, 3, 6]]).max() < 1e-8
