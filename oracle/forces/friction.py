"""Joint friction models with a bristle deflection as state.

The models are LuGre (Canudas de Wit et al., 1995) and Dahl (1968).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..bodies.machine import Machine


@dataclass(frozen=True)
class Bristles:
    """Joint friction with a bristle deflection as state.

    The friction effort is μ·arm·N for the normal force N.

    Parameters
    ----------
    k : int
        Index of the coordinate.
    link : str
        Name of the link.
    arm : float
        Friction radius (half the journal diameter), m, or 1 for a prismatic joint.
    normal_force : float or None
        Prescribed normal force, N; None if the normal force is the joint reaction perpendicular to
        the axis.
    table : mapping
        Friction table of the joint.
    """

    k: int
    link: str
    arm: float
    normal_force: float | None
    table: Mapping[str, Any]

    def rate_and_coefficient(self, rate: float, z: float) -> tuple[float, float]:
        """Return the bristle deflection rate, rad/s or m/s, and the friction coefficient μ.

        Parameters
        ----------
        rate : float
            Rate of the joint coordinate, rad/s or m/s.
        z : float
            Bristle deflection, rad or m.
        """
        return (_lugre if self.table["model"] == "lugre" else _dahl)(self.table, rate, z)


def _lugre(table: Mapping[str, Any], rate: float, z: float) -> tuple[float, float]:
    stribeck = math.exp(-((rate / table["v_s"]) ** 2))
    steady = table["mu_k"] + (table["mu_s"] - table["mu_k"]) * stribeck
    z_dot = rate - table["sigma0"] * abs(rate) * z / steady
    return z_dot, table["sigma0"] * z + table["sigma1"] * z_dot + table["sigma2"] * rate


def _dahl(table: Mapping[str, Any], rate: float, z: float) -> tuple[float, float]:
    direction = math.copysign(1.0, rate) if rate else 0.0
    free = 1.0 - table["sigma0"] * z * direction / table["mu_s"]
    return rate * math.copysign(abs(free) ** table["gamma"], free), table["sigma0"] * z


def bristles(machine: Machine) -> list[Bristles]:
    """Return the friction models with a bristle deflection, in the order of the coordinates."""
    found = []
    for k, coordinate in enumerate(machine.coordinates):
        table = (coordinate.joint or {}).get("friction")
        if table is not None and table["model"] != "coulomb":
            arm = table["diameter"] / 2.0 if table["diameter"] else 1.0
            found.append(Bristles(k, coordinate.link, arm, table["normal_force"], table))
    return found
