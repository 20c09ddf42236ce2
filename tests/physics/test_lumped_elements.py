"""Lumped elements and ports on a parallel-plate line against circuit and line theory (validation/lumped_elements)."""

import numpy as np
import pytest

import nearfield as nf
from validation.lumped_elements.run import ETA, LOADS, impedance, reflection

FREQUENCIES = np.linspace(0.5e9, 3e9, 11)


@pytest.mark.parametrize("name", LOADS)
def test_termination_reflects_as_circuit_theory_says(name):
    """1e-3: the trapezoidal rule warps w by (w dt)^2/12 = 1e-4, the grid shifts the phase by as much."""
    z = impedance(FREQUENCIES, **LOADS[name])
    assert np.abs(reflection(FREQUENCIES, LOADS[name]) - (z - ETA) / (z + ETA)).max() < 1e-3


def two_port_line(reference: float) -> nf.Simulation:
    """40 mm of a square parallel-plate line, a port of `reference` ohm at each end, walls behind them open."""
    cell, cells = 0.5e-3, 80

    def end(name: str, node: int) -> nf.LumpedPort:
        return nf.LumpedPort(name, (0, 0, node * cell), (2 * cell, 2 * cell, node * cell), "x", resistance=reference)

    return nf.Simulation(
        grid=nf.Grid.uniform(cell, (2, 2, cells)),
        boundaries=nf.Boundaries(nf.PMC, x_low=nf.PEC, x_high=nf.PEC),
        ports=[end("left", 0), end("right", cells)],
        waveform=nf.Gaussian(3e9),
        precision="double",
    )


@pytest.mark.parametrize("reference", [ETA, 150.0])
def test_two_ports_see_the_line_between_them(reference):
    """S of a line of impedance Z and length l between ports of Z0: the chain matrix of line theory."""
    s = two_port_line(reference).run(threads=1).sparameters.sel(frequency=slice(0.3e9, 3e9))
    angle = 2 * np.pi * s.frequency.values * 40e-3 / 299792458.0
    ratio = ETA / reference
    common = 2 * np.cos(angle) + 1j * (ratio + 1 / ratio) * np.sin(angle)
    through, back = 2 / common, 1j * (ratio - 1 / ratio) * np.sin(angle) / common
    for port, other in (("left", "right"), ("right", "left")):
        assert np.abs(s.sel(to=other, source=port).values - through).max() < 2e-3
        assert np.abs(s.sel(to=port, source=port).values - back).max() < 2e-3
