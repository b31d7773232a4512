"""Remarks about a mechanism that a person should look at: the fourth line of the verdict."""

from .collect import of_description, of_run
from .remark import KINDS, Remark, sentence, word

__all__ = ["KINDS", "Remark", "of_description", "of_run", "sentence", "word"]
