"""Constraints by programmed expressions, driven joints, knife edges and a fixed base."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.trajectory import Array
from ..bodies.motion import cross
from ..expressions.jets import Jet, jet, slope
from ..expressions.language import Expression
from ..expressions.setting import Setting
from ..expressions.sized import SizedDerivatives, SizedJet
from ..expressions.state import Derivatives, State
from .rows import Equation, Group, Wrench, by_wrenches, of_positions


class ProgrammedExpression(Group):
    """Programmed constraint: an expression of positions, velocities or accelerations must be zero."""

    def __init__(self, name: str, order: int, expression: Expression, setting: Setting) -> None:
        self.names: tuple[str, ...] = (name,)
        self.order = order
        self._expression, self._quantities = expression, setting.names

    def equations(self, state: State) -> list[Equation]:
        n = len(state.motion.q)
        x = jet(self._expression(Derivatives(state, self._quantities, self.order)))
        if self.order == 0:
            return [of_positions(x, n)]
        if self.order == 1:
            return [Equation(0.0, x.value, slope(x, n), -x.rate)]
        return [Equation(0.0, 0.0, slope(x, n), -x.value)]

    def magnitudes(self, state: State, size: float, units: Array) -> list[float]:
        found = self._expression(SizedDerivatives(state, self._quantities, self.order, size, units))
        return [float(np.linalg.norm(found.sizes * units)) if isinstance(found, SizedJet) else 0.0]


class DrivenJoint(Group):
    """Constraint that prescribes a joint coordinate by an expression of time or by a filtered input."""

    order: int = 0

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        self.names: tuple[str, ...] = (table["name"],)
        self._k = setting.machine.coordinate(table["joint"])
        self._filter = setting.filters[table["name"]] if table["input"] else None
        self._law = setting.compile(0.0 if table["input"] else table["position"], table["name"])
        self._quantities = setting.names

    def equations(self, state: State) -> list[Equation]:
        motion, n = state.motion, len(state.motion.q)
        own = Jet(motion.q[self._k], np.eye(n)[self._k], motion.qd[self._k])
        if self._filter is not None:
            value, rate, second = state.followed[self._filter]
            return [of_positions(own - Jet(value, 0.0, rate, second), n)]
        return [of_positions(own - self._law(Derivatives(state, self._quantities, 0)), n)]


class KnifeEdge(Group):
    """Nonholonomic constraint: the velocity of a point has no component along a body-fixed normal."""

    order: int = 1

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        self.names: tuple[str, ...] = (table["name"],)
        self._point = setting.point(table["link"], table["point"])
        self._body = setting.places[self._point].body
        normal = np.array(table["normal"], dtype=float)
        self._normal = normal / np.linalg.norm(normal)

    def equations(self, state: State) -> list[Equation]:
        m, p, k = state.motion, state.points, self._point
        normal = m.R[self._body] @ self._normal
        rate = normal @ p.bias[k] + cross(m.omega[self._body], normal) @ p.velocity[k]
        wrench = Wrench(self._body, normal, cross(p.arm[k], normal))
        return [by_wrenches(m, Jet(normal @ p.velocity[k], 0.0, rate), [wrench], order=1)]


class HeldBase(Group):
    """Constraints that keep the base's coordinates at zero."""

    order: int = 0

    def __init__(self, setting: Setting) -> None:
        base = [(k, c.signal) for k, c in enumerate(setting.machine.coordinates) if c.role == "base"]
        self._own, self.names = [k for k, _ in base], tuple(name for _, name in base)

    def equations(self, state: State) -> list[Equation]:
        q, qd, unit = state.motion.q, state.motion.qd, np.eye(len(state.motion.q))
        return [Equation(float(q[k]), float(qd[k]), unit[k], 0.0) for k in self._own]
