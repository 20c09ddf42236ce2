"""Commands with input that is slightly wrong: one message that says what was given, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nearfield.cli import main


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("empty.h5").touch()
    Path("empty.toml").touch()
    Path("folder").mkdir()
    np.save("field.npy", np.random.default_rng(0).standard_normal((8, 8, 8)))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fit-medium", "folder"), "folder is a folder; give a table as text"),
        (("fit-medium", "/dev/null"), "/dev/null is no ordinary file"),
        (("show", "empty.h5"), "empty.h5 is no HDF5 file that can be read"),
        (("sweep", "empty.toml", "--set", "length=1mm,2mm"), "given 'length', but the model has no table [parameters]"),
        (("elements", "folder/result.h5:tip", "--at", "nan"), "--at nan: give a time (s) or frequency (Hz)"),
        (("elements", "field.npy", "--scratch", "empty.toml"), "empty.toml is a file, not a folder"),
        (("run", "empty.toml", "--set", "length=1mm"), "given 'length', but the model has no table [parameters]"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_odd_input_is_one_message_and_exit_code_2(arguments, said, capsys):
    assert main(list(arguments)) == 2
    message = capsys.readouterr().err
    assert said in message and message.count("\n") == 1 and "internal" not in message
