"""Everything that a result gives draws itself on matplotlib's axes, moves, and reads well in a notebook."""

import base64
import re
import warnings
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pytest
import xarray
from PIL import Image

import nearfield as nf
from nearfield.pictures.animation import ffmpeg
from nearfield.pictures.curves import draw_signals
from nearfield.pictures.cuts import peak_about
from nearfield.pictures.planes import planes_of
from nearfield.pictures.scattering import draw_scattering
from nearfield.report.plots import return_loss
from nearfield.run.options import ProgressInfo
from nearfield.run.outlook import NotebookProgress

matplotlib.use("Agg")
MIDDLE = 10e-3


@pytest.fixture(scope="module")
def sim():
    plane = ((0, 0, MIDDLE), (20e-3, 20e-3, MIDDLE))
    return nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (20, 20, 20)),
        boundaries=nf.Boundaries(all=nf.CPML(5)),
        structures=[
            nf.Structure(nf.Wire([(MIDDLE, MIDDLE, 7e-3), (MIDDLE, MIDDLE, 9e-3)]), "pec"),
            nf.Structure(nf.Wire([(MIDDLE, MIDDLE, 10e-3), (MIDDLE, MIDDLE, 12e-3)]), "pec"),
        ],
        ports=[nf.LumpedPort("gap", (MIDDLE, MIDDLE, 9e-3), (MIDDLE, MIDDLE, 10e-3), "z")],
        monitors=[
            nf.FarField("pattern", [10e9]),
            nf.FieldDFT("cut", *plane, [8e9, 10e9], components=["Ex", "Ez"]),
            nf.Snapshot("wave", *plane, components=["Ez"], every=30),
            nf.Flux("out", (6e-3,) * 3, (14e-3,) * 3, np.linspace(5e9, 15e9, 5)),
            nf.Probe("tip", (8e-3, 8e-3, 12e-3)),
        ],
        waveform=nf.Gaussian(15e9),
        steps=150,
        title="Small dipole",
    )


@pytest.fixture(scope="module")
def result(sim):
    return sim.run(threads=1)


@pytest.fixture
def ax():
    from matplotlib import pyplot

    yield pyplot.figure().subplots()
    pyplot.close("all")


def lines_of(axes):
    return [np.column_stack(line.get_data()) for line in axes.lines if len(line.get_xdata()) > 2]


@pytest.mark.parametrize("what", [None, "sparameters", "energy", "pattern", "cut", "wave", "out", "tip", "gap"])
def test_everything_recorded_draws_on_given_axes(result, ax, what):
    assert result.plot(what, ax=ax) is ax
    meshes = [mesh.get_array() for mesh in ax.collections if mesh.get_array() is not None]
    drawn = [*meshes, *(line.get_ydata() for line in ax.lines)]
    assert max(np.ptp(np.asarray(values, float)[np.isfinite(values)]) for values in drawn) > 0  # more than one value
    assert ax.get_xlabel() and ax.get_ylabel()


DRAWING = {
    "S-parameters": lambda result, ax: result.sparameters.plot(ax=ax),
    "one S-parameter": lambda result, ax: result.sparameters.sel(to="gap", source="gap").plot(ax=ax),
    "spectrum": lambda result, ax: nf.spectrum(result["tip"], np.linspace(1e9, 20e9, 50)).plot(ax=ax),
    "signal": lambda result, ax: result["tip"].plot(ax=ax),
    "port": lambda result, ax: result.excitation().port("gap").plot(ax=ax),
    "flux": lambda result, ax: result["out"].plot(ax=ax),
    "component": lambda result, ax: result["cut"]["Ez"].plot(ax=ax),
    "field": lambda result, ax: result["cut"].plot("Ez", at="8 GHz", ax=ax),
    "pattern": lambda result, ax: result["pattern"].plot("10 GHz", ax=ax),
    "efficiency": lambda result, ax: result["pattern"].radiation_efficiency.plot(ax=ax),
    "resonances": lambda result, ax: modes().plot(ax=ax),
    "medium": lambda result, ax: nf.Medium(4.9, poles=[nf.Debye(75.2, "9.231 ps")]).plot("1 GHz", "50 GHz", ax=ax),
}


