"""The time loop, its guard, its checkpoints."""
