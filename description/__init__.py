"""Description of a mechanism, read from a TOML file (schema 1).

A description is validated and immutable. It contains no computed values.
"""

from .load import faulty_cases, load, schema
from .tables.chain import Description

__all__ = ["Description", "faulty_cases", "load", "schema"]
