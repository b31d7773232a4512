"""Description of a mechanism:

TOML file, schema 1, validated and immutable. It contains no computed values.
"""

from .load import load, schema
from .tables.chain import Chain

__all__ = ["Chain", "load", "schema"]
