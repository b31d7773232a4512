"""Derivation of the equations of motion of a mechanism as a program of array expressions."""

from .derivation import InitialValues, close, derive, open_equations
from .solution.open_equations import OpenEquations

__all__ = ["InitialValues", "OpenEquations", "close", "derive", "open_equations"]
