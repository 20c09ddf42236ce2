"""Machines as data: hardware, placement, probe, prediction."""
