"""Independent checks of the generator's initial state.

The checks concern loop closure, equilibrium, velocities, rank of the constraints and joint
reactions.
"""
