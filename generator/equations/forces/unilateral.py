"""Force laws of unilateral elements (contacts, stops, supports), which only transmit compression.

At the overlap δ > 0 the force is k·δ + d·δ̇ (spring and damper) or k·δⁿ·(1 + c·δ̇) (Hunt and
Crossley 1975). Negative values of these expressions are replaced by zero. Without overlap the
force is exactly zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicHuntCrossley

# The squared overlap, m² or rad², is increased by this value, so that its powers are differentiable at zero.
_TINY = ir.constant(1e-24)


@dataclass(frozen=True)
class PressingLaw:
    """Force law of a unilateral element, without the restriction to compressive forces.

    Parameters
    ----------
    stiffness, damping : Expr
        Constants of spring and damper, N/m and N·s/m (or N·m/rad and N·m·s/rad).
    smooth : SymbolicHuntCrossley or None
        Exponent n and loss factor of the law by Hunt and Crossley, which replaces the damper; the unit of
        the stiffness is then N/mⁿ.
    """

    stiffness: Expr
    damping: Expr
    smooth: SymbolicHuntCrossley | None

    def elastic(self, depth: Expr) -> Expr:
        """Return the spring force, N.

        The spring force is an odd function of the depth. It is therefore also defined for the negative
        depths that occur when a solver's trial step passes an event.
        """
        linear = self.stiffness * depth
        if self.smooth is None:
            return linear
        return linear * ir.power(depth * depth + _TINY, 0.5 * (self.smooth.exponent - 1.0))

    def force(self, depth: Expr, rate: Expr) -> Expr:
        """Return the force of spring and damper, N or N·m, at an overlap `depth` that changes at `rate`."""
        if self.smooth is None:
            return self.elastic(depth) + self.damping * rate
        return self.elastic(depth) * (1.0 + self.smooth.loss * rate)

    def energy(self, depth: Expr) -> Expr:
        """Return the energy stored in the spring, J."""
        exponent = ir.constant(1.0) if self.smooth is None else self.smooth.exponent
        return self.elastic(depth) * depth / (exponent + 1.0)
