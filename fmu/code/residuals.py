"""Constraint residuals and their exact derivatives at one state, computed with CasADi."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...generator.program.items import given, used
from ...generator.program.program import EquationSystem, Lookup
from ...language.ir import Expr
from .casadi_eval import SX, Evaluator

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Residual:
    """Residuals of all m constraint equations at position or velocity level.

    Each residual has the unit of its constraint equation.

    Attributes
    ----------
    values : ndarray, shape (m,)
        Residuals Φ or their time derivatives Φ̇.
    slopes : ndarray, shape (m, k)
        Partial derivatives with respect to k signals.
    in_time : ndarray, shape (m,)
        Partial derivatives with respect to time, per second.
    rows : tuple of int
        Indices of the constraint equations whose residuals are not constant.
    """

    values: Array
    slopes: Array
    in_time: Array
    rows: tuple[int, ...]


def residual(
    program: EquationSystem, level: str, start_values: dict[str, float], t: float, at: Mapping[str, float]
) -> Residual:
    """Return constraint residuals and their partial derivatives for default parameters.

    Parameters
    ----------
    program : EquationSystem
        Equations of the mechanism.
    level : str
        Level of the constraints, "position" or "velocity".
    start_values : dict
        Values of the `start(x)` expressions by their names.
    t : float
        Time, s.
    at : mapping
        Values of the signals on which the constraints depend, such as coordinates and rates. The keys
        are names of signals; each value has the unit of its signal.
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


def _piece(program: EquationSystem, lookup: Lookup, known: Mapping[str, SX], t: float) -> SX:
    begin, rate = (float(_evaluated(program, expr, known)) for expr in (lookup.begin, lookup.rate))
    return ca.SX(lookup.table.piece(begin + rate * t).tolist())


def _evaluated(program: EquationSystem, expr: Expr, known: Mapping[str, SX]) -> SX:
    needed = set(expr.symbols)
    for item in reversed(program.items):
        if needed & set(given(item)) - set(known):
            needed |= used(item)
    evaluator = Evaluator(program, known, None)
    evaluator.prepare(needed)
    return evaluator(expr)
