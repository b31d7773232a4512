"""Runs of FMUs: with inputs, at single states, again and again, apart."""
