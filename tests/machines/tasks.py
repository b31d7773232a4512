"""Programmed constraints and knife edges: each as a table of the description, and as rows for the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from helpers_absolute import Row, row
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from machines.oracle import Constraint, coordinate, held
from machines.tree import Posture, Table, X, Y, Z, transform

Array = NDArray[np.float64]
_ORDERS = ({"x": "x", "y": "y", "z": "z"}, {"x": "vx", "y": "vy", "z": "vz"}, {"x": "ax", "y": "ay", "z": "az"})
_QUINTIC = Polynomial([0, 0, 0, 10, -15, 6])


def _law(coefficients: Sequence[float], t: float) -> Array:
    """A polynomial of time and its two derivatives."""
    law = Polynomial(coefficients)
    return np.array([law(t), law.deriv()(t), law.deriv(2)(t)])


def point(posture: Posture, name: str) -> Any:
    """Origin of a named point."""
    place = posture.tree.data["points"][name]
    return posture.frame(place["link"], transform({"xyz": place["position"]})).origin()


@dataclass(frozen=True)
class Combined:
    """The order-th derivative of a weighted sum of coordinates and points' components is a polynomial of time."""

    name: str
    terms: tuple[tuple[float, str], ...]
    law: tuple[float, ...]
    order: int = 0

    def table(self) -> tuple[str, Table]:
        """Key and entry of the description."""
        parts = [f"({weight!r})*{self._rate(atom)}" for weight, atom in self.terms]
        parts += [f"({-c!r})*t^{k}" for k, c in enumerate(self.law)]
        return "programmed", {"name": self.name, "expression": " + ".join(parts), "order": self.order}

    def _rate(self, atom: str) -> str:
        owner, _, key = atom.partition(".")
        if owner == "E":
            return f"E.{_ORDERS[self.order][key]}"
        return atom + ("", "_dot", "_ddot")[self.order]

    def constraints(self, posture: Posture, t: float) -> list[Constraint]:
        return [held(self._sum(posture), _law(self.law, t), self.order)]

    def _sum(self, posture: Posture) -> Row:
        rows = [(weight, _atom(posture, atom)) for weight, atom in self.terms]
        value, rate, bias = (sum(w * getattr(r, key) for w, r in rows) for key in ("value", "rate", "bias"))
        return Row(value, rate, bias, {0: np.sum([w * r.J[0] for w, r in rows], axis=0)})

    def started(self, posture: Posture) -> Combined:
        """Return the task with a law that the position obeys at t = 0 and at rest."""
        first = float(self._sum(posture).value) if self.order == 0 else 0.0
        return Combined(self.name, self.terms, (first, *self.law[1:]), self.order)


def _atom(posture: Posture, name: str) -> Row:
    if not name.startswith("E."):
        return coordinate(posture, name)
    axis = {"x": X, "y": Y, "z": Z}[name[2:]]
    ground = posture.frame("ground", transform({}))
    return row(ground.axis(axis), point(posture, "E"))


@dataclass(frozen=True)
class Round:
    """E stays at a distance, which grows with t², from a place in the world."""

    name: str
    centre: tuple[float, float, float]
    law: tuple[float, ...]

    def table(self) -> tuple[str, Table]:
        """Key and entry of the description."""
        squares = " + ".join(f"(E.{axis} - ({c!r}))^2" for axis, c in zip("xyz", self.centre, strict=True))
        law = " + ".join(f"({c!r})*t^{k}" for k, c in enumerate(self.law))
        return "programmed", {"name": self.name, "expression": f"{squares} - ({law})"}

    def constraints(self, posture: Posture, t: float) -> list[Constraint]:
        return [held(self._square(posture), _law(self.law, t))]

    def _square(self, posture: Posture) -> Row:
        way = point(posture, "E") - posture.frame("ground", transform({"xyz": self.centre})).origin()
        return row(way, way)

    def started(self, posture: Posture) -> Round:
        """Return the task with a law that the position obeys at t = 0."""
        return Round(self.name, self.centre, (float(self._square(posture).value), *self.law[1:]))


@dataclass(frozen=True)
class Leg:
    """A path of one leg of a second from where E is."""

    name: str
    frame: Table
    components: str
    begin: tuple[float, ...]
    way: tuple[float, ...]

    def table(self) -> tuple[str, Table]:
        """Key and entry of the description."""
        ends = [list(self.begin), [b + w for b, w in zip(self.begin, self.way, strict=True)]]
        path = {"point": "E", "frame": self.frame, "components": list(self.components), "waypoints": ends}
        return "programmed", {"name": self.name, "path": path | {"leg_time": 1.0}}

    def constraints(self, posture: Posture, t: float) -> list[Constraint]:
        s, shares = _law(_QUINTIC.coef, t), dict(zip("xyz", self._local(posture), strict=True))
        begin, way = dict(zip("xyz", self.begin, strict=True)), dict(zip("xyz", self.way, strict=True))
        return [held(shares[c], [begin[c], 0, 0] + s * way[c]) for c in self.components]

    def _local(self, posture: Posture) -> list[Row]:
        own = posture.frame("ground", transform(self.frame))
        return [row(own.axis(e), point(posture, "E") - own.origin()) for e in (X, Y, Z)]

    def started(self, posture: Posture) -> Leg:
        """Return the task with a path that begins at the point's initial position."""
        begin = tuple(float(r.value) for r in self._local(posture))
        return Leg(self.name, self.frame, self.components, begin, self.way)


@dataclass(frozen=True)
class Knife:
    """A point does not move along a direction of its link."""

    name: str
    link: str
    at: tuple[float, ...]
    normal: tuple[float, ...]

    def table(self) -> tuple[str, Table]:
        """Key and entry of the description."""
        return "nonholonomic", {
            "name": self.name,
            "link": self.link,
            "point": list(self.at),
            "normal": list(self.normal),
        }

    def constraints(self, posture: Posture, t: float) -> list[Constraint]:
        edge = posture.frame(self.link, transform({"xyz": self.at}))
        n, v = edge.axis(np.array(self.normal) / np.linalg.norm(self.normal)), edge.origin()
        return [Constraint(n.value @ v.J[0], -float(n.rate @ v.rate + n.value @ v.bias), 0.0)]

    def started(self, posture: Posture) -> Knife:
        """Return the task itself, because a mechanism at rest fulfils it anywhere."""
        return self
