"""Everything that a source, port or monitor is given to express itself as terms of a plan."""
