"""Rates, bias accelerations and Jacobians of lengths to which expressions of a description refer.

These lengths are the lengths of two-point force elements, and the gaps of contacts and supports.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....description.types.measures import MEASURED, RATES
from ....language import ir
from ....language.ir import Expr, Index
from ....mechanism import GROUND
from ...program.program import EquationSystem
from .kinematics import SymbolicKinematics

BIAS = "_bias"  # Names of bias accelerations, i.e. accelerations for q̈ = 0, end with this suffix in expressions.
_ZERO = ir.constant(0.0)
_LENGTHS = {rate: length for length, rate in RATES.items()}


@dataclass(frozen=True)
class LengthRates:
    """Derivatives of a measured length with respect to time and to coordinates.

    Attributes
    ----------
    rate
        Rate of the length, m/s.
    bias
        Second derivative for q̈ = 0, m/s².
    columns
        Mapping from the index of each coordinate to the rate of the length per unit rate of this
        coordinate, m/rad or 1.
    """

    rate: Expr
    bias: Expr
    columns: dict[int, Expr]


@dataclass(frozen=True)
class End:
    """Body-fixed end point of a distance that is measured between two points.

    Attributes
    ----------
    lever
        Vector from the body's origin to the end point, world axes, shape (3,), m.
    sign
        −1 for the first end point, 1 for the second end point.
    """

    body: int
    lever: Expr
    sign: float = 1.0


def along(kinematics: SymbolicKinematics, u: Expr, ends: Sequence[End], turning: Expr = _ZERO) -> LengthRates:
    """Return the derivatives of a length that is measured along the unit vector u.

    Parameters
    ----------
    turning
        Contribution of the rotation of u to the second time derivative of the length, m/s².
    """
    rate, bias, columns = _ZERO, turning, dict[int, Expr]()
    for end in ends:
        if end.body == GROUND:
            continue
        way = end.sign * u
        rate = rate + way @ kinematics.velocity(end.body, end.lever)
        bias = bias + way @ kinematics.bias_acceleration(end.body, end.lever)
        for k, column in kinematics.jacobian_columns(end.body, end.lever).items():
            columns[k] = columns.get(k, _ZERO) + way @ column
    return LengthRates(rate, bias, columns)


class Lengths:
    """Registry of lengths and gaps of force elements, by names such as `lift.length` and `deck.gap`.

    Each length or gap is an output of the model. An expression that contains its name uses the symbol
    of this output.
    """

    def __init__(self, program: EquationSystem, n: int) -> None:
        self._program, self._n = program, n
        self._lengths: dict[str, Callable[[], LengthRates]] = {}
        self._named: dict[str, Expr] = {}

    def add(self, name: str, length: Callable[[], LengthRates]) -> None:
        """Register a length under its name, such as `lift.length` or `deck.gap`.

        The derivatives of the length are computed only when an expression uses them.
        """
        self._lengths[name] = length

    def knows(self, name: str) -> bool:
        """Whether a name denotes a length, a gap, or the rate or bias acceleration of a length or gap."""
        quantity = name.partition(".")[2].removesuffix(BIAS)
        return quantity in MEASURED or quantity in _LENGTHS

    def __call__(self, name: str) -> Expr:
        """Return the symbol for a name such as `lift.length`, `lift.rate` or a bias acceleration.

        The owner of the name is a two-point force element, a contact or a support.
        """
        owner, _, quantity = name.partition(".")
        if quantity in MEASURED:
            return ir.symbol(f"{owner}_{quantity}")
        if name not in self._named:
            length, is_bias = f"{owner}.{_LENGTHS[quantity.removesuffix(BIAS)]}", quantity.endswith(BIAS)
            found = self._lengths[length]()
            value, unit = (found.bias, "m/s2") if is_bias else (found.rate, "m/s")
            text = (
                f"second derivative of {length}, if all coordinate accelerations are zero"
                if is_bias
                else f"rate of {length}"
            )
            self._named[name] = self._program.define(name.replace(".", "_"), value, unit, text)
        return self._named[name]

    def jacobian(self, name: str) -> Expr:
        """Return the Jacobian of a length with respect to the coordinates, shape (n,), m/rad or 1.

        Element k is the rate of the length for a unit rate of coordinate k.
        """
        owner, _, quantity = name.partition(".")
        length = f"{owner}.{_LENGTHS.get(quantity, quantity)}"
        symbol = f"J_{length}".replace(".", "_")
        if symbol not in self._named:
            columns = self._lengths[length]().columns
            parts: list[tuple[Index, Expr]] = [((k,), columns.get(k, _ZERO)) for k in range(self._n)]
            text = f"derivative of the rate of {length} with respect to each coordinate rate; m or 1"
            self._named[symbol] = self._program.assemble(symbol, (self._n,), parts, None, text)
        return self._named[symbol]
