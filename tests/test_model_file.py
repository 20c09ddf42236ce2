"""Model files: the same schema as Python, every error with its file and place, nothing but ModelError for any bytes."""

from __future__ import annotations

import os

import pytest

import nearfield as nf
from nearfield.commands.new import TEMPLATES, template_text
from nearfield.entry.toml_text import dumps
from nearfield.model_file import load, loads

GRID = 'grid = {kind = "uniform", spacing = "1 mm", cells = [8, 8, 8]}\n'


def everything() -> nf.Simulation:
    """A model with one of each entry."""
    pulse = nf.Gaussian("10 GHz")
    return nf.Simulation(
        grid=nf.Grid(x=[0, 1e-3, 3e-3], y=[0, 1e-3], z=["0 mm", "1 mm", "2 mm"]),
        structures=[
            nf.Structure(nf.Box((0, 0, 0), (1e-3, 1e-3, 1e-3)), nf.Medium(2.2, conductivity=1e-3), name='a "b" \\ c\n'),
            nf.Structure(nf.Sphere((0, 0, 0), 1e-3), "glass"),
            nf.Structure(nf.Cylinder((0, 0, 0), (1e-3, 0, 0), 1e-3), nf.PEC),
            nf.Structure(nf.Sheet((0, 0, 0), (1e-3, 1e-3, 0)), nf.PEC),
            nf.Structure(nf.Wire([(0, 0, 0), (1e-3, 0, 0), (1e-3, 1e-3, 0)], 1e-4), nf.PEC),
            nf.Structure(nf.Polygon("z", [(0, 0), (1e-3, 0), (0, 1e-3)], 0, 1e-3), nf.PMC),
        ],
        boundaries=nf.Boundaries(nf.CPML(4), x_low=nf.PMC, z_high=nf.PEC),
        sources=[
            nf.PointCurrent((0, 0, 0), "x", pulse),
            nf.MagneticPointCurrent((0, 0, 0), "y", nf.Ricker(1e9)),
            nf.LineCurrent((0, 0, 0), (0, 0, 1e-3), nf.ContinuousWave(1e9)),
            nf.CurrentSheet((0, 0, 0), (1e-3, 1e-3, 0), "x", nf.ModulatedGaussian(5e9, 1e9)),
        ],
        ports=[nf.LumpedPort("p", (0, 0, 0), (0, 0, 1e-3), "z", waveform=nf.GaussianDerivative(1e9))],
        elements=[nf.LumpedElement((1e-3, 0, 0), (1e-3, 0, 1e-3), "z", inductance="2 nH")],
        monitors=[
            nf.Probe("a", (0, 0, 0), "Hx"),
            nf.Voltage("b", (0, 0, 0), (0, 0, 1e-3)),
            nf.Current("c", (0, 0, 0), (1e-3, 1e-3, 0)),
            nf.Snapshot("d", (0, 0, 0), (1e-3, 0, 1e-3), every=10),
            nf.FieldDFT("e", (0, 0, 0), (1e-3, 0, 1e-3), frequencies=[1e9]),
            nf.Flux("f", (0, 0, 0), (1e-3, 1e-3, 0), frequencies=[1e9], direction="-"),
            nf.FarField("g", frequencies=[1e9], theta=["0 deg", "90 deg"], phi=[0]),
        ],
        media={"glass": nf.Medium(4), "a.b c": nf.Medium(5)},
        title="\u00fcber \u2603 \x7f \t",
        precision="double",
        waveform=nf.Samples(times=[0, 1e-9], values=[0, 1]),
        excitations=["sources", "p"],
        steps=7,
    )


def test_a_model_survives_writing_and_reading():
    simulation = everything()
    assert loads(dumps(simulation)) == simulation
    assert loads(simulation.to_toml()).to_toml() == simulation.to_toml()


def test_a_body_of_vacuum_survives_writing_and_reading():
    hole = nf.Structure(nf.Box((0, 0, 0), (1e-3, 1e-3, 1e-3)), nf.Medium())
    simulation = nf.Simulation(nf.Grid.uniform(1e-3, (4, 4, 4)), structures=[hole], steps=1)
    assert loads(simulation.to_toml()).structures == (hole,)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_survives_writing_and_reading(name):
    simulation = loads(template_text(name))
    assert loads(dumps(simulation)) == simulation


def test_strings_with_units_and_numbers_are_the_same_model():
    assert loads(GRID) == nf.Simulation(nf.Grid.uniform(1e-3, (8, 8, 8)))


def test_a_byte_order_mark_is_no_part_of_the_model(tmp_path):
    path = tmp_path / "model.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GRID.encode())
    assert load(path) == loads(GRID)


PATCHES = """# comment
[grid]
kind = "uniform"
spacing = "1 mm"
cells = [8, 8, 8]
[media."fr4 core"]
permittivity = %s
[[structures]]
name = "ground"
medium = "fr4 core"
shape = { kind = "box", lower = [0, 0, 0], upper = [1, 1, 1] }
[[structures]] # the second
name = "patch"
medium = "pec"
[structures.shape]
kind = "box"
lower = [0, 0, 0]
upper = [1, %s]
"""


