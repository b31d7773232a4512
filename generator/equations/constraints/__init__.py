"""Constraint rows on position, velocity and acceleration level."""
