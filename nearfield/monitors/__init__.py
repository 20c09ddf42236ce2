"""Monitors of fields in space and time: probes, path integrals, snapshots, running Fourier sums, flux and far field.

A monitor gives the engine recording terms (`_terms`) and turns what came of them into labelled variables (`_collect`).
E is recorded at m dt, H at (m + 1/2) dt; spectra hold that difference already.
"""

from nearfield.monitors.field_file import FieldFile
from nearfield.monitors.fields import FieldDFT, Snapshot
from nearfield.monitors.paths import Current, Probe, Voltage
from nearfield.monitors.radiation import FarField, Flux
from nearfield.monitors.regions import Monitor

__all__ = ["Current", "FarField", "FieldDFT", "FieldFile", "Flux", "Monitor", "Probe", "Snapshot", "Voltage"]
