"""The installed version, in a module of its own so that everything can import it."""

from __future__ import annotations

from importlib.metadata import version

__version__ = version("gpmelica")
