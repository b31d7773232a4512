"""Constraint rows from transforms, their rank and which of them are kept."""
