"""Loop closures in which springs and dampers, instead of constraints, connect the two frames.

The source is Urbaś 2016, equations (13) and (14).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicLoopClosure, SymbolicMechanism
from ..bodies import loops
from .element import Forces


@dataclass(frozen=True)
class ReplacementJoint:
    """Spring-dampers that close a loop in place of constraint equations.

    There is one spring-damper per constraint condition of the closure. It resists the violation of this
    condition.
    """

    closure: SymbolicLoopClosure

    def act(self, forces: Forces) -> None:
        """Add the wrenches of the closure's springs and dampers to the bodies of both frames.

        The wrenches on the two bodies are opposite.
        """
        closure, program, name = self.closure, forces.program, self.closure.name
        assert closure.stiffness is not None and closure.damping is not None
        program.section("closure", name)
        loop = loops.ClosureFrames(program, forces.kinematics, closure)
        relations = [loop.relation(condition) for condition in closure.conditions]
        springs = []
        for condition, stiffness, damping, relation in zip(
            closure.conditions, closure.stiffness, closure.damping, relations, strict=True
        ):
            unit = "N" if condition.unit == "m" else "N.m"
            force = -(stiffness * relation.value + damping * relation.rate)
            forces.stores(partial(_stored, stiffness, relation.value))
            text = f"spring and damper effort of closure {name}, condition {condition.name}"
            springs.append(program.define(f"spring_{name}_{condition.name}", force, unit, text))
        a, b = closure.a.place.body, closure.b.place.body
        F, N_a, N_b = self._wrenches(forces, relations, springs, name)
        forces.wrench(b, N_b, F)
        forces.wrench(a, -N_a, -F)

    def _wrenches(
        self, forces: Forces, relations: Sequence[loops.ConstraintExpressions], efforts: Sequence[Expr], name: str
    ) -> tuple[Expr, Expr, Expr]:
        """Return the total wrench of a closure's springs and dampers on frame b.

        The result contains the force, N, and the moment of this wrench about two points, N·m. The first
        moment is about the origin of the body of frame a, and the second moment about the origin of the
        body of frame b.
        """
        F: Expr = ir.zeros(3)
        N_a: Expr = ir.zeros(3)
        N_b: Expr = ir.zeros(3)
        for effort, relation in zip(efforts, relations, strict=True):
            force = effort * relation.F
            F, N = F + force, effort * relation.N
            N_a, N_b = N_a + N + ir.cross(relation.at_a, force), N_b + N + ir.cross(relation.at_b, force)
        define = forces.program.define
        F = define(f"F_{name}", F, "N", f"force of closure {name} on its frame b")
        N_b = define(
            f"N_{name}_b", N_b, "N.m", f"moment of closure {name} on the body of frame b, about its origin"
        )
        N_a = define(
            f"N_{name}_a",
            N_a,
            "N.m",
            f"negative moment of closure {name} on the body of frame a, about its origin",
        )
        return F, N_a, N_b


def _stored(stiffness: Expr, deformation: Expr) -> Expr:
    return 0.5 * stiffness * deformation * deformation


def of(mechanism: SymbolicMechanism) -> Iterator[ReplacementJoint]:
    """Return a force element for each loop closure that has springs and dampers instead of constraints."""
    return (ReplacementJoint(closure) for closure in mechanism.closures if closure.stiffness is not None)
