"""Mechanical and other ports of parts, found by the names and units of their signals.

A port is what stands before the last dot of a name (`hook` in `hook.fx`); names without a dot form one port. Two
signals of a port belong together if their names end with the same axis, or have none.
"""

from __future__ import annotations

from dataclasses import dataclass

from .network import Network
from .participant import Signal
from .units import SECOND, WATT

_AXES = ("x", "y", "z")


def _place(signal: Signal) -> tuple[str, str]:
    """Port and axis of a signal; a bare `x` is a position along no axis in particular."""
    port, _, member = signal.name.rpartition(".")
    if member in _AXES:
        return port, member
    return port, member[-1] if len(member) > 1 and member[-1] in _AXES else ""


def _beside(a: Signal, b: Signal) -> bool:
    (port, axis), (other, beside) = _place(a), _place(b)
    return port == other and (axis == beside or (axis == "x" and not beside) or (beside == "x" and not axis))


@dataclass(frozen=True)
class Bond:
    """An input and an output of one part whose product is a power, W.

    Parameters
    ----------
    column, row : input and output in the network
    position : row of the output that the output is the derivative of, or None
    """

    column: int
    row: int
    position: int | None


def positions(network: Network) -> dict[int, int]:
    """Row of each velocity → row of the position of the same port and axis."""
    found: dict[int, int] = {}
    for part, rows in zip(network.parts, network.rows, strict=True):
        for k, velocity in enumerate(part.outputs):
            for j, position in enumerate(part.outputs):
                if _is_rate(velocity, position) and _beside(velocity, position):
                    found.setdefault(rows.start + k, rows.start + j)
    return found


def _is_rate(velocity: Signal, position: Signal) -> bool:
    rate, base = velocity.base, position.base
    return rate is not None and base is not None and rate.times(SECOND).fits(base)


def bonds(network: Network) -> list[Bond]:
    """Pairs of connected inputs and outputs of parts with memory whose product is a power."""
    rates, found = positions(network), []
    for part, columns, rows in zip(network.parts, network.columns, network.rows, strict=True):
        for k, effort in enumerate(part.inputs):
            for j, flow in enumerate(part.outputs):
                if network.driven[columns.start + k] and _is_power(effort, flow) and _beside(effort, flow):
                    row = rows.start + j
                    found.append(Bond(columns.start + k, row, rates.get(row)))
    return found


def _is_power(effort: Signal, flow: Signal) -> bool:
    a, b = effort.base, flow.base
    return a is not None and b is not None and a.times(b).fits(WATT)
