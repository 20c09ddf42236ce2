"""Ports that are drawn to end at metal touch it, wherever rims and faces lie in their cells."""

import numpy as np
import pytest

import nearfield as nf

MM = 1e-3
PULSE = {"waveform": nf.Gaussian(3e9), "decay": 1e-6, "excitations": ("1",)}


def strip(along, across):
    """A strip of 2.9 cells over a wall, with ports of 50 ohm as wide as it at its ends, moved by parts of a cell."""
    x, y = along * MM, across * MM
    low, high = (x, y - 1.45 * MM), (x + 12 * MM, y + 1.45 * MM)
    ports = [
        nf.LumpedPort(name, (at, low[1], 0), (at, high[1], 1.5 * MM), "z")
        for name, at in (("1", low[0]), ("2", high[0]))
    ]
    return nf.Simulation(
        grid=nf.Grid.uniform((MM, MM, 0.75 * MM), (28, 24, 18), origin=(-8 * MM, -12 * MM, 0)),
        boundaries=nf.Boundaries(all=nf.PEC),
        structures=[nf.Structure(nf.Sheet((*low, 1.5 * MM), (*high, 1.5 * MM)), nf.PEC)],
        ports=ports,
        **PULSE,
    )


@pytest.mark.parametrize("shift", [(0, 0), (0.2, 0), (0.2, 0.3), (0.4, 0.3), (0.7, 0.3), (0.3, 0.15), (0.5, 0.5)])
def test_a_port_as_wide_as_its_strip_has_all_its_columns_on_it(shift):
    """At 20 MHz the strip is a wire of 1/600 wavelengths between 50 ohm: abs(S11) below 0.005. A column of the port in
    the air adds a seventh to a fifth of its resistance, 0.04 to 0.1."""
    model = strip(*shift)
    assert not any("touch no metal" in str(warning) for warning in model.check().warnings)
    s = model.run(threads=1).sparameters_at([2e7]).values[0, :, 0]
    assert abs(s[0]) < 0.005 and abs(s[1]) == pytest.approx(1.0, abs=2e-3)


@pytest.mark.parametrize("face", [3.6, 4.3, 4.45])
def test_a_port_at_the_face_of_a_box_between_lines_touches_it(face):
    """A loop of metal from a port to a wall and back: its inductance goes with its height, within the port's move."""

    def inductance(face):
        post = nf.Box((2.5 * MM, 2.5 * MM, 0), (6.5 * MM, 6.5 * MM, (face + 1) * MM))
        arm = nf.Box((2.5 * MM, 3 * MM, face * MM), (13 * MM, 6 * MM, (face + 2) * MM))
        model = nf.Simulation(
            grid=nf.Grid.uniform(MM, (18, 9, 11)),
            boundaries=nf.Boundaries(all=nf.PEC),
            structures=[nf.Structure(body, nf.PEC) for body in (post, arm)],
            ports=[nf.LumpedPort("1", (12 * MM, 4.5 * MM, 0), (12 * MM, 4.5 * MM, face * MM), "z")],
            metal="conformal",
            **PULSE,
        )
        assert not any("touches no metal" in str(warning) for warning in model.check().warnings)
        s = model.run(threads=1).sparameters_at([1e8]).values.item()
        return (50.0 * (1 + s) / (1 - s)).imag / (2 * np.pi * 1e8)

    on_line = inductance(4.0)
    assert inductance(face) == pytest.approx(on_line * (1 + 0.75 * (face / 4 - 1)), rel=0.04)


def test_a_port_wider_than_its_strip_is_named():
    model = strip(0, 0)
    port = model.ports[0]
    wide = nf.LumpedPort("1", (0, -5 * MM, 0), (0, 5 * MM, 1.5 * MM), "z")
    assert port.lower[1] == pytest.approx(-1.45 * MM)
    warnings = model.model_copy(update={"ports": (wide, model.ports[1])}).check().warnings
    assert any("55 % of its columns touch no metal at its upper end" in str(warning) for warning in warnings), warnings
