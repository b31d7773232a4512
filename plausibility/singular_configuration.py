"""Singular configurations along a run: the constraints do not say on which branch the motion goes on."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.trajectory import Trajectory
from .remark import Remark

_LISTED = 4  # times and names


def singular_configurations(run: Trajectory) -> Iterator[Remark]:
    """Remark on the singular configurations that the reference run passes, with times and constraint equations."""
    if not run.singular:
        return
    names = dict.fromkeys(name for passed in run.singular for name in passed.constraints)
    times = [f"{passed.t:.4g}" for passed in run.singular]
    yield Remark(
        "singular_configuration",
        "constraints",
        f"the constraint equations {_listed(list(names))} depend on each other at t = {_listed(times)} s, so the"
        " constraints do not determine the branch that the motion follows there; runs keep the direction of the"
        " velocities",
        "change the dimensions or add a constraint, so that there is one way only, or end the run before",
        time=run.singular[0].t,
    )


def _listed(words: list[str]) -> str:
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return ", ".join(words[:_LISTED]) + more
