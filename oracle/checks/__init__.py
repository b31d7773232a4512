"""Checks of the start that production claims: loops, balance, velocities, rank, reactions."""
