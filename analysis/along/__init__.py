"""Motions over time: simulation, signals, energies, violated constraints."""
