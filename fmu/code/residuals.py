"""Constraint rows at one state with their exact derivatives, by CasADi: the normals of their manifold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...generator.program.items import given, used
from ...generator.program.program import Lookup, Program
from ...language.ir import Expr
from .casadi_eval import SX, Evaluator

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Residual:
    """All m rows at one level, positions or velocities; a row's unit is its own.

    values    shape (m,): Φ or Φ̇
    slopes    shape (m, k): by k signals
    in_time   shape (m,): by the time, per s
    rows      indices of the rows that ask for something at this level
    """

    values: Array
    slopes: Array
    in_time: Array
    rows: tuple[int, ...]


def residual(
    program: Program, level: str, start_values: dict[str, float], t: float, at: Mapping[str, float]
) -> Residual:
    """Rows at the time t, s, and at signals, in their units; parameters have the values of the description.

    level         position | velocity
    start_values  what each `start(x)` stands for, by its name
    at            coordinates, their rates and whatever else the rows depend on: signal → value
    """
    if level not in program.residuals:
        return Residual(np.zeros(0), np.zeros((0, len(at))), np.zeros(0), ())
    time, signals = ca.SX.sym("time"), ca.SX.sym("signals", len(at))
    fixed: dict[str, Any] = {parameter.name: parameter.value for parameter in program.parameters}
    known: dict[str, SX] = {name: ca.SX(np.atleast_1d(value)) for name, value in (fixed | start_values).items()}
    known |= {lookup.name: _piece(program, lookup, known, t) for lookup in program.lookups}
    known |= {"time": time, **dict(zip(at, ca.vertsplit(signals), strict=True))}
    vector = _evaluated(program, program.residuals[level], known)
    function = ca.Function("residual", [time, signals], _with_slopes(vector, time, signals))
    values, slopes, in_time = (np.array(part) for part in function(t, list(at.values())))
    present = tuple(i for i in range(vector.numel()) if not vector[i].is_constant())
    return Residual(values.ravel(), slopes, in_time.ravel(), present)


def _with_slopes(vector: SX, time: SX, signals: SX) -> Sequence[SX]:
    return [vector, ca.densify(ca.jacobian(vector, signals)), ca.densify(ca.jacobian(vector, time))]


def _piece(program: Program, lookup: Lookup, known: Mapping[str, SX], t: float) -> SX:
    """Polynomial piece of a lookup table at the time t, s."""
    begin, rate = (float(_evaluated(program, expr, known)) for expr in (lookup.begin, lookup.rate))
    return ca.SX(lookup.table.piece(begin + rate * t).tolist())


def _evaluated(program: Program, expr: Expr, known: Mapping[str, SX]) -> SX:
    needed = set(expr.symbols)
    for item in reversed(program.items):
        if needed & set(given(item)) - set(known):
            needed |= used(item)
    evaluator = Evaluator(program, known, None)
    evaluator.prepare(needed)
    return evaluator(expr)
