"""Goals in dB, and searches that meet them."""

import numpy as np
import pytest
import xarray

import nearfield as nf
from nearfield.analysis.spectra import spectrum
from nearfield.entry.errors import DamagedError, NoRoom
from nearfield.entry.parameters import value_of
from nearfield.studies.goals import goals_of
from nearfield.studies.optimize import Attempt, Optimum, Search, answered, unit_of
from nearfield.studies.varied import varied

HIGH = 0.8e-3


def patch(length):
    """A patch over ground, fed by a probe 2.5 mm beside its middle."""
    board = nf.Structure(nf.Box((-1, -1, 0), (1, 1, HIGH)), nf.Medium(2.2))
    sheet = nf.Sheet((-6e-3, -length / 2, HIGH), (6e-3, length / 2, HIGH))
    return nf.Simulation(
        nf.AutoGrid(10, "9 GHz", lower=(-9e-3, -10e-3, 0), upper=(9e-3, 10e-3, 5e-3)),
        structures=[board, nf.Structure(sheet, nf.PEC)],
        boundaries=nf.Boundaries(all=nf.CPML(4), z_low=nf.PEC),
        ports=[nf.LumpedPort("feed", (0, -2.5e-3, 0), (0, -2.5e-3, HIGH), "z")],
        waveform=nf.ModulatedGaussian("7 GHz", "3 GHz"),
        decay=1e-4,
    )


GOAL = "S11 < -6 dB between 7.15 GHz and 7.25 GHz"


def test_derivatives_lead_a_patch_to_its_frequency_in_a_few_runs():
    told = []
    found = nf.optimize(patch, {"length": (11e-3, 14e-3)}, GOAL, threads=1, report=lambda run, n: told.append(n))
    assert found.met
    assert found.stopped == "the goals are met"
    assert len(found.attempts) <= 5  # Newton's method on one parameter, from 2 % off
    assert told == list(range(1, len(told) + 1))
    assert found.attempts[0].cost > found.best.cost == 0.0
    assert found.best.levels[0] < -6
    axes = found.plot()
    assert len(axes.lines[0].get_xdata()) == len(found.attempts)


def strips(length):
    """A dipole of two strips."""
    arms = [(-length / 2, -0.5e-3), (0.5e-3, length / 2)]
    sheets = [nf.Sheet((low, -1.4e-3, 0), (high, 1.4e-3, 0)) for low, high in arms]
    return nf.Simulation(
        nf.Grid(*(((np.arange(-n, n + 1) + shift) * 1e-3).tolist() for n, shift in ((16, 0.5), (13, 0), (12, 0)))),
        structures=[nf.Structure(sheet, nf.PEC) for sheet in sheets],
        boundaries=nf.Boundaries(all=nf.CPML(4)),
        ports=[nf.LumpedPort("feed", (-0.5e-3, 0, 0), (0.5e-3, 0, 0), "x")],
        waveform=nf.ModulatedGaussian("10 GHz", "5 GHz"),
        monitors=[nf.FarField("pattern", ["10 GHz"], (-11e-3, -8e-3, -7e-3), (11e-3, 8e-3, 7e-3))],
        metal="conformal",
        decay=1e-4,
    )


GAIN = "pattern realized gain > 1.9 dBi at 12.5 GHz towards 0, 0 deg"


def test_a_gain_in_a_direction_is_a_goal_with_derivatives():
    found = nf.optimize(strips, {"length": (8.2e-3, 13.4e-3)}, GAIN, {"length": 12.4e-3}, threads=1)
    assert found.met
    assert found.attempts[0].levels[0] < 1.2
    assert len(found.attempts) <= 5  # Newton's method on one parameter
    assert found.plot().lines[1].get_ydata()[0] == 1.9


def test_the_gain_of_a_goal_is_that_of_the_far_field():
    model = strips(9e-3)
    (goal,) = goals_of("pattern realized gain > 1 dBi at 10 GHz towards 30, 60 deg")
    seen = model.run(threads=1)["pattern"].at(np.radians(30), np.radians(60))
    assert goal.worst(answered(model, goal.frequencies, 1, goal.far_fields)) == pytest.approx(
        float(seen.realized_gain_dbi.squeeze()), abs=1e-6
    )


FIELD = "tip field < 53 dBV/m at 10 GHz"


def heard_strips(length):
    """The dipole with a probe beside its end."""
    model = strips(length)
    return model.model_copy(update={"monitors": (nf.Probe("tip", (9e-3, 0, 4e-3), "Ex"),)})


