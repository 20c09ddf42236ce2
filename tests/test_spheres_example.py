"""The examples at a small size: what their pages show comes out."""

from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from examples.spheres import INDEX, RADIUS, efficiencies, model
from validation.mie import mie

EXAMPLES = Path(nf.__file__).parents[1] / "examples"


@pytest.mark.parametrize("medium, index, tolerance", [(nf.Medium(INDEX**2), INDEX, 0.06), (nf.PEC, None, 0.06)])
def test_spheres_scatter_as_mie_says(medium, index, tolerance):
    # eight cells a radius. Glass: 17 cells a wavelength inside at the largest size. Metal: cut cells are second order,
    # 1 % at 16 cells a radius; on whole cells the sphere would be 0.3 cells larger and scatter up to 25 % more
    sizes = np.array([0.6, 1.2, 2.0])
    found, _ = efficiencies(medium, 8, sizes)
    assert np.allclose(found, [mie(size, index)[1] for size in sizes], rtol=tolerance)


def test_the_sphere_of_the_model_file_is_that_of_the_script():
    loaded = nf.load(EXAMPLES / "spheres.toml")
    made = model(nf.Medium(INDEX**2), 16)
    assert loaded.check().warnings == ()
    assert loaded.grid.cells == made.grid.cells and loaded.structures[0].shape.radius == RADIUS
    assert np.allclose(loaded.sources[0].upper, made.sources[0].upper)
