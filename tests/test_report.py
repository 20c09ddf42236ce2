"""Pictures and page: there for every result, self-contained, safe against what users write."""

import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import xarray

import nearfield as nf
from nearfield.analysis.pattern import FarFieldResult
from nearfield.entry.attempts import Attempts
from nearfield.grid.yee import YeeGrid
from nearfield.pictures.cuts import Cut, cuts, patterns
from nearfield.pictures.pattern import draw_pattern
from nearfield.pictures.style import figure_of, inline_svg, png_bytes, quantity, thinned
from nearfield.records.records import ExcitationRecord, RunRecord, Variable
from nearfield.report.checks import check_rows
from nearfield.report.page import _dbi, _peaks, fact_groups, tiles
from nearfield.report.plots import return_loss
from nearfield.report.sections import section
from nearfield.report.show import show, write_files
from nearfield.report.structure import structure_figure
from nearfield.results import Result
from nearfield.run.facts import media_table
from nearfield.run.media_names import distinct
from nearfield.viewer.scene import scene_of

GRID = YeeGrid((np.linspace(0, 0.02, 21), np.linspace(0, 0.03, 31), np.linspace(0, 0.01, 11)))


def series(name, times, values, unit):
    return {"time": Variable(("time",), times, {"units": "s"}), name: Variable(("time",), values, {"units": unit})}


def made_result(ports=1, frequencies=50, status="done", value=0.3, signal=1.0, title="Case", facts=None, monitors=None):
    """A result as a run would leave it, with made-up numbers."""
    names = [f"p{number}" for number in range(ports)]
    times = np.arange(1, 400) * 1e-12
    wave = signal * np.sin(2e10 * times)
    signals = {**series("voltage", times, wave, "V"), **series("current", times, wave / 50, "A")}
    recorded = dict.fromkeys(names, signals)
    excitations = {
        name: ExcitationRecord(
            series("energy", times[::50], np.abs(signal) * np.exp(-times[::50] / 1e-10), "J"), recorded, monitors or {}
        )
        for name in names
    }
    parameters = {
        "sparameters": Variable(("frequency", "to", "source"), np.full((frequencies, ports, ports), value, complex)),
        "frequency": Variable(("frequency",), np.linspace(1e9, 2e10, frequencies), {"units": "Hz"}),
        "to": Variable(("to",), np.array(names)),
        "source": Variable(("source",), np.array(names)),
        "reference_impedance": Variable(("to",), np.full(ports, 50.0), {"units": "ohm"}),
    }
    text = 'steps = 5\n[grid]\nkind = "uniform"\nspacing = 1e-3\ncells = [20, 30, 10]\n'
    record = RunRecord(text, GRID, {}, facts or {}, status, excitations, parameters if ports else None, title)
    return Result(record)


@pytest.fixture(scope="module")
def small_run():
    """A real run with everything: port, far field, planes, snapshots, flux, probe, path integrals, all shapes."""
    middle = 15e-3
    plane = ((0, 0, middle), (30e-3, 30e-3, middle))
    return nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (30, 30, 30)),
        boundaries=nf.Boundaries(all=nf.CPML(6)),
        structures=[
            nf.Structure(nf.Wire([(middle, middle, 9e-3), (middle, middle, 14e-3)]), "pec"),
            nf.Structure(nf.Wire([(middle, middle, 15e-3), (middle, middle, 20e-3)]), "pec"),
            nf.Structure(nf.Sphere((20e-3, 20e-3, 11e-3), 2e-3), nf.Medium(4.0, name="glass")),
            nf.Structure(nf.Sheet((9e-3, 9e-3, 9e-3), (11e-3, 12e-3, 9e-3)), "pec"),
            nf.Structure(nf.Polygon("z", [(9e-3, 18e-3), (12e-3, 18e-3), (9e-3, 20e-3)], 10e-3, 12e-3), nf.Medium(2.0)),
        ],
        ports=[nf.LumpedPort("gap", (middle, middle, 14e-3), (middle, middle, 15e-3), "z")],
        monitors=[
            nf.FarField("pattern", [10e9]),
            nf.FieldDFT("cut", *plane, [8e9, 10e9], components=["Ex", "Ey", "Ez"]),
            nf.Snapshot("wave", *plane, components=["Hx", "Hy"], every=100),
            nf.Flux("out", (8e-3,) * 3, (22e-3,) * 3, np.linspace(5e9, 15e9, 5)),
            nf.Probe("tip", (12e-3, 12e-3, 20e-3)),
            nf.Voltage("path", (12e-3, 12e-3, 12e-3), (12e-3, 12e-3, 14e-3)),
        ],
        waveform=nf.Gaussian(15e9),
        steps=400,
        title="Dipole <script>alert('x')</script> $\\frac{",
    ).run(threads=1)


