"""Checks of the generator's initial state: loop closure, balance, velocities, rank and reactions."""
