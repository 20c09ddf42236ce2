"""Public names, for type checkers; written from `__init__.py` by scripts/write_docs.py."""

from nearfield.entry.errors import NearfieldError as NearfieldError
from nearfield.entry.errors import ModelError as ModelError
from nearfield.entry.errors import DivergedError as DivergedError
from nearfield.entry.errors import RunFailed as RunFailed
from nearfield.media.materials import Medium as Medium
from nearfield.media.surface_media import Conductor as Conductor
from nearfield.media.surface_media import ResistiveSheet as ResistiveSheet
from nearfield.media.poles import Debye as Debye
from nearfield.media.poles import Drude as Drude
from nearfield.media.poles import Lorentz as Lorentz
from nearfield.media.poles import PoleResidue as PoleResidue
from nearfield.bodies.geometry import Box as Box
from nearfield.bodies.geometry import Sphere as Sphere
from nearfield.bodies.geometry import Cylinder as Cylinder
from nearfield.bodies.geometry import Sheet as Sheet
from nearfield.bodies.geometry import Wire as Wire
from nearfield.bodies.geometry import Polygon as Polygon
from nearfield.bodies.geometry import Structure as Structure
from nearfield.bodies.revolved import Revolved as Revolved
from nearfield.bodies.mesh import Mesh as Mesh
from nearfield.bodies.layout import Layout as Layout
from nearfield.bodies.layout import gds as gds
from nearfield.bodies.voxels import Voxels as Voxels
from nearfield.grid.grid import Grid as Grid
from nearfield.grid.grid import UniformGrid as UniformGrid
from nearfield.grid.grid import GradedGrid as GradedGrid
from nearfield.grid.grid import Grading as Grading
from nearfield.grid.grid import AutoGrid as AutoGrid
from nearfield.grid.grid import YeeGrid as YeeGrid
from nearfield.grid.boundaries import CPML as CPML
from nearfield.grid.boundaries import Bloch as Bloch
from nearfield.grid.boundaries import Boundaries as Boundaries
from nearfield.grid.symmetry import Symmetry as Symmetry
from nearfield.sources.waveforms import Gaussian as Gaussian
from nearfield.sources.waveforms import GaussianDerivative as GaussianDerivative
from nearfield.sources.waveforms import ModulatedGaussian as ModulatedGaussian
from nearfield.sources.waveforms import Ricker as Ricker
from nearfield.sources.waveforms import ContinuousWave as ContinuousWave
from nearfield.sources.waveforms import Samples as Samples
from nearfield.sources.sources import PointCurrent as PointCurrent
from nearfield.sources.sources import MagneticPointCurrent as MagneticPointCurrent
from nearfield.sources.sources import LineCurrent as LineCurrent
from nearfield.sources.sources import CurrentSheet as CurrentSheet
from nearfield.incident.plane_wave import PlaneWave as PlaneWave
from nearfield.ports.ports import LumpedPort as LumpedPort
from nearfield.ports.ports import MicrostripPort as MicrostripPort
from nearfield.ports.elements import LumpedElement as LumpedElement
from nearfield.guides.port import WaveguidePort as WaveguidePort
from nearfield.monitors.paths import Probe as Probe
from nearfield.monitors.paths import Voltage as Voltage
from nearfield.monitors.paths import Current as Current
from nearfield.monitors.fields import Snapshot as Snapshot
from nearfield.monitors.fields import FieldDFT as FieldDFT
from nearfield.monitors.field_file import FieldFile as FieldFile
from nearfield.monitors.radiation import Flux as Flux
from nearfield.monitors.radiation import FarField as FarField
from nearfield.simulation import Simulation as Simulation
from nearfield.simulation import resume as resume
from nearfield.run.check import Check as Check
from nearfield.solver import Solver as Solver
from nearfield.parallel.start import Parallel as Parallel
from nearfield.model_file import load as load
from nearfield.results import Result as Result
from nearfield.results import open_result as open_result
from nearfield.studies.convergence import converge as converge
from nearfield.analysis.spectra import spectrum as spectrum
from nearfield.analysis.network import decibels as decibels
from nearfield.analysis.network import group_delay as group_delay
from nearfield.analysis.resonances import resonances as resonances
from nearfield.media.fit import fit_medium as fit_medium
from nearfield.media.library import library as library

__version__: str
PEC: str
PERIODIC: str
PMC: str
