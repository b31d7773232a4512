"""Version of the installed package; the module imports no other module of gpmelica."""

from __future__ import annotations

from importlib.metadata import version

__version__ = version("gpmelica")
