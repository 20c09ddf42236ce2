"""Every refusal: it comes at the door and says what was given, what is allowed, what to do; `run` refuses the same."""

from __future__ import annotations

import pytest

import nearfield as nf

PULSE = nf.Gaussian("10 GHz")
SOURCE = nf.PointCurrent((15e-3, 15e-3, 15.5e-3), "z", PULSE)
BLOCK = nf.Structure(nf.Box((10e-3, 10e-3, 10e-3), (20e-3, 20e-3, 20e-3)), nf.PEC)
GLASS = nf.Structure(nf.Box((10e-3, 10e-3, 10e-3), (20e-3, 20e-3, 20e-3)), nf.Medium(100, name="glass"))


def model(**changes) -> nf.Simulation:
    """A small box that runs, with changes."""
    entries = {
        "grid": nf.Grid.uniform(1e-3, (30, 30, 30)),
        "boundaries": nf.Boundaries(nf.CPML(6)),
        "sources": [SOURCE],
        "steps": 10,
    }
    return nf.Simulation(**(entries | changes))


def port(name="p", x=15e-3, z=(15e-3, 16e-3), **more):
    return nf.LumpedPort(name, (x, 15e-3, z[0]), (x, 15e-3, z[1]), "z", **more)


AT_THE_DOOR = {
    "time step over the limit": (
        {"time_step": "2.1 ps"},
        ["time_step=2.1e-12 s", "1.92583e-12 s", "smallest cell 1 mm at x=0", "Lower it", "0.99"],
    ),
    "coarse grid": (
        {"sources": [nf.PointCurrent((15e-3, 15e-3, 15e-3), "z", nf.Gaussian(120e9))]},
        ["2.5 cells per wavelength in background", "120 GHz", "at least 3", "cells of at most"],
    ),
    "coarse medium": ({"structures": [GLASS], "waveform": PULSE}, ["3 cells", "in glass"]),
    "port in metal": ({"structures": [BLOCK], "ports": [port()]}, ["port 'p'", "metal", "(1 of 1 edges)"]),
    "source in the CPML": (
        {"sources": [nf.PointCurrent((2e-3, 15e-3, 15.5e-3), "z", PULSE)]},
        ["sources[0]", "CPML", "(0.002, 0.015, 0.0155) m", "x 0.006 to 0.024", "Move it"],
    ),
    "port in the CPML": ({"ports": [port(x=28e-3)]}, ["port 'p'", "CPML", "(0.028,"]),
    "element in the CPML": (
        {"elements": [nf.LumpedElement((1e-3, 15e-3, 15e-3), (1e-3, 15e-3, 16e-3), "z", resistance=50, name="r")]},
        ["element 'r'", "CPML"],
    ),
    "overlapping ports": (
        {"ports": [port("a", z=(14e-3, 17e-3)), port("b")]},
        ["port 'b' overlaps port 'a'", "one circuit only", "Move"],
    ),
    "port over an element": (
        {"ports": [port()], "elements": [nf.LumpedElement((15e-3,) * 3, (15e-3, 15e-3, 16e-3), "z", resistance=5)]},
        ["elements[0] overlaps port 'p'"],
    ),
    "name used twice": (
        {"ports": [port("tip")], "monitors": [nf.Probe("tip", (15e-3,) * 3)]},
        ["'tip'", "more than one", "Rename"],
    ),
    "reserved name": ({"ports": [port("sources")]}, ["'sources'", "Rename the port"]),
    "unknown medium": (
        {"structures": [nf.Structure(BLOCK.shape, "glas", name="lens")], "media": {"glass": nf.Medium(2)}},
        ["structure 'lens'", "'glas' is not defined", "pec, pmc, glass", "Did you mean 'glass'?"],
    ),
    "unknown medium without a neighbour": (
        {"structures": [nf.Structure(BLOCK.shape, "copper")]},
        ["structures[0]", "'copper'", "Define it under `media`"],
    ),
    "thick CPML": (
        {"boundaries": nf.Boundaries(nf.CPML(15)), "sources": []},
        ["15 + 15 cells along x", "30", "thinner"],
    ),
    "monitor outside": ({"monitors": [nf.Probe("tip", (1, 0, 0))]}, ["tip", "outside the grid", "x 0 to 0.03"]),
    "source outside": (
        {"sources": [nf.PointCurrent((1, 0, 0), "z", PULSE)]},
        ["sources[0]", "(1, 0, 0) m lies outside the grid"],
    ),
    "unknown excitation": ({"excitations": ["nobody"]}, ["'nobody'", "sources"]),
    "no excitation": ({"excitations": []}, ["excitations is empty"]),
    "nothing ends the run": ({"sources": [], "steps": None}, ["no source", "`steps` or `duration`"]),
    "a wave that never ends": (
        {"sources": [nf.PointCurrent((15e-3,) * 3, "z", nf.ContinuousWave(1e9))], "steps": None},
        ["never ends", "`steps` or `duration`"],
    ),
    "a port without a waveform": ({"ports": [port()], "sources": []}, ["no waveform", "Gaussian(20e9)"]),
}


