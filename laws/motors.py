"""Law of a motor: its effort is constant·current, limited to the interval from −limit to limit."""

from __future__ import annotations

from ..description.elements.motors import Motor
from .law import Law, between


def act(motor: Motor, law: Law) -> None:
    """Add the motor's effort on its joint to the law."""
    limit = law.number("limit")
    effort = between(-limit, law.number("constant") * law.command("current"), limit)
    law.effort(motor.joint, law.observe("force", effort))
