"""What `check` says of a model: exact counts, costs that hold, warnings that come when they should and only then."""

from __future__ import annotations

import math
import subprocess
import sys
import time
import tomllib

import numpy as np
import pytest

import nearfield as nf
from nearfield.commands.new import template_text
from nearfield.discretization.cautions import cautions
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.machine.machine_rate import known_rate, remember_rate
from nearfield.plan.sizes import phase_error_per_wavelength
from nearfield.run.checkpoint.folder import checkpoints

PULSE = nf.ModulatedGaussian("5 GHz", "10 GHz")  # from 0 to 10 GHz without a static part
MILLIMETRE = 1e-3


def model(**changes) -> nf.Simulation:
    """A small box without any warning, with changes."""
    entries = {
        "grid": nf.Grid.uniform(MILLIMETRE, (30, 31, 32)),
        "boundaries": nf.Boundaries(nf.CPML(6)),
        "sources": [nf.PointCurrent((15e-3, 15e-3, 15.5e-3), "z", PULSE)],
        "monitors": [nf.Probe("tip", (12e-3, 12e-3, 12e-3))],
    }
    return nf.Simulation(**(entries | changes))


def warnings(**changes) -> str:
    return "\n".join(cautions(model(**changes)._setup()))


def test_counts_and_sizes_are_exact():
    check = model(steps=1234).check()
    assert check.cells == (30, 31, 32) and check.total_cells == 30 * 31 * 32
    assert check.smallest_cell == check.largest_cell == pytest.approx(MILLIMETRE, rel=1e-12)
    assert check.time_step_limit == pytest.approx(MILLIMETRE / VACUUM_SPEED / math.sqrt(3), rel=1e-12)
    assert check.time_step == 0.99 * check.time_step_limit
    assert check.steps == check.expected_steps == 1234 and check.decay is None
    assert check.warnings == ()


def test_cells_per_wavelength_are_those_of_each_medium():
    glass = nf.Structure(nf.Box((8e-3, 8e-3, 8e-3), (20e-3, 20e-3, 20e-3)), nf.Medium(4.0, name="glass"))
    media = {medium.name: medium for medium in model(structures=[glass]).check().media}
    wavelength = VACUUM_SPEED / 10e9
    assert media["background"].cells_per_wavelength == pytest.approx(wavelength / MILLIMETRE, rel=1e-9)
    assert media["glass"].cells_per_wavelength == pytest.approx(wavelength / 2 / MILLIMETRE, rel=1e-9)


@pytest.mark.parametrize(("cells", "ratio"), [(5, 0.948752), (10, 0.988556), (20, 0.997209), (40, 0.999306)])
def test_phase_error_follows_from_yees_dispersion(cells, ratio):
    """Exact phase velocities along an axis of cubic cells at 0.99 of the limit; they are given to 6 digits."""
    step = 0.99 / cells / VACUUM_SPEED / math.sqrt(3)
    error = phase_error_per_wavelength(1 / cells, step, VACUUM_SPEED, VACUUM_SPEED)
    assert 1 / (1 + error / 360) == pytest.approx(ratio, abs=1e-6)


def test_a_wave_that_the_grid_cannot_carry_has_no_finite_phase_error():
    assert phase_error_per_wavelength(1.0, 0.1 / VACUUM_SPEED, VACUUM_SPEED / 1.5, VACUUM_SPEED) == math.inf


@pytest.mark.parametrize("boundary", [nf.PEC, nf.PMC, nf.CPML(5)])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_predicted_memory_is_what_the_engine_allocates(boundary, precision):
    simulation = model(boundaries=nf.Boundaries(boundary), precision=precision, steps=10)
    allocated = CpuEngine(simulation._setup().plan, 1).facts()["bytes"]
    assert simulation.check().memory_bytes == pytest.approx(allocated, rel=0.02)  # palettes are not predicted


def test_predicted_output_is_near_the_file(tmp_path):
    cut = nf.FieldDFT("cut", (7e-3, 7e-3, 15e-3), (22e-3, 22e-3, 15e-3), frequencies=np.linspace(1e9, 10e9, 40))
    simulation = model(monitors=[cut], steps=60)
    simulation.run(threads=1, output=tmp_path / "result.h5")
    size = (tmp_path / "result.h5").stat().st_size
    assert 0.5 * size < simulation.check().output_bytes < 2 * size


