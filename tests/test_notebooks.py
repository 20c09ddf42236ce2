"""Notebooks: each runs in a real kernel and shows what a notebook shows; the gallery has a picture of each."""

import re
import subprocess
import sys

import jupytext
import pytest

from scripts import notebooks

PAGE = notebooks.ROOT / "docs" / "notebooks.md"


def test_the_gallery_has_every_notebook_with_a_small_picture():
    page = PAGE.read_text(encoding="utf-8")
    assert len(notebooks.names()) >= 6
    for name in notebooks.names():
        assert f"(../examples/notebooks/{name}.py)" in page and f"(images/notebook_{name}.png)" in page
        assert (notebooks.IMAGES / f"notebook_{name}.png").stat().st_size < 100_000


@pytest.mark.parametrize("name", notebooks.names())
def test_a_notebook_has_a_title_a_picture_and_says_what_to_change(name):
    notebook = jupytext.read(notebooks.FOLDER / f"{name}.py")
    told = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert notebook.cells[0].source.startswith("# ")
    assert "## What to change" in told
    assert any("picture" in cell.metadata.get("tags", ()) for cell in notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            compile(cell.source, name, "exec")


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("name", notebooks.names())
def test_a_notebook_runs_in_a_kernel_and_shows_its_pictures_and_its_progress(name):
    notebook = notebooks.executed(notebooks.FOLDER / f"{name}.py")
    assert len(notebooks.pictures(notebook)) >= 1
    shown = notebooks.outputs(notebook, "text/html")
    bars = [text for text in shown if "<progress" in text]
    assert bars or name == "sweep_and_optimise"  # runs of a sweep are processes of their own
    values = [float(re.search(r'value="([\d.]+)"', text).group(1)) for text in bars]
    assert all(value <= 1.0 for value in values)
    assert not [text for text in notebooks.outputs(notebook, "text/plain") if re.match(r"<nearfield.* at 0x", text)]


@pytest.mark.slow
@pytest.mark.alone
def test_objects_that_end_a_cell_show_a_table_and_a_picture():
    notebook = notebooks.executed(notebooks.FOLDER / "first_antenna.py")
    tables = [
        text for text in notebooks.outputs(notebook, "text/html") if "<table>" in text and "data:image/png" in text
    ]
    assert len(tables) >= 2  # the simulation and the result


def test_a_plot_leaves_the_interactive_state_that_the_backend_of_a_notebook_sets(tmp_path):
    """Such a backend is loaded with the first figure; were its state lost, later figures of the user's did not show."""
    backend = "import matplotlib\nfrom matplotlib.backends.backend_agg import *\nmatplotlib.interactive(True)\n"
    (tmp_path / "late_backend.py").write_text(backend)
    code = (
        "import matplotlib, sys; sys.path.insert(0, sys.argv[1]); matplotlib.use('module://late_backend')\n"
        "import matplotlib.pyplot, nearfield as nf; nf.Medium(2.0, conductivity=0.1).plot()\n"
        "assert matplotlib.is_interactive()"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
