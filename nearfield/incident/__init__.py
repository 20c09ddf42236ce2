"""Incident waves in a total-field box: samples on its faces, the wave along an axis, the wave at any angle."""