@pytest.mark.parametrize("probes", [0, 10, 40])
def test_a_small_result_is_predicted_within_a_quarter(probes, tmp_path):
    """Each took 195 KiB by the check, whatever was in it."""
    tips = [nf.Probe(f"tip {n}", (7e-3, 7e-3, (n % 20) * 1e-3)) for n in range(probes)]
    simulation = model(monitors=tips, steps=60)
    simulation.run(threads=1, output=tmp_path / "result.h5")
    size = (tmp_path / "result.h5").stat().st_size
    assert simulation.check().output_bytes == pytest.approx(size, rel=0.25)


@pytest.mark.parametrize("boundary", [nf.PEC, nf.PMC, nf.CPML(5)])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_predicted_checkpoints_are_as_large_as_those_that_are_written(boundary, precision, tmp_path):
    """Rows are padded in memory and not in a checkpoint."""
    simulation = model(boundaries=nf.Boundaries(boundary), precision=precision, steps=60)

    def written(info) -> None:
        sizes.update({part: sum(file.stat().st_size for file in part.iterdir()) for part in checkpoints(tmp_path)})

    sizes: dict = {}
    simulation.run(threads=1, output=tmp_path / "result.h5", checkpoint="every 20 steps", progress=written)
    assert sizes and simulation.check().checkpoint_bytes == pytest.approx(max(sizes.values()), rel=0.01)


def test_what_bodies_far_apart_remember_and_large_patterns_are_predicted(tmp_path):
    """A checkpoint holds the samples that bodies touch, a result every direction of a pattern."""
    edge, glass = 1e-3, nf.Medium(2.0, poles=[nf.Lorentz(strength=2.0, resonance_frequency=10e9, damping=1e9)])
    spans = [((8.2, 9, 8), (12, 12.7, 11)), ((30, 31, 29.4), (34, 34, 33))]
    simulation = nf.Simulation(
        nf.Grid.uniform(edge, (44, 40, 42)),
        boundaries=nf.Boundaries(nf.CPML(6)),
        structures=[nf.Structure(nf.Box(*(tuple(edge * x for x in end) for end in span)), glass) for span in spans],
        sources=[nf.PointCurrent((20e-3, 20e-3, 20.5e-3), "z", nf.Gaussian(15e9))],
        monitors=[nf.FarField("far", ["9 GHz", "11 GHz"], theta=np.linspace(0, 3, 90), phi=np.linspace(0, 6, 120))],
        steps=140,  # the pulse has reached both
    )
    simulation.run(threads=1, output=tmp_path / "result.h5", checkpoint="every 120 steps")
    (newest, *_) = checkpoints(tmp_path)
    check, size = simulation.check(), sum(file.stat().st_size for file in newest.iterdir())
    assert check.checkpoint_bytes == pytest.approx(size, rel=0.03)
    assert check.output_bytes == pytest.approx((tmp_path / "result.h5").stat().st_size, rel=0.05)


BODIES = {
    "blocks far apart": {"structures": [((8, 9, 8), (12, 13, 11)), ((30, 31, 29), (34, 34, 33))]},
    "a block": {"structures": [((9, 9, 9), (31, 29, 30))]},
    "walls": {"boundaries": nf.Boundaries(nf.PEC, conductor=nf.Conductor(5.8e7))},
}


@pytest.mark.parametrize("bodies", BODIES.values(), ids=BODIES)
def test_checkpoints_hold_what_conductors_remember_and_no_more(bodies, tmp_path):
    """Two blocks of copper far apart took 4.8 MB, of which 2.9 were said; 2.3 MB are fields, CPML and samples."""
    boxes = [nf.Box(*(tuple(1e-3 * x for x in end) for end in span)) for span in bodies.get("structures", ())]
    simulation = nf.Simulation(
        nf.Grid.uniform(1e-3, (44, 40, 42)),
        boundaries=bodies.get("boundaries", nf.Boundaries(nf.CPML(6))),
        structures=[nf.Structure(box, nf.Conductor(5.8e7)) for box in boxes],
        sources=[nf.PointCurrent((20e-3, 7e-3, 20.5e-3), "z", nf.Gaussian(15e9))],
        monitors=[nf.Probe("tip", (20e-3, 8e-3, 20e-3))],
        steps=140,
    )
    simulation.run(threads=1, output=tmp_path / "result.h5", checkpoint="every 120 steps")
    (newest, *_) = checkpoints(tmp_path)
    size = sum(file.stat().st_size for file in newest.iterdir())
    assert size < 3e6 and simulation.check().checkpoint_bytes == pytest.approx(size, rel=0.03)


