"""Faces of the grid and the CPML's profile."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.grid.boundaries import cpml_profile

CUBE = nf.Grid.uniform(1e-3, (30, 30, 30)).resolve()
STEP = 0.99 * CUBE.maximum_time_step()


def test_faces_left_out_are_those_of_all():
    boundaries = nf.Boundaries(all="pec", z_high=nf.CPML(7), x_low="pmc", y_low="cpml")
    assert [boundaries.face(0, side) for side in ("low", "high", 0, 1)] == ["pmc", "pec", "pmc", "pec"]
    assert [boundaries.cpml_cells(axis) for axis in range(3)] == [(0, 0), (10, 0), (0, 7)]
    assert boundaries.interior(CUBE) == ((0, 30), (10, 30), (0, 23))


def test_profile_follows_roden_and_gedney():
    layer = nf.CPML(10, order=3.0, sigma_ratio=0.7, kappa_maximum=4.0, alpha_maximum=0.1)
    nodes, halves = cpml_profile(layer, None, CUBE, 1, STEP)
    for profile, depth, length in (
        (nodes, np.maximum(1 - np.arange(31) / 10, 0), CUBE.dual(1)),
        (halves, np.maximum(1 - (np.arange(30) + 0.5) / 10, 0), CUBE.primary(1)),
    ):
        sigma = 0.7 * 0.8 * 4 / (VACUUM_IMPEDANCE * 1e-3) * depth**3
        kappa, alpha = 1 + 3 * depth**3, 0.1 * (1 - depth) ** 2.5
        decay = np.where(depth > 0, np.exp(-(sigma / kappa + alpha) * STEP / VACUUM_PERMITTIVITY), 0)
        drive = np.zeros_like(depth)
        inside = depth > 0
        c = sigma[inside] * (decay[inside] - 1) / (sigma * kappa + kappa**2 * alpha)[inside]
        drive[inside] = c * VACUUM_SPEED * STEP / length[inside]
        np.testing.assert_allclose(profile.kappa, kappa, rtol=1e-12)
        np.testing.assert_allclose(profile.decay, decay, rtol=1e-12)
        np.testing.assert_allclose(profile.drive, drive, rtol=1e-12)


def test_profile_of_the_high_face_mirrors_the_low_one():
    low, high = cpml_profile(nf.CPML(6), None, CUBE, 0, STEP), cpml_profile(None, nf.CPML(6), CUBE, 0, STEP)
    for one, other in zip(low, high):
        for name in ("kappa", "decay", "drive"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name)[::-1], rtol=1e-9)


def test_walls_and_the_inner_face_are_not_stretched():
    nodes, halves = cpml_profile(nf.CPML(10), nf.CPML(5), CUBE, 2, STEP)
    assert (nodes.kappa[10:26] == 1).all() and not nodes.decay[10:26].any() and not nodes.drive[10:26].any()
    assert (halves.kappa[10:25] == 1).all() and not halves.drive[10:25].any()
    assert (nodes.drive[:10] < 0).all() and (nodes.drive[26:] < 0).all()
    none = cpml_profile(None, None, CUBE, 2, STEP)
    assert all((part.kappa == 1).all() and not part.drive.any() for part in none)


def test_a_lossless_layer_only_stretches():
    nodes, _ = cpml_profile(nf.CPML(4, sigma_ratio=0.0, alpha_maximum=0.0), None, CUBE, 0, STEP)
    assert np.isfinite(nodes.drive).all() and not nodes.drive.any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nf.Boundaries(all="pecc"), 'allowed: "pec", "pmc", "periodic", a CPML or a Bloch'),
        (lambda: nf.CPML(0), "cells"),
        (lambda: nf.CPML(kappa_maximum=0.5), "between 1 and 1000"),
        (lambda: nf.Boundaries(all=nf.CPML(15)).interior(CUBE), r"takes 15 \+ 15 cells along x, but .* only 30"),
        (lambda: nf.Boundaries(x_low={"kind": "cpml", "cell": 3}), "cell"),
    ],
)
def test_refusals_say_what_is_wrong(make, message):
    with pytest.raises(nf.ModelError, match=message):
        make()


def test_the_end_of_a_line_has_no_frequency_shift_unless_it_is_asked_for():
    def layers(boundaries, axis):
        faces = nf.Simulation(nf.Grid.uniform(1e-3, (30, 30, 30)), boundaries=boundaries, steps=1)._setup().boundaries
        return [faces.face(axis, side) for side in (0, 1)]

    line = nf.Boundaries(nf.PEC, y_low=nf.PMC, y_high=nf.PMC, z_low=nf.CPML(), z_high=nf.CPML(alpha_maximum=0.1))
    assert [layer.alpha_maximum for layer in layers(line, 2)] == [0.0, 0.1]
    half_open = nf.Boundaries(nf.CPML(), x_low=nf.PEC)
    assert layers(half_open, 0) == ["pec", nf.CPML()] and layers(half_open, 2) == [nf.CPML(), nf.CPML()]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        ((5, 5, 8), (15, 15, 10), ""),
        ((4, 4, 4), (16, 16, 16), ""),  # as far as the layers
        ((-1, -1, 8), (21, 20, 10), ""),  # to the ends of the grid and past them
        ((5, 5, 8), (17, 15, 10), "ends in the CPML at x_high, 1 of its 4 cells deep"),
        ((1.5, 5, 8), (20, 15, 10), "ends in the CPML at x_low, 2.5 of its 4 cells deep"),
        ((5, 17, 8), (15, 20, 10), "ends in the CPML at y_high, 1 of its 4 cells deep"),  # begins there
        ((5, 5, 1), (15, 15, 10), ""),  # a wall is no layer
    ],
)
@pytest.mark.parametrize("medium", [nf.PEC, nf.Medium(4.0)])
def test_structures_that_end_in_a_layer_are_named(low, high, said, medium):
    body = nf.Box(*([1e-3 * q for q in corner] for corner in (low, high)))
    model = nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (20, 20, 20)),
        boundaries=nf.Boundaries(all=nf.CPML(4), z_low=nf.PEC),
        structures=[nf.Structure(body, medium, name="plate")],
        sources=[nf.PointCurrent((10e-3, 10e-3, 14e-3), "x", nf.Gaussian(10e9))],
        steps=10,
    )
    found = [text for text in model.check().warnings if "ends in the CPML" in text]
    assert len(found) == bool(said) and all(said in text and "'plate'" in text for text in found)


@pytest.mark.parametrize(("face", "said"), [("pec", 0), ("pmc", 1)])
def test_a_metal_of_walls_without_a_wall_is_warned_of_and_takes_no_energy(face, said):
    copper = nf.Conductor(5.8e7)
    model = nf.Simulation(
        nf.Grid.uniform(1e-3, (8, 8, 8)),
        boundaries=nf.Boundaries(all="pmc", z_low=face, conductor=copper),
        sources=[nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", nf.GaussianDerivative(10e9))],
    )
    warnings = model.check().warnings
    assert sum('"pec" faces, and none is' in text for text in warnings) == said
    assert sum("nothing absorbs energy" in text for text in warnings) == said


@pytest.mark.parametrize("face", [(3, "low"), (-1, "low"), (0, "up"), (0, 2)])
def test_a_face_that_no_grid_has_is_refused(face):
    with pytest.raises(nf.ModelError, match="a face has an axis 0 to 2"):
        nf.Boundaries().face(*face)


@pytest.mark.parametrize("none", [{"phase": 0}, {"wave_number": 0}])
def test_a_phase_of_0_is_periodic_with_real_fields(none):
    faces = nf.Boundaries(x=nf.Bloch(**none), y="periodic")
    assert faces.face(0, "low") == faces.face(1, "low") and not faces.complex_fields
    assert nf.Boundaries(x=nf.Bloch(phase=0.1)).complex_fields
    sheet = nf.CurrentSheet((0, 0, 12e-3), (4e-3, 4e-3, 12e-3), "x", nf.Gaussian(20e9))
    probe = nf.Probe("p", (2e-3, 2e-3, 15e-3), "Ex")
    signals = [
        nf.Simulation(nf.Grid.uniform(1e-3, (4, 4, 30)), [], walls, sources=[sheet], monitors=[probe], steps=50).run()[
            "p"
        ]
        for walls in (faces, nf.Boundaries(x="periodic", y="periodic"))
    ]
    assert signals[0].dtype == float and np.abs(signals[0]).max() > 0 and (signals[0] == signals[1]).all()
