"""The chain description: TOML, schema 1 (design section 3). Immutable; nothing computed is stored on it."""

from .chain import Chain
from .load import load, schema

__all__ = ["Chain", "load", "schema"]
