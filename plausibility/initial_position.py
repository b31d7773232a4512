"""Remarks on initial joint positions beyond an end stop, or more than one turn from zero."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .. import analysis
from ..analysis.system import System
from ..mechanism import Coordinate, EndStops
from .places import link
from .remark import Remark

_TURN = 2.0 * np.pi
# The penetration of an end stop is implausible above this fraction of the travel between the stops.
_PRESSED = 1e-2


def initial_positions(model: System) -> Iterator[Remark]:
    """Yield remarks on joints that start beyond an end stop, or more than one turn from zero."""
    balanced = _balanced(model)
    for k, (coordinate, position) in enumerate(
        zip(model.mechanism.coordinates, model.start[0].tolist(), strict=True)
    ):
        if coordinate.role != "joint":
            continue
        where = link(model.chain, coordinate.owner)
        beyond = [] if k in balanced else list(_beyond_stop(coordinate, position, where))
        yield from beyond
        if coordinate.unit == "rad" and abs(position) > _TURN and not beyond:
            yield Remark(
                "angle_above_turn",
                where,
                f"{coordinate.name} starts at {position:.4g} rad, more than one turn",
                "is the angle in degrees instead of radians?",
                position,
                "rad",
                _TURN,
            )


def _balanced(model: System) -> tuple[int, ...]:
    """Return the indices of the coordinates that start in static equilibrium.

    The end stops of such a coordinate may carry a load in the initial state.
    """
    if model.chain.simulation.start != "statics":
        return ()
    return analysis.free_coordinates(model.mechanism, model.start[0])


def _beyond_stop(coordinate: Coordinate, position: float, where: str) -> Iterator[Remark]:
    limits = coordinate.limits
    if limits is None:
        return
    for key, stop, sign in (("lower", limits.lower, -1.0), ("upper", limits.upper, 1.0)):
        if stop is None or not sign * (position - float(stop)) > _PRESSED * _travel(limits):
            continue
        yield Remark(
            "start_beyond_stop",
            where,
            f"{coordinate.name} starts at {position:.4g} {coordinate.unit}, beyond its {key} stop at"
            f" {float(stop):.4g} {coordinate.unit}",
            _cause(coordinate, limits, position),
            position,
            coordinate.unit,
            float(stop),
        )


def _travel(limits: EndStops) -> float:
    if limits.lower is None or limits.upper is None:
        return 1.0
    return float(limits.upper) - float(limits.lower)


def _cause(coordinate: Coordinate, limits: EndStops, position: float) -> str:
    if coordinate.unit == "rad" and abs(position) > np.pi and _is_within(limits, np.radians(position)):
        return "is the angle in degrees instead of radians?"
    return "change joint.position or joint.limits"


def _is_within(limits: EndStops, position: float) -> bool:
    lower = -np.inf if limits.lower is None else float(limits.lower)
    upper = np.inf if limits.upper is None else float(limits.upper)
    return bool(lower <= position <= upper)