def test_a_hundred_million_cells_need_no_field_arrays():
    simulation = model(grid=nf.Grid.uniform(MILLIMETRE, (470, 470, 470)))
    check = simulation.check()
    assert check.total_cells == 470**3 and check.memory_bytes > 24 * 470**3


def test_the_check_reads_well_and_is_plain_data():
    check = model().check()
    for word in ("cells", "time step", "steps", "memory", "time", "output", "cells per wavelength", "no warnings"):
        assert word in str(check)
    assert check.as_dict()["media"][0]["name"] == "background"


SHEET = nf.Structure(nf.Sheet((8e-3, 8e-3, 10.4e-3), (20e-3, 20e-3, 10.4e-3)), nf.PEC, name="plate")
FAR = nf.Structure(nf.Box((1, 1, 1), (2, 2, 2)), nf.PEC, name="lost")
COPPER = nf.Conductor(5.8e7, name="copper")
FOIL = nf.Structure(nf.Box((8e-3, 8e-3, 10e-3), (20e-3, 20e-3, 10.015e-3)), COPPER, name="foil")
LAYERS = [nf.Structure(nf.Box((8e-3, 8e-3, 10e-3), (20e-3, 20e-3, z)), COPPER) for z in (10.03e-3, 10.3e-3)]
DUST = nf.Structure(nf.Box((14.3e-3,) * 3, (14.7e-3,) * 3), nf.PEC, name="dust")
CORNER = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
MISTAKEN = nf.Structure(nf.Mesh(vertices=CORNER[0], triangles=CORNER[1], unit="m"), nf.PEC)
STEEP = np.concatenate((np.arange(0, 15), np.arange(16, 40, 2))) * MILLIMETRE


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sources": [nf.PointCurrent((15e-3, 15e-3, 15e-3), "z", nf.Gaussian(40e9))]}, "7.49 cells per wavelength"),
        ({"grid": nf.Grid(x=STEEP, y=STEEP, z=STEEP), "boundaries": nf.Boundaries(nf.PEC)}, "a factor of 2 at x=0.014"),
        ({"structures": [FAR]}, "'lost' lies outside the grid"),
        ({"structures": [DUST]}, "'dust', 400 um x 400 um x 400 um, is smaller than a cell"),
        ({"structures": [MISTAKEN]}, "is more than 10 times as large as the grid"),
        ({"structures": [SHEET]}, "is moved to 0.01 m"),
        ({"media": {"glass": nf.Medium(2)}}, "'glass' is defined but no structure uses it"),
        ({"monitors": []}, "nothing is recorded"),
        ({"steps": 5}, "before its source does"),
        ({"boundaries": nf.Boundaries(nf.PEC)}, "nothing absorbs energy"),
        ({"monitors": [nf.Flux("f", (8e-3, 8e-3, 15e-3), (20e-3, 20e-3, 15e-3), [30e9])]}, "30 GHz lies outside"),
        ({"monitors": [nf.Probe("in", (3e-3, 12e-3, 12e-3))]}, "reaches into the CPML along x"),
        ({"structures": [nf.Structure(nf.Sphere((15e-3,) * 3, 4e-3), nf.PEC)]}, "lies in a conductor"),
        (
            {
                "structures": [nf.Structure(nf.Box((9e-3,) * 3, (15e-3,) * 3), nf.PEC)],
                "monitors": [nf.Probe("in", (12e-3,) * 3, "Ex")],
            },
            "'in' lies in a conductor, where Ex is zero",
        ),
        ({"monitors": [nf.Flux("f", (9e-3,) * 3, (15e-3, 15e-3, 20e-3), [10e9])]}, "its surface cuts the samples"),
        ({"ports": [nf.LumpedPort("p", (15e-3, 12e-3, 12e-3), (15e-3, 12e-3, 13e-3), "z")]}, "lower end at z=0.012 m"),
        ({"structures": [FOIL, *LAYERS]}, "and 1 more: 15 um of copper are less than 3 skin depths below 174.7 MHz"),
    ],
)
def test_what_looks_wrong_is_said(changes, words):
    assert words in warnings(**changes)


