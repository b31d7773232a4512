"""Constraint equations and their time derivatives along a motion."""
