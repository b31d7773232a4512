"""Constraint equations of a mechanism on position, velocity and acceleration level."""
