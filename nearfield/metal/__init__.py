"""Conductors on the grid: whole cells, cut cells, sheets, wires, skin effect."""
