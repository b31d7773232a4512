"""Remarks on values that are probably unintended: the plausibility check in the verdict on a run."""

from .collect import of_description, of_run
from .drives import input_starts
from .initial_state import ElementForce, InitialState, element_forces, initial_state
from .remark import KINDS, Remark, sentence, word
from .singular_configuration import singular_configurations

__all__ = [
    "KINDS",
    "ElementForce",
    "InitialState",
    "Remark",
    "element_forces",
    "initial_state",
    "input_starts",
    "of_description",
    "of_run",
    "sentence",
    "singular_configurations",
    "word",
]
