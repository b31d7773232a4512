"""Initial state and choices of the model generator, which the independent Python solver checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Claims:
    """Initial state that the model generator computed, and its choice of constraints and coordinates.

    Parameters
    ----------
    start : mapping
        Initial values by signal name, such as `boom_angle` (rad or m) and `boom_angle_dot` (rad/s or
        m/s).
    rows : tuple of str
        Names of all constraint equations, in order.
    rank : int
        Rank of the constraint Jacobian.
    kept : tuple of str
        Names of the constraint equations chosen as independent.
    without_drive : tuple of str
        Names of the independent constraint equations that no drive realises; empty if all joints have a
        drive.
    dependent : tuple of str
        Names of the dependent coordinates of the formulation `gpme_reduced`.
    held : tuple of str
        Names of the coordinates that were locked in the search for the static equilibrium.
    unique : mapping
        Whether the generator claims that the reaction of a joint or loop closure is unique, by name. Empty
        if the generator makes no such claims.
    """

    start: Mapping[str, float]
    rows: tuple[str, ...] = ()
    rank: int = 0
    kept: tuple[str, ...] = ()
    without_drive: tuple[str, ...] = ()
    dependent: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    unique: Mapping[str, bool] = field(default_factory=dict)
