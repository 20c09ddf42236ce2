"""Modes of strips and ribs of high contrast: none missed, found with few solutions, those of another method."""

import numpy as np
import pytest
from fourier_guides import fourier_index

import nearfield as nf
from nearfield.analysis.loaded_line import wave_number
from nearfield.guides import largest, loaded
from nearfield.guides import outspread as outspread_module
from nearfield.guides.largest import STEPS, largest_space
from nearfield.guides.loaded import Equations, first_waves
from nearfield.guides.outspread import outspread
from nearfield.guides.placing import port_place
from nearfield.guides.section import guide_section

NM, LIGHT, F, LAYER = 1e-9, 299792458.0, 193.5e12, 8
SILICON, OXIDE = 3.476**2, 1.444**2


def strip(wide=450, high=220, slab=0, cells=(10, 5), room=12, slot=0, modes="1"):
    """A strip of silicon (sizes in nm) in oxide along y, in so many cells; its port has `room` more on each side."""
    dx, dz = wide * NM / cells[0], high * NM / cells[1]
    x = dx * (np.arange(cells[0] + 2 * (room + LAYER) + 1) - room - LAYER - cells[0] / 2)
    z = dz * np.arange(-room - LAYER, cells[1] + room + LAYER + 1)
    y = dx * np.arange(25)
    w, h = 0.5 * wide * NM, high * NM
    bodies = [(nf.Box((-w, -1, 0), (w, 1, h)), SILICON)]
    bodies += [(nf.Box((-1, -1, 0), (1, 1, slab * NM)), SILICON)] if slab else []
    bodies += [(nf.Box((-0.5 * slot * NM, -1, 0), (0.5 * slot * NM, 1, h)), OXIDE)] if slot else []
    ends = (x[LAYER], y[12], z[LAYER]), (x[-1 - LAYER], y[12], z[-1 - LAYER])
    return nf.Simulation(
        grid=nf.Grid(x, y, z),
        background=nf.Medium(OXIDE),
        structures=[nf.Structure(box, nf.Medium(eps)) for box, eps in bodies],
        boundaries=nf.Boundaries(nf.CPML(LAYER)),
        ports=[nf.WaveguidePort("in", *ends, "+y", modes, "open")],
        waveform=nf.ModulatedGaussian(F, 20e12),
        precision="double",
        steps=10,
    )


def equations_of(model):
    """The equations of the endless plane about the port, and k^2 of the grid at F."""
    context, port = model._setup().context, model.ports[0]
    section = guide_section(context, "port", port_place(context, port), port._opening)
    return Equations(outspread(section).section), float(wave_number(F, context.time_step)) ** 2


def indices(model, count):
    """Effective indices of the first modes along cells of the grid."""
    equations, k2 = equations_of(model)
    squares = np.array([wave.square for wave in first_waves(equations, k2, count, "port")])
    cell = model._setup().grid.primary(1)[12]
    return 2 / cell * np.arcsin(0.5 * cell * np.sqrt(squares)) * LIGHT / (2 * np.pi * F)


@pytest.fixture
def work(monkeypatch):
    """Counts factorisations and solutions."""
    done, real = {"factors": 0, "solutions": 0}, largest.shifted

    def counted(matrix, shift):
        solve = real(matrix, shift)
        done["factors"] += 1

        def one(values):
            done["solutions"] += 1
            return solve(values)

        return one

    monkeypatch.setattr(largest, "shifted", counted)
    monkeypatch.setattr(loaded, "shifted", counted)
    return done


def test_the_mode_of_a_silicon_strip_takes_few_solutions(work):
    """Two rounds of Krylov's method, one factorisation; thousands if waves of the box must converge."""
    equations, k2 = equations_of(strip())
    first_waves(equations, k2, 1, "port")
    assert work == {"factors": 1, "solutions": 2 * STEPS}


def test_a_port_factorises_about_once_for_each_frequency(work):
    """9 frequencies, one of them the middle of the band; the shift moves once more where a mode changes fast."""
    model = strip()
    _ = model.ports[0]._placed(model._setup().context)
    assert work["factors"] <= 1 + 2 * 9
    assert work["solutions"] <= 2 * STEPS + 9 * 10


