"""The example of a reflector at its small size: model files, aperture theory, and a small dish beside it."""

import math
from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from examples.reflector import FULL, LAPTOP, model
from nearfield.analysis.farfield import intensity
from validation.paraboloid import run as paraboloid
from validation.physical_optics import ETA, C, HuygensArray, Paraboloid

FOLDER = Path(nf.__file__).parents[1] / "examples"


@pytest.mark.parametrize("name, size", [("reflector", LAPTOP), ("reflector_full", FULL)])
def test_the_model_file_is_that_of_the_script(name, size):
    loaded, made = nf.load(FOLDER / f"{name}.toml"), model(size)
    for axis in "xyz":
        np.testing.assert_allclose(getattr(loaded.grid, axis).lines(), getattr(made.grid, axis).lines(), atol=1e-10)
    for one, other in zip(loaded.structures, made.structures, strict=True):
        np.testing.assert_allclose(one.shape.profile, other.shape.profile, atol=1e-10)
    left_out = {"grid", "structures", "ports"}
    for entry in set(nf.Simulation.model_fields) - left_out:
        assert getattr(loaded, entry) == getattr(made, entry), entry


def test_the_full_size_is_that_of_the_paper_and_is_checked_without_its_arrays():
    model = nf.load(FOLDER / "reflector_full.toml")
    check, bare = model.check(), model.replace(monitors=[]).check()
    assert check.cells == (569, 569, 1144)
    assert check.extent == pytest.approx((0.77, 0.77, 0.67))
    assert 24 <= bare.memory_bytes / bare.total_cells <= 40  # six fields, and psi in the layers
    assert bare.memory_bytes < check.memory_bytes < 16 << 30  # with patterns, also as they are collected at the end
    # the guide in the beam; what it costs; a busy or small machine
    known = "z_high", "over an hour", "are free here", "this machine has"
    assert [warning for warning in check.warnings if not any(part in warning for part in known)] == []


def test_physical_optics_of_an_ideal_feed_is_the_closed_form():
    """A field of cos before the feed: as many wavelengths wide as the form asks for, whatever the mirror's depth."""

    def ideal(places):
        distance = np.linalg.norm(places, axis=1, keepdims=True)
        radial = places / distance
        k = 2 * math.pi / paraboloid.WAVELENGTH
        size = np.maximum(-radial[:, 2:], 0) * np.exp(-1j * k * distance) / distance
        electric = np.array([1.0, 0, 0]) - np.stack([radial[:, 0] / (1 - radial[:, 2])] * 3, 1) * (radial - (0, 0, 1))
        return np.cross(radial, electric * size) / ETA

    mirror = Paraboloid(paraboloid.DIAMETER, paraboloid.FOCAL_LENGTH)
    far = mirror.far_fields(ideal, paraboloid.FREQUENCY, np.zeros(1), np.zeros(1))
    found = 4 * math.pi * intensity(*far, ETA)[0] / (2 * math.pi / 3 / (2 * ETA))
    assert 10 * math.log10(found) == pytest.approx(paraboloid.row(), abs=0.01)


def test_a_small_dish_has_the_directivity_of_physical_optics():
    """Four wavelengths wide: rims a third as far apart as in validation/paraboloid, errors of theory three times it."""
    diameter, focal_length, cell = 0.1, 0.04, C / 12e9 / 10
    radii = np.linspace(0, diameter / 2, 13)
    face = [(float(r), float(r**2 / (4 * focal_length) - focal_length)) for r in radii]
    feed: HuygensArray = paraboloid.feed()
    result = nf.Simulation(
        grid=nf.Grid.uniform(cell, (72, 72, 50), (-36 * cell, -36 * cell, -32 * cell)),
        structures=[nf.Structure(nf.Revolved("z", face + [(r, z - 3 * cell) for r, z in face[::-1]]), nf.PEC)],
        sources=paraboloid.currents(feed),
        monitors=[nf.FarField("far", [12e9], theta=[0.0], phi=[0.0])],
        symmetry=nf.Symmetry(x="electric", y="magnetic"),
        metal="conformal",
        decay=1e-4,
    ).run(threads=2)
    axis = np.zeros(1)
    both = zip(
        Paraboloid(diameter, focal_length).far_fields(feed.magnetic_field, 12e9, axis, axis),
        feed.far_fields(axis, axis),
    )
    expected = 4 * math.pi * intensity(*(sum(pair) for pair in both), ETA)[0] / feed.power()
    found = float(result["far"].directivity.values.max())
    assert 10 * math.log10(found / expected) == pytest.approx(0, abs=0.45)
