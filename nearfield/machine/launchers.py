"""Files that tell launchers where ranks belong, one line a rank.

- `rankfile`: Open MPI, `mpirun -rf FILE` (4) or `--map-by rankfile:FILE=FILE` (5). Slots are logical cores.
- `prrte`: PRRTE 3 and Open MPI 5, `--map-by rankfile:FILE=FILE`: the same lines. PRRTE refuses `PE=8` where the eight
  cores lie in two packages, and takes them as slots.
- `hydra`: MPICH, `mpiexec -f FILE`. A host has a line for each of its ranks, and the first of them has the processors
  of them all, since Hydra takes one binding a host. Processors have the operating system's numbers.
- `slurm`: a host file with the mask of each rank's processors as its comment. Slurm lays ranks out by
  `SLURM_HOSTFILE=FILE srun --ntasks=R --cpus-per-task=C --distribution=arbitrary` and binds them by
  `--cpu-bind=mask_cpu:$(cut -d'#' -f2 FILE | paste -sd,)`, which counts masks from each node's first rank. It refuses
  masks beyond what a job has, so that nodes must be whole ones (`--exclusive`) and C the processors of a rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import Hardware
from nearfield.machine.placement import Rank
from nearfield.machine.system_files import ranges

SLURM_LINE = 1022  # characters; Slurm reads host files through a buffer of 1024


def emit(launcher: str, hardware: Hardware, scheme: str, ranks: Sequence[Rank]) -> list[str]:
    """The lines of a launcher's file; `none` leaves out the binding where the launcher allows it.

    Raises ModelError for a launcher that is not known, and for what it cannot take.
    """
    if launcher not in LAUNCHERS:
        names = list(LAUNCHERS)
        raise ModelError(f"launcher '{launcher}' is unknown: {', '.join(names[:-1])} or {names[-1]}")
    return LAUNCHERS[launcher](hardware, scheme != "none", ranks)


def rankfile(hardware: Hardware, bound: bool, ranks: Sequence[Rank]) -> list[str]:
    """Open MPI's rank file: logical cores of each rank."""
    return [f"rank {rank.number}={rank.host} slot={ranges(rank.unit.cores)}" for rank in ranks]


def hydra(hardware: Hardware, bound: bool, ranks: Sequence[Rank]) -> list[str]:
    """Hydra's host file: a line for each rank; the host's first names the processors of all its ranks."""
    units = [rank.unit for rank in ranks if rank.host == ranks[0].host]  # every host has equal ones, in this order
    sets = ("+".join(map(str, hardware.processors_of(unit))) for unit in units)
    binding = f" binding=user:{','.join(sets)}" if bound else ""
    return [f"{rank.host}:1{binding if rank.local == 0 else ''}" for rank in ranks]


def slurm(hardware: Hardware, bound: bool, ranks: Sequence[Rank]) -> list[str]:
    """Slurm's host file, the mask of each rank behind the comment sign."""
    lines = [f"{rank.host}#{mask(hardware.processors_of(rank.unit))}" if bound else rank.host for rank in ranks]
    if max(map(len, lines)) > SLURM_LINE:
        why = f"needs a mask longer than a line of Slurm's host file ({SLURM_LINE} characters)"
        remedy = "Use --bind none and let Nearfield bind by itself"
        raise ModelError(f"processor {max(hardware.processors)} {why}. {remedy}")
    return lines


Emitter = Callable[[Hardware, bool, Sequence[Rank]], list[str]]
LAUNCHERS: dict[str, Emitter] = {"rankfile": rankfile, "prrte": rankfile, "hydra": hydra, "slurm": slurm}


def mask(numbers: Iterable[int]) -> str:
    """Numbers as a bit mask in hexadecimal."""
    return hex(sum(1 << number for number in set(numbers)))
