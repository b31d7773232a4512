"""Utilities independent of mechanisms: errors, files, trajectories, templates, worker processes."""