@pytest.fixture(scope="module")
def small_page(small_run, tmp_path_factory):
    """What is drawn of it, read from its file."""
    folder = tmp_path_factory.mktemp("report")
    result = nf.open_result(small_run.save(folder / "result.h5"))
    return folder, show(result, folder), (folder / "report.html").read_text(encoding="utf-8")


def test_all_named_files_are_written_and_are_what_their_names_say(small_page):
    written = small_page[1]
    assert [path.name for path in written] == ["return_loss.png", "pattern.png", "fields.png", "report.html"]
    for path in written[:-1]:
        assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 10_000


def test_page_is_self_contained(small_page):
    page = re.sub(r"base64,[A-Za-z0-9+/=]+", "", small_page[2])
    page, viewers = re.subn(r'<iframe [^>]*sandbox="allow-scripts" srcdoc="[^"]*"></iframe>', "", page)
    assert viewers == 1  # the page in it asks no network either: tests/test_results_on_model.py, in a browser
    assert "http" not in page and "//" not in re.sub(r"<pre>.*?</pre>", "", page, flags=re.DOTALL)
    assert not re.search(r"<(link|script|iframe|object)\b", page)
    assert all(place.startswith(("#", "data:")) for place in re.findall(r'(?:href|src)="([^"]*)"', page))


def test_page_escapes_what_the_user_wrote(small_page):
    assert "<script" not in small_page[2] and "&lt;script&gt;" in small_page[2]


def test_page_holds_model_facts_pictures_and_checks(small_page, small_run):
    page = small_page[2]
    processor = small_run.facts["processor"]
    for text in ("glass", "27\u202f000", "time step", processor, "cells per wavelength", "kind = &#34;wire&#34;"):
        assert text in page, text
    headings = re.findall(r'<section id="([^"]*)"', page)
    pictures = ["structure", "return-loss", "pattern", "fields", "port-signals", "signals", "flux", "energy"]
    assert headings == ["trust", *pictures, "viewer", "facts", "model"]
    assert "could not be drawn" not in page


ODD = [
    {"ports": 0},
    {"ports": 7},
    {"frequencies": 1},
    {"value": np.nan, "status": "diverged"},
    {"value": 0.0},
    {"signal": np.inf},
    {"title": "\x00\n漢字 $_{" + 300 * "x"},
]
ODD_TOO = [
    {"ports": 2},
    {"frequencies": 1000},
    {"signal": np.nan, "status": "diverged"},
    {"signal": 0.0},
    {"title": ""},
]


