"""Runs of FMUs: with inputs, at single states, in systems."""
