"""Templates of `nearfield new` at other values of their parameters."""

import functools
import itertools

import pytest

import nearfield as nf
from nearfield.commands.new import TEMPLATES, template_text
from nearfield.discretization.discretization import grid_of
from nearfield.model_file import loads

MODELS = {name: loads(template_text(name)) for name in TEMPLATES}
VARIED = [(name, parameter) for name, model in MODELS.items() for parameter in model.parameters]
SAME = 1e-9  # m: places that differ by less are one


def places(model: nf.Simulation) -> list[tuple[str, tuple[float, float, float]]]:
    """Ends of the space, of bodies, and of what drives and records, by name."""
    ends = [("space", corner) for corner in zip(*((line[0], line[-1]) for line in grid_of(model).lines))]
    ends += [(body.name, corner) for body in model.structures for corner in body.shape.bounds()]
    for number, entry in enumerate((*model.ports, *model.sources, *model.monitors)):
        ends += [(f"{number} {entry.kind}", corner) for corner in (entry.lower, entry.upper) if corner is not None]
    return ends


def together(model: nf.Simulation) -> set[tuple[int, int, int]]:
    """Which pairs of places share a coordinate, and along which axis."""
    pairs = itertools.combinations(enumerate(places(model)), 2)
    return {(a, b, n) for (a, (_, own)), (b, (_, other)) in pairs for n in range(3) if abs(own[n] - other[n]) < SAME}


@functools.cache
def warned(name: str) -> int:
    """How many warnings `check` has of a template as it is."""
    return len(MODELS[name].check().warnings)


@pytest.mark.parametrize(("name", "parameter"), VARIED)
def test_what_touches_in_a_template_touches_at_other_values_of_its_parameters(name, parameter):
    model = MODELS[name]
    number, unit = model.parameters[parameter].split()
    other = loads(template_text(name), parameters={parameter: f"{1.04 * float(number):.6g} {unit}"})
    assert not [(places(model)[a], places(model)[b]) for a, b, _ in together(model) - together(other)]
    assert len(other.check().warnings) == warned(name)


def test_a_cell_of_another_size_keeps_its_walls_at_its_faces():
    model = loads(template_text("fss-cell"), parameters={"cell": "10 mm", "ring": "8.8 mm"})
    assert [line[-1] for line in grid_of(model).lines][:2] == pytest.approx([10e-3, 10e-3], rel=1e-12)
