"""A layout of two cells on three layers."""

from __future__ import annotations

import pytest


@pytest.fixture
def layout(tmp_path):
    gdstk = pytest.importorskip("gdstk")  # it has no wheel for Linux on Arm
    library = gdstk.Library(unit=1e-6, precision=1e-9)
    arm, top = library.new_cell("ARM"), library.new_cell("TOP")
    arm.add(gdstk.rectangle((0, 0), (4, 1), layer=2), gdstk.ellipse((8, 2), 1.5, layer=2, datatype=1))
    top.add(
        gdstk.Reference(arm, (1, 1)),
        gdstk.rectangle((3.5, 1.5), (6, 3.25), layer=2),
        gdstk.FlexPath([(0, 5), (5, 5), (5, 8)], 0.5, layer=3),
    )
    library.write_gds(tmp_path / "chip.gds")
    return str(tmp_path / "chip.gds")
