"""Whole runs, tiled and stepwise: every array of the two result files is the same."""

import numpy as np
import pytest
from whole_runs import arrays

import nearfield as nf
from nearfield.engines.cpu.heuristics import LEAST_DEPTH

MM = 1e-3
PULSE = nf.Gaussian(20e9)
BAND = (4e9, 9e9, 15e9)
STEPS, CHECKED = 151, 67  # blocks end amid tiles


def line(cells: int, origin: float = 0.0) -> tuple:
    """Graded grid lines (m)."""
    return tuple(origin + MM * np.cumsum([0.0, *(1 + 0.2 * np.sin(1.0 + np.arange(cells)))]))


def antenna(schedule: str, precision: str) -> nf.Simulation:
    """Every kind of body, source, port, element and monitor, over a ground and within CPMLs."""
    lines = line(26, -13 * MM), line(24, -12 * MM), line(17)

    def at(i: int, j: int, k: int) -> tuple[float, float, float]:
        return lines[0][i], lines[1][j], lines[2][k]

    return nf.Simulation(
        grid=nf.Grid(*lines),
        boundaries=nf.Boundaries(all=nf.CPML(4), z_low=nf.PEC, y_high=nf.PMC),
        structures=[
            nf.Structure(nf.Box(at(9, 9, 0), at(18, 20, 2)), nf.Medium(2.2, 1.0, 0.01)),
            nf.Structure(nf.Sphere(at(16, 12, 6), 1.7 * MM), nf.Medium(3.0, 1.5)),
            nf.Structure(nf.Sheet(at(11, 10, 2), at(13, 19, 2)), nf.PEC),
            nf.Structure(nf.Wire([at(16, 16, 3), at(16, 16, 6)]), nf.PEC),
        ],
        sources=[
            nf.PointCurrent(at(12, 13, 5), "z", PULSE),
            nf.MagneticPointCurrent(at(13, 14, 6), "x", PULSE),
            nf.LineCurrent(at(10, 12, 4), at(14, 12, 4), PULSE),
            nf.CurrentSheet(at(10, 14, 6), at(12, 16, 6), "y", PULSE),
        ],
        ports=[
            nf.MicrostripPort("line", at(11, 10, 0), at(13, 10, 2), "z", "+y", reference_plane=lines[1][14]),
            nf.LumpedPort("series", at(16, 16, 2), at(16, 16, 3), "z", inductance=1e-9, capacitance=1e-12),
            nf.LumpedPort("parallel", at(15, 10, 4), at(16, 10, 4), "x", capacitance=1e-13, connection="parallel"),
        ],
        elements=[nf.LumpedElement(at(10, 17, 4), at(10, 18, 4), "y", 20.0, 1e-9, 1e-13)],
        monitors=[
            nf.Probe("e", at(14, 12, 4), "Ez", 3),
            nf.Probe("h", at(14, 12, 4), "Hx"),
            nf.Voltage("u", at(12, 12, 0), at(12, 12, 2)),
            nf.Current("i", at(11, 13, 1), at(13, 13, 3)),
            nf.Snapshot("often", at(5, 5, 1), at(20, 20, 1), every=7),
            nf.Snapshot("seldom", at(5, 5, 1), at(7, 20, 5), "Hy", times=(11e-12, 53e-12, 120e-12)),
            nf.FieldDFT("cut", at(5, 12, 1), at(20, 12, 10), BAND),
            nf.FieldDFT("part", at(10, 10, 3), at(14, 14, 6), BAND, components=("Ex", "Hz")),
            nf.Flux("through", at(7, 7, 8), at(20, 20, 8), BAND),
            nf.Flux("out", at(8, 8, 0), at(20, 21, 9), BAND),
            nf.FarField("pattern", BAND[1], theta=(0.0, 0.6, 1.2), phi=(3.5, 4.5)),
        ],
        waveform=PULSE,
        excitations=("sources", "line", "series", "parallel"),
        precision=precision,
        steps=STEPS,
        check_every=CHECKED,
        schedule=schedule,
    )


@pytest.mark.parametrize("precision", ["single", pytest.param("double", marks=pytest.mark.slow)])
def test_both_schedules_leave_the_same_result_file_with_something_in_every_recording(precision, tmp_path):
    for schedule in ("tiled", "stepwise"):
        result = antenna(schedule, precision).run(threads=2, output=tmp_path / f"{schedule}.h5")
        assert result.status == "done" and result.facts["schedule"] == schedule
        assert (result.facts["tile_depth"] >= LEAST_DEPTH) == (schedule == "tiled")
    tiled, stepwise = arrays(tmp_path / "tiled.h5"), arrays(tmp_path / "stepwise.h5")
    assert list(tiled) == list(stepwise)
    assert [name for name in tiled if tiled[name] != stepwise[name]] == []
    monitors = {entry.name for entry in antenna("tiled", precision).monitors}
    for excitation in ("sources", "line", "series", "parallel"):
        assert monitors == {name.split("/")[3] for name in tiled if name.startswith(f"excitations/{excitation}/moni")}
    for name, (_, dtype, values) in tiled.items():
        assert dtype.kind not in "fc" or not values or np.nanmax(np.abs(np.frombuffer(values, dtype))) > 0, name
