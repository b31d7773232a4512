"""Simulation over time, and the output signals of the simulation."""
