"""What the CPML sends back in media: dense, lossy and dispersive ones, and the end of a microstrip line."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.analysis.spectra import fourier_integral

C = 299792458.0
WATER = nf.Medium(4.9, poles=[nf.Debye(75.2, "9.231 ps")])
FRONT = 10  # cells from the sheet of current to the probe, and 5 more to the layer


def largest_error(layered, endless, frequencies):
    """The largest difference of two records in any of the frequencies over the second, in dB."""
    short, long = (fourier_integral(each.time.values, each.values, frequencies) for each in (layered, endless))
    return 20 * np.log10(np.abs(short / long - 1).max())


def returned(medium, highest, cells=20, span=10.0, layer=None):
    """Plane wave at normal incidence on a layer: reflection (dB), largest from `highest`/`span` to `highest`."""
    layer = layer or nf.CPML()
    cell = C / np.sqrt(complex(medium.relative_permittivity(highest))).real / highest / cells
    pulse = nf.ModulatedGaussian(0.5 * highest * (1 + 1 / span), highest * (1 - 1 / span))

    def line(before, after, end, steps):
        sheet = before * cell
        return nf.Simulation(
            grid=nf.Grid.uniform(cell, (1, 1, before + after)),
            background=medium,
            boundaries=nf.Boundaries(x="periodic", y="periodic", z_low=nf.PEC, z_high=end),
            sources=[nf.CurrentSheet((0, 0, sheet), (cell, cell, sheet), "x", pulse)],
            monitors=[nf.Probe("e", (0.5 * cell, 0, sheet + FRONT * cell), "Ex")],
            precision="double",
            steps=steps,
        )

    step = line(4, 30, nf.PEC, 1)._setup().time_step
    front = C / medium.permittivity**0.5 * step / cell  # cells a step: nothing is faster
    steps = int(pulse.end / step + 4 * (FRONT + 15) * abs(complex(medium.relative_permittivity(highest))) ** 0.5)
    silent = int(0.5 * steps * front) + FRONT + 10  # an echo from there comes too late
    found = line(silent, FRONT + 5 + layer.cells, layer, steps).run(threads=1)["e"]
    endless = line(silent, silent, nf.PEC, steps).run(threads=1)["e"]
    return largest_error(found, endless, np.geomspace(highest / span, highest, 30))


DENSE = [
    (nf.Medium(2.2), 10e9),
    (nf.Medium(6), 10e9),
    (nf.Medium(10, conductivity=0.01), 1e9),
    (nf.Medium(10, conductivity=0.01), 1e8),
    (nf.Medium(20, conductivity=0.1), 1e7),
    (WATER, 30e9),
]


@pytest.mark.parametrize(("medium", "highest"), DENSE)
def test_ten_default_cells_return_less_than_minus_75_db_in_media(medium, highest):
    """The target; found -87 (0.1 S/m) to -105 dB. Scaled for vacuum, ground of 0.01 S/m came back at -54 dB."""
    assert returned(medium, highest) <= -75.0


@pytest.mark.parametrize(("medium", "highest"), [(nf.Medium(80), 10e9), (WATER, 10e9), (WATER, 100e9)])
def test_as_little_returns_in_water_and_as_dense_media(medium, highest):
    assert returned(medium, highest) <= -75.0


def test_smaller_cells_return_no_more_in_water():
    """-105 dB at 20 cells a wavelength, -103 at 40: 10 dB are far below what halving cost with alpha of vacuum."""
    assert returned(WATER, 30e9, cells=40) <= max(returned(WATER, 30e9, cells=20) + 10.0, -90.0)


def test_own_numbers_are_taken_as_they_are():
    """An alpha that is ten times the lowest frequency's passes it: that is what was asked for."""
    lowest = 2 * np.pi * 1e9 * 8.854e-12
    assert returned(nf.Medium(6), 10e9, layer=nf.CPML(alpha_maximum=20 * lowest)) > -75.0
    assert returned(nf.Medium(6), 10e9, layer=nf.CPML(alpha_maximum=lowest, index=6**0.5)) <= -75.0


