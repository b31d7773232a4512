"""Results of the generator; the oracle uses these results as data and checks them independently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Claims:
    """Initial state and choices of the generator.

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
        Whether the reaction of a joint or closure is claimed to be unique, by name; empty if the
        generator claims nothing.
    """

    start: Mapping[str, float]
    rows: tuple[str, ...] = ()
    rank: int = 0
    kept: tuple[str, ...] = ()
    without_drive: tuple[str, ...] = ()
    dependent: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    unique: Mapping[str, bool] = field(default_factory=dict)
