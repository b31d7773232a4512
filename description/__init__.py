"""The chain description: TOML, schema 1 (design section 3). Immutable; nothing computed is stored on it."""

from .load import load, schema
from .tables.chain import Chain

__all__ = ["Chain", "load", "schema"]
