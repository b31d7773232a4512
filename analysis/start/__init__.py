"""Start of a run: closed loops, equilibrium, velocities, and whether the task can be done at all."""
