"""Kernels as NVIDIA's compiler makes them, run instruction by instruction: the bits of the processor's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import plans
import pytest
from launches import Launches
from plans import make_plan
from ptx_text import Entry, Fault, entries
from rich_plans import WALLS, rich_plan

from nearfield.engines import ENGINES
from nearfield.engines.cuda.compiler import OPTIONS, Compiler, find_compiler
from nearfield.engines.cuda.cubins import kernel_texts
from nearfield.engines.protocol import Face
from nearfield.entry.errors import ModelError
from nearfield.plan.plan import Plan

# target, and precision or "sixteen": single with fields in 16 bits, which needs most kernels and exchanges no halos;
# NVRTC makes one text for 7.5 to 9.0, another from 10.0 on (but for `spectrum`)
VARIANTS = [
    ("compute_90", "single"),
    *(
        pytest.param(target, variant, marks=pytest.mark.slow)
        for target in ("compute_90", "compute_120")
        for variant in ("single", "sixteen", "double")
        if (target, variant) != ("compute_90", "single")
    ),
]


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    try:
        return find_compiler()
    except ModelError:
        pytest.skip("THE COMPILED KERNELS WERE NOT RUN: NVRTC is not here; `make gpu-check` installs it")


def kernels_of(compiler, target, texts=None, files=(), options=OPTIONS) -> dict[str, Entry]:
    """The kernels of some files, or of all."""
    texts, found = texts or kernel_texts(), {}
    for name in files or sorted(name for name in texts if name.endswith(".cu")):
        ptx, _ = compiler.compiled(name, texts, target, options, form="PTX")
        found |= entries(ptx.rstrip(b"\0").decode())
    return found


def plain_terms(rng, plan):
    """A current, a sum and a spectrum, which leave plain rows about them."""
    return (*plans.current(rng, plan, [2], 3), plans.DFTBox(2, (0, 0, 0), (2, 2, 2), np.array([0.1]), 2))


def one_pass_plan(precision: str) -> Plan:
    walls = ((0, 2), (0, 2), (0, 2))
    return make_plan((5, 10, 140), walls, precision=precision, graded=True, media="lossy", terms=plain_terms, seed=1)


def two_steps_plan(precision: str) -> Plan:
    return make_plan((4, 18, 70), precision=precision, graded=True, media="lossy", seed=1)


def slabs_plan(precision: str) -> Plan:
    """A slab along each axis and where they meet; what lies in prisms is the rest of each, and about them."""
    walls = ((3, 0), (0, 3), (0, 3))
    return make_plan((9, 18, 90), walls, precision=precision, graded=True, media="lossy", terms=plain_terms, seed=1)


PASSES = {"one pass": "1", "two steps a pass": "0.5", "slabs in one pass": "1", "slabs in two steps a pass": "0.5"}
PLANS: dict[str, Callable[[str], Plan]] = {
    **{walls: lambda precision, walls=walls: rich_plan(precision, walls) for walls in WALLS},
    "one pass": one_pass_plan,
    "two steps a pass": two_steps_plan,
    "slabs in one pass": slabs_plan,
    "slabs in two steps a pass": slabs_plan,
}


def run_of(card, monkeypatch, kernels, plan: Plan, passes: str = "", steps: int = 3) -> Launches:
    """Some steps of a plan from a random state. Error: what the PTX of the kernels does wrong."""
    monkeypatch.setenv("NEARFIELD_PASSES", passes)
    engine = ENGINES["cuda"](plan)
    plans.randomise((engine,), plan)
    launches = Launches(card, kernels)
    with launches.watched():
        engine.advance(steps, weigh=True)
        if plan.storage == "full":
            halo = engine.message([Face(plan.box)])
            halo.pack()
            halo.unpack()
    return launches


@pytest.mark.parametrize(("target", "variant"), VARIANTS)
def test_every_compiled_kernel_keeps_the_bits(compiler, target, variant, request, monkeypatch):
    kernels, seen = kernels_of(compiler, target), set()
    card = request.getfixturevalue("card")  # after the compiler, in whose place it puts its own
    for name, plan in PLANS.items():
        if variant == "sixteen" and name in PASSES:
            continue  # fields in 16 bits take two passes
        made = plan("double" if variant == "double" else "single")
        made = replace(made, storage="16-bit", exponents=(9, 8)) if variant == "sixteen" else made
        seen |= set(run_of(card, monkeypatch, kernels, made, passes=PASSES.get(name, "")).executed)
    others = {"tick_single"} if variant == "sixteen" else set()  # fields are nothing to it
    assert seen == {name for name in kernels if name.endswith(variant)} | others


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (("--std=c++20", "--fmad=true", "--ftz=true"), "contracted"),
        (("--std=c++20", "--fmad=false"), "keeps denormals"),
    ],
)
def test_options_that_change_bits_are_found_in_the_text(compiler, options, fault):
    with pytest.raises(Fault, match=fault):
        kernels_of(compiler, "compute_90", files=["poles.cu"], options=options)


PLANTED = {  # file, header or itself, what is there, what in its place, what the runner says
    "no barrier": ("energy.cu", "block.h", "__syncthreads();", "", "energy_single.*a race.*read.*written by thread"),
    "no bound": (
        "copy_box.cu",
        "copy_box.cu",
        "if (number < samples_of(c.box))",
        "",
        "copy_box.*outside of all buffers",
    ),
    "twice": ("points.cu", "points.cu", "p.samples[number]", "p.samples[number / 2]", "points_single.*a race"),
    "left out": ("spectrum.cu", "spectrum.cu", "int part = 0", "int part = 1", "spectrum_single: .*bytes differ"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found_in_what_the_compiler_made(name, compiler, request, monkeypatch):
    file, part, there, instead, fault = PLANTED[name]
    texts = kernel_texts()
    assert there in texts[part].decode()
    texts[part] = texts[part].decode().replace(there, instead).encode()
    kernels = kernels_of(compiler, "compute_90", texts, [file])
    with pytest.raises(Fault, match=fault):
        run_of(request.getfixturevalue("card"), monkeypatch, kernels, rich_plan(), steps=4)


def test_planes_of_a_prism_that_share_their_place_are_found_as_a_race(compiler, request, monkeypatch):
    """E of the first step left where neighbours still read that of the position before."""
    texts, there = kernel_texts(), b"lay(kept.after[m][now], at, e)"
    assert there in texts["sweep.h"]
    texts["sweep.h"] = texts["sweep.h"].replace(there, there.replace(b"now", b"was"))
    kernels = kernels_of(compiler, "compute_90", texts, ["sweep.cu"])
    plan = make_plan((3, 5, 20), precision="single", seed=1)
    with pytest.raises(Fault, match=r"sweep_two_single.*a race"):
        run_of(request.getfixturevalue("card"), monkeypatch, kernels, plan, passes="0.5")
