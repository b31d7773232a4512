"""Joint reactions: the wrench that a joint transmits to the subtree of the body it carries.

A joint reaction is the inertia wrench of the subtree minus the wrenches applied to the subtree. The
inertia wrench has three parts. The first part is the inertia wrench for zero accelerations. The
second part is due to the acceleration of the parent body. The third part is due to the
accelerations of the coordinates in the subtree. The joint reaction is an affine function of the
accelerations, the friction efforts, and the multipliers of closures and knife edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....description.types.origin import joint_load
from ....language import ir
from ....language.ir import Expr, Index
from ....mechanism import GROUND
from ....mechanism.symbolic import SymbolicMechanism
from ...program.gathered import ConstantTable
from ...program.program import EquationSystem, Output
from ...program.tree import Transmitted
from ..bodies.dynamics import Dynamics
from ..bodies.kinematics import BODIES, SymbolicKinematics, Wrench
from ..bodies.loops import ConstrainedPair
from ..constraints.reaction import ConstraintReaction
from .solution import Solution


@dataclass(frozen=True)
class AffineLoad:
    """Joint reaction without the effect of accelerations.

    The moment is N + Σ N_r λ_r, and the force is F + Σ F_r λ_r. The index r numbers the constraints of
    closures and knife edges, and λ_r are their multipliers. The moment is about the origin of the body
    that the joint carries. All vectors are in world axes.

    Attributes
    ----------
    N, F
        Moment, N·m, and force, N, for zero accelerations and zero multipliers, shape (3,) each.
    reactions
        Mapping from the index r of a constraint to the pair (N_r, F_r). N_r and F_r are the moment and
        the force per unit multiplier, shape (3,) each.
    """

    N: Expr
    F: Expr
    reactions: dict[int, tuple[Expr, Expr]]


JOINTS = "joints"  # Modelica arrays of joint reactions have an index set with this name.


class JointLoads:
    """Joint reactions of a mechanism.

    The program receives the definition of a joint reaction at the first request for this reaction.
    """

    def __init__(
        self,
        program: EquationSystem,
        kinematics: SymbolicKinematics,
        dynamics: Dynamics,
        applied: dict[int, Wrench],
        reactions: Sequence[ConstraintReaction],
    ) -> None:
        self.program, self.kinematics, self.dynamics = program, kinematics, dynamics
        self.applied, self.reactions = applied, reactions
        self._known: dict[int, AffineLoad] = {}
        self._accelerations: dict[int, tuple[Expr, Expr]] = {GROUND: (ir.zeros(3), ir.zeros(3))}

    def __call__(self, body: int) -> AffineLoad:
        """Return the reaction of a body's joint, without the effect of accelerations."""
        if body not in self._known:
            self._known[body] = self._define(body)
        return self._known[body]

    def _define(self, body: int) -> AffineLoad:
        mechanism, tree = self.kinematics.mechanism, self.dynamics.subtrees[body]
        behind = _subtree(mechanism, body)
        N, F = tree.N, tree.F
        if (acting := self.applied.get(body)) is not None:
            N, F = N - acting.N, F - acting.F
        per_multiplier = {r.row: self._reaction_per_multiplier(r.contact, body, behind) for r in self.reactions}
        name = mechanism.bodies[body].name
        self.program.section("joint reaction of", name)
        return AffineLoad(
            self.program.define(
                f"N0_{name}",
                N,
                "N.m",
                f"moment of the joint reaction of {name}, if all coordinate accelerations are zero",
            ),
            self.program.define(
                f"F0_{name}",
                F,
                "N",
                f"force of the joint reaction of {name}, if all coordinate accelerations are zero",
            ),
            {row: wrench for row, wrench in per_multiplier.items() if wrench is not None},
        )

    def _reaction_per_multiplier(
        self, contact: ConstrainedPair, body: int, behind: set[int]
    ) -> tuple[Expr, Expr] | None:
        """Return the wrench that the joint of a body transmits per unit multiplier of a constraint.

        The constraint belongs to a closure or a knife edge and acts on two bodies. If the subtree that
        the joint carries contains both bodies or none of them, the constraint has no effect on the
        joint. The result is then None.
        """
        relation = contact.relation
        if (contact.b in behind) == (contact.a in behind):
            return None
        if contact.b in behind:
            arm = self.kinematics.arm(body, contact.b) + relation.at_b
            return -(relation.N + ir.cross(arm, relation.F)), -relation.F
        arm = self.kinematics.arm(body, contact.a) + relation.at_a
        return relation.N + ir.cross(arm, relation.F), relation.F

    def force_per_acceleration(self, body: int) -> Expr:
        """Return the force of a joint per unit acceleration of each coordinate, shape (3, n), world axes."""
        name, n = self.kinematics.mechanism.bodies[body].name, self.kinematics.mechanism.n
        parts: list[tuple[Index, Expr]] = [((slice(0, 3), k), self._force_per(body, k)) for k in range(n)]
        self.program.section("joint reaction of", name)
        text = f"force through the joint of {name} per acceleration of each coordinate"
        return self.program.assemble(f"G_{name}", (3, n), parts, None, text)

    def _force_per(self, body: int, k: int) -> Expr:
        if (momentum := self.dynamics.momenta.get((k, body))) is not None:
            return momentum.F
        kinematics, tree = self.kinematics, self.dynamics.subtrees[body]
        if k not in kinematics.mechanism.ancestors(body):
            return ir.zeros(3)
        axis = kinematics.axes[k]
        u = axis.u + ir.cross(axis.e, kinematics.arm(kinematics.owners[k], body))
        return tree.m * u + ir.cross(axis.e, tree.s)

    def of_accelerations(self, body: int, qdd: Expr) -> tuple[Expr, Expr]:
        """Return the moment, N·m, and the force, N, of a joint reaction that are due to the accelerations q̈.

        Both vectors have the shape (3,).
        """
        kinematics, tree = self.kinematics, self.dynamics.subtrees[body]
        alpha, a = self._acceleration(kinematics.mechanism.bodies[body].parent, qdd)
        a = a + ir.cross(alpha, kinematics.motions[body].arm)
        N = tree.J @ alpha + ir.cross(tree.s, a)
        F = tree.m * a + ir.cross(alpha, tree.s)
        for (k, about), momentum in self.dynamics.momenta.items():
            if about == body:
                N, F = N + qdd[k] * momentum.N, F + qdd[k] * momentum.F
        return N, F

    def transmitted(self, body: int, part: int, qdd: Expr, rest: Expr) -> Transmitted | None:
        """Return the data that the recursion over the bodies needs to compute a joint reaction.

        Parameters
        ----------
        part : int
            0 for the moment, and 1 for the force.
        rest : Expr
            Reaction for zero accelerations of the coordinates, N·m or N, shape (3,).

        Returns
        -------
        Transmitted or None
            None if the subtree of the body has no mass.
        """
        tree, name = self.dynamics.tree, self.kinematics.mechanism.bodies[body].name
        links = [i for i, link in enumerate(tree.links) if link.name == name]
        return Transmitted(tree, links[0], part, qdd, rest) if links else None

    def _acceleration(self, body: int, qdd: Expr) -> tuple[Expr, Expr]:
        """Return the angular acceleration of a body and the acceleration of its origin, both due to q̈.

        Both vectors have the shape (3,).
        """
        if body not in self._accelerations:
            kinematics = self.kinematics
            own = kinematics.mechanism.bodies[body]
            alpha, a = self._acceleration(own.parent, qdd)
            a = a + ir.cross(alpha, kinematics.motions[body].arm)
            for k in own.coordinates:
                axis = kinematics.axes[k]
                alpha, a = alpha + qdd[k] * axis.e, a + qdd[k] * axis.u
            self.program.section("accelerations of bodies")
            text = f"of {own.name} due to the accelerations of the coordinates"
            self._accelerations[body] = (
                self.program.define(f"ddw_{own.name}", alpha, "rad/s2", f"angular acceleration {text}"),
                self.program.define(f"ddv_{own.name}", a, "m/s2", f"acceleration {text}"),
            )
        return self._accelerations[body]


