"""Awkward machines, right and wrong, each with the verdict that it deserves and words that must be said.

parts      what they are made of
misjudged  a verdict was once wrong on them
quiet      nothing moves, or hardly: signals that are constant up to rounding
idle       rows that the joints fulfil by themselves, near and far, small and large
doubled    rows that others imply, or contradict
starts     starts that violate, or that are moved
stops      runs that cannot go on
switches   switching times at awkward places
names      names, texts and numbers that something else understands differently
"""

from . import doubled, idle, misjudged, names, quiet, starts, stops, switches
from .parts import MACHINES, Awkward

__all__ = ["MACHINES", "Awkward", "doubled", "idle", "misjudged", "names", "quiet", "starts", "stops", "switches"]