def test_a_port_between_conductors_is_not_called_floating():
    arms = [
        nf.Structure(nf.Wire([(15e-3, 15e-3, 8e-3), (15e-3, 15e-3, 14e-3)], 2e-4), nf.PEC),
        nf.Structure(nf.Box((14e-3, 14e-3, 15e-3), (16e-3, 16e-3, 22e-3)), nf.PEC),
    ]
    port = nf.LumpedPort("p", (15e-3, 15e-3, 14e-3), (15e-3, 15e-3, 15e-3), "z", waveform=PULSE)
    assert warnings(structures=arms, ports=[port], sources=[]) == ""


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"background": nf.Medium(4.9, poles=[nf.Debye(75, 9.231)])}, "given in ps"),
        ({"background": nf.Medium(1.0, poles=[nf.Drude(28.7)])}, "given in GHz or THz"),
        ({"background": nf.Medium(2.2, loss_tangent=0.02, loss_frequency=5)}, "`loss_frequency` was given in GHz"),
        ({"background": nf.Medium(2.2, conductivity=1.7e-8)}, "resistivity in ohm m"),
        ({"structures": [nf.Structure(nf.Box((0, 0, 0), (0.03, 0.03, 4e-3)), nf.Conductor(58.0))]}, "given in MS/m"),
        (
            {"elements": [nf.LumpedElement((15e-3, 15e-3, 14e-3), (15e-3, 15e-3, 15e-3), "z", capacitance=1.0)]},
            "given in pF",
        ),
        (
            {"elements": [nf.LumpedElement((15e-3, 15e-3, 14e-3), (15e-3, 15e-3, 15e-3), "z", inductance=2.0)]},
            "given in nH",
        ),
        ({"time_step": 1.9e-15}, "below the stable limit"),
    ],
)
def test_constants_in_another_unit_are_named(changes, words):
    assert words in warnings(**changes)
    right = {"background": nf.Medium(2.2, loss_tangent=0.02, loss_frequency="5 GHz")}
    assert not any(each in warnings(**right) for each in ("was it given", "resistivity"))


def test_a_hole_that_cuts_nothing_out_of_a_sheet_is_named():
    for medium, reach, said in ((COPPER, 0.4e-3, True), (nf.PEC, 0.4e-3, True), (nf.PEC, 1.6e-3, False)):
        sheet = nf.Structure(nf.Sheet((10e-3, 10e-3, 15e-3), (20e-3, 20e-3, 15e-3)), medium)
        hole = nf.Structure(nf.Box((13e-3, 13e-3, 15e-3 - reach), (17e-3, 17e-3, 15e-3 + reach)), nf.Medium())
        assert ("cuts nothing out" in warnings(structures=[sheet, hole])) == said
    board = nf.Structure(nf.Box((10e-3, 10e-3, 15e-3), (20e-3, 20e-3, 15.4e-3)), nf.Medium(2.0))  # lies on it
    assert "cuts nothing out" not in warnings(structures=[sheet, board])


def test_elements_off_the_metal_and_columns_beside_it_are_named():
    strip = nf.Structure(nf.Sheet((10e-3, 14e-3, 15e-3), (20e-3, 16e-3, 15e-3)), nf.PEC)
    ground = nf.Structure(nf.Sheet((8e-3, 8e-3, 14e-3), (22e-3, 22e-3, 14e-3)), nf.PEC)

    def said(*elements, **changes):
        return warnings(structures=[strip, ground], elements=elements, **changes)

    right = nf.LumpedElement((12e-3, 15e-3, 14e-3), (12e-3, 15e-3, 15e-3), "z", resistance=50)
    beside = nf.LumpedElement((12e-3, 18e-3, 14e-3), (12e-3, 18e-3, 15e-3), "z", resistance=50)
    assert "no current comes to it" not in said(right)
    assert "elements[0]: its upper end" in said(beside) and "no current comes to it" in said(beside)
    # two in a row meet each other where no metal is
    halves = [((12e-3, 15e-3, 15e-3), (12e-3, 15e-3, 16e-3)), ((12e-3, 15e-3, 16e-3), (12e-3, 15e-3, 17e-3))]
    lid = nf.Structure(nf.Sheet((10e-3, 14e-3, 17e-3), (20e-3, 16e-3, 17e-3)), nf.PEC)
    pair = [nf.LumpedElement(*ends, "z", resistance=50) for ends in halves]
    assert "touches no metal" not in warnings(structures=[strip, ground, lid], elements=pair)
    wide = nf.LumpedPort("p", (12e-3, 12e-3, 14e-3), (12e-3, 18e-3, 15e-3), "z", waveform=PULSE)
    assert "57 % of its columns touch no metal at its upper end" in said(ports=[wide], sources=[])


