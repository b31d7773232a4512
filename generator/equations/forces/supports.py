"""Spring-dampers along world axes that support the base on the ground.

The source is Jarzębowska et al. 2020, equations (14)–(16).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ....language import ir
from ....language.ir import Expr
from ....mechanism import Place
from ....mechanism.symbolic import SymbolicBaseSupport, SymbolicMechanism
from ...program.program import EquationSystem
from ..bodies.lengths import End, LengthRates, along
from .element import ZERO, Forces, size
from .unilateral import PressingLaw

_UP = ir.constant([0.0, 0.0, 1.0])
_SUPPORTS = "supports"  # Modelica arrays with one element per support have an index set with this name.
_QUANTITIES = {
    "lever": ("m", "position of each support relative to the origin of the base"),
    "v": ("m/s", "velocity of each support"),
    "d": ("m", "deflection of each support"),
    "F": ("N", "force of each support"),
    "N": ("N.m", "moment of each support about the origin of the base"),
}


@dataclass(frozen=True)
class SupportForces:
    """Supports of a base that may rotate by any angle.

    The support forces follow from the deflections of the support points.
    """

    supports: tuple[SymbolicBaseSupport, ...]

    def act(self, forces: Forces) -> None:
        """Append the sum of all support wrenches to the wrenches on the base."""
        program, kinematics = forces.program, forces.kinematics
        program.section("base supports")
        N: Expr = ir.zeros(3)
        F: Expr = ir.zeros(3)
        program.gatherings.members(_SUPPORTS, [f"support{i + 1}" for i in range(len(self.supports))])
        for i, support in enumerate(self.supports, start=1):
            lever, text = (
                kinematics.lever(Place(0, support.position)),
                f"position of support {i} relative to the origin of the base",
            )
            lever = program.define(f"lever_support{i}", lever, "m", text)
            at = kinematics.position(0, lever)
            rate = program.define(
                f"v_support{i}", kinematics.velocity(0, lever), "m/s", f"velocity of support {i}"
            )
            deflection = program.define(f"d_support{i}", at - support.position, "m", f"deflection of support {i}")
            if support.one_sided:
                forces.points.lengths.add(f"{support.name}.gap", partial(along, kinematics, _UP, (End(0, lever),)))
            force = _one_sided(forces, support, deflection, _spring_force(support, deflection, rate))
            force = program.define(f"F_support{i}", force, "N", f"force of support {i}")
            moment = program.define(
                f"N_support{i}",
                ir.cross(lever, force),
                "N.m",
                f"moment of support {i} about the origin of the base",
            )
            N, F = N + moment, F + force
            _gather(program, i, lever=lever, v=rate, d=deflection, F=force, N=moment)
        N = program.define("N_supports", N, "N.m", "total moment of all supports about the origin of the base")
        forces.wrench(0, N, program.define("F_supports", F, "N", "total force of all supports"))


@dataclass(frozen=True)
class LinearizedSupports:
    """Supports of a base with small rotations.

    The deflections are d = U q_base with the matrix U of Jarzębowska et al. 2020. The generalised
    force is −Uᵀ(S d + D ḋ) with the stiffness matrix S and the damping matrix D.
    """

    supports: tuple[SymbolicBaseSupport, ...]

    def act(self, forces: Forces) -> None:
        """Add the generalised forces of all supports on the coordinates of the base."""
        program, mechanism = forces.program, forces.mechanism
        program.section("base supports, small angles")
        coordinates = mechanism.bodies[0].coordinates
        q = ir.array([ir.symbol(mechanism.coordinates[k].symbol) for k in coordinates])
        rate = ir.array([ir.symbol(f"{mechanism.coordinates[k].symbol}_dot") for k in coordinates])
        total: Expr = ir.zeros(6)
        for i, support in enumerate(self.supports, start=1):
            U = program.define(
                f"U_support{i}",
                _small_angle_matrix(support.position),
                None,
                f"deflection of support {i} per base coordinate, small angles; m or 1",
            )
            deflection = program.define(f"d_support{i}", U @ q, "m", f"deflection of support {i}")
            speed = program.define(f"v_support{i}", U @ rate, "m/s", f"rate of deflection of support {i}")
            if support.one_sided:
                columns = {k: U[2, j] for j, k in enumerate(coordinates)}
                forces.points.lengths.add(f"{support.name}.gap", partial(LengthRates, speed[2], ZERO, columns))
            force = _one_sided(forces, support, deflection, _spring_force(support, deflection, speed))
            force = program.define(f"F_support{i}", force, "N", f"force of support {i}")
            total = total + U.T @ force
        text = "total generalised forces of all supports; N or N.m"
        effort = program.define("Q_supports", total, None, text)
        for i, k in enumerate(coordinates):
            forces.effort(k, effort[i])


def of(mechanism: SymbolicMechanism) -> Iterator[SupportForces | LinearizedSupports]:
    """Return all supports of the base as one force element."""
    base = mechanism.chain.base
    if mechanism.supports and base is not None:
        yield (LinearizedSupports if base.linearized else SupportForces)(mechanism.supports)


def _gather(program: EquationSystem, i: int, **values: Expr) -> None:
    for name, value in values.items():
        unit, text = _QUANTITIES[name]
        program.gatherings.add(f"{name}_support", (_SUPPORTS, f"support{i}"), value, unit, text)


def _pressing_law(support: SymbolicBaseSupport) -> PressingLaw:
    return PressingLaw(support.stiffness[2], support.damping[2], support.law)


def _spring_force(support: SymbolicBaseSupport, deflection: Expr, rate: Expr) -> Expr:
    along = [-(support.stiffness[i] * deflection[i] + support.damping[i] * rate[i]) for i in range(2)]
    return ir.array([*along, _pressing_law(support).force(-deflection[2], -rate[2])])


def _one_sided(forces: Forces, support: SymbolicBaseSupport, deflection: Expr, force: Expr) -> Expr:
    """Return the force of a support on the base.

    The gap and the normal force of a unilateral support become outputs. The force of a unilateral
    support is zero without ground contact. It is also zero if the normal force would be tensile. The
    tangential force is at most as large as the normal force, so that both vanish together. Without this
    limit, the tangential force could jump to zero when the support lifts off. The jump could press the
    support onto the ground again at once. Infinitely many events could follow in finite time.
    """
    across = [0.5 * support.stiffness[i] * deflection[i] * deflection[i] for i in range(2)]
    law = _pressing_law(support)
    depth = -deflection[2]
    if not support.one_sided:
        forces.stores(lambda: across[0] + across[1] + law.energy(depth))
        return force
    name, relation = support.name, forces.lower.relation
    free = forces.program.define(
        f"{name}_if_held", force, "N", f"spring and damper force of {name} before the restriction to compression"
    )
    along = size(free[0] * free[0] + free[1] * free[1])
    along = forces.program.define(
        f"{name}_along", along, "N", f"magnitude of the tangential spring and damper force of {name}"
    )
    share = relation(">", along, free[2], free[2] / along, ir.constant(1.0))
    share = forces.program.define(
        f"{name}_share", share, "1", f"transmitted fraction of the tangential force of {name}"
    )
    held = (share * free[0], share * free[1], free[2])
    pressing = ir.array([forces.overlapping(depth, free[2], part) for part in held])

    def stored() -> Expr:  # A slipping support stores no energy in the tangential directions.
        along_ground = relation(">", along, free[2], ZERO, across[0] + across[1])
        return forces.overlapping(depth, free[2], along_ground + law.energy(depth))

    forces.stores(stored)
    forces.publish(support.signals["gap"], deflection[2])
    forces.publish(support.signals["force"], pressing[2])
    return pressing


def _small_angle_matrix(position: Expr) -> Expr:
    x, y, z = position
    one, zero = ir.constant(1.0), ir.constant(0.0)
    return ir.array(
        [[one, zero, zero, -y, z, zero], [zero, one, zero, x, zero, -z], [zero, zero, one, zero, -x, y]]
    )
