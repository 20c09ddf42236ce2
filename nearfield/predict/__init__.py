"""Predictions of the time of a step on another machine."""
