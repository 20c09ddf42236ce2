"""Styles of plots and figures of labelled arrays."""