@pytest.mark.parametrize(
    "options",
    [*ODD, *(pytest.param(each, marks=pytest.mark.slow) for each in ODD_TOO)],
    ids=lambda options: " ".join(f"{key}={str(value)[:8]!r}" for key, value in options.items()),
)
@pytest.mark.filterwarnings("error")
def test_odd_results_are_drawn(options, tmp_path):
    with np.errstate(invalid="ignore", over="ignore"):
        result = made_result(**options)
    written = [path.name for path in show(result, tmp_path)]
    ports = options.get("ports", 1)
    assert (
        written
        == [["report.html"], ["return_loss.png", "report.html"], ["s_parameters.png", "report.html"]][min(ports, 2)]
    )
    assert "could not be drawn" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_result_without_any_excitation_and_with_unreadable_model_still_gives_a_page(tmp_path):
    result = Result(RunRecord("no model", GRID, {}, {"divergence": "diverged at step 3"}, "failed", {}))
    assert [path.name for path in show(result, tmp_path)] == ["report.html"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "diverged at step 3" in page and "structures are not drawn" in page and "results are incomplete" in page


def test_a_run_that_was_interrupted_says_what_draws_it(tmp_path):
    told: list[str] = []
    result, file = made_result(status="interrupted"), tmp_path / "result.h5"
    assert write_files(result, None, file, "case", attempts=Attempts(told.append)) == [file]
    assert told == [f"the run is interrupted, so it leaves no report; `nearfield show {file}` draws what it kept"]
    write_files(result, None, file, "case", report=False, attempts=Attempts(told.append))
    assert len(told) == 1


def test_checks_handed_in_or_kept_in_the_facts_are_in_the_table():
    facts = {"checks": [{"quantity": "dip", "published": "7.5 GHz", "found": "7.9 GHz", "passed": False}]}
    rows = check_rows(
        made_result(facts=facts),
        [SimpleNamespace, {"quantity": "peak", "expected": 2.15, "found": 2.1, "unit": "dBi", "passed": True}],
    )
    verdicts = {row.quantity: (row.expected, row.found, row.verdict) for row in rows}
    assert verdicts["dip"] == ("7.5 GHz", "7.9 GHz", "FAIL") and verdicts["peak"] == ("2.15 dBi", "2.1 dBi", "PASS")


THETA, PHI = np.radians(np.arange(0, 181, 2)), np.radians(np.arange(0, 360, 5))


class HalfWaveDipole(FarFieldResult):
    """A far field that was recorded, its values those of a z dipole of half a wavelength (Balanis, section 4.6)."""

    def __init__(self, recorded, power=1.0, theta=THETA, phi=PHI):
        super().__init__(recorded.variables, recorded.excitation)
        dims = ("frequency", "theta", "phi")
        self.theta, self.phi = theta, phi
        field = self.towards(*(angle.ravel() for angle in np.meshgrid(theta, phi, indexing="ij")))[0]
        field = field.reshape(1, theta.size, phi.size)
        with np.errstate(divide="ignore"):
            radiated = np.array([4 * np.pi / (2 * self.exterior.impedance) / (1.6409 * np.float64(power))])
        self.variables = recorded.variables | {
            "e_theta": Variable(dims, field),
            "e_phi": Variable(dims, 0 * field),
            "radiated_power": Variable(("frequency",), radiated),
            "theta": Variable(("theta",), theta),
            "phi": Variable(("phi",), phi),
        }

    def towards(self, theta, phi, only=None):
        sine = np.maximum(np.sin(theta), 1e-9)
        field = np.cos(np.pi / 2 * np.cos(theta)) / sine + 0j
        return field[None, :], 0 * field[None, :]


def test_dipole_cuts_are_e_plane_along_theta_and_h_plane_along_phi(small_run):
    (pattern,) = patterns(HalfWaveDipole(small_run["pattern"]))
    first, second = cuts(pattern)
    assert first.name == "E-plane, φ = 0°" and second.name == "H-plane, θ = 90°"
    assert np.degrees(first.beamwidth) == pytest.approx(78.1, abs=0.3)  # Balanis: 78 degrees
    assert pattern.maximum == pytest.approx(2.15, abs=0.01) and second.beamwidth is None


class NarrowBeam(HalfWaveDipole):
    """A beam of half-power width 2.2 degrees between two samples of theta, exp(-(angle from it)^2)."""

    MIDDLE, WIDTH = np.radians([91.0, 2.2])

    def towards(self, theta, phi, only=None):
        field = np.exp(-2 * np.log(2.0) * ((theta - self.MIDDLE) / self.WIDTH) ** 2) + 0j
        return field[None, :], 0 * field[None, :]

    def lobe_width(self, number):
        return float(self.WIDTH)


def test_a_beam_as_narrow_as_the_recorded_samples_is_drawn_with_its_own_peak_and_width(small_run):
    (pattern,) = patterns(NarrowBeam(small_run["pattern"]))
    meridian = cuts(pattern)[0]
    # 0 dB of the field is 2.15 dBi here; samples at 90 and 92 degrees lie 2.5 dB below, and say 3 degrees of width
    assert pattern.maximum == pytest.approx(2.15, abs=0.01)
    assert np.degrees(pattern.direction[0]) == pytest.approx(91.0, abs=0.2)
    step = np.degrees(np.diff(meridian.angle).max())
    assert step <= 2.2 / 20 + 1e-9
    # linear interpolation of a parabola in dB of curvature 12/width^2 errs by a quarter of step^2/width on each side
    assert np.degrees(meridian.beamwidth) == pytest.approx(2.2, abs=step**2 / 2.2)


@pytest.mark.parametrize("middle", [0.0, 0.5 * np.pi, np.pi])
def test_a_beam_has_its_width_wherever_its_cut_begins(middle):
    angle = np.linspace(-np.pi, np.pi, 721)
    dbi = -3.0103 * (np.angle(np.exp(1j * (angle - middle))) / np.radians(20)) ** 2
    assert np.degrees(Cut("", "meridian", angle, dbi).beamwidth) == pytest.approx(40.0, abs=0.1)
    before_wall = np.abs(angle) <= 0.5 * np.pi
    width = Cut("", "meridian", angle[before_wall], dbi[before_wall]).beamwidth
    assert width is None if middle > 0.0 else np.degrees(width) == pytest.approx(40.0, abs=0.1)


def test_cuts_agree_with_the_recorded_samples_where_there_are_some(small_run):
    (pattern,) = patterns(small_run["pattern"])
    meridian = cuts(pattern)[0]
    column = np.flatnonzero(np.isclose(pattern.phi, np.radians(float(meridian.name.split("= ")[1].rstrip("°")))))[0]
    recorded = pattern.dbi[1:-1, column]
    between = np.interp(pattern.theta[1:-1], meridian.angle, meridian.dbi)
    assert np.abs(between - recorded)[recorded > -20].max() < 0.01  # samples of the cut are a degree apart


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"power": np.nan},
        {"power": 0.0},
        {"phi": np.array([0.0])},
        {"theta": np.array([np.pi / 2])},
        {"theta": np.radians(np.arange(0, 91, 2))},
    ],
    ids=["sphere", "nan", "silent", "one phi", "one theta", "half space"],
)
@pytest.mark.filterwarnings("error")
def test_any_set_of_angles_gives_a_picture(shape, small_run):
    axes = draw_pattern(HalfWaveDipole(small_run["pattern"], **shape))
    assert png_bytes(figure_of(axes)).startswith(b"\x89PNG")


