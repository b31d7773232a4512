"""ΔQ_i = Σ_k q̇_k ∂Q_k/∂q̇_i, which P0 (26) and P2 (20) add to the generalised forces Q.

Of dampers, whose forces are −D q̇ with a symmetric D, it is their force once more; friction has it in its
coefficient. It is a generalised force alone: no body feels it, so joint loads do not have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...language import differentiate, expressions, ir
from ...language.ir import Expr
from ...mechanism import AppliedForce
from ..bodies.kinematics import Kinematics, Wrench
from ..bodies.lowering import Lowering
from ..bodies.points import Points


@dataclass
class Printed:
    """ΔQ while it is being collected.

    wanted     whether the description asks for it
    efforts    coordinate → effort, N or N·m
    wrenches   wrenches of dampers
    """

    wanted: bool
    efforts: dict[int, Expr] = field(default_factory=dict)
    wrenches: list[Wrench] = field(default_factory=list)

    def add(self, k: int, effort: Expr) -> None:
        """An effort on a coordinate, if it is asked for."""
        if self.wanted:
            self.efforts[k] = self.efforts.get(k, ir.constant(0.0)) + effort

    def add_applied(
        self,
        kinematics: Kinematics,
        points: Points,
        lower: Lowering,
        force: AppliedForce,
        trees: Sequence[Expr],
        lever: Expr | None,
    ) -> None:
        """What an applied force's dependence on velocities adds; its lever from the body's origin."""
        if not (self.wanted and trees):
            return  # inputs do not depend on velocities
        for tree, speed in zip(trees, _speeds(kinematics, force, lever), strict=True):
            for name in dict.fromkeys(expressions.running_names(tree)):
                if expressions.level(name) == 1:
                    row = speed * lower(differentiate.derivative(tree, name)) * points.jacobian(name)
                    for k in range(kinematics.mechanism.n):
                        self.add(k, row[k])


def _speeds(kinematics: Kinematics, force: AppliedForce, lever: Expr | None) -> list[Expr]:
    """Velocity of where a force acts along each of its components."""
    if force.coordinate is not None:
        return [ir.symbol(f"{kinematics.mechanism.coordinates[force.coordinate].symbol}_dot")]
    assert force.place is not None and lever is not None
    velocity = kinematics.velocity(force.place.body, lever)
    if not force.in_world:
        velocity = kinematics.motion(force.place.body).R.T @ velocity
    return [velocity[i] for i in range(3)]
