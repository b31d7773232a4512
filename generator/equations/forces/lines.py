"""Two-point force elements: spring-dampers, and forces given by expressions or FMU inputs.

A rope transmits tension only: with a spring and a damper, the rope is slack while it is shorter
than its unstretched length. Let u be the unit vector from end a to end b. The length L = u·(r_b −
r_a) has the rate u·(v_b − v_a). A tension F pulls end a along u and end b along −u.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ....language import differentiate, ir
from ....language.ir import Expr
from ....mechanism import GROUND
from ....mechanism.symbolic import SymbolicMechanism, SymbolicPlace, SymbolicTwoPointForce
from ...program.program import Input, LineLength
from ..bodies.lengths import End, along
from .element import ZERO, Forces

LINES = "lines"  # Modelica arrays with one element per two-point force element have an index set with this name.


@dataclass(frozen=True)
class LineForce:
    """Two-point force element: opposite forces on the bodies of its ends a and b."""

    line: SymbolicTwoPointForce

    def act(self, forces: Forces) -> None:
        """Add the force of a two-point force element to the bodies of both ends.

        The length, the length rate and the force become outputs.
        """
        line, kinematics, define, name = self.line, forces.kinematics, forces.program.define, self.line.name
        forces.program.section("line", name)
        (a, at_a), (b, at_b) = self._end(forces, line.a, "a"), self._end(forces, line.b, "b")
        d = define(f"d_{name}", kinematics.between(a, at_a, b, at_b), "m", f"vector from end a to end b of {name}")
        length = forces.publish(line.signals["length"], ir.call("sqrt", d @ d))
        u = define(line.direction, d / length, "1", f"direction of {name}, from end a to end b")
        v = kinematics.velocity(b, at_b) - kinematics.velocity(a, at_a)
        rate = forces.publish(line.signals["rate"], u @ v)
        ends, turning = (End(a, at_a, -1.0), End(b, at_b)), (v @ v - rate * rate) / length
        forces.points.lengths.add(f"{name}.length", partial(along, kinematics, u, ends, turning))
        forces.program.lengths.append(LineLength(name, length, rate))
        tension = forces.publish(line.signals["force"], self._tension(forces, length, rate))
        F = define(f"F_{name}", tension * u, "N", f"force of {name} on end a")
        add, member = forces.program.gatherings.add, (LINES, name)
        add("d_line", member, d, "m", "vector from end a to end b of each two-point force element")
        add("u_line", member, u, "1", "direction from end a to end b of each two-point force element")
        add("F_line", member, F, "N", "force of each two-point force element on its end a")
        for body, lever, sign in ((a, at_a, 1.0), (b, at_b, -1.0)):
            if body != GROUND:
                forces.wrench(body, ir.cross(lever, sign * F), sign * F)

    def _end(self, forces: Forces, place: SymbolicPlace, key: str) -> tuple[int, Expr]:
        lever, text = (
            forces.kinematics.lever(place),
            f"position of end {key} of {self.line.name} relative to the origin of its body",
        )
        lever = forces.program.define(f"lever_{self.line.name}_{key}", lever, "m", text)
        text = f"position of end {key} of each two-point force element relative to the origin of its body"
        forces.program.gatherings.add(f"lever_{key}", (LINES, self.line.name), lever, "m", text)
        return place.body, lever

    def _tension(self, forces: Forces, length: Expr, rate: Expr) -> Expr:
        free = self._law(forces, length, rate)
        if not self.line.tension_only:
            forces.stores(lambda: self._energy(forces, length))
            return free
        text = f"force law of {self.line.name} before the restriction to tension"
        free = forces.program.define(f"{self.line.name}_if_tight", free, "N", text)
        if self.line.stiffness is None:
            return forces.one_way(free)
        stretch = self._stretch(forces, length)
        forces.stores(lambda: forces.overlapping(stretch, free, self._energy(forces, length)))
        return forces.overlapping(stretch, free, free)

    def _stretch(self, forces: Forces, length: Expr) -> Expr:
        return length - self._rest(forces)[0]

    def _energy(self, forces: Forces, length: Expr) -> Expr:
        if self.line.stiffness is None:
            return ZERO
        stretch = self._stretch(forces, length)
        return 0.5 * self.line.stiffness * stretch * stretch

    def _law(self, forces: Forces, length: Expr, rate: Expr) -> Expr:
        line, lower = self.line, forces.lower
        if line.given:
            measure = line.signals["force"]
            forces.program.inputs.append(Input(line.name, measure.unit, measure.description))
            return ir.symbol(line.name)
        tree = differentiate.expand(line.rest if line.force is None else line.force)
        lower.add_breakpoints(tree)
        if line.force is not None:
            return lower(tree)
        rest, rest_rate = self._rest(forces)
        assert line.stiffness is not None and line.damping is not None
        return line.stiffness * (length - rest) + line.damping * (rate - rest_rate)

    def _rest(self, forces: Forces) -> tuple[Expr, Expr]:
        """Return the unstretched length of the two-point force element, m, and its time derivative, m/s.

        The unstretched length is an expression of time, or the output of a filter.
        """
        if self.line.filter is not None:
            followed = forces.followed[self.line.filter.name]
            return followed.value, followed.rate
        tree = differentiate.expand(self.line.rest)
        return forces.lower(tree), forces.lower(differentiate.derivative(tree, "t"))


def of(mechanism: SymbolicMechanism) -> Iterator[LineForce]:
    """Return the symbolic force of each two-point force element of the mechanism."""
    return (LineForce(line) for line in mechanism.lines)
