"""Remarks on singular configurations along a run.

The motion may branch there, because the constraints do not determine how it continues.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.trajectory import Trajectory
from .remark import Remark

_LISTED = 4  # A remark lists at most this many names or times.


def singular_configurations(run: Trajectory) -> Iterator[Remark]:
    """Yield a remark on singular configurations of a run, with times and constraint equations."""
    if not run.singular:
        return
    names = dict.fromkeys(name for passed in run.singular for name in passed.constraints)
    times = [f"{passed.t:.4g}" for passed in run.singular]
    yield Remark(
        "singular_configuration",
        "constraints",
        f"the constraint equations {_listed(list(names))} are linearly dependent at t = {_listed(times)} s, so the"
        " constraints do not determine the branch of the motion; runs preserve the direction of the velocities",
        "change the dimensions, add a constraint that makes the motion unique, or end the run earlier",
        time=run.singular[0].t,
    )


def _listed(words: list[str]) -> str:
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return ", ".join(words[:_LISTED]) + more
