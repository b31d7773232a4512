"""Symbolic kinematics and inertia of the bodies, and of the points and frames fixed to them."""
