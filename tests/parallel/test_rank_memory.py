"""What a rank holds: its part of everything, and little else, whatever the size of the model."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from dataclasses import fields
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scenes import PULSE, scene

import nearfield as nf
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.parallel import recorded
from nearfield.parallel.part import PlanPart, held_box
from nearfield.parallel.recorded import chunks
from nearfield.plan.boxes import Box
from nearfield.plan.incident_faces import IncidentFaces
from nearfield.plan.sizes import domain_bytes
from nearfield.run.rank_memory import largest_part, rank_memory

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def periodic() -> nf.Simulation:
    """A wave on a box that spans a closed axis."""
    wave = nf.PlaneWave((0, 4e-3, 0), (12e-3, 9e-3, 16e-3), "+y", (0.0, 0.0, 1.0), PULSE)
    walls = nf.Boundaries(nf.CPML(2), x_low=nf.PERIODIC, x_high=nf.PERIODIC, z_low=nf.PERIODIC, z_high=nf.PERIODIC)
    return nf.Simulation(nf.Grid.uniform(1e-3, (12, 14, 16)), boundaries=walls, sources=[wave], steps=3)


def mirrored() -> nf.Simulation:
    """A wave in a model of which half is stepped."""
    wave = nf.PlaneWave((4e-3,) * 3, (12e-3,) * 3, "+y", (0.0, 0.0, 1.0), PULSE)
    walls, plane = nf.Boundaries(all=nf.CPML(2)), nf.Symmetry(x="magnetic", z="electric")
    return nf.Simulation(nf.Grid.uniform(1e-3, (16, 16, 16)), boundaries=walls, sources=[wave], steps=3, symmetry=plane)


SCENES = {
    "oblique, single": lambda: scene("single"),
    "oblique, double": lambda: scene("double"),
    "along an axis": lambda: scene("single", oblique=False),
    "periodic": periodic,
    "mirrored": mirrored,
}


SHAPES = [(1, (7, 9, 3)), (5, (4, 1, 6)), (40, (2, 2, 2)), (3, (1, 1, 1)), (0, (3, 3, 3))]  # boxes, and of what


def parts(plan, depth: int = 2):
    """The parts of eight ranks, cut in the middle along all axes."""
    cuts = [(0, n // 2, n) for n in plan.active]
    for x, y, z in product((0, 1), repeat=3):
        own = Box.between((ends[at], ends[at + 1]) for ends, at in zip(cuts, (x, y, z)))
        yield PlanPart(plan, own, held_box(own, depth, plan))


@pytest.mark.parametrize("name", SCENES)
def test_a_rank_draws_the_samples_of_a_wave_that_it_would_keep_of_all(name):
    plan = SCENES[name]()._setup().plan
    waves = [term for term in plan.terms if isinstance(term, IncidentFaces)]
    assert waves
    for part, term in product(parts(plan), waves):
        own, wanted = term.part(part), term.drawn().part(part)
        assert (own is None) == (wanted is None)
        if own is None:
            continue
        orders = [np.lexsort((each.component, each.k, each.j, each.i)) for each in (own, wanted)]  # stable
        for entry in (each.name for each in fields(own) if each.name != "wave"):
            assert np.array_equal(getattr(own, entry)[orders[0]], getattr(wanted, entry)[orders[1]]), entry


@pytest.mark.parametrize("name", ["oblique, single", "mirrored"])
def test_every_sample_of_a_wave_belongs_to_some_rank_once_where_no_halos_are_held(name):
    plan = SCENES[name]()._setup().plan
    for term in (term for term in plan.terms if isinstance(term, IncidentFaces)):
        shares = [term.part(part) for part in parts(plan, depth=0)]
        assert sum(each.i.size for each in shares if each) == term.drawn().i.size


def test_listing_what_acts_on_a_rank_takes_no_more_than_its_fields_do():
    """Of 32^3 cells; planes of the part weigh less in larger ones. Listed whole, the wave alone takes 2.4 times it."""
    sys.path.insert(0, str(BENCHMARKS))
    from rank_memory import model

    assert model("rich", (48, 48, 48))._setup().plan  # imports
    tracemalloc.start()
    setup = model("rich", (64, 64, 64))._setup()
    part = next(parts(setup.plan, depth=1))
    terms = part.plan.terms
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert terms
    assert peak < 1.5 * domain_bytes(part.own.shape, part.plan.cpml, "single")


@pytest.mark.parametrize(("count", "shape"), SHAPES)
@pytest.mark.parametrize("limit", [1, 64, 300, 10**6])
def test_chunks_hold_every_sample_once_and_no_more_than_was_allowed(monkeypatch, count, shape, limit):
    """Or one plane across the longest axis, which is never cut."""
    monkeypatch.setattr(recorded, "AT_ONCE", limit)
    whole = Box((2, 3, 4), tuple(low + n for low, n in zip((2, 3, 4), shape)))
    seen = np.zeros((count, *shape), int)
    for entries, part in chunks(count, whole, 8):
        seen[(entries, *part.slices(whole.lower))] += 1
        most = max(limit, 8 * int(np.prod(shape)) // max(shape))
        assert 8 * part.size * (entries.stop - entries.start) <= most
    assert (seen == 1).all()


@pytest.mark.parametrize("ranks", [2, 4])
def test_the_memory_said_of_a_rank_is_that_of_its_engine(ranks):
    """But for its coefficients: 0.26 MB of 1.7 in so small a model with CPML on all sides."""
    cut = nf.FieldDFT("cut", (0, 0, 9e-3), (40e-3, 40e-3, 9e-3), frequencies=[5e9])
    walls = nf.Boundaries(all=nf.CPML(4))
    setup = nf.Simulation(nf.Grid.uniform(1e-3, (40, 40, 40)), boundaries=walls, monitors=[cut], steps=9)._setup()
    said, part = rank_memory(setup, ranks), largest_part(setup.plan, ranks)
    held = CpuEngine(part.plan, 1, own=part.own_here).facts()["bytes"]
    assert 0.8 * held < said.total < 1.05 * held
    assert said.samples == part.own.shape
    assert said.first - said.total == said.recordings == 8 * sum(box.samples for box in setup.plan.dft_boxes)


def test_check_says_the_memory_of_a_rank_where_their_number_is_given():
    found = periodic().check(ranks=2)
    assert found.rank.ranks == 2 and found.rank.total < found.memory_bytes
    assert "memory of a rank" in str(found) and found.as_dict()["rank"]["fields"] == found.rank.fields
    assert periodic().check().rank is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "rich"])
def test_a_rank_is_set_up_within_little_more_than_twice_its_share(kind):
    """Of 96^3 cells; what grows with the surface alone weighs less in larger ones."""
    command = [sys.executable, str(BENCHMARKS / "rank_memory.py"), "--one", f"{kind},96,8"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["setup_over_share"] < (1.5 if kind == "plain" else 2.3)
