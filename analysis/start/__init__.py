"""Initial state of a run: loop closure, static equilibrium, velocities and feasibility of the constraints."""