def _chain(mechanism: SymbolicMechanism, body: int) -> list[int]:
    """Return the indices of the ancestors of a body."""
    chain = []
    while (body := mechanism.bodies[body].parent) >= 0:
        chain.append(body)
    return chain


def _subtree(mechanism: SymbolicMechanism, body: int) -> set[int]:
    return {b for b in range(len(mechanism.bodies)) if b == body or body in _chain(mechanism, b)}


def outputs(
    program: EquationSystem,
    kinematics: SymbolicKinematics,
    loads: JointLoads,
    solution: Solution,
    links: Sequence[str],
) -> None:
    """Add the joint reactions of the given links as outputs.

    The moments are about the origin of the joint. The components are in the axes of the link.
    """
    program.gatherings.members(JOINTS, links)
    carried = {link: next(b.name for b in kinematics.mechanism.bodies if b.link == link) for link in links}
    text = "index of the first body that each joint carries"
    program.gatherings.tables.append(ConstantTable("carried", JOINTS, BODIES, text, carried))
    for link in links:
        body = next(b for b, other in enumerate(kinematics.mechanism.bodies) if other.link == link)
        N, F = _wrench(program, kinematics, loads, body, solution, link)
        for vector, letter, unit, what in (
            (F, "f", "N", f"force on {link} along"),
            (N, "n", "N.m", f"moment on {link} about"),
        ):
            text = f"joint reaction {what}"
            program.outputs += [
                _output(link, f"{letter}{axis}", unit, f"{text} the link's {axis} axis", vector[i])
                for i, axis in enumerate("xyz")
            ]
        _axial_and_normal(program, kinematics.mechanism, body, link, F)


