"""What engines over the storage of the compiled core share: hand-over of a plan, states by name, recordings."""
