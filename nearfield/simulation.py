"""A simulation: what is there, what drives it, what is recorded. Gather, check, run.

What a step m = 1, 2, ... makes in every row, in whatever order the schedule takes the rows (core/cpu/engine.cpp):

    E <- Ca E - poles            what dispersive media remember
    E <- E + Cb curl H           E now at m dt
    E <- E + currents, circuits  at (m - 1/2) dt
    record E                     probes, voltages, running Fourier sums, snapshots
    H <- Da H - poles
    H <- H - Db curl E           H now at (m + 1/2) dt
    H <- H + magnetic currents   at m dt
    record H
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from nearfield.bodies.geometry import Structure
from nearfield.discretization.symmetry import Symmetry
from nearfield.entry.quantities import Number, PositiveTime, Whole
from nearfield.entry.schema import Schema
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.grid import AnyGrid
from nearfield.guides.port import WaveguidePort
from nearfield.incident.plane_wave import PlaneWave
from nearfield.media.materials import AnyMedium, Medium
from nearfield.media.surface_media import AnyMaterial
from nearfield.monitors import Current as CurrentMonitor
from nearfield.monitors import FarField, FieldDFT, Flux, Probe, Snapshot
from nearfield.monitors import Voltage as VoltageMonitor
from nearfield.ports.ports import LumpedElement, LumpedPort, MicrostripPort
from nearfield.sources.sources import CurrentSheet, LineCurrent, MagneticPointCurrent, PointCurrent
from nearfield.sources.waveforms import ContinuousWave, Gaussian, GaussianDerivative, ModulatedGaussian, Ricker, Samples

if TYPE_CHECKING:
    import xarray

    from nearfield.discretization.discretization import Discretization
    from nearfield.engines.cpu.tiling import Tiling
    from nearfield.parallel.start import Parallel
    from nearfield.results import Result
    from nearfield.run.check import Check

AnyWaveform = Annotated[
    Gaussian | GaussianDerivative | ModulatedGaussian | Ricker | ContinuousWave | Samples, Field(discriminator="kind")
]
AnySource = Annotated[
    PointCurrent | MagneticPointCurrent | LineCurrent | CurrentSheet | PlaneWave, Field(discriminator="kind")
]
AnyPort = Annotated[LumpedPort | MicrostripPort | WaveguidePort, Field(discriminator="kind")]
AnyMonitor = Annotated[
    Probe | VoltageMonitor | CurrentMonitor | Snapshot | FieldDFT | Flux | FarField, Field(discriminator="kind")
]


@dataclass(frozen=True)
class ProgressInfo:
    """Where a run stands: step of steps (at most), rate, energy over its peak, seconds left at most."""

    step: int
    steps: int
    mcells_per_second: float
    energy_ratio: float
    seconds_left: float
    excitation: str
    note: str = ""  # what else goes on


class Simulation(Schema):
    """Maxwell's equations in a box: grid, structures, boundaries, sources, ports, monitors. Lengths in SI.

    `check()` tells what it will cost and what looks wrong; `run()` gives a `Result`. The same entries, by the same
    names, make a model file (docs/model-file.md).

    Errors: `ModelError`, with what was given, what is allowed, why, and what to do.

    >>> import nearfield as nf
    >>> sim = nf.Simulation(
    ...     grid=nf.Grid.uniform(1e-3, (20, 20, 20)),
    ...     boundaries=nf.Boundaries(all=nf.PEC),
    ...     sources=[nf.PointCurrent((10e-3, 10e-3, 10e-3), "z", nf.Gaussian(15e9))],
    ...     monitors=[nf.Probe("tip", (5e-3, 5e-3, 5e-3), "Ez")],
    ...     steps=50,
    ... )
    >>> sim.run(threads=1)["tip"].sizes["time"]
    50
    """

    grid: AnyGrid
    """The grid: `lines`, `uniform`, `graded` or `auto`."""
    structures: tuple[Structure, ...] = ()
    """What is in the box; later ones win."""
    boundaries: Boundaries = Boundaries()
    """The six faces."""
    sources: tuple[AnySource, ...] = ()
    """Impressed currents and plane waves."""
    ports: tuple[AnyPort, ...] = ()
    """Ports: each is excited in a run of its own, the others stay terminated."""
    elements: tuple[LumpedElement, ...] = ()
    """Lumped R, L, C without a source."""
    monitors: tuple[AnyMonitor, ...] = ()
    """What is recorded."""
    media: dict[str, AnyMaterial] = {}  # noqa: RUF012 (pydantic copies defaults)
    """Media by name, for `medium = "name"` in a structure; `"library:gold"` and the like name real ones."""
    background: AnyMedium = Medium()
    """What fills the box where no structure is."""
    title: str = ""
    """One line for plots and the report."""
    waveform: AnyWaveform | None = None
    """Voltage waveform of the ports; left out: a Gaussian up to the automatic grid's maximum frequency."""
    excitations: tuple[str, ...] | None = None
    """Which runs to make, by port name or "sources"; left out: the sources if there are any, else every port."""
    precision: Literal["single", "double"] = "single"
    """Of fields and coefficients."""
    courant: Annotated[Number, Field(gt=0, le=1)] = 0.99
    """Time step over the grid's stable limit."""
    time_step: PositiveTime | None = None
    """Time step (s); left out: `courant` times the limit."""
    steps: Annotated[Whole, Field(ge=1, le=10**9)] | None = None
    """Make exactly so many steps."""
    duration: PositiveTime | None = None
    """Simulated time (s), instead of `steps`."""
    decay: Annotated[Number, Field(gt=0, lt=1)] | None = None
    """Stop when the field energy, with the sources off, is below this part of its peak; left out: 1e-6, with
    waveguide ports 1e-8, if neither `steps` nor `duration` is given."""
    check_every: Annotated[Whole, Field(ge=1)] = 100
    """Steps between whole-domain checks for divergence and decay."""
    schedule: Literal["tiled", "stepwise"] = "tiled"
    """Order of the updates: several steps while a tile is in cache, or step by step. The results are the same bits."""
    symmetry: Symmetry = Symmetry()
    """Planes of symmetry in the middle of the grid: the half above each is stepped, the whole reported."""
    metal: Literal["staircase", "conformal"] = "staircase"
    """Solid "pec" bodies: "staircase" takes whole cells; "conformal" follows their surfaces through the cells, with
    a time step of at most 0.7 of the limit where it cuts cells; to second order with `courant` 0.7."""
    averaging: Literal["diagonal", "volume", "tensor"] = "diagonal"
    """Cells that curved or slanting surfaces of media cross: "diagonal" weighs what is continuous along the surface and
    across it by its normal; "volume" takes the mean over faces, then in series along edges, whatever the normal;
    "tensor" keeps E and D there to second order, where media have neither loss nor poles, for some time a step."""

    @field_validator("structures", "sources", "ports", "elements", "monitors", "excitations", mode="before")
    @classmethod
    def _one_or_many(cls, value):
        return tuple(value) if isinstance(value, list) else value

    @field_validator("structures")
    @classmethod
    def _one_medium_each(cls, value):
        return tuple(part for structure in value for part in structure.parts())

    @model_validator(mode="after")
    def _one_length(self):
        if self.steps is not None and self.duration is not None:
            raise ValueError(f"steps={self.steps} and duration={self.duration} s are both given; give one of them")
        return self

    @property
    def channels(self) -> tuple:
        """The ports of one wave each: those of several modes count as several."""
        return tuple(channel for port in self.ports for channel in port.channels)

    def setup(self) -> Discretization:
        """This simulation on its Yee grid, with its time step and steps; refuses what cannot run."""
        from nearfield.discretization.discretization import Discretization

        return Discretization(self)

    def check(self) -> Check:
        """What the run will cost and what looks wrong, without running; refuses what cannot run."""
        from nearfield.run.check import examine

        return examine(self)

    def guide_modes(self, frequencies: Any = None) -> xarray.Dataset:
        """The modes of the waveguide ports as the grid carries them, without running.

        Dims `port` (names as in the S-parameters) and `frequency` (Hz; left out, the band of the pulses): `mode`,
        `family` ("TE", "TM", "TEM", "hybrid"), `cutoff_frequency` (Hz), `propagation_constant` alpha + j beta (1/m),
        `impedance` (ohm) of E over H across the guide, imaginary below the cut-off, and `line_impedance` (ohm), voltage
        over current of a TEM wave between two conductors, 0 of other modes. Of hybrid modes the impedance is that of
        V and I of unit profiles. Error: `ModelError` without a waveguide port.
        """
        from nearfield.discretization.guide_table import guide_modes

        return guide_modes(self.setup(), frequencies)

    def run(
        self,
        threads: int | None = None,
        output: str | Path | None = None,
        progress: Callable[[ProgressInfo], None] | None = None,
        tiling: str | Tiling | None = None,
        parallel: Parallel | None = None,
        checkpoint: str | None = None,
    ) -> Result:
        """Run every excitation and give the results.

        threads: default all physical cores that this process may use, fewer for small domains. output: an HDF5 file,
        rewritten whole after each excitation. progress: called about five times a second. tiling: "8x16" for tiles of
        8 steps and 16 rows; left out or "auto", what `nearfield tune` measured here, else the cost model's choice.
        parallel: domains, binding, memory policy and halos (`Parallel`). Under `mpiexec` or `srun` all ranks call this;
        rank 0 writes the output and has the data, the others get a result without any.

        checkpoint: "every 10 min" or "every 1000 steps", into folders beside the output, from which `resume` goes on;
        the last two are kept. SIGTERM then ends the run with one more.

        Ctrl-C ends the run; the result then has status "interrupted". Errors: `ModelError` before anything is
        written; `DivergedError`, whose `result` holds what was recorded.
        """
        from nearfield.run.resume import run_with_checkpoints
        from nearfield.run.time_loop import run

        if checkpoint is not None:
            return run_with_checkpoints(self, checkpoint, threads, output, progress, tiling, parallel)
        return run(self, threads, output, progress, tiling=tiling, parallel=parallel)

    def to_toml(self) -> str:
        """The model file of this simulation."""
        from nearfield.model_file import dumps

        return dumps(self)
