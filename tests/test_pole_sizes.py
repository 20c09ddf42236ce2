"""What the predictions say of dispersive media agrees with what an engine holds."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.pole_sizes import pole_bytes, row_bytes
from nearfield.engines.cpu.tiling import Rows
from nearfield.engines.reference.update import dense
from nearfield.parallel.plan_weights import media_weights

MM = 1e-3
SOIL = nf.Medium(3.0, poles=[nf.Debye(2.0, 1e-11), nf.Lorentz(1.0, 8e9, 1e9)], magnetic_poles=nf.Debye(0.5, 1e-11))
NUMBERS = 3 * (3 + 1)


def model(*structures, background=None, cells=(30, 26, 60), precision="single") -> nf.Simulation:
    return nf.Simulation(
        nf.Grid.uniform(MM, cells),
        structures,
        nf.Boundaries(all=nf.PEC),
        background=background or nf.Medium(),
        precision=precision,
        steps=10,
    )


@pytest.mark.parametrize("precision", ["single", "double"])
def test_memory_of_states_is_predicted(precision):
    """Exactly, but for the rows at a structure's two ends, which the cells' centres do not see."""
    size = {"single": 4, "double": 8}[precision]
    box = nf.Structure(nf.Box((5 * MM, 6 * MM, 16 * MM), (25 * MM, 21 * MM, 48 * MM)), SOIL)
    plan = model(box, precision=precision)._setup().plan
    assert pole_bytes(plan) == 20 * 15 * 32 * NUMBERS * size
    held = sum(states.nbytes for states in all_states(CpuEngine(plan, 1)))
    assert pole_bytes(plan) < held < 21 * 16 * 48 * NUMBERS * size
    everywhere = model(background=SOIL, precision=precision)._setup().plan
    assert pole_bytes(everywhere) == 30 * 26 * 64 * NUMBERS * size


def all_states(engine: CpuEngine):
    return [engine.poles.states(component, medium, box) for component, medium, box in engine.poles.boxes()]


def test_states_lie_only_where_the_medium_is():
    slabs = [nf.Structure(nf.Box((0, 0, z * MM), (30 * MM, 26 * MM, (z + 4) * MM)), SOIL) for z in (2, 50)]
    engine = CpuEngine(model(*slabs)._setup().plan, 1)
    assert engine.facts()["bytes"] - CpuEngine(model()._setup().plan, 1).facts()["bytes"] < 1.4e6
    assert 30 * 26 * 60 * NUMBERS * 4 > 2.2e6  # what the whole box would keep


def test_the_check_counts_states_and_their_cost():
    plain, soil = (model(background=medium).check() for medium in (nf.Medium(3.0), SOIL))
    assert soil.memory_bytes - plain.memory_bytes == 30 * 26 * 64 * NUMBERS * 4
    assert soil.mcells_per_second < 0.6 * plain.mcells_per_second
    assert soil.predicted_seconds > plain.predicted_seconds


COPPER, GRAPHENE = nf.Conductor(5.8e7), nf.ResistiveSheet(100.0, 1e-10)
BODIES = {
    "walls": ([], {"conductor": COPPER}, {}),
    "box": ([nf.Structure(nf.Box((9 * MM, 8 * MM, 9 * MM), (20 * MM, 19 * MM, 42 * MM)), COPPER)], {}, {}),
    "half a ball": (
        [nf.Structure(nf.Sphere((15 * MM, 13 * MM, 30 * MM), 9 * MM), COPPER)],
        {},
        {"symmetry": nf.Symmetry(z="electric"), "metal": "conformal"},
    ),
    "sheet": ([nf.Structure(nf.Sheet((MM, 8 * MM, 5 * MM), (29 * MM, 8 * MM, 55 * MM)), GRAPHENE)], {}, {}),
}


@pytest.mark.parametrize(("structures", "walls", "more"), BODIES.values(), ids=BODIES)
def test_the_check_counts_what_surfaces_keep(structures, walls, more):
    """In memory all blocks of 16 where a surface weighs anything, in a checkpoint the samples, and a bit for each; of
    conformal metal nearly."""
    pulse = nf.PointCurrent((4 * MM, 4 * MM, 50 * MM), "x", nf.Gaussian(20e9))
    entries = {"sources": (pulse,), "boundaries": nf.Boundaries(nf.PEC), **more}
    bare = model().model_copy(update=entries)
    full = model(*structures).model_copy(update=entries | {"boundaries": nf.Boundaries(nf.PEC, **walls)})
    plan, found, other = full._setup().plan, full.check(), bare.check()
    (medium,) = plan.pole_media
    weights = dense(plan)[1][0, 1]
    rows = np.moveaxis(weights, 1 + plan.unit_axis, -1)
    blocks = np.count_nonzero(np.add.reduceat(rows, np.arange(0, rows.shape[-1], 16), axis=-1))
    wanted = blocks * 16 * medium.states * 4
    assert found.memory_bytes - other.memory_bytes == pytest.approx(wanted, rel=0.1 if "metal" in more else 1e-12)
    stored = np.count_nonzero(weights) * medium.states * 4 + 3 * weights[0].size // 8
    assert found.checkpoint_bytes - other.checkpoint_bytes == pytest.approx(
        stored, rel=0.2 if "metal" in more else 0.05
    )
    assert found.mcells_per_second < other.mcells_per_second
    assert CpuEngine(plan, 1).facts()["bytes"] > 0.98 * found.memory_bytes


def test_tiles_and_domains_know_what_poles_keep():
    half = nf.Structure(nf.Box((0, 0, 0), (30 * MM, 13 * MM, 60 * MM)), SOIL)
    with_poles, without = (model(*structures)._setup().plan for structures in ((half,), ()))
    rows, full = Rows.of(with_poles), 64 * NUMBERS * 4
    assert (rows.kept_bytes, rows.full) == (full, pytest.approx(0.5, abs=0.05))
    assert rows.record_bytes - Rows.of(without).record_bytes == round(rows.full * full)
    assert sorted(np.unique(row_bytes(with_poles))) == [0, 64 * NUMBERS * 4]
    weights = media_weights(with_poles)[1]
    assert weights[:, 0].min() > 2 * weights[:, -1].max() + 1


def test_the_grid_and_the_check_follow_the_shortest_wave():
    resonant = nf.Medium(poles=nf.Lorentz(8.0, 5e9, 1e8), name="resonant")
    auto = nf.AutoGrid(20, 10e9, lower=(0, 0, 0), upper=(30 * MM,) * 3)
    body = nf.Structure(nf.Box((10 * MM,) * 3, (20 * MM,) * 3), resonant)
    walls = nf.Boundaries(all=nf.PEC)
    source = nf.PointCurrent((5 * MM,) * 3, "z", nf.Gaussian(10e9))
    simulation = nf.Simulation(auto, [body], walls, [source], steps=10)
    line = simulation._setup().grid.lines[0]
    inside = (line[:-1] > 10 * MM - 1e-9) & (line[1:] < 20 * MM + 1e-9)
    assert np.diff(line)[inside].max() <= resonant.wavelength(10e9) / 20 * 1.001
    (found,) = (medium for medium in simulation.check().media if medium.name == "resonant")
    assert found.refractive_index == resonant.index_at(10e9) > 3.0


def test_metal_that_keeps_waves_out_may_be_thinner_than_its_own_wavelength():
    gold = nf.Medium(poles=nf.Drude(2.18e15, 1e14))
    body = nf.Structure(nf.Box((10 * MM,) * 3, (20 * MM,) * 3), gold)
    source = nf.PointCurrent((5 * MM,) * 3, "z", nf.Gaussian(10e9))
    model(body).model_copy(update={"sources": (source,)})._setup()
