"""Mechanical stops that limit coordinates, and Coulomb friction on coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicCoordinate, SymbolicMechanism
from .element import Forces
from .unilateral import PressingLaw

# Each pair contains the key of an end stop in the description and the sign of the effort on the coordinate.
_EACH = (("lower", 1.0), ("upper", -1.0))


@dataclass(frozen=True)
class StopForce:
    """Efforts of mechanical stops and Coulomb friction on coordinate k.

    The force law of a stop is in the module `unilateral`. The friction is −effort·tanh(q̇/v_s) with
    the regularisation velocity v_s.
    """

    k: int
    coordinate: SymbolicCoordinate

    def act(self, forces: Forces) -> None:
        """Add the efforts of both stops and of Coulomb friction on the coordinate."""
        coordinate, program = self.coordinate, forces.program
        program.section("stops and friction of joint", coordinate.owner)
        rate = ir.symbol(f"{coordinate.symbol}_dot")
        for key, way in _EACH:
            stop = getattr(coordinate.limits, key, None)
            if stop is not None:
                effort = way * self._pressing(forces, key, way, stop, rate)
                text = f"effort of the {key} stop of {coordinate.name}"
                forces.effort(
                    self.k,
                    program.define(f"{coordinate.symbol}_{key}_effort", effort, coordinate.effort_unit, text),
                )
        if coordinate.coulomb is not None:
            friction = coordinate.coulomb.effort * ir.call("tanh", rate / coordinate.coulomb.v_s)
            forces.effort(self.k, -friction)

    def _pressing(self, forces: Forces, key: str, way: float, stop: Expr, rate: Expr) -> Expr:
        limits, coordinate = self.coordinate.limits, self.coordinate
        assert limits is not None
        define = forces.program.define
        name, text = f"{coordinate.symbol}_{key}", f"of {coordinate.name} beyond the {key} stop"
        depth = define(
            f"{name}_depth", way * (stop - ir.symbol(coordinate.symbol)), coordinate.unit, f"depth {text}"
        )
        law = PressingLaw(limits.stiffness, limits.damping, limits.law)
        force = law.force(depth, -(way * rate))
        free = define(
            f"{name}_if_held",
            force,
            coordinate.effort_unit,
            f"spring and damper effort {text}, before the restriction to compression",
        )
        forces.stores(lambda: forces.overlapping(depth, free, law.energy(depth)))
        return forces.overlapping(depth, free, free)


def of(mechanism: SymbolicMechanism) -> Iterator[StopForce]:
    """Return one force element for each coordinate with stops or Coulomb friction."""
    return (
        StopForce(k, coordinate)
        for k, coordinate in enumerate(mechanism.coordinates)
        if coordinate.limits is not None or coordinate.coulomb is not None
    )
