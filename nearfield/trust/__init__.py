"""How good the numbers of a run are: what can be judged before it, and from what it recorded."""
