"""Labelled arrays that a run leaves, and their HDF5 files."""
