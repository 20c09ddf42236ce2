"""Dissipation elements of scalar fields."""
