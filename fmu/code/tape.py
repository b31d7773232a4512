"""A CasADi function as a tape: one operation after the other, on its arguments and on what earlier ones give."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TypeAlias

import casadi as ca

from ...errors import BuildError

# An argument, or a result, and the place of a number in it; or COMPUTED, and the operation that gives it. Plain
# tuples of numbers cost Python's garbage collector nothing: there are hundreds of thousands of them.
Value: TypeAlias = tuple[int, int]
COMPUTED = -1
# C of CasADi's operations
_OPERATORS = {
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0}*{1}",
    ca.OP_DIV: "{0}/{1}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0}*{0}",
    ca.OP_TWICE: "2.0*{0}",
    ca.OP_INV: "1.0/{0}",
    ca.OP_SQRT: "sqrt({0})",
    ca.OP_POW: "pow({0}, {1})",
    ca.OP_CONSTPOW: "pow({0}, {1})",
    ca.OP_EXP: "exp({0})",
    ca.OP_LOG: "log({0})",
    ca.OP_EXPM1: "expm1({0})",
    ca.OP_LOG1P: "log1p({0})",
    ca.OP_SIN: "sin({0})",
    ca.OP_COS: "cos({0})",
    ca.OP_TAN: "tan({0})",
    ca.OP_ASIN: "asin({0})",
    ca.OP_ACOS: "acos({0})",
    ca.OP_ATAN: "atan({0})",
    ca.OP_ATAN2: "atan2({0}, {1})",
    ca.OP_SINH: "sinh({0})",
    ca.OP_COSH: "cosh({0})",
    ca.OP_TANH: "tanh({0})",
    ca.OP_ASINH: "asinh({0})",
    ca.OP_ACOSH: "acosh({0})",
    ca.OP_ATANH: "atanh({0})",
    ca.OP_HYPOT: "hypot({0}, {1})",
    ca.OP_FABS: "fabs({0})",
    ca.OP_FMIN: "fmin({0}, {1})",
    ca.OP_FMAX: "fmax({0}, {1})",
    ca.OP_FMOD: "fmod({0}, {1})",
    ca.OP_FLOOR: "floor({0})",
    ca.OP_CEIL: "ceil({0})",
    ca.OP_COPYSIGN: "copysign({0}, {1})",
    ca.OP_SIGN: "{0} < 0.0 ? -1.0 : {0} > 0.0 ? 1.0 : {0}",
    ca.OP_LT: "{0} < {1}",
    ca.OP_LE: "{0} <= {1}",
    ca.OP_EQ: "{0} == {1}",
    ca.OP_NE: "{0} != {1}",
    ca.OP_NOT: "!{0}",
    ca.OP_AND: "{0} != 0.0 && {1} != 0.0",  # clang warns of numbers as conditions
    ca.OP_OR: "{0} != 0.0 || {1} != 0.0",
    ca.OP_IF_ELSE_ZERO: "{0} ? {1} : 0.0",
}


@dataclass(frozen=True)
class Tape:
    """By operations: their C, what they are of, and the places in results where they are wanted."""

    operators: list[str] = field(default_factory=list)
    operands: list[tuple[Value, ...]] = field(default_factory=list)
    results: list[tuple[Value, ...]] = field(default_factory=list)

    def add(self, operator: str, *operands: Value | str) -> Value:
        """Append an operation; constants, given as C, become part of its operator."""
        values = tuple(x for x in operands if not isinstance(x, str))
        if len(values) < len(operands):
            places = iter(range(len(values)))
            operator = operator.format(*(x if isinstance(x, str) else f"{{{next(places)}}}" for x in operands))
        self.operators.append(operator)
        self.operands.append(values)
        self.results.append(())
        return COMPUTED, len(self.operators) - 1

    def write(self, value: Value | str, place: Value) -> None:
        """Let a number be a result."""
        if isinstance(value, str) or value[0] != COMPUTED:
            value = self.add("{0}", value)
        self.results[value[1]] += (place,)


def tape(function: ca.Function) -> Tape:
    """Of a function of scalars (SX) whose results are dense.

    Raises BuildError if CasADi has an operation that is not known here.
    """
    made = Tape()
    held: dict[int, Value | str] = {}  # by CasADi's registers
    for k in range(function.n_instructions()):
        kind, given, place = (
            function.instruction_id(k),
            function.instruction_input(k),
            function.instruction_output(k),
        )
        if kind == ca.OP_OUTPUT:
            made.write(held[given[0]], (place[0], place[1]))
        elif kind == ca.OP_INPUT:
            held[place[0]] = given[0], given[1]
        elif kind == ca.OP_CONST:
            held[place[0]] = _literal(function.instruction_constant(k))
        else:
            held[place[0]] = made.add(_operator(kind), *[held[register] for register in given])
    return made


def _operator(kind: int) -> str:
    if kind not in _OPERATORS:
        names = [name for name in dir(ca) if name.startswith("OP_") and getattr(ca, name) == kind]
        raise BuildError(
            f"CasADi {version('casadi')} uses the operation {', '.join(names) or kind}, which is not known here;"
            " install a version that the package asks for: pip install 'casadi>=3.6.5,<3.9'"
        )
    return _OPERATORS[kind]


def _literal(number: float) -> str:
    if not math.isfinite(number):
        return "NAN" if math.isnan(number) else "INFINITY" if number > 0 else "(-INFINITY)"
    return repr(number) if math.copysign(1.0, number) > 0 else f"({number!r})"