def modes():
    t = 1e-12 * np.arange(4000)
    signal = np.exp(-1e7 * t) * np.cos(2 * np.pi * 10e9 * t) + 0.1 * np.cos(2 * np.pi * 10.4e9 * t)
    return nf.resonances(signal, (9e9, 11e9), time_step=1e-12)


@pytest.mark.parametrize("name", DRAWING)
def test_each_kind_of_thing_has_a_plot_that_takes_axes_and_returns_them(result, ax, name):
    assert DRAWING[name](result, ax) is ax
    assert ax.lines or ax.collections


def test_plots_show_the_numbers_that_the_arrays_hold(result, ax):
    result.sparameters.plot(ax=ax)
    curve = max(lines_of(ax), key=len)
    assert np.allclose(curve[:, 1], nf.decibels(result.sparameters.values[:, 0, 0]), rtol=0, atol=1e-9)
    assert np.allclose(curve[:, 0] * 1e9, result.sparameters.frequency.values, rtol=1e-12)


def test_s_parameters_of_several_driven_ports_differ_on_one_panel(result, ax):
    both = xarray.concat([result.sparameters] * 2, "source").assign_coords(source=["gap", "other"])
    both = xarray.concat([both] * 2, "to").assign_coords(to=["gap", "other"])
    draw_scattering(both, ax)
    curves = [line for line in ax.lines if len(line.get_xdata()) > 2]
    assert len({(line.get_color(), str(line.get_linestyle())) for line in curves}) == len(curves) == 4


def with_columns(parameters, *driven, ports=8):
    """S of several ports, a column of numbers for each driven one."""
    names = [f"p{number}" for number in range(1, ports + 1)]
    values = np.full((parameters.frequency.size, ports, ports), complex(np.nan, np.nan))
    values[:, :, [names.index(name) for name in driven]] = 0.1j
    coordinates = {"frequency": parameters.frequency.values, "to": names, "source": names}
    return type(parameters)(values, coordinates, ["frequency", "to", "source"], "sparameters")


