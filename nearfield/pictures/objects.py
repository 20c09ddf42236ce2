"""Colours of what is drawn in a model beside its media, on cuts and in three dimensions alike."""

from __future__ import annotations

MAGNETIC_WALL = "#6D3B8E"
PORT = "#C2185B"
SOURCE = "#D55E00"
MONITORS = {
    "probe": ("#0072B2", "probe"),
    "voltage": ("#0072B2", "voltage"),
    "current": ("#0072B2", "current"),
    "field-dft": ("#00795A", "field plane or box"),
    "snapshot": ("#00795A", "snapshot"),
    "flux": ("#7A5C00", "flux surface"),
    "far-field": ("#5B3FA8", "far-field surface"),
}
