"""Independent checks of the model generator's initial state.

The checks concern loop closure, equilibrium, velocities, rank of the constraints and joint
reactions.
"""
