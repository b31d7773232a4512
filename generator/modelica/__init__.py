"""Generation of Modelica source code from an ordered system of equations."""

from .drives import render as render_drives
from .origin import Origins, Source
from .package import digest, experiment, render, script

__all__ = ["Origins", "Source", "digest", "experiment", "render", "render_drives", "script"]
