"""Media on the grid: update coefficients of every sample, and the stable time step."""