def test_coils_and_capacitors_in_series_that_ring_between_their_columns_are_named():
    strip = nf.Structure(nf.Sheet((10e-3, 14e-3, 15e-3), (20e-3, 16e-3, 15e-3)), nf.PEC)
    ground = nf.Structure(nf.Sheet((8e-3, 8e-3, 14e-3), (22e-3, 22e-3, 14e-3)), nf.PEC)

    def said(high, **parts):
        element = nf.LumpedElement((12e-3, 14e-3, 14e-3), (12e-3, high, 15e-3), "z", **parts)
        return warnings(structures=[strip, ground], elements=[element])

    tank = {"inductance": 2e-9, "capacitance": 1e-12}  # reactances of 44.7 ohm at 3.559 GHz
    assert "on 3 columns of edges, between which they ring at 3.559 GHz" in said(16e-3, **tank)
    assert "4.472 ohm or more" in said(16e-3, **tank, resistance=4.4)
    for high, changes in ((14e-3, {}), (16e-3, {"resistance": 4.5}), (16e-3, {"connection": "parallel"})):
        assert "ring at" not in said(high, **tank | changes)


def test_a_measured_rate_serves_the_next_prediction(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path))
    assert "assumption" in known_rate("single", 2, 1e7).source
    remember_rate(1000.0, "single", 2, seconds=0.1, cells=1e7)  # too short to count
    assert "assumption" in known_rate("single", 2, 1e7).source
    remember_rate(1000.0, "single", 2, seconds=1.0, cells=1e7)
    assert known_rate("single", 2, 1e7).mcells_per_second == 1000.0
    assert known_rate("single", 4, 1e7).mcells_per_second == 2000.0
    assert "assumption" in known_rate("double", 2, 1e7).source
    assert "assumption" in known_rate("single", 2, 1e4).source  # a model that stays in cache is another matter
    remember_rate(2.0, "single", 2, seconds=1.0, cells=1e3)  # too few cells to say anything of others
    assert "assumption" in known_rate("single", 2, 1e4).source
    check = model(steps=1000).check()
    assert check.predicted_seconds == pytest.approx(check.total_cells * 1000 / (check.mcells_per_second * 1e6))
    (tmp_path / "rates.json").write_text("spoilt")
    assert "assumption" in known_rate("single", 2, 1e7).source
    remember_rate(1000.0, "single", 2, seconds=1.0, cells=1e7)
    assert known_rate("single", 2, 1e7).mcells_per_second == 1000.0


def test_a_slice_one_cell_thick_needs_no_resolution_across_it():
    simulation = nf.Simulation(
        grid=nf.Grid.uniform((20e-3, 20e-3, 1e-3), (1, 1, 60)),
        boundaries=nf.Boundaries(nf.PEC, y_low=nf.PMC, y_high=nf.PMC, z_low=nf.CPML(), z_high=nf.CPML()),
        sources=[nf.CurrentSheet((0, 0, 20e-3), (20e-3, 20e-3, 20e-3), "x", nf.Gaussian(10e9))],
        steps=10,
    )
    assert simulation.check().media[0].cells_per_wavelength > 29


def test_thousands_of_ports_are_set_up_in_seconds():
    """Pairwise work takes a minute here; process time, for other processes do not count."""
    wall = nf.Boundaries(all=nf.PEC)
    ports = [
        nf.LumpedPort(
            f"p{i}-{j}",
            ((2 * i + 1) * MILLIMETRE, (2 * j + 1) * MILLIMETRE, 0.0),
            ((2 * i + 1) * MILLIMETRE, (2 * j + 1) * MILLIMETRE, MILLIMETRE),
            "z",
        )
        for i in range(50)
        for j in range(50)
    ]
    simulation = nf.Simulation(
        grid=nf.Grid.uniform(MILLIMETRE, (101, 101, 3)), boundaries=wall, ports=ports, waveform=PULSE, steps=10
    )
    begun = time.process_time()
    assert simulation.check().total_cells == 101 * 101 * 3
    assert time.process_time() - begun < 25.0


