"""Independent checks of the generator's initial state: loop closure, equilibrium, velocities, rank
and reactions.
"""
