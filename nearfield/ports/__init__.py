"""Lumped and microstrip ports, circuits on edges."""
