"""Laws of unilateral elements, which press while they overlap and never pull: contacts, stops, supports.

At the depth δ > 0 a spring and a damper exert k·δ + d·δ̇, or by Hunt and Crossley (1975) k·δⁿ·(1 + c·δ̇), where that
is positive. Without overlap the force is exactly zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicHuntCrossley

_TINY = ir.constant(1e-24)  # m² or rad², keeps a power of zero differentiable


@dataclass(frozen=True)
class PressingLaw:
    """Force law of a unilateral element as if it could also pull.

    Parameters
    ----------
    stiffness, damping : Expr
        Constants of spring and damper, N/m and N·s/m (or N·m/rad and N·m·s/rad).
    smooth : SymbolicHuntCrossley or None
        Exponent and loss in place of the damper; then the stiffness is in N/mⁿ.
    """

    stiffness: Expr
    damping: Expr
    smooth: SymbolicHuntCrossley | None

    def elastic(self, depth: Expr) -> Expr:
        """Spring force, N; odd in the depth, so that a trial step beyond an event has a value."""
        linear = self.stiffness * depth
        if self.smooth is None:
            return linear
        return linear * ir.power(depth * depth + _TINY, 0.5 * (self.smooth.exponent - 1.0))

    def force(self, depth: Expr, rate: Expr) -> Expr:
        """Force of spring and damper, N, at a depth, m, and its rate, m/s."""
        if self.smooth is None:
            return self.elastic(depth) + self.damping * rate
        return self.elastic(depth) * (1.0 + self.smooth.loss * rate)

    def energy(self, depth: Expr) -> Expr:
        """Energy of the spring, J."""
        exponent = ir.constant(1.0) if self.smooth is None else self.smooth.exponent
        return self.elastic(depth) * depth / (exponent + 1.0)