@pytest.mark.parametrize(
    ("text", "place"),
    [  # an entry that is missing: the line of the table that lacks it
        (PATCHES % (4.4, "'[[structures]]'"), "structures[1].shape.upper ('patch', line 18): "),
        (PATCHES % ("'x'", "1, 1"), "media.fr4 core.permittivity (line 7): "),
        (PATCHES % (4.4, "1, 1") + "medum = 1", "structures[1].shape.medum ('patch', line 19): "),
        (PATCHES % (4.4, "1, 1") + "[[structures]]\nmedium = 'pec'", "structures[2].shape (line 19): missing"),
        ("title = '''\n[grid]\n'''\nsteps = 0\n" + PATCHES % (4.4, "1, 1"), "steps (line 4): "),
        (
            "[grid]\nkind = 'lines'\nx = [\n[ ],\n[0, 1]\n]\ny = [\n['a']\n]\nz = 5",
            "grid.z (line 10): ",
        ),
        (PATCHES % (4.4, "1, 1") + "material = '= 2 * x'", "structures[1].shape.material (line 19): "),
    ],
)
def test_a_refused_entry_is_named_with_its_line(text, place):
    with pytest.raises(nf.ModelError) as caught:
        loads(text)
    assert place in str(caught.value)


def test_files_of_samples_count_from_the_model_file(tmp_path):
    (tmp_path / "pulse.txt").write_text("0 0\n1e-9 1\n2e-9 0\n")
    path = tmp_path / "model.toml"
    path.write_text(GRID + 'waveform = {kind = "samples", file = "pulse.txt"}\n')
    assert load(path).waveform.end == pytest.approx(2e-9)


STRUCTURE = GRID + "structures = [{shape = {%s}, medium = %s}]"
BOX = 'kind = "box", lower = [0, 0, 0], upper = [1, 1, 1]'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("grid = 1", ["grid", "given 1", "table"]),
        ('gird = {kind = "uniform"}', ["gird", "did you mean grid?", "grid: missing"]),
        ("[grid]\nkind = 'unifrom'", ["grid", "unifrom", "did you mean uniform?", "auto"]),
        ("[grid]\nspacing = 1", ["grid", "kind", "uniform"]),
        (
            "[grid]\nkind = 'uniform'\nspacing = '1 GHz'\ncells = [1, 2, 3]",
            ["grid.spacing (line 3): ", "unit of a frequency"],
        ),
        ("[grid]\nkind = 'uniform'\nspacing = 1\ncells = [1, 2]", ["grid.cells", "three values", "given 2"]),
        (GRID + "structures = 5", ["structures", "given 5", "list"]),
        (STRUCTURE % (BOX, "'x', nmae = 'a'"), ["structures[0].nmae", "mean name?"]),
        (STRUCTURE % (BOX + ", colour = 1", "'x'"), ["structures[0].shape.colour", "lower"]),
        (STRUCTURE % (BOX, "{permitivity = 1}"), ["structures[0].medium", "mean permittivity?"]),
        (GRID + "[boundaries]\nall = 'pecc'", ["boundaries.all", "pecc", '"pec"']),
        (GRID + "[boundaries]\nall = {kind = 'cpml', cells = 0}", ["boundaries.all", "cells"]),
        (GRID + "[[ports]]\nkind = 'lumped'\nname = 'a/b'", ["ports[0].name", "80 characters", "ports[0].axis"]),
        (GRID + "[[monitors]]\nkind = 'probe'\nname = 'a'\nposition = [0, 0, 0]\ncomponent = 'Ew'", ["'Ew'", "'Ez'"]),
        (GRID + "steps = 0", ["steps", "greater than or equal to 1"]),
        (GRID + "steps = 1.5", ["steps", "1.5"]),
        (GRID + "steps = true", ["steps", "whole number"]),
        (GRID + "courant = '0.5'", ["courant", "a number"]),
        (GRID + "precision = 'half'", ["precision", "'half'", "'single' or 'double'"]),
        (GRID + "time_step = -1.0", ["time_step", "positive"]),
        (GRID + "title = 1979-05-27", ["title", "string"]),
        (GRID + "self = 1", ["self", "unknown key"]),
        (GRID + "steps = 1\nsteps = 2\n", ["TOML", "line 3"]),
        ("x = [", ["TOML", "end of document"]),
        ("x = " + "[" * 50 + "]" * 50, ["nested"]),
        ("x = " + "[" * 100000 + "]" * 100000, ["nested"]),
        (".".join("a" * 500) + " = 1", ["nested"]),
        ("x = " + "1" * 10000, ["TOML"]),
        (GRID + "time_step = " + "9" * 400, ["time_step", "too large"]),
        ("x = 2026-02-30", ["TOML"]),
    ],
)
def test_an_error_names_the_file_the_place_and_what_is_allowed(text, words):
    with pytest.raises(nf.ModelError) as refused:
        loads(text, name="some.toml")
    message = str(refused.value)
    assert message.startswith("some.toml")
    for word in words:
        assert word in message
    assert len(message) < 3000


def test_a_folder_a_missing_file_and_a_pipe_are_refused(tmp_path):
    for path, words in ((tmp_path, "is a folder"), (tmp_path / "no.toml", "not exist"), ("a\0b", "cannot be read")):
        with pytest.raises(nf.ModelError, match=words):
            load(path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(nf.ModelError, match="not an ordinary file"):
        load(pipe)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\xff\xfe", "line 1: byte 0xff is not UTF-8"), (b"a = 1\nb = '\xe9'", "line 2"), (b"\x89HDF\r\n\x1a\n", "HDF5")],
)
def test_files_that_are_no_text_are_refused(tmp_path, content, words):
    path = tmp_path / "model.toml"
    path.write_bytes(content)
    with pytest.raises(nf.ModelError, match=words):
        load(path)


def test_the_json_schema_of_an_entry_describes_its_fields():
    fields = nf.Cylinder.model_json_schema()["properties"]
    assert fields["radius"]["description"].startswith("Radius")
    assert all("description" in field for name, field in fields.items() if name != "kind")
