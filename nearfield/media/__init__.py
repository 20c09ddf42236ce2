"""Media of the real world: fitted to tables of measurements, and a library with its sources."""
