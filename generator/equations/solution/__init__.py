"""Accelerations from the constrained equations, multipliers, joint loads, projection."""
