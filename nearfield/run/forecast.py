"""How long a run will take, before it starts: seconds to find out for any model, and only as good as the rate it knows.

steps x cells over the rate that this machine showed last, on as many threads (measured by a run or by `bench box`; else
scaled, else an assumption of 150 million cells a second and core), poles and surfaces counted in; at least STEP a step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nearfield.engines import engine_named
from nearfield.engines.cpu.pole_sizes import kept_numbers, pole_cost
from nearfield.engines.cpu.tuning import choose
from nearfield.engines.cuda.device import UsableCard, device
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import duration
from nearfield.machine.machine_rate import Rate, known_rate
from nearfield.machine.profile import load_profile
from nearfield.plan.sizes import BYTES_OF
from nearfield.run.surface_costs import Surfaces, surfaces

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

STEP = 1.5e-6  # s; the least that a step took of 30 cells
SLOWEST, SLOWEST_RATE = 100.0, 1e6  # steps of STEP, and cells a second, of machines and media slower than any seen
NUMPY = Rate(5.0, "in NumPy, on one core")  # 5.6 to 17 at 24^3 to 80^3 cells of a box, on an EPYC
HOST_DEVICE = Rate(5.0, "on the make-believe device, on one core")  # 1.4 to 17 at 48^3 cells of a box, on an EPYC
SHARE_OF_COPY = (
    0.7  # of the rate that a card's memory has by its clock; copies reach 0.9 of it, half steps 0.85 of them
)
CARD_NUMBERS = 18  # read and written a cell and step by the kernels of a card
HOUR, DAY = 3600.0, 86400.0  # s


@dataclass(frozen=True)
class Forecast:
    """The time of all excitations, and how it was found."""

    steps: int  # usual ones of all excitations
    seconds: float
    cells: int
    mcells_per_second: float
    source: str  # of the rate
    asked: bool  # the model gives its steps
    surfaces: Surfaces

    def __str__(self) -> str:
        return (
            f"{duration(self.seconds)} predicted for {self.steps:,} steps of {self.cells:,} cells at "
            f"{self.mcells_per_second:.0f} Mcells/s ({self.source})"
        )


def forecast(setup: Discretization, threads: int | None = None, ranks: int = 1, engine: str | None = None) -> Forecast:
    """The time of a run on so many threads in each of some ranks, on the model's own engine unless one is given."""
    plan, precision = setup.plan, setup.simulation.precision
    total, parts = math.prod(plan.cells), 1 + plan.complex_fields
    threads = threads or choose(plan, None, setup.simulation.schedule).machine.threads
    rate = own_rate(engine_named(engine or setup.simulation.engine), precision) or known_rate(precision, threads, total)
    found = surfaces(setup)
    slower = 1.0 + float(pole_cost(kept_numbers(plan)).mean()) + found.cost
    speed, steps = ranks * rate.mcells_per_second / slower, setup.expected_steps * max(1, len(setup.excitations))
    seconds = max(steps * STEP, total * parts * steps / (speed * 1e6))
    asked = setup.simulation.steps is not None
    return Forecast(steps, seconds, total, speed, rate.source, asked, found)


def own_rate(engine: str, precision: str) -> Rate | None:
    """The rate of an engine that does not scale with this machine's processors; None for the CPU's."""
    if engine != "cuda":
        return NUMPY if engine == "reference" else None
    found = device()
    if not isinstance(found, UsableCard):
        return HOST_DEVICE
    known, halved = load_profile(None).gpu, BYTES_OF["single"] / BYTES_OF[precision]
    if known and known.name == found.name and "pec" in known.update:
        return Rate(known.update["pec"] * halved, f"as `probe gpu` measured on {found.name}")
    rate = SHARE_OF_COPY * found.card.memory_rate / (CARD_NUMBERS * BYTES_OF[precision])
    return Rate(max(1.0, rate / 1e6), f"assumed from the memory of {found.name}; `nearfield probe gpu` measures it")


def surely_short(setup: Discretization) -> bool:
    """Whether a run takes less than a day on any machine, found without a look at media."""
    steps = setup.expected_steps * max(1, len(setup.excitations))
    return steps * max(SLOWEST * STEP, math.prod(setup.grid.cells) / SLOWEST_RATE) < DAY


def long_run(found: Forecast) -> Iterator[str]:
    """A warning about a run of more than an hour for which no one asked by its steps."""
    if found.seconds > HOUR and not found.asked:
        yield (
            f"{found}: over an hour, and the model gives no `steps`; is a length, a frequency or `duration` in "
            "another unit? Use fewer or larger cells, or give `steps` to ask for so many"
        )


def refuse_unasked(found: Forecast, allowed: bool) -> None:
    """Refuse a run of more than a day that nobody asked for, by `steps` or by `--long`."""
    if found.seconds > DAY and not (allowed or found.asked):
        raise ModelError(
            f"the run would take {duration(found.seconds)}, more than a day ({found}); look for a slip of units with "
            "`nearfield check`. If it is meant, run it with --long (Python: run(long=True)), or give the model its "
            "`steps`"
        )
