"""Poses, velocities, inertia of the bodies, and what is seen at their points and frames."""
