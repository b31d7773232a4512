"""Program → Modelica text."""

from .origin import Origins, Source
from .package import digest, experiment, render, script

__all__ = ["Origins", "Source", "digest", "experiment", "render", "script"]
