"""Equations of a model as a program: array expressions in the order of their computation."""
