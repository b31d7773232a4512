"""Plausibility check of a run: remarks on values that the author of the description probably did not intend."""

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
