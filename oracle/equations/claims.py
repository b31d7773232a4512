"""Results of production that the oracle takes as data: it uses them, and it checks them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Claims:
    """Initial state and choices of production.

    Parameters
    ----------
    start : mapping
        Initial values, rad or m and per second, by signals such as `boom_angle` and `boom_angle_dot`.
    rows : tuple of str
        Names of all constraint equations in their order.
    rank : int
        Rank of the constraint equations.
    kept : tuple of str
        Names of the constraint equations that are kept as independent.
    without_drive : tuple of str
        The same of those that no drive realises, where only some joints have drives.
    dependent : tuple of str
        Names of the dependent coordinates, which define the states of `gpme_reduced`.
    held : tuple of str
        Names of the coordinates that were held while the static equilibrium was sought.
    unique : mapping
        Joint or closure to whether its reaction is called unique; empty where nothing is claimed.
    """

    start: Mapping[str, float]
    rows: tuple[str, ...] = ()
    rank: int = 0
    kept: tuple[str, ...] = ()
    without_drive: tuple[str, ...] = ()
    dependent: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    unique: Mapping[str, bool] = field(default_factory=dict)
