"""Comparison of runs with the reference solver, and the resulting verdict."""
