"""Checkpoints: all that a run needs to continue as if it had never stopped."""
