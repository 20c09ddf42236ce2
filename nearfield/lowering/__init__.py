"""What a source, port or monitor is given when it says itself as terms of a plan."""
