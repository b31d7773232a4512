"""Effort of a motor: constant·current, held between −limit and limit."""

from __future__ import annotations

from ..description.elements.motors import Motor
from .law import Law, between


def act(motor: Motor, law: Law) -> None:
    """Drive the coordinate."""
    limit = law.number("limit")
    effort = between(-limit, law.number("constant") * law.command("current"), limit)
    law.effort(motor.joint, law.observe("force", effort))
