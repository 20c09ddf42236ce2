"""Ranks of unequal speeds: what is asked, how a run is shared out, in runs, `place` and `predict`."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from nearfield.cli import main
from nearfield.measure.bench import box
from nearfield.parallel.decomposition import decompose
from nearfield.parallel.speeds import LASTS, MEASURE, parsed_speeds, relative, timed
from nearfield.parallel.weights import HaloCost, Weights

BOX = ["bench", "box", "--cells", "48", "--steps", "20", "--json"]
PLACED = ["place", "--ranks", "2", "--depth", "1", "--json"]


@pytest.mark.parametrize("text", ["2", "2,1,1", "2,0", "2,-1", "2,nan", "fast,slow", ""])
def test_speeds_are_a_positive_number_for_each_rank(text):
    with pytest.raises(Exception, match=r'positive number for each of the 2 ranks, such as "2,1", or "measure"'):
        parsed_speeds(text, 2, timed=MEASURE)


def test_one_rank_has_nobody_to_share_with(capsys):
    assert main([*BOX, "--speeds", "2,1"]) == 2
    assert "here is one; add --ranks" in " ".join(capsys.readouterr().err.split())


def test_speeds_that_differ_by_less_than_a_twentieth_count_as_equal():
    assert relative([100, 104]) is None and relative([2, 1]) == pytest.approx([4 / 3, 2 / 3])


@pytest.mark.parametrize(("domains", "speeds"), [(2, (2.0, 1.0)), (4, (3.0, 1.0)), ((1, 4, 1), (1.0, 2.5))])
def test_boxes_of_ranks_are_as_large_as_they_are_fast(domains, speeds):
    """The cut that is exact for work alone lies on a plane: half a plane more or less."""
    found = decompose(Weights.uniform((30, 120, 20)), domains, 2, speeds, HaloCost(exchange=0.0, shared=(0, 0, 0)))
    boxes = [found.grouping.box(rank, found.arrangement) for rank in range(2)]
    assert found.grouping.ranks == (1, 2, 1)
    assert boxes[0].shape[1] == pytest.approx(120 * speeds[0] / sum(speeds), abs=1)


def test_a_rank_is_timed_on_the_middle_of_its_plan():
    ticks = iter([0.0, LASTS / 4, LASTS / 2, LASTS, LASTS])
    plan = box(20, 1)._setup().plan
    cells = int(np.prod(plan.active))
    assert timed(plan, "cpu", 1, None, lambda: next(ticks)) == pytest.approx(2 * 16 * cells / LASTS)


def test_runs_share_cells_by_speed_with_the_same_bits(capsys):
    assert main(BOX) == 0
    alone = json.loads(capsys.readouterr().out)
    line = [sys.executable, "-m", "nearfield", *BOX, "--ranks", "2", "--threads", "1", "--speeds", "2,1"]
    pytest.importorskip("mpi4py")
    done = subprocess.run(line, env=os.environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (cuts,) = [ends for ends in found["cuts"] if len(ends) == 3]
    assert found["checksum"] == alone["checksum"] and cuts[1] == pytest.approx(2 / 3 * cuts[2], abs=2)


def test_place_and_predict_share_a_run_by_the_same_speeds(tmp_path, capsys):
    """Two hosts of which one has half the speed do in a step what one and a half do; an even cut what one does."""
    model = tmp_path / "box.toml"
    model.write_text(box(64, 1).to_toml(), encoding="utf-8")
    assert main([*PLACED, str(model), "--speeds", "2,1"]) == 0
    placed = json.loads(capsys.readouterr().out)
    cells = [each["cells"] for each in placed["domains"]]
    assert cells[0] / sum(cells) == pytest.approx(2 / 3, abs=0.03)
    rates = {}
    for speeds in ("2,1", "1,1"):
        assert main(["predict", "--cells", "200", "--nodes", "2", "--bind", "node", "--speeds", speeds, "--json"]) == 0
        (found,) = json.loads(capsys.readouterr().out)["schemes"]
        rates[speeds] = found
    assert rates["2,1"]["imbalance"] == pytest.approx(1, abs=0.03)
    assert rates["2,1"]["step"] == pytest.approx(rates["1,1"]["step"], rel=0.1)  # the sum of speeds is the same
    assert main(["predict", "--nodes", "2", "--speeds", "1"]) == 2
    assert "each of the 2 nodes" in " ".join(capsys.readouterr().err.split())