def test_ports_that_were_not_driven_have_no_panel(result, ax):
    axes = draw_scattering(with_columns(result.sparameters, "p8"))
    assert len(axes.figure.axes) == 1 and len(axes.lines) > 1
    panels = draw_scattering(with_columns(result.sparameters, "p2", "p7"))
    assert [each.get_title(loc="left") for each in panels] == ["Port p2 driven", "Port p7 driven"]
    draw_scattering(with_columns(result.sparameters, "p2", ports=2), ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["S22 (p2)", "S12 (p1)"]


def test_a_level_derived_from_s_is_not_drawn_as_s(result, ax):
    level = (abs(result.sparameters) ** 2).isel(to=0, source=0)
    level.plot(ax=ax)
    assert np.allclose(max(lines_of(ax), key=len)[:, 1], level.values) and "dB" not in ax.get_ylabel()


def test_complex_snapshots_are_signed(result):
    wave = result["wave"]["Ez"]
    assert np.iscomplexobj((1j * wave).values)
    real, turned = (planes_of("wave", {"Ez": each})[0] for each in (wave, wave * (1.0 + 1.0j)))
    assert turned.signed and np.allclose(turned.values, real.values)


def test_the_picture_of_the_report_is_that_of_plot(result):
    shown, reported = result.plot(), return_loss(result).axes[0]
    assert len(lines_of(shown)) == len(lines_of(reported)) > 0
    for one, other in zip(lines_of(shown), lines_of(reported)):
        assert np.array_equal(one, other)


def test_figures_of_plots_are_those_that_pyplot_shows_and_those_of_notebooks_are_not(result, sim):
    from matplotlib import pyplot

    pyplot.close("all")
    for thing in (result, result["pattern"], result["cut"], sim, sim.check()):
        thing._repr_html_()
    assert pyplot.get_fignums() == []
    axes = result["tip"].plot()
    assert axes.figure.number in pyplot.get_fignums()
    pyplot.close("all")


def test_dips_have_labels_that_do_not_lie_on_each_other(result):
    frequency = np.linspace(1e9, 2e9, 2001)
    wave = np.ones(frequency.size, complex)
    for middle, depth in ((1.50e9, 0.97), (1.515e9, 0.95), (1.53e9, 0.96), (1.9e9, 0.9)):
        wave *= 1 - depth / (1 + ((frequency - middle) / 2e6) ** 2)
    parameters = result.sparameters.isel(frequency=[0] * frequency.size).assign_coords(frequency=frequency)
    axes = draw_scattering(parameters.copy(data=wave[:, None, None]))
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 4
    assert not any(one.overlaps(other) for n, one in enumerate(boxes) for other in boxes[:n])
    assert all(box.y1 <= axes.bbox.y1 for box in boxes)


def test_what_is_not_there_is_refused_with_what_there_is(result):
    with pytest.raises(nf.ModelError, match="no 'nothing' to draw in this result; there is: 'sparameters', 'energy'"):
        result.plot("nothing")
    with pytest.raises(nf.ModelError, match="those of this result: 'wave', 'cut'"):
        result.animate("tip")
    with pytest.raises(nf.ModelError, match="across one of x, y, z"):
        result["cut"].plot(x=0.0, z=0.0)


def test_snapshots_become_a_gif_of_as_many_frames(result, tmp_path):
    result.animate("wave", tmp_path / "wave.gif")
    with Image.open(tmp_path / "wave.gif") as film:
        assert film.n_frames == result["wave"]["Ez"].sizes["time"] == 5
        frames = []
        for number in range(film.n_frames):
            film.seek(number)
            frames.append(np.asarray(film.convert("L"), dtype=float))
    assert all(np.abs(one - other).max() > 10 for one, other in pairwise(frames))  # the wave moves


def test_a_spectrum_goes_through_one_period_on_a_page_that_asks_no_network(result, tmp_path):
    film = result.animate("cut", tmp_path / "cut.html", at="10 GHz", frames=6)
    page = (tmp_path / "cut.html").read_text()
    assert len(set(re.findall(r'frames\[\d+\] = "data:image/png;base64', page))) == 6 and film.frames == 6
    assert "10 GHz" not in page and not re.search(r'<(?:script|img)[^>]+src="http', page)


def test_an_animation_becomes_a_film_where_there_is_an_ffmpeg_and_is_refused_where_there_is_none(
    result, tmp_path, monkeypatch
):
    path = tmp_path / "wave.mp4"
    if ffmpeg() is not None:
        result.animate("wave", path, frames=3)
        assert path.read_bytes()[4:8] == b"ftyp"
        path.unlink()
    monkeypatch.setattr("nearfield.pictures.animation.ffmpeg", lambda: None)
    with pytest.raises(nf.ModelError, match="movies"):
        result.animate("wave", path, frames=3)
    assert list(tmp_path.iterdir()) == []


def test_an_animation_in_another_format_is_refused(result, tmp_path):
    with pytest.raises(nf.ModelError, match=r"allowed: .html, .gif, .mp4"):
        result.animate("wave", tmp_path / "wave.avi")
    assert list(tmp_path.iterdir()) == []


def test_notebooks_show_a_table_and_a_picture(result, sim):
    for thing in (sim, result, result["pattern"], result["cut"]):
        code = re.search(r"data:image/png;base64,([^\"]+)", thing._repr_html_())
        assert code and base64.b64decode(code[1]).startswith(b"\x89PNG")
    assert "no picture" not in sim._repr_html_() and "time step" in sim.check()._repr_html_()


def test_no_object_is_shown_by_its_address(result, sim):
    for thing in (*public_objects(sim, result), *made_by_results(result)):
        assert not re.search(r" at 0x[0-9a-f]{6,}", repr(thing)), repr(thing)


def made_by_results(result):
    """What the classes of a result give, properties and the methods without arguments among them."""
    excitation = result.excitation()
    found = [result.grid, excitation, excitation.per_source(), excitation.energy, excitation.port("gap"), modes()]
    found += [excitation[name] for name in excitation.monitors]
    for owner in (result, excitation, result["pattern"], result["cut"]):
        for name in dir(type(owner)):
            if not name.startswith("_") and isinstance(getattr(type(owner), name), property):
                try:
                    found.append(getattr(owner, name))
                except nf.NearfieldError:
                    continue
    return [*found, result.animate("wave", frames=2), result.sparameters.plot, modes().plot, result.trust]


def public_objects(sim, result):
    """The public names, and an object of each class of which there is one here."""
    given = [sim, sim.check(), result, nf.Solver(sim, threads=1), *sim.structures, *sim.ports, *sim.monitors]
    given += [nf.fit_medium([1e9, 2e9, 4e9], permittivity=[4.0 - 0.1j, 3.9 - 0.1j, 3.8 - 0.1j], poles=1)]
    given += [
        nf.elements(np.random.default_rng(1).random((6, 6, 6)), (1.0, 1.0, 1.0)),
        nf.Parallel(),
        nf.library,
        nf.library.about("gold"),
    ]
    for name in nf.__all__:
        thing = getattr(nf, name)
        if not callable(thing):
            given.append(thing)
    return given


def test_a_run_leaves_its_report_beside_its_output(sim, tmp_path):
    (tmp_path / "out").mkdir()
    sim.run(threads=1, output=tmp_path / "out", report=True)
    files = {path.name for path in Path(tmp_path / "out").iterdir()}
    assert {"result.h5", "result.s1p", "return_loss.png", "pattern.png", "fields.png", "report.html"} <= files
    with pytest.raises(nf.ModelError, match="report: needs an output"):
        sim.run(threads=1, report=True)


def test_a_bar_in_a_notebook_is_made_once_and_then_redrawn():
    shown, updates = [], []

    def show(markup):
        shown.append(markup)
        return updates.append

    bar = NotebookProgress(1e-3, show)
    for step, energy in ((0, 1.0), (50, 0.5), (100, 1e-3)):
        bar(ProgressInfo(step, 200, 100.0, energy, 1.0, "feed"))
    assert len(shown) == 1 and len(updates) == 2
    values = [float(re.search(r'value="([0-9.]+)"', text)[1]) for text in (*shown, *updates)]
    assert values == [0.0, 0.25, 1.0]  # the last by the decay that ends the run


def test_cuts_on_cartesian_axes_share_one_range_of_angles(result, ax):
    result["pattern"].plot(ax=ax)
    angles = [curve[:, 0] for curve in lines_of(ax)]
    assert len(angles) == 2 and all((np.diff(each) >= 0).all() for each in angles)
    assert all(-180 <= each[0] <= -170 and each[-1] == pytest.approx(180) for each in angles)


def test_a_frequency_that_was_not_recorded_is_told(result):
    recorded = result["cut"]["Ez"].frequency.values
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result["cut"].plot("Ez", at=float(recorded[0]) * 1.001)
    with pytest.warns(
        UserWarning, match=f"nothing was recorded at 77 GHz; shown is the nearest, .*; recorded: {recorded.size}, "
    ):
        result["cut"].plot("Ez", at="77 GHz")


@pytest.mark.parametrize("first", [-180, 0])
def test_a_peak_between_samples_lies_where_they_do(first):
    """A lobe at phi = -50 degrees, which is 310 on a map from 0 on; of a sector it stays beside the samples; to
    0.04 of a step and 0.005 dB."""
    theta, phi = np.radians(np.arange(0, 181, 4.0)), np.radians(first + np.arange(0, 360, 4.0))
    lobe = np.radians(-50.0 if first else 310.0)

    def level(theta, phi):
        return 300.0 * np.cos(phi - lobe) - (theta - 1.5) ** 2

    at = 21, int(np.argmin(abs(phi - lobe)))
    (_, found), _ = peak_about(level, theta, phi, at, float(level(theta[at[0]], phi[at[1]])))
    assert found == pytest.approx(lobe, abs=np.radians(0.5))
    sector = lobe + np.radians([1.0, 5.0, 9.0])
    (_, found), _ = peak_about(level, theta, sector, (21, 0), float(level(theta[21], sector[0])))
    assert found == pytest.approx(lobe, abs=np.radians(0.5))


def test_of_complex_signals_the_picture_says_that_it_shows_the_real_part():
    wave = xarray.DataArray(np.exp(1j * np.arange(9.0)), {"time": np.arange(9.0)}, ["time"], attrs={"units": "V/m"})
    assert draw_signals({"tip": wave}).get_ylabel() == "tip, real part (V/m)"
    assert draw_signals({"tip": wave.real}, label="Probe").get_ylabel() == "Probe (V/m)"
