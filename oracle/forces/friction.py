"""Friction of joints by bristles that deflect: LuGre (Canudas de Wit et al., 1995) and Dahl (1968)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..bodies.machine import Machine


@dataclass(frozen=True)
class Bristles:
    """Friction on a coordinate: the effort μ·arm·N against its motion, for a normal force N.

    Parameters
    ----------
    k : int
        Index of the coordinate.
    arm : float
        Half the journal's diameter, m, or 1 for a prismatic joint.
    normal_force : float or None
        Given N, in N; without it N is the joint's load across its axis.
    """

    k: int
    link: str
    arm: float
    normal_force: float | None
    table: Mapping[str, Any]

    def rate_and_coefficient(self, rate: float, z: float) -> tuple[float, float]:
        """Return ż, rad/s or m/s, and μ for the joint's rate and the deflection z, rad or m."""
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
    """Return the friction of all joints that have a friction state, in the order of the coordinates."""
    found = []
    for k, coordinate in enumerate(machine.coordinates):
        table = (coordinate.joint or {}).get("friction")
        if table is not None and table["model"] != "coulomb":
            arm = table["diameter"] / 2.0 if table["diameter"] else 1.0
            found.append(Bristles(k, coordinate.link, arm, table["normal_force"], table))
    return found
