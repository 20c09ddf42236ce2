"""Waveguide ports: the modes of a cross-section, the wave of a mode along the guide, the port that launches and hears."""
