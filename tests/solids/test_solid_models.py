"""Solids from files in models: their folder, runs, checkpoints, reports, periodic cells, missing packages."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from solids_made import CUBE, CUBE_TRIANGLES, icosphere, write

import nearfield as nf
from nearfield.model_file import load, loads
from nearfield.report.sections import section
from nearfield.run.checkpoint.contents import self_contained


def test_a_missing_package_is_named_with_its_extra(tmp_path):
    for name in ("cube.stl", "a.gds"):
        (tmp_path / name).write_bytes(b"x")
    code = """
import sys
sys.modules.update(trimesh=None, gdstk=None)
import nearfield as nf
for make in (lambda: nf.Mesh("cube.stl", "mm"), lambda: nf.gds("a.gds", 1, 0, 1e-6)):
    try:
        make()
    except nf.ModelError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    mesh, layout = done.stdout.splitlines()
    assert "trimesh" in mesh and "nearfield[cad]" in mesh and "gdstk" in layout and "nearfield[photonics]" in layout


def test_a_model_file_names_solids_from_its_own_folder_and_runs(layout, tmp_path, monkeypatch):
    write(tmp_path / "cube.stl", CUBE, CUBE_TRIANGLES)
    np.save(tmp_path / "head.npy", np.array([[[0, 3], [3, 5]]]))
    (tmp_path / "model.toml").write_text("""
steps = 20
grid = { kind = "uniform", spacing = "1 mm", cells = [12, 12, 12] }
boundaries = { all = "pec" }
monitors = [{ kind = "probe", name = "tip", position = ["9 mm", "9 mm", "9 mm"], component = "Ez" }]
media = { glass = { permittivity = 4.0 } }

[[sources]]
kind = "point-current"
position = ["5 mm", "5 mm", "5.5 mm"]
axis = "z"
waveform = { kind = "gaussian", maximum_frequency = "20 GHz" }

[[structures]]
shape = { kind = "mesh", file = "cube.stl", unit = "mm", scale = 3, offset = ["1 mm", "1 mm", "1 mm"] }
medium = "pec"

[[structures]]
shape = { kind = "layout", file = "chip.gds", layer = 2, lower = "2 mm", upper = "3 mm", scale = 1000 }
medium = "glass"

[[structures]]
shape = { kind = "voxels", file = "head.npy", spacing = "2 mm", lower = ["6 mm", "6 mm", "1 mm"] }
medium = { 0 = "none", 3 = "glass", 5 = "pec" }
name = "head"
""")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    simulation = load(tmp_path / "model.toml")
    assert [structure.name for structure in simulation.structures] == [None, None, "head: 3", "head: 5"]
    assert loads(simulation.to_toml()) == simulation
    runs = [simulation.model_copy(update={"schedule": s}).run(threads=1)["tip"].values for s in ("tiled", "stepwise")]
    assert np.abs(runs[0]).max() > 0 and np.array_equal(*runs)


def test_a_checkpoint_names_a_solid_by_its_whole_path_and_refuses_another(tmp_path, monkeypatch):
    write(tmp_path / "cube.stl", CUBE, CUBE_TRIANGLES)
    monkeypatch.chdir(tmp_path)
    structure = nf.Structure(nf.Mesh("cube.stl", "mm"), "pec")
    stored = self_contained(nf.Simulation(nf.Grid.uniform(1e-3, (8, 8, 8)), [structure], steps=1))
    monkeypatch.chdir("/")
    assert loads(stored).structures[0].shape.bounds() == structure.shape.bounds()
    write(tmp_path / "cube.stl", 2 * CUBE, CUBE_TRIANGLES)
    with pytest.raises(nf.ModelError, match="has changed"):
        loads(stored)


def test_the_report_draws_the_section_of_a_mesh():
    corners, triangles = icosphere(3)
    mesh = nf.Mesh(vertices=corners, triangles=triangles, unit="mm", scale=4.0, offset=(6e-3, 6e-3, 6e-3))
    simulation = nf.Simulation(nf.Grid.uniform(1e-3, (12, 12, 12)), [nf.Structure(mesh, "pec")], steps=1)
    cut = section(simulation, simulation.grid.resolve(), 2, 6e-3, 0, 1)
    assert (cut.index == 0).mean() == pytest.approx(np.pi * 4**2 / 12**2, rel=0.01)


def test_a_mesh_that_leaves_a_periodic_cell_comes_in_at_the_other_side():
    grid = nf.Grid.uniform(1e-3, (8, 8, 8))
    mesh = nf.Mesh(vertices=CUBE, triangles=CUBE_TRIANGLES, unit="mm", scale=2.0, offset=("7 mm", "3 mm", "3 mm"))
    boxes, walls = nf.Box((7e-3, 3e-3, 3e-3), (9e-3, 5e-3, 5e-3)), nf.Boundaries(all="periodic")
    found, right = (
        nf.Simulation(grid, [nf.Structure(shape, "pec")], boundaries=walls, steps=1, metal="staircase")
        ._setup()
        .coefficients
        for shape in (mesh, boxes)
    )
    for component in range(6):
        assert np.array_equal(found.dense(component), right.dense(component))
