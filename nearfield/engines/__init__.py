"""Executes a plan: `ENGINES` makes an engine of each kind."""
