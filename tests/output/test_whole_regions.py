"""Files hold the whole of what planes of symmetry halve, axes repeat and phases make complex, as memory would."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from cases import slow_after

import nearfield as nf
from nearfield.formats import open_fields
from nearfield.formats.reading import stored_fields
from nearfield.output.field_sizes import file_sizes, ring_bytes
from nearfield.run.options import RunOptions
from nearfield.run.time_loop import run

MM = 1e-3
FILES = {
    "plain": nf.FieldFile(),
    "packed": nf.FieldFile(codec="zlib"),
    "points": nf.FieldFile("vtkhdf"),
    "numbers": nf.FieldFile("binary"),
    "text": nf.FieldFile("ascii"),
    "thin": nf.FieldFile(sample_every=2),
    "parts": nf.FieldFile(per_domain=True),
    "part_numbers": nf.FieldFile("binary", per_domain=True),
}
MODELS = {
    "eighth": ({"symmetry": nf.Symmetry(x="electric", y="magnetic", z="electric")}, {"y": "pmc", "z": nf.CPML(2)}),
    "repeated": ({}, {"x": "periodic", "z": "periodic"}),
    "turned": ({"symmetry": nf.Symmetry(y="electric")}, {"x": nf.Bloch(phase="70 deg"), "z": nf.Bloch(phase=-1.0)}),
    "cut": (
        {
            "structures": [nf.Structure(nf.Sphere((0, 0, 0), 2.4 * MM), "pec")],
            "metal": "conformal",
            "symmetry": nf.Symmetry(z="electric"),
        },
        {"z": nf.CPML(2)},
    ),
}
EVERYTHING, PART, PLANE = ((-4, -5, -6), (4, 5, 6)), ((-2, -3, 1), (4, 1, 6)), ((3, -5, -2), (3, 5, 3))


class Stopped(Exception):
    """Breaks a run off."""


def model(kind: str, boxes, files, steps=24, **more) -> nf.Simulation:
    """Currents above all planes in a graded box of 8 x 10 x 12 cells; each box in memory and in files."""
    entries, faces = MODELS[kind]
    y = np.cumsum([0.0, 0.9, 1.0, 1.2, 1.0, 0.9]) * MM
    lines = [np.arange(-4, 5) * MM, np.concatenate((-y[:0:-1], y)), np.arange(-6, 7) * MM]
    currents = [nf.PointCurrent((1 * MM, y[1], 2.5 * MM), axis, nf.Gaussian(30e9)) for axis in "xyz"]
    corners = [[[line[len(line) // 2 + n] for n, line in zip(end, lines)] for end in box] for box in boxes]
    monitors = [
        nf.Snapshot(f"{name}{number}", *ends, every=8, file=FILES.get(name))
        for number, ends in enumerate(corners)
        for name in ("kept", *files[number])
    ]
    return nf.Simulation(
        grid=nf.Grid(*lines),
        boundaries=nf.Boundaries(**({"all": "pec"} | faces)),
        sources=currents,
        monitors=monitors,
        steps=steps,
        **entries,
        **more,
    )


def assert_same(result: nf.Result, number: int, name: str) -> None:
    """A file's components, places and times are those of memory."""
    kept, file = result[f"kept{number}"], FILES[name]
    wanted = kept.collocated() if file.averaged else kept
    found = result[f"{name}{number}"]
    assert list(found) == list(kept)
    for component in kept:
        ours, theirs = found[component], wanted[component][(slice(None), *(slice(None, None, file.sample_every),) * 3)]
        assert np.array_equal(ours.values, theirs.values.astype(ours.dtype)), (name, component)
        assert np.iscomplexobj(ours.values) == np.iscomplexobj(theirs.values)
        assert all(np.array_equal(ours[dim], theirs[dim]) for dim in "xyz")


