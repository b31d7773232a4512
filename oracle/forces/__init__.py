"""Force laws of the independent Python solver, one per module."""
