"""A model on its grid: what it refuses, what it warns of, the plan that engines execute."""
