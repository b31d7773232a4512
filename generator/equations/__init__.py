"""The derivation: mechanism → equations as a program."""

from .derivation import InitialValues, close, derive, open_equations
from .solution.open_equations import OpenEquations

__all__ = ["InitialValues", "OpenEquations", "close", "derive", "open_equations"]
