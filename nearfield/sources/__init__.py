"""Impressed currents and their waveforms."""