def test_check_lists_what_the_grid_moves_and_by_how_much():
    """Nothing on lines is listed; elsewhere each place with its coordinates and the size of the effect."""

    def moved(by: float) -> dict[str, dict]:
        at = 15e-3 + by
        structures = [
            nf.Structure(nf.Sheet((9e-3, 9e-3, 8e-3 + by), (20e-3, 20e-3, 8e-3 + by)), nf.PEC, name="plate"),
            nf.Structure(nf.Wire([(at, 15e-3, 10e-3 + by), (at, 15e-3, 13e-3)], radius=1e-5), nf.PEC, name="arm"),
            nf.Structure(nf.Box((20e-3, 20e-3, 20e-3), (22e-3 + by, 22e-3, 22e-3)), nf.PEC, name="block"),
            nf.Structure(nf.Box((9e-3, 9e-3, 9e-3), (11e-3 + by, 11e-3, 11e-3)), nf.Medium(2), name="glass"),
        ]
        port = nf.LumpedPort("feed", (15e-3, 15e-3, 13e-3), (15e-3, 15e-3, 14e-3 + by), "z")
        check = model(structures=structures, ports=[port], waveform=PULSE, sources=[], metal="staircase").check()
        return {each["what"]: each for each in check.as_dict()["moved"]}

    assert moved(0.0) == {}
    found = moved(0.25e-3)
    place = {round(each["from"], 9): each["to"] for each in found.values()}
    assert place == pytest.approx({8.25e-3: 8e-3, 15.25e-3: 15e-3, 22.25e-3: 22e-3, 14.25e-3: 14e-3})
    assert all("250 um" in each["effect"] and "0.25 of a cell" in each["effect"] for each in found.values())
    longer = [each["effect"] for each in found.values() if each["from"] == 14.25e-3]
    assert "1 mm instead of 1.25 mm long there (-20 %)" in longer[0]
    sheet = nf.Structure(nf.Sheet((9e-3, 9e-3, 8.25e-3), (20e-3, 20e-3, 8.25e-3)), nf.ResistiveSheet(100.0))
    assert "moved to grid lines" in str(model(structures=[sheet]).check())


def test_a_body_out_of_all_proportion_is_refused_before_it_is_followed():
    """A slip of units: its rim is followed cell by cell, which took gigabytes."""
    start = tomllib.loads(template_text("patch"))
    cylinder = {"kind": "cylinder", "start": [2e9, 1e-3, 5e-4], "end": [2e-3, 3e-3, 6e-4], "radius": 1e-3}
    start["structures"].append({"shape": cylinder, "medium": "pec", "name": "rod"})
    with pytest.raises(nf.ModelError, match=r"rod.* reaches 2e\+09 m beyond the grid along x"):
        nf.Simulation.model_validate(start).check()


PEAK = """
import sys
import nearfield as nf
pulse = nf.ModulatedGaussian("5 GHz", "10 GHz")
whole = nf.Snapshot("whole", (0, 0, 0), (16e-3, 14e-3, 18e-3), every=1)
source = nf.PointCurrent((5e-3, 5e-3, 5e-3), "z", pulse)
grid, walls = nf.Grid.uniform(1e-3, (16, 14, 18)), nf.Boundaries(nf.PEC)
model = nf.Simulation(grid, boundaries=walls, sources=[source], monitors=[whole], steps=int(sys.argv[1]))
model.run(threads=1, output=sys.argv[2])
most = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(model.check().memory_bytes, 1024 * int(most.split()[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the most memory that a process had is read from /proc")
def test_snapshots_in_memory_count_with_what_is_collected_of_them(tmp_path):
    """Three times what was recorded: in the core, as it gives it, and in the result."""
    found = []
    for steps in (500, 1500):
        command = [sys.executable, "-c", PEAK, str(steps), str(tmp_path / f"{steps}.h5")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append([int(word) for word in done.stdout.split()])
    said, taken = (later - first for first, later in zip(*found))
    recorded = 1000 * 6 * 4 * 16 * 14 * 18  # bytes, about
    assert said > 2.5 * recorded and taken == pytest.approx(said, rel=0.1)