def layers(filling=(), **entries):
    """The layers of a small open box as they were chosen, by face."""
    model = nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (30, 30, 30)),
        structures=[nf.Structure(shape, medium) for shape, medium in filling],
        sources=[nf.PointCurrent((15e-3, 15e-3, 15.5e-3), "z", nf.ModulatedGaussian(5.5e9, 9e9))],
        steps=10,
        **entries,
    )
    faces = model._setup().boundaries
    return {f"{name}_{side}": faces.face(axis, side) for axis, name in enumerate("xyz") for side in ("low", "high")}


def test_layers_of_vacuum_stay_as_they_are():
    assert set(layers().values()) == {nf.CPML()}
    assert layers([(nf.Sphere((15e-3, 15e-3, 15e-3), 3e-3), nf.Medium(9.0))])["x_low"] == nf.CPML()


def test_each_face_follows_what_fills_its_own_layer():
    found = layers([(nf.Box((0, 0, 0), (12e-3, 30e-3, 30e-3)), nf.Medium(9.0))])
    assert found["x_high"] == nf.CPML()
    assert found["x_low"].index == pytest.approx(3.0)
    assert found["x_low"].alpha_maximum == pytest.approx(0.08 / (3.0 * 376.730313 * 1e-3))
    assert found["y_low"].index == 1.0  # air and dielectric: sigma as in air, alpha as in the dielectric
    assert found["y_low"].alpha_maximum == pytest.approx(found["x_low"].alpha_maximum)


def test_lines_alone_get_the_shift_of_the_lowest_frequency():
    """2 x 2 pi 1 GHz eps0, over 3 as the indices of board and air: only where strip and ground leave through a face."""
    board = nf.Box((0, 0, 12e-3), (30e-3, 30e-3, 15e-3)), nf.Medium(9.0)
    ground = nf.Sheet((0, 0, 12e-3), (30e-3, 30e-3, 12e-3)), nf.PEC
    strip = nf.Sheet((18e-3, 13e-3, 15e-3), (30e-3, 17e-3, 15e-3)), nf.PEC
    found = layers([board, ground, strip])
    assert found["x_high"].alpha_maximum == pytest.approx(4 * np.pi * 1e9 * 8.8541878e-12 / 3)
    assert found["x_low"].alpha_maximum == pytest.approx(0.08 / (3.0 * 376.730313 * 1e-3))
    assert found["z_high"] == nf.CPML()


def test_the_end_of_a_microstrip_line_returns_less_than_minus_60_db():
    """The target; found -96 dB at eps_r 10 from 2 to 20 GHz, where the layer scaled for vacuum returned -52 dB."""
    cell, highest, steps = 0.2e-3, 20e9, 1500
    pulse = nf.ModulatedGaussian(11e9, 18e9)

    def line(count):
        x, y, z = (cell * np.arange(*span) for span in ((-18, 19), (0, count + 1), (0, 31)))
        half, top, feed, plane = 2 * cell, 4 * cell, y[15], y[27]
        board = nf.Structure(nf.Box((x[0], 0, 0), (x[-1], y[-1], top)), nf.Medium(10))
        strip = nf.Structure(nf.Sheet((-half, feed, top), (half, y[-1], top)), nf.PEC)
        return nf.Simulation(
            grid=nf.Grid(x, y, z),
            structures=[board, strip],
            boundaries=nf.Boundaries(z_low=nf.PEC),
            ports=[nf.MicrostripPort("in", (-half, feed, 0), (half, feed, top), "z", "+y", reference_plane=plane)],
            monitors=[nf.Voltage("v", (0, plane, top), (0, plane, 0))],
            waveform=pulse,
            steps=steps,
        ).run(threads=1)["v"]

    assert largest_error(line(45), line(250), np.geomspace(0.1 * highest, highest, 30)) <= -60.0
