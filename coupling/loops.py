"""Solution of algebraic loops, formed by the connections of a coupled system, at the initial time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..core.errors import SolveError
from ..core.trajectory import Array
from .network import Network

Evaluation = Callable[[Array], Array]
_SINGULAR = 1e12  # A Jacobian matrix counts as singular if its condition number exceeds this value.
# Two solutions of an algebraic loop differ if an input differs by over this fraction of max(1, largest input).
_OTHER = 1e-6


def consistent_outputs(network: Network) -> tuple[Array, Array | None]:
    """Return outputs and pin forces that satisfy all connections at the start, and a second solution.

    A pin is a rigid connection of two positions by a pair of opposite forces. Both results have the
    shape (n_y + pins,) for n_y outputs. Algebraic loops are solved by Newton's method. The search
    is repeated from other starting points, because a loop may have several solutions. The second
    solution is None if no other solution is found.

    Raises
    ------
    SolveError : if a loop has no solution, or infinitely many
    """

    def outputs(inputs: Array) -> Array:
        found = np.zeros(network.n_y + len(network.pins))
        for part, columns, rows in zip(network.parts, network.columns, network.rows, strict=True):
            found[rows] = part.try_inputs(inputs[columns])
        return found

    def evaluated(inputs: Array) -> Array:
        return network.inputs_at(outputs(inputs))

    # If the FMUs form no algebraic loop, their inputs are consistent after at most this number of evaluations.
    passes = len(network.parts) + 2
    u = _passed(evaluated, network.starts, passes)
    again = _passed(evaluated, network.starts + 1.0, passes)
    if u is not None and again is not None and np.allclose(again, u, rtol=1e-9, atol=1e-9):
        return outputs(u), None
    u = _solution(evaluated, network) if u is None else u
    _check_unique(evaluated, u, network)
    second = _second(evaluated, u)
    other = None if second is None else outputs(second)
    # An FMU keeps its last inputs, so the last evaluation must use inputs that satisfy the algebraic loops.
    return outputs(u), other


def _passed(evaluated: Evaluation, u: Array, passes: int) -> Array | None:
    """Return inputs that satisfy all connections, found by fixed-point iteration.

    Each iteration evaluates all FMUs. The result is None if the inputs still change after `passes`
    iterations.
    """
    for _ in range(passes):
        new = evaluated(u)
        if np.allclose(new, u, rtol=1e-13, atol=1e-300):
            return u
        u = new
    return None


def _solution(evaluated: Evaluation, network: Network) -> Array:
    """Return inputs that satisfy all connections, found by Newton's method.

    Raises
    ------
    SolveError : if no solution is found
    """
    u, jacobian = _newton(evaluated, evaluated(network.starts))
    if jacobian is None:
        return u
    r = evaluated(u) - u
    if not np.all(np.isfinite(r)):
        # If all inputs have finite start values, an infinite or NaN output shows that its own FMU fails.
        first = evaluated(network.starts)
        lost = np.flatnonzero(~np.isfinite(first if not np.isfinite(first).all() else r))
        label = network.label(int(network.source[lost[0]]))
        raise SolveError(f"coupling: {label} is not finite at the start; correct the initial states")
    raise SolveError(
        f"coupling: the loop of {_names(network, np.abs(r) > 1e-9)} has no solution at the start, or the solver"
        " does not find one; give start values, or break the loop by an FMU whose output is a state"
    )


def _names(network: Network, chosen: NDArray[np.bool_]) -> str:
    return ", ".join(".".join(network.inputs[k]) for k in np.flatnonzero(chosen)) or "the inputs"


def _check_unique(evaluated: Evaluation, u: Array, network: Network) -> None:
    """Raise SolveError if the solution u of the algebraic loops is not unique (singular Jacobian)."""
    jacobian = _jacobian(evaluated, u, evaluated(u) - u)
    _, size, right = np.linalg.svd(jacobian)
    if size[-1] * _SINGULAR < size[0]:
        names = _names(network, np.abs(right[-1]) > 1e-6)
        raise SolveError(
            f"coupling: the loop of {names} has infinitely many solutions at the start; break the loop by an FMU"
            " whose output is a state"
        )


def _second(evaluated: Evaluation, u: Array) -> Array | None:
    """Return a second solution of the algebraic loops, or None if no other solution is found.

    The search begins at points that are far from the known solution `u`.
    """
    size = max(1.0, float(np.max(np.abs(u))))
    for begin in _starts(u, size):
        found, jacobian = _newton(evaluated, begin)
        if jacobian is None and np.max(np.abs(found - u)) > _OTHER * size:
            return found
    return None


def _starts(u: Array, size: float) -> Iterator[Array]:
    yield -u
    for shift in (3.0 * size, -3.0 * size):
        yield u + shift


def _newton(evaluated: Evaluation, u: Array) -> tuple[Array, Array | None]:
    """Solve u = f(u) by Newton's method, starting from the given inputs u.

    If the iteration converges, return the solution and None. Otherwise, return the last iterate of u
    and the last Jacobian of f(u) − u.
    """
    jacobian = np.full((len(u), len(u)), np.nan)
    for _ in range(30):
        r = evaluated(u) - u
        if np.all(np.abs(r) <= 1e-10 * _sizes(u)):
            return u, None
        jacobian = _jacobian(evaluated, u, r)
        if not np.all(np.isfinite(jacobian)) or np.linalg.cond(jacobian) > _SINGULAR:
            break
        u = u - np.linalg.solve(jacobian, r)
    return u, jacobian


def _sizes(u: Array) -> Array:
    return np.asarray(np.maximum(np.abs(u), 1e-6 * max(float(np.max(np.abs(u))), 1.0)))


def _jacobian(evaluated: Evaluation, u: Array, r: Array) -> Array:
    found = np.empty((len(u), len(u)))
    for k, change in enumerate(1e-6 * _sizes(u)):
        nudged = u.copy()
        nudged[k] += change
        found[:, k] = (evaluated(nudged) - nudged - r) / change
    return found