def test_modes_beyond_the_guided_ones_are_told_apart_in_a_dozen_rounds(work):
    """Waves of the box are a ten-thousandth of the distance to the densest medium apart: a factor of 7 each round."""
    equations, k2 = equations_of(strip())
    first_waves(equations, k2, 6, "port")
    assert work["factors"] <= 8
    assert work["solutions"] <= 12 * STEPS


SECTIONS = {
    "strip": lambda: strip(cells=(6, 4), room=2),
    "wide strip of many modes": lambda: strip(1000, 300, cells=(9, 3), room=2),
    "square, whose two modes have one wave number": lambda: strip(400, 400, cells=(5, 5), room=2),
    "rib": lambda: strip(slab=110, cells=(6, 4), room=2),
    "slot": lambda: strip(450, 220, cells=(9, 4), room=2, slot=100),
}


@pytest.mark.parametrize("case", SECTIONS)
def test_no_mode_is_missed(case, monkeypatch):
    """All eigenvalues of the matrix as a whole, small for few virtual cells; four of the box follow the guided ones."""
    monkeypatch.setattr(outspread_module, "GROWTH", 2.5)
    equations, k2 = equations_of(SECTIONS[case]())
    values = np.linalg.eigvals(equations.waves(k2).toarray()).real / k2
    wanted = np.sort(values)[::-1]
    count = int(np.sum(wanted > 1.001 * OXIDE)) + 4
    found = np.array([wave.square for wave in first_waves(equations, k2, count, "port")]) / k2
    assert found == pytest.approx(wanted[:count], rel=1e-9)


def test_eigenvalues_that_are_one_or_a_complex_pair_are_all_found():
    """A triple one, a pair with the real part of the second, and a dense part below, in a basis that is not normal."""
    from scipy.linalg import block_diag
    from scipy.sparse import csr_matrix

    pair = np.array([[4.0, 0.5], [-0.5, 4.0]])
    matrix = block_diag(np.diag([5.0, 5.0, 5.0]), pair, np.diag(np.linspace(2.0, -400.0, 400)))
    turn = np.eye(len(matrix)) + 0.3 * np.eye(len(matrix), k=1)
    matrix = csr_matrix(turn @ matrix @ np.linalg.inv(turn))
    for count, size in ((1, 3), (3, 3), (4, 5), (5, 5), (6, 6)):
        space = largest_space(matrix, 12.0, count, 1.0, 1e-13, "port")
        inside = np.linalg.eigvals(space.T @ (matrix @ space))
        wanted = np.sort_complex([5.0, 5.0, 5.0, 4 - 0.5j, 4 + 0.5j, 2.0])[::-1]
        assert np.sort(inside.real)[::-1][:size] == pytest.approx(wanted.real[:size], rel=1e-9)
        assert space.shape[1] >= size


def test_a_krylov_space_that_ends_early_is_no_reason_to_go_on():
    """Two eigenvalues, one of them triple: after two steps all of the space has converged."""
    from scipy.sparse import diags

    matrix = diags([5.0] * 3 + [-1.0] * 197).tocsr()
    space = largest_space(matrix, 12.0, 1, 1.0, 1e-13, "port")
    assert np.sort(np.linalg.eigvals(space.T @ (matrix @ space)).real)[::-1][:4] == pytest.approx([5, 5, 5, -1])


@pytest.mark.parametrize("slab, modes", [(0, [(True, 2.4), (False, 1.75)]), (88, [(True, 2.55)])])
def test_modes_of_a_strip_and_a_rib_are_those_of_fourier_series(slab, modes):
    """TE0 and TM0. 0.5 %: series of 12 terms are 0.2 (TE0) to 0.4 % (TM0) low, as those of 22 say; the grid's error of
    second order is taken out by two sizes of cells."""
    found = [
        indices(strip(slab=slab, cells=cells, room=room), len(modes)) for cells, room in (((10, 5), 12), ((20, 10), 24))
    ]
    found = found[1] + (found[1] - found[0]) / 3
    x, z = NM * np.array([-1000, -225, 225, 1000]), NM * np.array([-1100, 0, slab or 110, 220, 1320])
    beside = [OXIDE, SILICON if slab else OXIDE, OXIDE, OXIDE]
    eps = [beside, [OXIDE, SILICON, SILICON, OXIDE], beside]
    for own, (even, near) in zip(found, modes):
        assert own == pytest.approx(fourier_index(eps, x, z, LIGHT / F, (12, 16), even, near), rel=5e-3)
