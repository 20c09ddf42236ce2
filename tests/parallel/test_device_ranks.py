"""What a rank with a device asks of it, without a launcher."""

import math

from plans import make_plan

from nearfield.engines import ENGINES
from nearfield.machine.transport import Alone
from nearfield.parallel.ranks import RankEngine
from nearfield.plan.boxes import Arrangement, Grouping


class Two(Alone):
    """The first of two ranks; the other one never answers."""

    size, hosts = 2, ["here", "here"]

    def everywhere(self, value):
        return [value, value]

    def channel(self, out, into, kind):
        return None


def test_the_layers_at_cut_faces_are_urgent_and_the_box_is_not(monkeypatch):
    monkeypatch.setenv("NEARFIELD_DEVICE", "host")
    asked: list[tuple[int, bool]] = []

    def make(plan, urgent=False, **options):
        asked.append((math.prod(plan.active), urgent))
        return ENGINES["cuda"](plan, urgent=urgent, **options)

    plan = make_plan((20, 6, 16), precision="single")
    cut = Arrangement(((0, 10, 20), (0, 6), (0, 16)))
    assert cut.counts == (2, 1, 1), plan.active
    for overlap, wanted in (("split", [False, True]), ("none", [False])):
        asked.clear()
        RankEngine(plan, Two(), cut, Grouping((2, 1, 1), (2, 1, 1)), 1, overlap, make)
        assert [urgent for _, urgent in asked] == wanted
    assert asked[0][0] > 0
