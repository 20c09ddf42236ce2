"""Benchmarks and probes that are commands."""
