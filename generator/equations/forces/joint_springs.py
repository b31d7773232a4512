"""Springs and dampers on coordinates: in joints, and between the rigid elements of a beam."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicCoordinate, SymbolicMechanism
from .element import Forces

_UNITS = {
    "stiffness": {"rotation": "N.m/rad", "translation": "N/m"},
    "damping": {"rotation": "N.m.s/rad", "translation": "N.s/m"},
}


@dataclass(frozen=True)
class JointSpring:
    """Spring and damper on coordinate k, with the effort −stiffness·(q − rest) − damping·q̇.

    The spring or the damper may be missing.
    """

    k: int
    coordinate: SymbolicCoordinate

    def act(self, forces: Forces) -> None:
        """Add the efforts of the spring and the damper on the coordinate."""
        coordinate = self.coordinate
        if coordinate.stiffness is not None:
            assert coordinate.rest is not None
            deflection = ir.symbol(coordinate.symbol) - coordinate.rest
            stiffness = self._number(forces, "stiffness", coordinate.stiffness)
            forces.effort(self.k, -(stiffness * deflection))
            forces.stores(lambda: 0.5 * stiffness * deflection * deflection)
        if coordinate.damping is not None:
            damping = self._number(forces, "damping", coordinate.damping)
            forces.effort(self.k, -(damping * ir.symbol(f"{coordinate.symbol}_dot")))

    def _number(self, forces: Forces, name: str, value: Expr) -> Expr:
        forces.program.section("springs and dampers")
        unit = _UNITS[name][self.coordinate.motion.kind]
        return forces.program.define(
            f"{name}_{self.coordinate.symbol}",
            value,
            unit,
            f"{name} of the spring-damper on {self.coordinate.name}",
        )


def of(mechanism: SymbolicMechanism) -> Iterator[JointSpring]:
    """Return one force element for each coordinate, which contains the spring and the damper."""
    return (JointSpring(k, coordinate) for k, coordinate in enumerate(mechanism.coordinates))
