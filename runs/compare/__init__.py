"""Runs held against the reference, and what came out of it."""
