"""Version of the installed package, in a separate module that all others can import."""

from __future__ import annotations

from importlib.metadata import version

__version__ = version("gpmelica")
