"""Media from tables: what is refused, files, the command, the picture."""

import json

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.entry.constants import VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.media.tabulated import read_table
from nearfield.model_file import loads

GOOD = {"frequency": [1e9, 2e9, 3e9], "permittivity": [4 - 0.1j, 3.9 - 0.2j, 3.8 - 0.2j], "poles": 1}
BAD = {
    "both axes": ({"wavelength": [1, 2, 3]}, "either `frequency`"),
    "n and permittivity": ({"n": [1, 2, 3]}, "either `n`"),
    "k alone": ({"k": [1, 2, 3]}, "either `n`"),
    "gain": ({"permittivity": [4 - 0.1j, 4 + 0.1j, 4]}, "only absorbs"),
    "lengths": ({"permittivity": [4.0, 3.0]}, "3 frequencies and 2 values"),
    "twice": ({"frequency": [1e9, 1e9, 2e9]}, "stands in the table twice"),
    "zero frequency": ({"frequency": [0, 1e9, 2e9]}, "not above 0"),
    "not finite": ({"permittivity": [4, float("nan"), 3]}, "row 2 of the table holds nan"),
    "error nan": ({"error": float("nan")}, "given nan; needs one finite number"),
    "infinity nan": ({"infinity": (1, float("nan"))}, "two finite numbers"),
    "not numbers": ({"permittivity": ["a", 4, 3]}, "list of numbers"),
    "too many poles": ({"poles": 2}, "fewer poles or more rows"),
    "negative poles": ({"poles": -1}, "allowed: 0 to 12"),
    "kinds": ({"kinds": ["gauss"]}, "debye, drude, lorentz"),
    "no kinds": ({"kinds": None}, "debye, drude, lorentz"),
    "lists of kinds": ({"kinds": [["debye"]]}, "debye, drude, lorentz"),
    "error": ({"error": 3}, "a part of 1"),
    "infinity": ({"infinity": (3, 1)}, "lower first"),
    "infinity of one": ({"infinity": (2,)}, "two numbers"),
    "text for poles": ({"poles": "3"}, "allowed: 0 to 12"),
    "loss_weight": ({"loss_weight": 0}, "above 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_wrong_table_is_refused_with_what_is_allowed(case):
    change, says = BAD[case]
    with pytest.raises(nf.ModelError, match=says):
        nf.fit_medium(**GOOD | change)


def test_either_sign_of_the_losses_and_either_order_give_the_same_medium():
    turned = GOOD | {"permittivity": np.conj(GOOD["permittivity"])[::-1], "frequency": GOOD["frequency"][::-1]}
    assert nf.fit_medium(**GOOD).medium == nf.fit_medium(**turned).medium


def test_errors_are_those_of_the_fitted_medium():
    fit = nf.fit_medium(**GOOD)
    off = np.abs(fit.medium.relative_permittivity(GOOD["frequency"]) / np.array(GOOD["permittivity"]) - 1)
    assert fit.rms_error == pytest.approx(np.sqrt(np.mean(off**2)), rel=1e-9)
    assert fit.largest_error == pytest.approx(off.max(), rel=1e-9)
    assert fit.medium.valid_band == (1e9, 3e9)


def test_the_toml_entry_is_the_medium():
    fit = nf.fit_medium(**GOOD)
    text = 'grid = {kind = "uniform", spacing = "1 mm", cells = [4, 4, 4]}\n' + fit.to_toml("wet sand")
    assert loads(text).media["wet sand"] == fit.medium


TABLES = {
    "frequency_GHz,n,k\n1,2,0.1\n2,2,0.2\n": (1e9, (2 - 0.1j) ** 2),
    "wavelength (um)\tn\tk\n# comment\n0.5\t1.5\t0\n0.6\t1.4\t0.1\n": (VACUUM_SPEED / 0.5e-6, 1.5**2),
    "f_MHz eps_real eps_imag\n100 80 5\n200 79 9 # wet\n": (1e8, 80 - 5j),
    "Frequency [Hz];Dk;Df\n1e9;4;0.02\n2e9;4;0.02\n": (1e9, 4 - 0.08j),
    "frequency_GHz,eps,conductivity\n1,5,0.1\n2,5,0.1\n": (1e9, 5 - 0.1j / (2e9 * np.pi * VACUUM_PERMITTIVITY)),
}


@pytest.mark.parametrize("text", TABLES)
def test_tables_are_read_in_the_forms_that_people_write(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    found = read_table(tmp_path / "t.csv")
    value = found["permittivity"][0] if "permittivity" in found else (found["n"][0] - 1j * found["k"][0]) ** 2
    frequency, wanted = TABLES[text]
    assert found["frequency"][0] == pytest.approx(frequency, rel=1e-12)
    assert value == pytest.approx(wanted, rel=1e-12)


WRONG = {
    "1,2,3\n2,3,4\n": "names no columns",
    "": "names no columns",
    "frequency_GHz,colour\n1,2\n": "no column is called 'colour'",
    "frequency_furlong,n\n1,2\n": "has the unit 'furlong'",
    "frequency_GHz,n\n1,2\n2\n": "is not 2 numbers",
    "frequency_GHz,n\n1,two\n": "is not 2 numbers",
    "frequency,n\n1,2\n2,2\n": "column 'frequency' has no unit; write frequency_GHz",
    "wavelength,n\n1,2\n2,2\n": "column 'wavelength' has no unit; write wavelength_um",
    "frequency_GHz,n\n1,2\n2,nan\n": "line 3, '2 nan', is not 2 numbers",
    "# of 1990\nfrequency_GHz,n\n\n1,2\n# doubtful\n2,x\n": "line 6, '2 x', is not 2 numbers",
    "frequency_GHz,eps_real,loss_tangent\n1,-4,0.1\n2,-4,0.1\n": "eps_real is below 0 somewhere",
    "n,k\n1,2\n": "one column of frequency or wavelength",
    "frequency_GHz,k\n1,2\n2,2\n": "make no permittivity",
    "frequency_GHz,n,eps_real\n1,2,4\n2,2,4\n": "make no permittivity",
    "frequency_GHz,n,n\n1,2,4\n2,2,4\n": "two columns hold the n",
    "frequency_GHz,eps_real,loss_tangent\n1,4,-0.1\n2,4,0.1\n": "only absorbs",
}


@pytest.mark.parametrize("text", WRONG)
def test_the_command_refuses_wrong_tables_in_one_line(tmp_path, capsys, text):
    (tmp_path / "t.csv").write_text(text)
    assert main(["fit-medium", str(tmp_path / "t.csv"), "--poles", "1", "--plot", str(tmp_path / "t.png")]) == 2
    assert WRONG[text] in capsys.readouterr().err
    assert not (tmp_path / "t.png").exists()


@pytest.mark.parametrize("name", ["missing.csv", ".", "binary.csv"])
def test_the_command_refuses_what_is_no_table(tmp_path, capsys, name):
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    assert main(["fit-medium", str(tmp_path / name)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_command_fits_prints_and_draws(tmp_path, capsys):
    frequency = np.geomspace(1e8, 2e10, 30)
    values = nf.library.water.relative_permittivity(frequency)
    rows = [f"{f},{e.real},{-e.imag}" for f, e in zip(frequency, values)]
    (tmp_path / "water.csv").write_text("\n".join(["frequency_Hz,eps_real,eps_imag", *rows]))
    command = ["fit-medium", str(tmp_path / "water.csv"), "--poles", "2", "--kinds", "debye", "--json"]
    assert main([*command, "--plot", str(tmp_path / "water.png")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["rms_error"] < 1e-3 and answer["poles"] == 2 and answer["passive"]
    assert answer["toml"].startswith("[media.water]\n")
    assert (tmp_path / "water.png").read_bytes().startswith(b"\x89PNG")
    assert main([*command[:-1], "--plot", str(tmp_path / "water.gif")]) == 2


@pytest.mark.parametrize("unit, length", [("um", 1e-6), ("inch", 25.4e-3), ("mil", 25.4e-6), ("ft", 0.3048)])
def test_every_unit_that_is_named_as_allowed_is_read(tmp_path, unit, length):
    (tmp_path / "t.csv").write_text(f"wavelength_{unit},n\n1,2\n2,2\n")
    assert read_table(tmp_path / "t.csv")["frequency"][0] == pytest.approx(VACUUM_SPEED / length)
