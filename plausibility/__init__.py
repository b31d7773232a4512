"""Remarks about a mechanism that a person should look at: the fourth line of the verdict."""

from .collect import of_description, of_run
from .remark import KINDS, Remark, sentence, word
from .singular_configuration import singular_configurations

__all__ = ["KINDS", "Remark", "of_description", "of_run", "sentence", "singular_configurations", "word"]
