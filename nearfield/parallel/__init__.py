"""Cutting a run into domains, and what they exchange."""