@pytest.mark.parametrize("case", AT_THE_DOOR)
def test_a_model_that_cannot_be_right_is_refused_at_the_door(case):
    changes, words = AT_THE_DOOR[case]
    messages = []
    for door in (lambda: model(**changes).check(), lambda: model(**changes).run(threads=1)):
        with pytest.raises(nf.ModelError) as refused:
            door()
        messages.append(str(refused.value))
        assert refused.value.exit_code == 2
    assert messages[0] == messages[1]
    for word in words:
        assert word in messages[0], messages[0]
    assert "\n" not in messages[0] and len(messages[0]) < 500


ENTRIES = {
    "no volume": (lambda: nf.Box((0, 0, 0), (1, 0, 1)), ["upper must exceed lower", "Sheet"]),
    "no sheet": (lambda: nf.Sheet((0, 0, 0), (1, 1, 1)), ["exactly one zero extent", "Box"]),
    "slanted wire": (lambda: nf.Wire([(0, 0, 0), (1, 1, 0)]), ["not parallel to an axis"]),
    "short polygon": (lambda: nf.Polygon("z", [(0, 0), (1, 0)], 0, 1), ["at least 3"]),
    "unknown argument": (lambda: nf.Medium(permitivity=2), ["permitivity", "did you mean permittivity?"]),
    "too many arguments": (lambda: nf.Sphere((0, 0, 0), 1, 2), ["at most 2 values (center, radius), given 3"]),
    "an argument twice": (lambda: nf.Sphere((0, 0, 0), center=(0, 0, 0)), ["`center` is given twice"]),
    "permittivity 0": (lambda: nf.Medium(0), ["permittivity", "positive"]),
    "steps and duration": (lambda: model(duration="1 ns"), ["both given"]),
    "Courant number": (lambda: model(courant=1.5), ["courant", "1.5"]),
    "wrong kind of shape": (lambda: nf.Structure(nf.Medium(2), "pec"), ["shape", "box"]),
    "lines out of order": (lambda: nf.Grid([0, 2, 1], [0, 1], [0, 1]), ["must increase", "line 2"]),
    "sizes without places": (lambda: nf.Grading((0, 1), (0.1,)), ["2 places", "1 sizes", "at least two"]),
    "places that fall": (lambda: nf.Grading((0, 2, 1), (0.1, 0.1, 0.1)), ["places must increase", "1 m follows 2 m"]),
    "cells without size": (lambda: nf.Grading((0, 1), (0.1, 0)), ["size", "must be positive"]),
    "too many graded cells": (
        lambda: nf.GradedGrid(*[nf.Grading((0, 1), (1e-5, 1e-5))] * 3),
        ["cells", "at most 10,000,000,000"],
    ),
    "too many cells": (lambda: nf.Grid.uniform(1, (10**5, 10**5, 10**5)), ["cells", "at most 10,000,000,000"]),
}


@pytest.mark.parametrize("case", ENTRIES)
def test_a_wrong_entry_is_refused_where_it_is_made(case):
    make, words = ENTRIES[case]
    with pytest.raises(nf.ModelError) as refused:
        make()
    for word in words:
        assert word in str(refused.value), str(refused.value)


def test_a_stable_time_step_given_as_the_limit_itself_is_allowed():
    limit = model().check().time_step_limit
    assert model(time_step=limit).check().time_step == limit
