"""The dataset of a sweep: its variables, what they are called, and on which axes they lie."""

from functools import partial

import numpy as np
import pytest
import xarray

import nearfield as nf
from nearfield.studies.quantities import quantities_of
from nearfield.studies.sweep import Point
from nearfield.studies.sweep_point import RESULT
from nearfield.studies.sweep_table import save_sweep, table_of, with_own_axes
from nearfield.studies.sweep_values import axes_of


def box(peak=9e9, ports=(), monitors=()):
    """A point current, or ports, in a small open box."""
    light = nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", nf.GaussianDerivative(peak))
    return nf.Simulation(
        nf.Grid.uniform(1e-3, (8, 8, 8)),
        boundaries=nf.Boundaries(all=nf.CPML(2)),
        sources=[] if ports else [light],
        ports=[nf.LumpedPort(n, (x, 4e-3, 3e-3), (x, 4e-3, 4e-3), "z") for n, x in zip(ports, (4e-3, 5e-3))],
        waveform=nf.GaussianDerivative(peak),
        monitors=[nf.Flux("sum", (3e-3, 3e-3, 2e-3), (6e-3, 5e-3, 5e-3), ["9 GHz"]), *monitors],
        steps=400,
    )


def table(home, models, quantities=()):
    """The dataset of runs of models over their number."""
    points = []
    for number, model in enumerate(models):
        folder = home / str(number)
        folder.mkdir()
        model.run(threads=1, output=folder / RESULT)
        points.append(Point({"number": number}, folder=folder, status="done"))
    return table_of(axes_of({"number": list(range(len(models)))}), points, quantities_of(quantities), home)


def spectrum(*places):
    return xarray.DataArray(np.ones(len(places)), {"frequency": list(places)}, ["frequency"])


def test_axes_of_monitors_that_share_a_first_word_stay_apart():
    given = {"sparameters": spectrum(1e9, 5e9), "flux low": spectrum(1e9, 2e9), "flux high": spectrum(3e9, 4e9)}
    found = with_own_axes(given | {"far low directivity": spectrum(7e9)})
    dims = [array.dims for array in found.values()]
    assert dims == [("frequency",), ("flux low frequency",), ("flux high frequency",), ("far low frequency",)]
    assert found["flux low"].coords["flux low frequency"].values.tolist() == [1e9, 2e9]


def test_fluxes_are_powers_of_a_source_of_amplitude_1_whatever_the_pulse(tmp_path):
    found = table(tmp_path, [box(9e9), box(13e9)])["sum"].squeeze()
    assert found[0] == pytest.approx(found[1].item(), rel=2e-3) and found[0] > 1e-3
    assert found.attrs["units"] == "W per squared unit of the source"


def test_fluxes_without_a_spectrum_of_the_source_are_those_of_the_run_in_their_own_unit(tmp_path):
    on = [nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", nf.ContinuousWave(9e9))]
    unlike = [nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", nf.GaussianDerivative(peak)) for peak in (9e9, 13e9)]
    models = [box().model_copy(update={"sources": tuple(sources)}) for sources in (on, unlike, box().sources)]
    found = table(tmp_path, models)
    assert found["sum"].attrs["units"] == "W s^2" and "its unit" in found.attrs["left_out"]
    assert found["sum"].values[1] == pytest.approx(models[1].run(threads=1).excitation()["sum"].values)
    assert np.isfinite(found["sum"].values).ravel().tolist() == [True, True, False]


def test_fluxes_of_every_port_are_in_the_table(tmp_path):
    model = box(ports=("a", "b"))
    found = table(tmp_path, [model])
    assert found["sum"].dims[1] == "source" and found.source.values.tolist() == ["a", "b"]
    alone = model.run(threads=1).excitation("b").per_source()["sum"]
    assert found["sum"].sel(number=0, source="b").values == pytest.approx(alone.values)
    save_sweep(found, tmp_path / "sweep.h5")
    assert nf.open_sweep(tmp_path)["sum"].equals(found["sum"])


def test_quantities_stand_beside_what_a_table_has_anyway_and_beside_each_other(tmp_path):
    far = nf.FarField("far", ["9 GHz"], theta=[0.5, 1.5], phi=[0.0, 1.0])

    def read(factor, result):
        return factor * result.facts["cells"]

    functions = [lambda result: 1.0, lambda result: 2.0, partial(read, 3), partial(read, 4)]
    asked = ["far directivity", "far  directivity", *functions]
    found = table(tmp_path, [box(monitors=[far])], asked)
    assert found["quantity far directivity"].attrs["units"] == "dBi"
    peak = found["far directivity"].values.item()
    assert found["quantity far directivity"].values.item() == pytest.approx(10 * np.log10(peak), abs=1e-6)
    read_of = [found[name].values.item() for name in ("<lambda>", "<lambda> 2", "read", "read 2")]
    assert read_of == [1.0, 2.0, 3 * 512, 4 * 512]
    assert not [name for name in found if str(name).endswith("directivity 2")]


@pytest.mark.parametrize("gives", [1j, np.complex128(2), "S11", [1.0, 2.0], None])
def test_a_function_that_gives_no_real_number_is_left_out_in_words(gives, tmp_path):
    found = table(tmp_path, [box()], [lambda result: gives])
    assert "<lambda>" not in found and "sum" in found
    assert "give one real number" in found.attrs["left_out"]


def test_quantities_that_are_neither_words_nor_functions_are_refused():
    with pytest.raises(nf.ModelError, match=r"quantity 3 is not known; give one of .* a function of a result"):
        quantities_of([3])


def test_parameters_that_are_no_table_are_refused_in_words():
    with pytest.raises(nf.ModelError, match=r"given \['a'\]; a sweep needs names and a list of values each"):
        nf.sweep(box, ["a"])
