"""Plane waves that planes of symmetry mirror: halves and quarters report what the whole does, cross-sections too."""

import numpy as np
import pytest
from cases import slow_after

import nearfield as nf
from nearfield.entry.errors import ModelError

MM = 1e-3
BAND = [5e9, 9e9]
SECTIONS = ("monostatic_cross_section", "scattering_cross_section", "extinction_cross_section")
CASES = [
    ({"x": "electric", "y": "magnetic"}, "+z", "x"),
    ({"x": "magnetic", "z": "electric"}, "-y", "z"),
    ({"y": "magnetic"}, (0.6, 0, 0.8), (0.8, 0, -0.6)),
    ({"y": "electric"}, (0.6, 0, 0.8), "y"),
]


def ball(symmetry, direction, polarisation, precision="double", lower=(-6 * MM,) * 3, **more) -> nf.Simulation:
    """A dielectric sphere with a metal plate in it, three cells more along z than along x so that rows lie alike."""
    half = np.array([15, 16, 18])
    return nf.Simulation(
        nf.Grid.uniform(MM, tuple(2 * half), tuple(-half * MM)),
        boundaries=nf.Boundaries(all=nf.CPML(5)),
        structures=[
            nf.Structure(nf.Sphere((0, 0, 0), 4 * MM), nf.Medium(2.4)),
            nf.Structure(nf.Box((-2 * MM, -2 * MM, -MM), (2 * MM, 2 * MM, MM)), "pec"),
        ],
        sources=[nf.PlaneWave(lower, (6 * MM,) * 3, direction, polarisation, nf.GaussianDerivative(8e9), 2.0)],
        monitors=[
            nf.FarField("far", BAND, theta=(0.0, 0.7, 2.5), phi=(0.3, 2.0, 4.5)),
            nf.FieldDFT("cut", (-7 * MM, -8 * MM, -3 * MM), (7 * MM, 8 * MM, 2 * MM), BAND),
        ],
        steps=260,
        precision=precision,
        symmetry=nf.Symmetry(**symmetry),
        **more,
    )


# sums of some hundred steps, halved or not: rounding, and what is lost where small fields are left of large ones
@pytest.mark.parametrize("precision, rounding", [("double", 1e-12), ("single", 1e-4)])
@pytest.mark.parametrize("symmetry, direction, polarisation", slow_after(1, CASES, arguments=3))
def test_halves_and_quarters_scatter_as_the_whole_does(symmetry, direction, polarisation, precision, rounding):
    whole = ball({}, direction, polarisation, precision).run(threads=2)
    lower = tuple(0.0 if axis in symmetry else -6 * MM for axis in "xyz")  # what is below is mirrored
    part = ball(symmetry, direction, polarisation, precision, lower)
    assert np.prod(part._setup().plan.cells) == 30 * 32 * 36 // 2 ** len(symmetry)
    found = part.run(threads=2)
    for field in "EH":
        names = [field + axis for axis in "xyz"]
        peak = max(np.abs(whole["cut"][name].values).max() for name in names)
        for name in names:
            assert np.abs(found["cut"][name].values - whole["cut"][name].values).max() < rounding * peak
    ours, theirs = (run["far"].radar_cross_section().values for run in (found, whole))
    assert np.abs(ours - theirs).max() < rounding * theirs.max()
    for name in SECTIONS:
        ours, theirs = (getattr(run["far"], name).values for run in (found, whole))
        assert np.allclose(ours, theirs, rtol=100 * rounding)  # the optical theorem is a small part of a field
    attributes = found.excitation().record.monitors["cut"].variables["Ex"].attributes
    assert attributes["fields"] == "total and scattered"


@pytest.mark.parametrize(
    "symmetry, direction, polarisation, lower, words",
    [
        ({"x": "electric"}, "+z", "y", -6, "must travel along the plane, and E be across it"),
        ({"x": "electric"}, "+z", "y", -6, 'x = "magnetic" fits it'),
        ({"x": "magnetic"}, "+z", "x", -6, 'x = "electric" fits it'),
        ({"y": "magnetic"}, "+z", (1, 1, 0), -6, "leave the plane out, or choose"),
        ({"z": "magnetic"}, "+z", "x", -6, "leave the plane out, or choose"),
        ({"x": "electric"}, (0.1, 0, 1), "x", -6, "leave the plane out, or choose"),
        ({"x": "electric"}, "+z", "x", 2, "nothing above the plane of symmetry at 0 m, or does not touch it"),
    ],
)
def test_waves_that_planes_do_not_mirror_are_refused_in_words(symmetry, direction, polarisation, lower, words):
    with pytest.raises(ModelError) as error:
        assert ball(symmetry, direction, polarisation, lower=(lower * MM,) * 3)._setup().plan is None
    assert words in str(error.value)
