"""Pictures of elements, files that are opened again, hot spots, the section in a run's report."""

from __future__ import annotations

import numpy as np
import pytest
from test_elements import PERIOD, graded, places, product, random_field, total

import nearfield as nf
from nearfield.cli import main
from nearfield.dissipation.plots import tints


@pytest.fixture(scope="module")
def found():
    return nf.elements(random_field(24, 6, 5), (1.0, 1.1, 0.9), "xyz", "discrete", threads=1)


def test_spots_have_their_volume_contrast_and_spacing():
    x = places(48, first=0.31)
    spots = nf.elements(total(x, x, x), PERIOD / 24, "xyz", threads=1).hot_spots()
    assert spots.sizes["spot"] == 8
    # eight maxima on a lattice of 2 pi, each with the eight boxes of (pi)^3 around it; 0.3 % as in test_elements
    assert spots.spacing.values == pytest.approx(PERIOD, rel=0.003)
    assert spots.volume.values == pytest.approx(PERIOD**3)
    assert (spots.elements == 8).all() and spots.contrast.values == pytest.approx(6.0, rel=0.003)
    line = nf.elements(np.sin(places(24, 1)), PERIOD / 24, "x", threads=1).hot_spots()
    assert line.spacing.values == pytest.approx(PERIOD)  # to its own image
    alone = nf.elements(np.sin(np.linspace(0.3, 2.5, 40)), threads=1).hot_spots()
    assert np.isnan(alone.spacing.values).all()


def test_spots_come_highest_first(found):
    spots = found.hot_spots()
    assert (np.diff(spots.value) <= 0).all() and spots.value[0] == found.maxima.value.max()
    assert float(spots.volume.sum()) == pytest.approx(found.volume.sum())


def test_touching_elements_differ_in_colour(found):
    labels = found.labels[:, :, 7]
    colours = tints(labels, (True, True))
    for axis in (0, 1):
        beside = np.roll(labels, 1, axis) != labels
        assert (np.roll(colours, 1, axis)[beside] != colours[beside]).all()


def test_pictures_show_the_numbers_of_the_statistics(found):
    from matplotlib.figure import Figure

    panels = Figure().subplots(2, 3).ravel()
    plot = found.plot
    drawn = [
        plot("x", 3.0, ax=panels[0]),
        plot.hot_spots(ax=panels[1]),
        plot.joint_density(ax=panels[2]),
        plot.conditional_difference(ax=panels[3]),
        plot.length_density(ax=panels[4]),
    ]
    assert all(axes is panel for axes, panel in zip(drawn, panels))
    told = found.statistics()
    image = drawn[2].collections[0].get_array()
    means = told.attrs["mean_length"] * told.attrs["mean_difference"]
    assert np.ma.filled(image, 0).sum() == pytest.approx(float(told.joint_density.sum()) * means)
    points = drawn[3].containers[0][0].get_ydata()
    shown = told.conditional_difference[told.elements_of_length >= 3] / told.attrs["mean_difference"]
    assert points == pytest.approx(shown.values)
    law = next(line for line in drawn[3].lines if line.get_label() == "slope 1/3")
    assert np.diff(np.log(law.get_ydata())) == pytest.approx(np.diff(np.log(law.get_xdata())) / 3)
    assert drawn[0].get_title(loc="left").endswith("x = 3")


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_every_picture_is_drawn_of_lines_planes_and_boxes(axes):
    x = places(24, first=0.31)
    pictures = nf.elements(product(*[x] * axes), PERIOD / 12, True, "discrete", threads=1).plot.all()
    assert list(pictures) == ["slice", "hot_spots", "joint_density", "conditional_difference", "length_density"]


def test_slices_outside_the_field_are_refused(found):
    with pytest.raises(nf.ModelError, match="outside the field"):
        found.plot("x", 99.0)
    with pytest.raises(nf.ModelError, match="across x, y or z"):
        found.plot("u")


def test_files_are_opened_as_they_were_saved(tmp_path):
    x, y = graded(40, 2), graded(30, 1)
    made = nf.elements(total(x[:-1], y), (x + 3.0, y), "x", threads=1)
    again = nf.open_elements(made.save(tmp_path / "elements.h5"))
    assert np.array_equal(again.labels, made.labels) and np.array_equal(again.field, made.field)
    assert again.length == pytest.approx(made.length) and again.periodic == (True, False)
    assert again.volume == pytest.approx(made.volume) and again.summary() == pytest.approx(made.summary())


def test_other_files_hold_no_elements(tmp_path):
    (tmp_path / "text.h5").write_text("words")
    for name, words in (("text.h5", "text.h5"), ("none.h5", "no such file")):
        with pytest.raises(nf.ModelError, match=words):
            nf.open_elements(tmp_path / name)


def test_the_command_draws_into_a_folder(tmp_path, capsys):
    np.save(tmp_path / "line.npy", product(places(24), places(24)))
    assert main(["elements", f"{tmp_path}/line.npy", "--plots", f"{tmp_path}/plots", "--threads", "1"]) == 0
    drawn = sorted(path.name for path in (tmp_path / "plots").iterdir())
    assert drawn == [
        "conditional_difference.png",
        "hot_spots.png",
        "joint_density.png",
        "length_density.png",
        "slice.png",
    ]
    assert main(["elements", f"{tmp_path}/line.npy", "--plots", f"{tmp_path}/line.npy/plots"]) == 2
    told = capsys.readouterr().err
    assert "line.npy/plots cannot take the pictures: " in told and "give another folder with --plots" in told


def test_elements_beside_a_result_become_a_section_of_its_report(tmp_path, capsys):
    sim = nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (12, 12, 4)),
        boundaries=nf.Boundaries(all=nf.PEC),
        sources=[nf.PointCurrent((4e-3, 5e-3, 1.5e-3), "z", nf.Gaussian(2e10), moment=1e-3)],
        monitors=[nf.FieldDFT("box", (0, 0, 0), (12e-3, 12e-3, 4e-3), [2e10])],
        steps=60,
    )
    result = sim.run(threads=1)
    result.save(tmp_path / "result.h5")
    command = ["elements", f"{tmp_path}:box", "--quantity", "E", "--threads", "1", "--output"]
    assert main([*command, f"{tmp_path}/elements-box.h5"]) == 0
    result.facts["started"] = "at another time"
    result.save(tmp_path / "other" / "result.h5")
    (tmp_path / "other" / "elements.h5").write_bytes((tmp_path / "elements-box.h5").read_bytes())
    for folder, section in ((tmp_path, True), (tmp_path / "other", False)):
        assert main(["show", str(folder)]) == 0
        page = (folder / "report.html").read_text()
        assert ("Dissipation elements, box</h2>" in page) == section
        assert ("elements.h5 holds elements of another run" in page) == (not section)