def test_section_shows_later_structures_above_earlier_and_sheets_where_the_grid_puts_them():
    inner = nf.Structure(nf.Sphere((10e-3, 15e-3, 5e-3), 2e-3), "pec")
    outer = nf.Structure(nf.Box((5e-3, 5e-3, 0), (15e-3, 25e-3, 10e-3)), nf.Medium(2.0))
    sheet = nf.Structure(nf.Sheet((0, 0, 6.1e-3), (20e-3, 30e-3, 6.1e-3)), "pec")
    model = nf.Simulation(nf.Grid.uniform(1e-3, (20, 30, 10)), [outer, inner, sheet], steps=1)
    cut = section(model, GRID, 1, 15e-3, 0, 2)
    middle = cut.index[cut.rows.size // 2, cut.columns.size // 2], cut.index[cut.rows.size // 2, cut.columns.size // 3]
    assert middle == (1, 0) and cut.index[0, 0] == -1
    assert cut.strokes[0][0][1] == pytest.approx(6e-3)


def test_structure_figure_needs_no_model():
    assert png_bytes(structure_figure(GRID, None)).startswith(b"\x89PNG")


def test_vector_pictures_hold_no_address_and_stay_small():
    text = inline_svg(return_loss(made_result(ports=6, frequencies=1000)), "one")
    assert text.startswith("<svg") and "http" not in text and len(text) < 1_000_000


def test_tiles_name_the_deepest_reflection():
    assert tiles(made_result(value=0.1))[0] == ("−20.0 dB", "lowest |S11|, at 1 GHz")


def test_long_records_are_thinned_without_losing_a_peak():
    values = np.zeros(1_000_000)
    values[123_457] = 7.0
    x, y = thinned(np.arange(values.size), values)
    assert x.size < 5000 and y.max() == 7.0 and x[y.argmax()] == 123_457


def test_long_records_keep_their_extremes_beside_gaps_and_the_gaps():
    values = np.full(1_000_000, 5.0)
    values[::50] = np.nan
    values[123_457] = 4.0
    values[300_000:400_000] = np.nan
    x, y = thinned(np.arange(values.size), values)
    assert np.nanmin(y) == 4.0 and np.nanmax(y) == 5.0
    assert not np.isfinite(y[(x > 301_000) & (x < 399_000)]).any()


def test_an_infinite_gain_is_left_out_of_the_table():
    assert (
        _dbi(_peaks(SimpleNamespace(gain_dbi=xarray.DataArray([[np.nan, np.inf], [1.0, np.nan]])), "gain_dbi")[0]) == ""
    )


def test_a_timeline_is_no_further_fact():
    assert fact_groups({"timeline": [[["step", 0.0, 1.0]]]}) == []


def sheets(*media: object) -> nf.Simulation:
    """A box of each medium in a row; what has no thickness as a sheet."""
    bodies = []
    for number, medium in enumerate(media):
        low, flat = (5e-3, 5e-3, 10e-3 * number), isinstance(medium, (nf.ResistiveSheet, nf.Conductor))
        high = (25e-3, 5e-3 if flat else 25e-3, 10e-3 * number + 5e-3)
        bodies.append(nf.Structure((nf.Sheet if flat else nf.Box)(low, high), medium))
    return nf.Simulation(nf.Grid.uniform(1e-3, (30, 30, 10 * len(media))), bodies, steps=1)


def legend_of(model: nf.Simulation) -> list[str]:
    figure = structure_figure(model.grid.resolve(model), model)
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_sheets_seen_edge_on_are_of_their_own_medium():
    model = sheets(nf.ResistiveSheet(377.0), nf.Conductor(5.8e7))
    cut = section(model, model.grid.resolve(model), 0, 15e-3, 1, 2)
    assert [stroke[-1] for stroke in cut.strokes] == [0, 1]
    assert {"377 ohm per square", "conductor of 5.8e+07 S/m"} <= set(legend_of(model))
    assert "PEC" not in legend_of(model)


def test_media_of_one_name_are_told_apart():
    model = sheets(nf.Medium(4.0, name="FR4"), nf.Medium(9.0, name="FR4"), nf.Medium(4.0, name="FR4"))
    table = {name: row["permittivity"] for name, row in media_table(model).items()}
    assert table == {"background": 1.0, "FR4": 4.0, "FR4 (2)": 9.0}
    assert {"FR4", "FR4 (2)"} <= set(legend_of(model))
    scene = scene_of(model)
    assert [each["name"] for each in scene["media"]] == ["FR4", "FR4 (2)"]
    assert [each["text"] for each in scene["media"]] == ["εr 4", "εr 9"]
    assert [body["medium"] for body in scene["bodies"]] == ["FR4", "FR4 (2)", "FR4"]
    assert len({each["colour"] for each in scene["media"]}) == 2


def test_a_background_s_name_is_its_own_everywhere():
    model = sheets(nf.Medium(9.0, name="background"))
    assert list(media_table(model)) == ["background", "background (2)"]
    assert "background (2)" in legend_of(model) and scene_of(model)["media"][0]["name"] == "background (2)"


def test_names_that_are_numbered_do_not_meet_others_that_are_so_by_themselves():
    media = [nf.Medium(number) for number in (2, 3, 4, 2, 5)]
    found = distinct(zip(("a", "a", "a (2)", "a", "a"), media))
    assert found == ["a", "a (2)", "a (2) (2)", "a", "a (3)"]


def test_quantities_read_as_engineers_write_them():
    assert quantity(7.5e9, "Hz") == "7.5 GHz" and quantity(0.000265, "m") == "265 µm" and quantity(0.0, "V") == "0 V"


def test_matplotlib_is_imported_late_and_pyplot_never():
    code = (
        "import sys, nearfield.report.show; assert 'matplotlib' not in sys.modules, 'early';"
        "from nearfield.pictures.style import blank, png_bytes; png_bytes(blank());"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