def _wrench(
    program: EquationSystem,
    kinematics: SymbolicKinematics,
    loads: JointLoads,
    body: int,
    solution: Solution,
    link: str,
) -> tuple[Expr, Expr]:
    load, (N, F) = loads(body), loads.of_accelerations(body, solution.qdd)
    rest = [load.N, load.F]
    for row, (moment, force) in load.reactions.items():
        assert solution.multipliers is not None
        rest = [rest[0] + solution.multipliers[row] * moment, rest[1] + solution.multipliers[row] * force]
    motion = kinematics.motions[body]
    program.section("joint reaction of", link)
    moment_of, force_of = (loads.transmitted(body, part, solution.qdd, rest[part]) for part in (0, 1))
    text = f"joint reaction force on {link}, world axes"
    F = program.define(f"F_load_{link}", rest[1] + F, "N", text, force_of)
    text = f"joint reaction moment on {link} about its origin, world axes"
    N = program.define(f"N_load_{link}", rest[0] + N, "N.m", text, moment_of)
    own, add = motion.R.T, program.gatherings.add
    n = program.define(
        f"n_load_{link}", own @ N, "N.m", f"joint reaction moment on {link} about its origin, link axes"
    )
    f = program.define(f"f_load_{link}", own @ F, "N", f"joint reaction force on {link}, link axes")
    member = (JOINTS, link)
    add("F_load", member, F, "N", "joint reaction force on each link, world axes")
    add("N_load", member, N, "N.m", "joint reaction moment on each link about its origin, world axes")
    add("f_load", member, f, "N", "joint reaction force on each link, link axes")
    add("n_load", member, n, "N.m", "joint reaction moment on each link about its origin, link axes")
    return n, f


def _output(link: str, component: str, unit: str, text: str, expr: Expr) -> Output:
    return Output(joint_load(link, component), unit, text, expr)


def _axial_and_normal(
    program: EquationSystem, mechanism: SymbolicMechanism, body: int, link: str, F: Expr
) -> None:
    coordinates = mechanism.bodies[body].coordinates
    if len(coordinates) != 1:
        return
    e = ir.constant(mechanism.coordinates[coordinates[0]].axis)
    axial = program.define(
        f"axial_load_{link}", F @ e, "N", f"joint reaction force on {link} along the joint axis"
    )
    across = program.define(
        f"across_load_{link}",
        F - axial * e,
        "N",
        f"joint reaction force on {link}, normal to the joint axis, in link axes",
    )
    normal = ir.call("sqrt", across @ across)
    text = f"joint reaction force on {link}"
    program.outputs += [
        _output(link, "axial", "N", f"{text} along the joint axis", axial),
        _output(
            link,
            "normal",
            "N",
            f"magnitude of the {text}, normal to the joint axis",
            normal,
        ),
    ]