def test_a_field_at_a_probe_is_a_goal_with_derivatives():
    model = heard_strips(9e-3)
    (goal,) = goals_of(FIELD)
    run = model.run(threads=1).excitation("feed")
    source = run.source(goal.frequencies)
    heard = abs(spectrum(run["tip"], goal.frequencies).values / source)[0]
    began = goal.worst(answered(model, goal.frequencies, 1, probes=["tip"]))
    assert began == pytest.approx(20 * np.log10(heard), abs=1e-9)
    wanted = f"tip field > {began + 1:.2f} dBV/m at 10 GHz"
    found = nf.optimize(heard_strips, {"length": (8.2e-3, 13.4e-3)}, wanted, {"length": 9e-3}, threads=1)
    assert found.met
    assert found.attempts[0].levels[0] == pytest.approx(began, abs=1e-4)
    assert len(found.attempts) <= 4  # Newton's method on one parameter


def test_a_field_beyond_the_pulse_is_refused():
    with pytest.raises(nf.ModelError, match="port 'feed' holds too little at 700 GHz"):
        nf.optimize(heard_strips, {"length": (8.2e-3, 13.4e-3)}, FIELD.replace("10 GHz", "700 GHz"), threads=1)


def test_a_simplex_needs_no_derivatives_and_keeps_to_its_number_of_runs():
    found = nf.optimize(patch, {"length": (11e-3, 11.3e-3)}, GOAL, method="simplex", runs=2, threads=1)
    assert not found.met
    assert found.stopped == "the runs are used up"
    assert len(found.attempts) == 2
    assert all(11e-3 <= run.parameters["length"] <= 11.3e-3 for run in found.attempts)


def test_goals_know_what_is_missed_and_its_slope():
    frequency = np.array([1e9, 2e9])
    waves = xarray.DataArray(
        np.array([0.5j, 0.05]).reshape(2, 1, 1), {"frequency": frequency}, ("frequency", "to", "source")
    )
    rise = xarray.DataArray(
        np.array([2.0 + 3.0j, 7.0]).reshape(1, 2, 1, 1), {"frequency": frequency}, ("parameter", *waves.dims)
    )
    below, above = goals_of(["S11 < -20 dB between 1 GHz and 2 GHz", "s11 > -6 dB at 2GHz"])
    below = type(below)(**{**vars(below), "frequencies": frequency})
    found = xarray.Dataset({"sparameters": waves, "derivative": rise})
    assert below.missed(found) == pytest.approx([0.4, 0.0])
    assert below.slopes(found) == pytest.approx(np.array([[3.0], [0.0]]))
    assert above.missed(found) == pytest.approx([10 ** (-6 / 20) - 0.05])
    assert above.slopes(found) == pytest.approx(np.array([[-7.0]]))
    assert above.worst(found.sel(frequency=[2e9])) == pytest.approx(20 * np.log10(0.05))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("S11 < -6 dB between 5 and 9 GHz", 5e9, 9e9),
        ("S11 < -6 dB between 5 GHz and 9 GHz", 5e9, 9e9),
        ("S11 < -6 dB between 5e9 and 9e9", 5e9, 9e9),
        ("tip field < 5 dBV/m at 2e9", 2e9, 2e9),
    ],
)
def test_the_unit_of_a_band_is_that_of_both_its_ends(text, low, high):
    (goal,) = goals_of(text)
    assert goal.frequencies[[0, -1]] == pytest.approx([low, high], rel=1e-15)


