"""Runs of FMUs in FMPy: with inputs, at single states, repeatedly, and in separate processes."""
