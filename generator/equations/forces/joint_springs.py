"""Springs and dampers on coordinates: of joints, and between the rigid elements of a beam."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...language import ir
from ...mechanism import Coordinate, Mechanism
from .element import Forces


@dataclass(frozen=True)
class JointSpring:
    """On coordinate k: −stiffness·(q − rest) − damping·q̇, as far as it has them."""

    k: int
    coordinate: Coordinate

    def act(self, forces: Forces) -> None:
        """Nothing to define: one term per coordinate."""
        coordinate = self.coordinate
        if coordinate.stiffness is not None:
            deflection = ir.symbol(coordinate.symbol) - ir.lift(coordinate.rest)
            stiffness = ir.lift(coordinate.stiffness)
            forces.effort(self.k, -(stiffness * deflection))
            forces.stores(lambda: 0.5 * stiffness * deflection * deflection)
        if coordinate.damping is not None:
            effort = -(ir.lift(coordinate.damping) * ir.symbol(f"{coordinate.symbol}_dot"))
            forces.effort(self.k, effort)
            forces.damper_effort(self.k, effort)


def of(mechanism: Mechanism) -> Iterator[JointSpring]:
    """One for each coordinate."""
    return (JointSpring(k, coordinate) for k, coordinate in enumerate(mechanism.coordinates))