@pytest.mark.parametrize(("words", "to", "source"), [("S1,10", 0, 9), ("s10,1", 9, 0), ("S2,1", 1, 0), ("S21", 1, 0)])
def test_ports_from_ten_on_have_a_name_in_goals(words, to, source):
    (goal,) = goals_of(f"{words} < -6 dB at 5 GHz")
    assert (goal.to, goal.source) == (to, source)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"goals": "S11 below -20"}, "give it as"),
        ({"goals": "S11 < -20 dB between 8 GHz and 7 GHz"}, "ends below its beginning, 8 GHz to 7 GHz"),
        ({"goals": "S11 < -20 dB between 8 and 7 GHz"}, "ends below its beginning, 8 GHz to 7 GHz"),
        ({"goals": "S11 < -1.5.2 dB at 7 GHz"}, "give it as"),
        ({"goals": "S110 < -20 dB at 7 GHz"}, "give it as"),
        ({"goals": GAIN.replace("0, 0", "0.0.1, 0")}, "give it as"),
        ({"goals": []}, "there is no goal"),
        ({"goals": "S11 < 1e400 dB at 7 GHz"}, "its limit lies beyond 1000 dB"),
        ({"parameters": {"length": ("14 mm", "11 mm")}}, "not above its beginning"),
        ({"parameters": {"length": ("11 mm", "14 GHz")}}, "given in m and 1/s; give both ends"),
        ({"parameters": {"length": ("11 mm", 14)}}, "given in m and no unit"),
        (
            {"parameters": {"length": ("11 mm", "14 mm")}, "start": {"length": "12 GHz"}},
            "given '12 GHz', but its range is in m",
        ),
        ({"parameters": {"length": "11 mm"}}, "lowest and highest"),
        ({"parameters": {}}, "nothing to vary"),
        ({"parameters": ["length"]}, r"given \['length'\]; parameters and start are tables"),
        ({"start": ["length"]}, r"given \['length'\]; parameters and start are tables"),
        ({"start": {"length": "20 mm"}}, "outside its range"),
        ({"start": {"width": "20 mm"}}, "start names width"),
        ({"method": "annealing"}, "not known"),
        ({"runs": 0}, "at least 1"),
        ({"goals": "S21 < -20 dB at 7 GHz"}, "the model has 1 port"),
        ({"goals": "S11 < -20 dB at 700 GHz"}, "holds too little at 700 GHz"),
        ({"goals": FIELD}, "'tip' is not there"),
        ({"goals": GAIN}, "'pattern' is no monitor FarField; there is: none"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_words(change, said):
    given = {"parameters": {"length": (11e-3, 14e-3)}, "goals": GOAL, "threads": 1, **change}
    with pytest.raises(nf.ModelError, match=said):
        nf.optimize(patch, **given)


def test_ports_that_a_model_does_not_drive_are_driven_for_goals():
    light = nf.PointCurrent((0, 0, 4e-3), "z", nf.Gaussian("15 GHz"))
    model = patch(11e-3).model_copy(update={"sources": (light,), "excitations": None})
    (goal,) = goals_of(GOAL)
    driven = goal.worst(answered(patch(11e-3), goal.frequencies, 1))
    assert goal.worst(answered(model, goal.frequencies, 1)) == pytest.approx(driven, abs=0.1)  # on another grid
    with pytest.raises(nf.ModelError, match="the model has no port"):
        nf.optimize(lambda length: model.model_copy(update={"ports": ()}), {"length": (1.0, 2.0)}, FIELD, threads=1)


def least(length):
    """A model of the stand-in for runs below."""
    if length > 13e-3:
        raise nf.ModelError("upper must exceed lower")
    return patch(length)


def parabola(monkeypatch, size=1.0):
    """Let runs be a parabola of abs(S11), with its lowest value of 0.4 `size` at 12.95 mm, with slopes."""

    def told(model, frequencies, *_, **__):
        return made(model.structures[1].shape.upper[1] * 2, frequencies)

    def slopes(build, values, frequencies, *_, **__):
        return made(value_of(values["length"]).number, frequencies)

    def made(length, frequencies):
        x = (length - 12.95e-3) / 1e-3
        dims, axes = ("frequency", "to", "source"), {"frequency": frequencies}
        waves = np.broadcast_to(size * (0.4 + 0.1 * x * x), (len(frequencies), 1, 1))
        rise = np.broadcast_to(size * 0.2 * x / 1e-3, (1, len(frequencies), 1, 1))
        return xarray.Dataset({"sparameters": (dims, waves), "derivative": (("parameter", *dims), rise)}, axes)

    monkeypatch.setattr("nearfield.studies.optimize.answered", told)
    monkeypatch.setattr("nearfield.studies.optimize.sensitivities", slopes)
    return made


FAR_BELOW = "S11 < -300 dB at 7 GHz"


@pytest.mark.parametrize("method", ["gradient", "simplex"])
def test_a_trial_without_a_model_is_passed_over(method, monkeypatch):
    parabola(monkeypatch)
    found = nf.optimize(least, {"length": (10e-3, 14e-3)}, FAR_BELOW, {"length": 11e-3}, method, runs=60)
    assert found.stopped == "no step makes it better"
    assert found.parameters["length"] == pytest.approx(12.95e-3, abs=4e-6 if method == "simplex" else 4e-5)
    assert all("upper must exceed lower" in each and "length = " in each for each in found.impossible)
    assert found.impossible or method == "gradient"


def test_a_trial_whose_fields_diverge_counts_as_a_run(monkeypatch):
    made = parabola(monkeypatch)

    def diverges(model, frequencies, *_, **__):
        if len(runs) > 2:
            raise nf.DivergedError("the fields became infinite")
        runs.append(model)
        return made(11e-3, frequencies)

    runs = []
    monkeypatch.setattr("nearfield.studies.optimize.answered", diverges)
    found = nf.optimize(patch, {"length": (10e-3, 14e-3)}, FAR_BELOW, method="simplex", runs=8)
    assert (len(found.attempts), len(found.impossible), found.stopped) == (3, 5, "the runs are used up")


@pytest.mark.parametrize("error", [NoRoom("the disk is full"), DamagedError("bytes differ")])
def test_a_full_disk_and_a_damaged_file_end_a_search(error, monkeypatch):
    made, runs = parabola(monkeypatch), []

    def breaks(model, frequencies, *_, **__):
        runs.append(model)
        if len(runs) > 2:
            raise error
        return made(11e-3, frequencies)

    monkeypatch.setattr("nearfield.studies.optimize.answered", breaks)
    with pytest.raises(type(error), match=str(error)):
        nf.optimize(patch, {"length": (10e-3, 14e-3)}, FAR_BELOW, method="simplex", runs=8)


def test_a_start_without_a_model_is_refused_in_its_own_words(monkeypatch):
    parabola(monkeypatch)
    for method in ("gradient", "simplex"):
        with pytest.raises(nf.ModelError) as refused:
            nf.optimize(least, {"length": (10e-3, 18e-3)}, FAR_BELOW, method=method)
        assert str(refused.value) == "upper must exceed lower"


def test_a_simplex_ends_where_its_steps_are_small(monkeypatch):
    parabola(monkeypatch)
    found = nf.optimize(patch, {"length": (11e-3, 14e-3)}, FAR_BELOW, method="simplex", runs=100)
    assert (
        found.stopped == "no step makes it better" and len(found.attempts) < 32
    )  # halves from 0.1 to 1e-4 of the range


@pytest.mark.parametrize("size", [1.0, 1e-7])
def test_weak_fields_are_searched_as_strong_ones(size, monkeypatch):
    parabola(monkeypatch, size)
    found = nf.optimize(patch, {"length": (11e-3, 14e-3)}, FAR_BELOW, {"length": 11.5e-3})
    assert found.parameters["length"] == pytest.approx(12.95e-3, abs=3e-5)


def test_more_goals_than_colours_are_drawn():
    goals = tuple(f"S11 < -{n} dB at 7 GHz" for n in range(1, 9))
    runs = (Attempt({"a": 1.0}, 0.0, (-20.0,) * 8),)
    assert len(Optimum({"a": 1.0}, True, "met", goals, runs, None).plot().lines) == 16


@pytest.mark.parametrize(
    ("given", "unit"),
    [
        ("0.02 S/m", "S/m"),
        ("50 ohm", "ohm"),
        ("2 pF", "F"),
        ("1 nH", "H"),
        ("2 GHz", "Hz"),
        ("3 1/ns", "1/s"),
        ("2", ""),
    ],
)
def test_units_of_ranges_are_those_that_a_model_takes(given, unit):
    (value,) = varied({"a": given}, {"a": value_of(given).number / 10}, lambda a: None)
    assert value.unit == unit and value_of(value.given(0)) == value_of(given)
    assert unit_of((given, given)) == unit


def mirrored_strips(length):
    """Half of the dipole, mirrored in y, with a probe."""
    model = strips(length)
    monitors = (*model.monitors, nf.Probe("tip", (9e-3, 0, 4e-3), "Ex"))
    return model.model_copy(update={"symmetry": nf.Symmetry(y="magnetic"), "monitors": monitors})


def test_a_simplex_takes_fields_beside_planes_of_symmetry():
    goals = [GAIN.replace("12.5", "10"), FIELD]
    Search(mirrored_strips, {"length": (8.2e-3, 13.4e-3)}, goals_of(goals), {}, 1, 1, None)  # refuses nothing
    with pytest.raises(nf.ModelError, match=r'beside planes of symmetry.*method = "simplex"'):
        nf.optimize(mirrored_strips, {"length": (8.2e-3, 13.4e-3)}, goals)
