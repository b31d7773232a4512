"""The derivation: mechanism → equations as a program."""

from .derivation import derive

__all__ = ["derive"]
