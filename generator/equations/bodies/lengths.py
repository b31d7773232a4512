"""Lengths that expressions may name (of lines, gaps), as they move: along a direction between points of bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....description.types.measures import MEASURED, RATES
from ....language import ir
from ....language.ir import Expr, Index
from ....mechanism import GROUND
from ...program.program import Program
from .kinematics import SymbolicKinematics

BIAS = "_bias"  # names the acceleration for q̈ = 0 inside trees
_ZERO = ir.constant(0.0)
_LENGTHS = {rate: length for length, rate in RATES.items()}


@dataclass(frozen=True)
class LengthRates:
    """Derivatives of a length.

    rate     m/s
    bias     m/s², its second derivative for q̈ = 0
    columns  coordinate → its rate per rate of the coordinate, m/rad or 1
    """

    rate: Expr
    bias: Expr
    columns: dict[int, Expr]


@dataclass(frozen=True)
class End:
    """A point of a body at a lever, shape (3,), m, from its origin, world axes; sign −1: where a length begins."""

    body: int
    lever: Expr
    sign: float = 1.0


def along(kinematics: SymbolicKinematics, u: Expr, ends: Sequence[End], turning: Expr = _ZERO) -> LengthRates:
    """A length along the unit vector u, shape (3,), world axes; turning: what u's own motion adds to the bias."""
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
    """Measures of force elements by their names in expressions; names of outputs are these outputs."""

    def __init__(self, program: Program, n: int) -> None:
        self._program, self._n = program, n
        self._lengths: dict[str, Callable[[], LengthRates]] = {}
        self._named: dict[str, Expr] = {}

    def add(self, name: str, length: Callable[[], LengthRates]) -> None:
        """One by its name, `lift.length` or `deck.gap`; asked for where something needs how it changes."""
        self._lengths[name] = length

    def knows(self, name: str) -> bool:
        """Whether a name, at any level, is one of these."""
        quantity = name.partition(".")[2].removesuffix(BIAS)
        return quantity in MEASURED or quantity in _LENGTHS

    def __call__(self, name: str) -> Expr:
        """Return the symbol for a name."""
        owner, _, quantity = name.partition(".")
        if quantity in MEASURED:
            return ir.symbol(f"{owner}_{quantity}")
        if name not in self._named:
            length, is_bias = f"{owner}.{_LENGTHS[quantity.removesuffix(BIAS)]}", quantity.endswith(BIAS)
            found = self._lengths[length]()
            value, unit = (found.bias, "m/s2") if is_bias else (found.rate, "m/s")
            text = f"second derivative of {length} for zero accelerations" if is_bias else f"rate of {length}"
            self._named[name] = self._program.define(name.replace(".", "_"), value, unit, text)
        return self._named[name]

    def jacobian(self, name: str) -> Expr:
        """Shape (n,): how its rate depends on the coordinates' rates."""
        owner, _, quantity = name.partition(".")
        length = f"{owner}.{_LENGTHS.get(quantity, quantity)}"
        symbol = f"J_{length}".replace(".", "_")
        if symbol not in self._named:
            columns = self._lengths[length]().columns
            parts: list[tuple[Index, Expr]] = [((k,), columns.get(k, _ZERO)) for k in range(self._n)]
            text = f"rate of {length} per coordinate rate; m or 1"
            self._named[symbol] = self._program.assemble(symbol, (self._n,), parts, None, text)
        return self._named[symbol]
