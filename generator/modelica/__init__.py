"""Program → Modelica text."""

from .package import digest, experiment, render, script

__all__ = ["digest", "experiment", "render", "script"]
