"""The oracle: an engine in plain NumPy, equal to the others to the last bit, slow."""
