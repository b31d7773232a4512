"""Description of a mechanism:

TOML file, schema 1, validated and immutable. It contains no computed values.
"""

from .load import load, schema
from .tables.chain import Description

__all__ = ["Description", "load", "schema"]
