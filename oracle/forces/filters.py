"""Critically damped second-order filters of inputs that prescribe joint motions or rope lengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.trajectory import Array
from ..bodies.machine import Machine
from ..bodies.motion import Kinematics, Points


@dataclass(frozen=True)
class Filter:
    """Input filter ÿ = ω²(u − y) − 2ωẏ with input u and output y.

    Parameters
    ----------
    name : str
        Name of the input.
    frequency : float
        Angular corner frequency ω, rad/s.
    begin : float
        Initial output y(0), rad or m, which is also the default value of the input. ẏ(0) is zero.
    """

    name: str
    frequency: float
    begin: float

    def second(self, y: float, rate: float, u: float) -> float:
        """Return the second time derivative ÿ of the output, for the output y, `rate` = ẏ and the input u."""
        return self.frequency**2 * (u - y) - 2.0 * self.frequency * rate


def filters(machine: Machine, q0: Array) -> list[Filter]:
    """Return the input filters of driven joints and of two-point force elements.

    `q0` contains the initial values of the coordinates, rad or m, shape (n,).
    """
    data, found = machine.data, list[Filter]()
    for motion in data["motions"]:
        if motion["input"]:
            begin = float(q0[machine.coordinate(motion["joint"])])
            found.append(Filter(motion["name"], 2.0 * np.pi * motion["cutoff"], begin))
    for line in data["lines"]:
        rest = line["rest"]
        if isinstance(rest, dict):
            begin = rest["start"] if rest["start"] is not None else _described_length(machine, line)
            found.append(Filter(rest["input"], 2.0 * np.pi * rest["cutoff"], begin))
    return found


def _described_length(machine: Machine, line: Mapping[str, Any]) -> float:
    q = np.array([c.start for c in machine.coordinates], dtype=float)
    points = Points([machine.place(line[end]["link"], line[end]["point"]) for end in "ab"])
    a, b = points(Kinematics(machine)(q, 0.0 * q)).position
    return float(np.linalg.norm(b - a))
