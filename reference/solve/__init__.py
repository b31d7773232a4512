"""Accelerations, start states, equilibria, integrators."""
