"""Conversion of a CasADi function to a tape: a sequence of elementary operations without control
flow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from typing import TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...core.errors import BuildError
from .casadi_eval import SX

Integers: TypeAlias = NDArray[np.int64]
# `COMPUTED` marks operands that are results of operations, and `NOTHING` marks missing operands.
COMPUTED, NOTHING = -1, -2
# CasADi's operation OP_OUTPUT copies an argument or a constant to a result.
_OPERATORS = {
    ca.OP_OUTPUT: "{0}",
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
    # Explicit comparisons with zero prevent clang's warning about numbers that are used as conditions.
    ca.OP_AND: "{0} != 0.0 && {1} != 0.0",
    ca.OP_OR: "{0} != 0.0 || {1} != 0.0",
    ca.OP_IF_ELSE_ZERO: "{0} ? {1} : 0.0",
}


@dataclass(frozen=True)
class Tape:
    """Sequence of n elementary operations, stored in arrays because n can exceed 100,000.

    Attributes
    ----------
    operators : sequence of str
        Templates of C expressions for the operators that occur.
    codes : ndarray, shape (n,)
        Index in `operators` for each operation.
    blocks : ndarray, shape (n, 2)
        Source of each operand: index of a function argument, COMPUTED for the result of an
        operation, or NOTHING for a missing operand.
    elements : ndarray, shape (n, 2)
        Index of the element in the argument, or index of the operation that computes the operand.
    results : dict
        Mapping from the index of an operation to the results that the operation writes. Each result is
        a pair of result index and element index.
    """

    operators: Sequence[str]
    codes: Integers
    blocks: Integers
    elements: Integers
    results: dict[int, list[tuple[int, int]]]


class _Instructions:
    """Instructions of a CasADi function, with methods that convert the function to a tape.

    The function has N instructions, of which n are elementary operations.
    """

    def __init__(self, function: ca.Function) -> None:
        self._function = function
        every = range(function.n_instructions())
        self._kinds = np.fromiter(map(function.instruction_id, every), np.int64, len(every))
        self._given = self._read()
        self._sources = self._latest()
        self._constant = (self._kinds[self._sources] == ca.OP_CONST) & (self._sources >= 0)
        self._computed = ~np.isin(self._kinds, (ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT))
        given_back = (self._kinds == ca.OP_OUTPUT) & ~self._computed[self._sources[:, 0]]
        self._operations = self._computed | given_back
        self._numbers = np.cumsum(self._operations) - 1

    def _read(self) -> Integers:
        """Return the indices of the registers that each CasADi instruction reads, shape (N, 2).

        An entry is −1 if the instruction has fewer operands. An instruction that loads a function
        argument reads no register. Its row contains the index of the argument and the index of the
        element.
        """
        _, examples, which = np.unique(self._kinds, return_index=True, return_inverse=True)
        counts = np.array([len(self._function.instruction_input(k)) for k in examples.tolist()], dtype=int)
        given = chain.from_iterable(map(self._function.instruction_input, range(len(which))))
        pairs = np.full((len(which), 2), -1)
        pairs[np.arange(2) < counts[which][:, None]] = np.fromiter(given, np.int64)
        return pairs

    def _latest(self) -> Integers:
        """Return the index of the instruction that wrote each operand, shape (N, 2).

        Row k contains the indices for the operands of instruction k. Operands are read from registers.
        An entry is −1 for a missing operand.
        """
        writers = np.flatnonzero(self._kinds != ca.OP_OUTPUT)
        if self._function.sz_w() != len(writers):
            raise ValueError(
                f"CasADi function {self._function.name()} reuses registers: expected one register per operation;"
                " create the function by with_own_registers"
            )
        reads = (self._given >= 0) & (self._kinds != ca.OP_INPUT)[:, None]
        return np.where(reads, writers[np.where(reads, self._given, 0)], -1)

    def operands(self) -> tuple[Integers, Integers]:
        """Return two arrays of shape (n, 2): the source of each operand, and its index in the source.

        Row k belongs to operation k, which has at most two operands.
        """
        sources, computed = self._sources, self._computed[self._sources]
        blocks = np.where(computed, COMPUTED, self._given[sources, 0])
        elements = np.where(computed, self._numbers[sources], self._given[sources, 1])
        blocks[self._constant | (sources < 0)] = NOTHING
        # A constant first operand is written into the C code itself, so column 0 contains the second operand.
        for found in (blocks, elements):
            found[self._constant[:, 0]] = found[self._constant[:, 0], ::-1]
        return blocks[self._operations], elements[self._operations]

    def operators(self) -> tuple[list[str], Integers]:
        """Return a list of C expression templates, and for each operation the index of its template.

        A template contains the constant operands of its operation.
        """
        found: dict[str, int] = {}
        codes = np.zeros_like(self._kinds)
        for kind in np.unique(self._kinds[self._operations]):
            codes[self._kinds == kind] = found.setdefault(_operator(kind), len(found))
        for k in np.flatnonzero(self._operations & self._constant.any(axis=1)).tolist():
            codes[k] = found.setdefault(self._with_constants(k), len(found))
        return list(found), codes[self._operations]

    def _with_constants(self, k: int) -> str:
        places = iter(range(2))
        operands = [
            _literal(self._function.instruction_constant(source)) if constant else f"{{{next(places)}}}"
            for source, constant in zip(self._sources[k].tolist(), self._constant[k], strict=True)
        ]
        return _operator(self._kinds[k]).format(*operands)

    def results(self) -> dict[int, list[tuple[int, int]]]:
        """Return the elements that each operation writes, by index of the operation.

        An element is given as a pair: the index of a function result, and the index of the element in
        this result. Operations that write no function result are omitted.
        """
        found: dict[int, list[tuple[int, int]]] = {}
        for k in np.flatnonzero(self._kinds == ca.OP_OUTPUT).tolist():
            number = self._numbers[k if self._operations[k] else self._sources[k, 0]]
            result, element = self._function.instruction_output(k)
            found.setdefault(int(number), []).append((result, element))
        return found


def with_own_registers(name: str, arguments: Sequence[SX], results: Sequence[SX]) -> ca.Function:
    """Return a CasADi function in which each operation writes to a separate register.

    The registers are numbered in order of evaluation. Only such functions can be converted by `tape`.
    """
    return ca.Function(name, list(arguments), list(results), {"live_variables": False})


def tape(function: ca.Function) -> Tape:
    """Convert a CasADi function to a tape of elementary operations.

    Parameters
    ----------
    function : casadi.Function
        Function of type SX with dense results, created by `with_own_registers`.

    Returns
    -------
    Tape
        Elementary operations of the function, in order of evaluation.

    Raises
    ------
    BuildError
        If the function contains a CasADi operation without a C template.
    """
    found = _Instructions(function)
    return Tape(*found.operators(), *found.operands(), found.results())


def _operator(kind: int) -> str:
    if kind not in _OPERATORS:
        names = [name for name in dir(ca) if name.startswith("OP_") and getattr(ca, name) == kind]
        raise BuildError(
            f"CasADi {version('casadi')} uses the operation {', '.join(names) or kind}, which gpmelica cannot"
            " write as C code; install a supported version: pip install 'casadi>=3.6.5,<3.9'"
        )
    return _OPERATORS[kind]


def _literal(number: float) -> str:
    if not math.isfinite(number):
        return "NAN" if math.isnan(number) else "INFINITY" if number > 0 else "(-INFINITY)"
    return repr(number) if math.copysign(1.0, number) > 0 else f"({number!r})"
