"""Monitors of fields in space and time: probes, path integrals, snapshots, running Fourier sums, flux and far field.

A monitor gives the engine recording terms (`_terms`) and turns what came of them into labelled variables (`_collect`).
E is recorded at m dt, H at (m + 1/2) dt; spectra hold that difference already.
"""
