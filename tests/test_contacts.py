"""Thin metal that ends at a face of solid metal between lines of the grid stays joined to it."""

import numpy as np
import pytest
from cases import slow_after

import nearfield as nf

MM = 1e-3
KINDS = {
    "wire": lambda z: nf.Wire([(8 * MM, 8 * MM, z), (8 * MM, 8 * MM, z + 12 * MM)], 0.1 * MM),
    "sheet": lambda z: nf.Sheet((8 * MM, 7 * MM, z), (8 * MM, 9 * MM, z + 12 * MM)),
    "rod": lambda z: nf.Cylinder((8 * MM, 8 * MM, z), (8 * MM, 8 * MM, z + 12 * MM), 0.4 * MM),
    "slanting wire": lambda z: nf.Wire([(8 * MM, 8 * MM, z), (11 * MM, 8 * MM, z + 11.6 * MM)], 0.1 * MM),
    "narrow strip": lambda z: nf.Sheet((8 * MM, 7.7 * MM, z), (8 * MM, 8.3 * MM, z + 12 * MM)),
    "bare wire": lambda z: nf.Wire([(8 * MM, 8 * MM, z), (8 * MM, 8 * MM, z + 12 * MM)]),
    "thin bar": lambda z: nf.Box((7.7 * MM, 7.7 * MM, z), (8.3 * MM, 8.3 * MM, z + 12 * MM)),
}


def model(kind, face, high=24):
    """A quarter wave of metal 12 mm long on a block with its top at some height (mm), in a box of metal walls."""
    drive = (8 * MM, 6.5 * MM, 9 * MM)
    return nf.Simulation(
        grid=nf.Grid.uniform(MM, (16, 16, high)),
        boundaries=nf.Boundaries(all=nf.PEC),
        structures=[
            nf.Structure(nf.Box((0, 0, 0), (16 * MM, 16 * MM, face * MM)), nf.PEC),
            nf.Structure(KINDS[kind](face * MM), nf.PEC),
        ],
        sources=[nf.PointCurrent(drive, "z", nf.ModulatedGaussian(8e9, 10e9))],
        monitors=[nf.Probe("p", drive, "Ez")],
        duration=3e-9,
    )


def rings(kind, face):
    modes = nf.resonances(model(kind, face).run(threads=1), (4e9, 11e9), probe="p")
    return float(modes.frequency[int(np.argmax(np.abs(modes.amplitude.values)))])


@pytest.mark.parametrize("kind", slow_after(4, list(KINDS)))
def test_what_stands_on_a_face_between_lines_rings_as_on_a_line(kind):
    on_line = rings(kind, 4.0)
    for face in (
        4.5,
        4.75,
    ):  # the room above the block, 20 mm, shrinks with it: up to 1.3 %; without contact 50 % higher
        assert rings(kind, face) == pytest.approx(on_line, rel=0.015)


def test_ends_at_followed_metal_are_not_listed_as_moved():
    assert not model("wire", 4.75).check().moved
    short = nf.Structure(nf.Wire([(8 * MM, 8 * MM, 5.4 * MM), (8 * MM, 8 * MM, 12 * MM)], 0.1 * MM), nf.PEC)
    lid = nf.Structure(nf.Sheet((4 * MM, 4 * MM, 5 * MM), (12 * MM, 12 * MM, 5 * MM)), nf.PEC)
    base = model("wire", 4.75)
    near = base.model_copy(update={"structures": (base.structures[0], lid, short)})
    assert any("meets what lies there" in entry["effect"] for entry in near.check().moved)


FAR = (3 * MM, 6 * MM)
LYING = {
    "sheet": lambda z: nf.Sheet((3 * MM, 3 * MM, z), (13 * MM, 6 * MM, z)),
    "plate": lambda z: nf.Box((3 * MM, 3 * MM, z), (13 * MM, 6 * MM, z + 0.2 * MM)),
    "polygon": lambda z: nf.Polygon("z", [(3 * MM, 3 * MM), (13 * MM, 4 * MM), (13 * MM, 6 * MM), FAR], z, z),
    "narrow strip": lambda z: nf.Sheet((3 * MM, 4.2 * MM, z), (13 * MM, 4.8 * MM, z)),
    "wire": lambda z: nf.Wire([(3 * MM, 4.5 * MM, z), (13 * MM, 4.5 * MM, z)], 0.1 * MM),
    "wire beside it": lambda z: nf.Wire([(x * MM, 4.5 * MM, z + 0.1 * MM) for x in (3, 13)], 0.1 * MM),
    "rod": lambda z: nf.Cylinder((3 * MM, 4.9 * MM, z), (13 * MM, 4.9 * MM, z), 0.2 * MM),
}
FOLLOWED = ("plate", "wire", "wire beside it", "rod")


def inductance(kind, face):
    """Of a loop (H) from a port through what lies on a block and the block back along a wall."""
    result = nf.Simulation(
        grid=nf.Grid.uniform(MM, (18, 9, 9)),
        boundaries=nf.Boundaries(all=nf.PEC),
        structures=[
            nf.Structure(nf.Box((2.5 * MM, 2.5 * MM, 0), (6.5 * MM, 6.5 * MM, face * MM)), nf.PEC),
            nf.Structure(LYING[kind](face * MM), nf.PEC),
        ],
        ports=[nf.LumpedPort("p", (12 * MM, 4.5 * MM, 0), (12 * MM, 4.5 * MM, face * MM), "z")],
        waveform=nf.Gaussian(3e9),
        decay=1e-6,
        metal="conformal",
    ).run(threads=1)
    s = result.sparameters_at([1e8]).values.item()
    return (50.0 * (1 + s) / (1 - s)).imag / (2 * np.pi * 1e8)


@pytest.mark.parametrize("kind", slow_after(4, LYING))
def test_what_lies_on_a_face_between_lines_touches_it(kind):
    """The loop's height is that of the line, 4 mm, where what lies there moves to it: 3 %, what the block's corners do.
    Plates, wires and rods are followed: 10 %, their height. Without contact the impedance is that of a gap."""
    on_line = inductance(kind, 4.0)
    assert on_line > 0.5e-9
    for face in (3.6, 3.995, 4.3):
        assert inductance(kind, face) == pytest.approx(on_line, rel=0.1 if kind in FOLLOWED else 0.03)