@pytest.mark.parametrize("kind", slow_after(2, MODELS))
def test_every_format_holds_what_memory_reports_of_the_whole(kind, tmp_path):
    files = tuple(FILES), ("plain",), ("text",)
    simulation = model(kind, (EVERYTHING, PART, PLANE), files)
    result = simulation.run(threads=2, output=tmp_path / "r.h5")
    assert float(result["text2"]["Ey"]["x"].item()) == 3 * MM
    assert all(abs(result["kept0"][name].values).max() > 0 for name in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz"))
    for number, names in enumerate(files):
        for name in names:
            assert_same(result, number, name)
    for monitor, size in zip(list(result.monitors), _with_files(simulation)):
        path = result.excitation().record.monitors[monitor].file
        if size is not None and path.suffix != ".vtkhdf" and "part" not in monitor:
            assert (path.stat().st_size == size.bytes) if size.exact else path.stat().st_size <= size.bytes, monitor


@pytest.mark.parametrize("node, inner", [(-4, 1), (4, 0)])
def test_a_file_of_a_plane_on_a_seam_has_the_side_within_the_grid_which_is_said(node, inner, tmp_path):
    """In memory it has both."""
    simulation = model("repeated", [((node, -5, -2), (node, 5, 3))], [("plain",)])
    assert any("on one side of it alone" in text for text in simulation.check().warnings)
    result = simulation.run(threads=1, output=tmp_path / "r.h5")
    for component, both in result["kept0"].items():
        found = result["plain0"][component]
        half = component in ("Ex", "Hy", "Hz")
        assert found.sizes["x"] == 1 and both.sizes["x"] == 1 + half
        assert np.array_equal(found.values[:, 0], both.values[:, inner * half]) and found.values.any()
        assert half or float(found["x"].item()) == node * MM


def test_edges_that_metal_cuts_are_found_once_for_all_excitations(tmp_path):
    port = nf.LumpedPort("feed", (3 * MM, 0, 3 * MM), (3 * MM, 0, 4 * MM), "z")
    simulation = model("cut", (EVERYTHING,), (("plain",),), steps=8, ports=[port], waveform=nf.Gaussian(30e9))
    counts = []
    for excitations in (("sources",), ("sources", "feed")):
        setup, asked = simulation.model_copy(update={"excitations": excitations})._setup(), []
        known = setup.coefficients.open_fraction
        setup.coefficients.open_fraction = lambda *at, known=known, asked=asked: (asked.append(at), known(*at))[1]
        run(setup.simulation, RunOptions(1, tmp_path / f"{len(counts)}.h5"), setup)
        counts.append(len(asked))
    assert counts[0] == counts[1] > 0


def _with_files(simulation: nf.Simulation) -> list:
    """The predicted size of each monitor's file, None of those in memory."""
    sizes = iter(file_sizes(simulation._setup()))
    return [next(sizes) if monitor.file else None for monitor in simulation.monitors]


def test_complex_fields_lie_in_files_as_two_parts_and_are_read_as_one(tmp_path):
    result = model("turned", [EVERYTHING], [("points", "numbers")]).run(threads=1, output=tmp_path / "r.h5")
    path = tmp_path / "r-fields/points0-sources.vtkhdf"
    with h5py.File(path) as file:
        real, other = file["Ez_re"][:], file["Ez_im"][:]
    fields = open_fields(path)
    assert list(fields.data_vars) == ["Ex", "Ey", "Ez", "Hx", "Hy", "Hz"] and fields.Ez.dtype == np.complex64
    assert np.array_equal(fields.Ez.values, (real + 1j * other).transpose(0, 3, 2, 1))
    assert np.array_equal(fields.Ez[1, 2:5, 3, -1].values, result["points0"]["Ez"].values[1, 2:5, 3, -1])
    numbers = stored_fields(tmp_path / "r-fields/numbers0-sources.bin")
    assert list(numbers.arrays)[::6] == ["Ex_re", "Ex_im"] and numbers.description.samples == 2 * sum(
        result["kept0"][name][0].size for name in result["kept0"]
    )


def test_a_run_goes_on_in_its_files(tmp_path):
    simulation = model("turned", [EVERYTHING], [("packed", "part_numbers")], steps=60, check_every=10)

    def stop(state) -> None:
        if state.step >= 40:
            raise Stopped

    with pytest.raises(Stopped):
        simulation.run(threads=1, output=tmp_path / "r.h5", progress=stop, checkpoint="every 20 steps")
    assert stored_fields(tmp_path / "r-fields/packed0-sources.h5").status.startswith("interrupted")
    result = nf.resume(tmp_path, threads=2)
    assert result.status == "done" and result["packed0"]["Ez"].sizes["time"] == 7
    for name in ("packed", "part_numbers"):
        assert_same(result, 0, name)


def test_rings_hold_what_is_stepped_alone():
    eighth = model("eighth", [EVERYTHING], [("plain",)])
    whole = eighth.model_copy(update={"symmetry": nf.Symmetry()})
    assert ring_bytes(eighth._setup()) < 0.25 * ring_bytes(whole._setup())  # (5 x 6 x 7)/(9 x 11 x 13) and less
