"""Constraint equations with their derivatives along a motion."""
