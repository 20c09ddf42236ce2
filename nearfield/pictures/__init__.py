"""How plots look."""
