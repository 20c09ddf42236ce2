"""Nearfield: Maxwell's equations in three dimensions by finite differences in time, close to memory.

Every public name is imported when it is first used, so that `import nearfield` is quick.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

PEC = "pec"  #: perfect electric conductor, as a medium and as a boundary
PMC = "pmc"  #: perfect magnetic conductor, as a medium and as a boundary
PERIODIC = "periodic"  #: the opposite face, as a boundary of both faces of an axis

_HOMES = {
    "nearfield.entry.errors": ("NearfieldError", "ModelError", "DivergedError", "RunFailed"),
    "nearfield.media.materials": ("Medium",),
    "nearfield.media.surface_media": ("Conductor", "ResistiveSheet"),
    "nearfield.media.poles": ("Debye", "Drude", "Lorentz", "PoleResidue"),
    "nearfield.bodies.geometry": ("Structure",),
    "nearfield.bodies.transforms": ("Translate", "Rotate", "Mirror", "Array"),
    "nearfield.bodies.revolved": ("Revolved",),
    "nearfield.bodies.mesh": ("Mesh",),
    "nearfield.bodies.layout": ("Layout", "gds"),
    "nearfield.bodies.voxels": ("Voxels",),
    "nearfield.grid.grid": ("Grid", "UniformGrid", "GradedGrid", "Grading", "AutoGrid", "FineCells", "YeeGrid"),
    "nearfield.bodies.combined": (
        *("Box", "Sphere", "Cylinder", "Sheet", "Wire", "Polygon"),
        *("Difference", "Transformed", "Union"),
    ),
    "nearfield.grid.boundaries": ("CPML", "Bloch", "Boundaries"),
    "nearfield.grid.symmetry": ("Symmetry",),
    "nearfield.sources.waveforms": (
        "Gaussian",
        "GaussianDerivative",
        "ModulatedGaussian",
        "Ricker",
        "ContinuousWave",
        "Samples",
    ),
    "nearfield.sources.sources": ("PointCurrent", "MagneticPointCurrent", "LineCurrent", "CurrentSheet"),
    "nearfield.incident.plane_wave": ("PlaneWave",),
    "nearfield.ports.ports": ("LumpedPort", "MicrostripPort"),
    "nearfield.ports.elements": ("LumpedElement",),
    "nearfield.guides.port": ("WaveguidePort",),
    "nearfield.monitors.paths": ("Probe", "Voltage", "Current"),
    "nearfield.monitors.fields": ("Snapshot", "FieldDFT"),
    "nearfield.monitors.element_statistics": ("ElementStatistics",),
    "nearfield.monitors.field_file": ("FieldFile",),
    "nearfield.monitors.radiation": ("Flux", "FarField"),
    "nearfield.simulation": ("Simulation", "resume"),
    "nearfield.run.check": ("Check",),
    "nearfield.solver": ("Solver",),
    "nearfield.parallel.start": ("Parallel",),
    "nearfield.model_file": ("load",),
    "nearfield.results": ("Result", "ExcitationResult", "open_result"),
    "nearfield.analysis.fields": ("FieldResult",),
    "nearfield.analysis.pattern": ("FarFieldResult",),
    "nearfield.studies.convergence": ("converge",),
    "nearfield.studies.sweep": ("sweep",),
    "nearfield.studies.sweep_table": ("open_sweep",),
    "nearfield.studies.sensitivities": ("sensitivities",),
    "nearfield.studies.optimize": ("Optimum", "optimize"),
    "nearfield.dissipation.elements": ("elements",),
    "nearfield.dissipation.extrema": ("Extrema",),
    "nearfield.dissipation.partition": ("Elements",),
    "nearfield.dissipation.plots": ("ElementPlots",),
    "nearfield.dissipation.storing": ("open_elements",),
    "nearfield.report.element_page": ("show_element",),
    "nearfield.analysis.spectra": ("spectrum",),
    "nearfield.entry.levels": ("decibels",),
    "nearfield.analysis.network": ("group_delay",),
    "nearfield.analysis.resonances": ("resonances",),
    "nearfield.media.fit": ("fit_medium", "MediumFit"),
    "nearfield.media.library": ("library",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = ["PEC", "PERIODIC", "PMC", "__version__", *_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'nearfield' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
