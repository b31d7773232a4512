"""Simulation over time and its output signals."""
