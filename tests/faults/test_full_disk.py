"""Commands whose file the disk does not take: exit code 4, one line in the disk's words, and nothing half-written."""

import errno
import os
import resource

import numpy as np
import pytest

from nearfield.cli import main
from nearfield.entry import whole_file
from nearfield.entry.whole_file import replacing_hdf5

MODEL = """
steps = 20
grid = {kind = "uniform", spacing = "1 mm", cells = [8, 8, 8]}
[[structures]]
medium = "pec"
shape = {kind = "box", lower = [0, 0, 0], upper = ["4 mm", "4 mm", "4 mm"]}
"""


@pytest.mark.parametrize(
    "command",
    [
        ["show", "m.toml", "--output", "there/a.html"],
        ["export", "m.toml", "--vtk", "--output", "there/a.vtk"],
        ["machine", "--plot", "there/a.svg"],
        ["elements", "f.npy", "--threads", "1", "--output", "there/a.h5"],
    ],
)
def test_a_full_disk_is_exit_code_4_and_leaves_nothing(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "m.toml").write_text(MODEL)
    np.save("f.npy", np.random.default_rng(0).standard_normal((12, 12, 12)))

    def full(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(whole_file, "flush_to_disk", full)
    assert main(command) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot be written: No space left on device; free some space, or give another file" in line
    assert not list((tmp_path / "there").iterdir())


def test_hdf5_files_fail_in_the_words_of_the_disk(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(OSError) as error, replacing_hdf5(tmp_path / "a.h5") as file:
            file["values"] = np.arange(20_000.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert error.value.errno == errno.EFBIG and not list(tmp_path.iterdir())
