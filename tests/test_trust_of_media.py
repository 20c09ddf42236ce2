"""What the trust report says of surfaces of media that the grid has no exact mean for."""

import pytest

import nearfield as nf
from nearfield.discretization.discretization import Discretization
from nearfield.discretization.negative_media import negative_media_cautions
from nearfield.trust.model import model_trust


def disc(permittivity, cell=1e-3, shape="round", **entries):
    """What the trust report says of a disc's (or square's) surface in a closed box, in %."""
    wide, high = 6.3e-3, 2.4e-3
    body = nf.Cylinder((0, 0, -high), (0, 0, high), wide) if shape == "round" else nf.Box([-wide] * 3, [wide] * 3)
    setup = Discretization(
        nf.Simulation(
            grid=nf.Grid.uniform(cell, [round(20e-3 / cell)] * 3, [-10e-3] * 3),
            boundaries=nf.Boundaries(nf.PEC),
            structures=[nf.Structure(body, nf.Medium(permittivity, **entries.pop("medium", {})))],
            sources=[nf.PointCurrent((0, 0, 0), "y", nf.Gaussian(5e9))],
            steps=10,
            **entries,
        )
    )
    found = [entry for entry in model_trust(setup) if entry.name == "slanting surfaces of media"]
    return found[0] if found else None


def test_what_means_miss_at_round_surfaces_falls_with_contrast_and_cell():
    dense, finer, glass = disc(38.0), disc(38.0, 0.5e-3), disc(2.2)
    assert (dense.verdict, finer.verdict, glass.verdict) == ("warn", "warn", "good")
    assert 0.3 < finer.value / dense.value < 0.6 and glass.value < 0.3 * dense.value
    assert "tensor" in dense.text
    assert disc(38.0, averaging="volume").value > dense.value


def test_flat_faces_and_full_tensors_miss_nothing():
    assert disc(38.0, shape="square") is None and disc(38.0, averaging="tensor") is None
    lossy = disc(38.0, averaging="tensor", medium={"conductivity": 0.1})
    assert lossy.value == pytest.approx(disc(38.0).value, rel=0.01)  # the tensor is that of media without loss


@pytest.mark.parametrize(
    ("body", "off"),
    [
        (nf.Box((-5e-3, -5e-3, -2e-3), (5e-3, 5e-3, 3e-3)), 0.0),
        (nf.Box((-1, -1, -2e-3), (1, 1, 2.7e-3)), 0.3),
        (nf.Sphere((0, 0, 0), 5e-3), 0.5),
        (nf.Polygon("z", [(-5e-3, -5e-3), (5e-3, -5e-3), (5e-3, 4e-3), (-5e-3, 4e-3)], -2e-3, 3e-3), 0.0),
        (nf.Polygon("z", [(-5e-3, -5e-3), (5e-3, -5e-3), (5e-3, 4.2e-3), (-5e-3, 4.2e-3)], -2e-3, 3e-3), 0.2),
        (nf.Polygon("z", [(-5e-3, -5e-3), (5e-3, -5e-3), (4e-3, 4e-3)], -2e-3, 3e-3), 0.5),
        (nf.Box((-5e-3,) * 3, (5e-3,) * 3) - nf.Box((-2e-3, -2e-3, -6e-3), (2e-3, 2.4e-3, 6e-3)), 0.4),
    ],
)
@pytest.mark.parametrize("plasma", [12e9, 1e9])
def test_surfaces_of_media_of_negative_permittivity_are_named_where_they_are_off_the_lines(body, off, plasma):
    """Of a plasma of 1 GHz eps is positive over the band; with a loss of 3e10 1/s none rings."""
    found, said = negative("permittivity", body, poles=nf.Drude(plasma, 3e10))
    assert (found is None) == (plasma < 5e9) and len(said) == (plasma > 5e9 and off > 0)
    if found:
        assert (found.value, found.verdict) == (pytest.approx(off, abs=1e-9), "warn" if off else "good")


@pytest.mark.parametrize("low", [-2e-3, -2.5e-3, -2.3e-3])
def test_faces_of_media_of_negative_permeability_belong_in_the_middles_of_cells(low):
    """H across a face lies on the lines: what is right for E is wrong by half a cell."""
    body = nf.Box((-4.5e-3, -4.5e-3, low), (4.5e-3, 4.5e-3, 3.5e-3))
    off = abs(low + 2.5e-3) / 1e-3
    found, said = negative("permeability", body, magnetic_poles=nf.Drude(12e9, 1e10))
    assert (found.value, found.verdict) == (pytest.approx(off, abs=1e-9), "warn" if off else "good")
    assert len(said) == (off > 0) and all("middles of cells" in each for each in said)
    assert negative("permittivity", body, magnetic_poles=nf.Drude(12e9, 1e10)) == (None, [])


@pytest.mark.parametrize(
    ("plasma", "loss", "cell", "verdict"),
    [
        (20e9, 1e9, 1e-3, "bad"),  # eps -3 to -10 in the band, with a loss of a fiftieth
        (20e9, 3e10, 1e-3, "warn"),  # of two thirds
        (60e9, 1e9, 1e-3, "warn"),  # -35 and below
        (20e9, 1e9, 0.15e-3, "warn"),  # 33 cells a radius
    ],
)
@pytest.mark.parametrize("half", ["permittivity", "permeability"])
def test_round_bodies_that_ring_with_little_loss_and_few_cells_are_bad(half, plasma, loss, cell, verdict):
    poles = {"poles" if half == "permittivity" else "magnetic_poles": nf.Drude(plasma, loss)}
    found, said = negative(half, nf.Sphere((0, 0, 0), 5e-3), cell, **poles)
    assert found.verdict == verdict and len(said) == 1 and "ring" in said[0]


def negative(half, body, cell=1e-3, **poles):
    """The trust entry and the warnings about a half of a medium that is negative in a band from 6 to 10 GHz."""
    model = nf.Simulation(
        grid=nf.Grid.uniform(cell, [round(20e-3 / cell)] * 3, [-10e-3] * 3),
        boundaries=nf.Boundaries(nf.PEC),
        structures=[nf.Structure(body, nf.Medium(**poles))],
        sources=[nf.PointCurrent((0, 0, -8e-3), "x", nf.ModulatedGaussian(8e9, 4e9))],
        steps=10,
    )
    setup = Discretization(model)
    found = [each for each in model_trust(setup) if each.name == f"surfaces of negative {half}"]
    return found[0] if found else None, [each for each in negative_media_cautions(setup) if f"{half} below 0" in each]
