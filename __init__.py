"""From a mechanism's description to readable Modelica, a verified FMU and a report."""

from __future__ import annotations

from importlib.metadata import version

__version__ = version("gpmelica")
