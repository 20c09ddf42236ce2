"""Waveguide ports: the modes of a cross-section, the wave of one along the guide, how it is launched and measured."""
