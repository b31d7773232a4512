"""Everything at one state, in one call: motion, joint loads, closure forces."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...core.trajectory import Array
from ...reference.forces.joint_loads import all_links
from ...reference.solve.formulations import System
from ...reference.solve.model import Evaluation
from ...reference.solve.solver import InitialValueProblem


def evaluate(
    problem: InitialValueProblem,
    t: float,
    q: ArrayLike,
    qd: ArrayLike,
    z: ArrayLike | None = None,
) -> Evaluation:
    """M, h, Q, Φ, C, γ, q̈, λ and friction at t, s, q and qd, shape (n,), rad or m (per s).

    With `gpme_reduced` the velocities of dependent coordinates follow from the constraints and not from qd.

    z   friction states, rad or m, in the order of their coordinates, then offset and rate of each filter;
        shape (f + 2k,), default 0
    Raises SolveError where C_d is singular.
    """
    return _Point(problem, t, (q, qd), z).found


def accelerations_by_rows(problem: InitialValueProblem, found: Evaluation, names: Collection[str]) -> Array:
    """Accelerations that the right-hand sides of some constraint rows alone cause, without forces.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of the mechanism.
    found : Evaluation
        Evaluation at one state.
    names : collection of str
        Names of rows, whose γ acts; γ of all others is zero.

    Returns
    -------
    Array
        q̈, shape (n,), rad/s² or m/s².
    """
    wanted = np.where([name in names for name in found.rows], found.gamma, 0.0)
    system = System(0.0, found.M, np.zeros((len(found.h), 1)), found.C, wanted[:, None])
    return problem.form.accelerations(system)[:, 0]


def joint_loads(
    problem: InitialValueProblem,
    t: float,
    q: ArrayLike,
    qd: ArrayLike,
    z: ArrayLike | None = None,
    *,
    links: Sequence[str] | None = None,
) -> dict[str, Array]:
    """Wrenches that the links' joints transmit to all they carry, by link, shape (6,).

    fx fy fz nx ny nz, N and N·m, about the origin and in the axes of the link's frame, which moves with its joint.
    Springs, dampers, drives and friction of a joint are part of what it transmits; drives realise the programmed
    constraints. For the other arguments see `evaluate`.

    links   names; default all
    Raises SolveError for an unknown link, and as `evaluate` does.
    """
    point = _Point(problem, t, (q, qd), z)
    joints = point.model.joint_loads(all_links(problem.mechanism) if links is None else links)
    return dict(zip(joints.links, point.model.loads_at(joints, point.state, point.found), strict=True))


def closure_wrenches(
    problem: InitialValueProblem,
    t: float,
    q: ArrayLike,
    qd: ArrayLike,
    z: ArrayLike | None = None,
) -> dict[str, Array]:
    """Return the wrench of each closure on the body of its frame b, shape (6,), by name of the closure.

    The wrench is that of the constraint, or of spring and damper: fx fy fz nx ny nz, N and N·m, about the origin
    of frame b, in world axes. The body of frame a bears the opposite wrench. With `axes = "world"` alone the
    forces of the springs act at different points, the origins of b and of a.
    For the arguments see `evaluate`.
    """
    point = _Point(problem, t, (q, qd), z)
    return point.model.closure_wrenches(point.state, point.found)


class _Point:
    """One state, and the solution of the equations there; see `evaluate`."""

    def __init__(
        self, problem: InitialValueProblem, t: float, at: tuple[ArrayLike, ArrayLike], z: ArrayLike | None
    ) -> None:
        self.model = problem.model
        q, qd = (np.asarray(part, dtype=float) for part in at)
        bristles, lag = self.model.further(None if z is None else np.asarray(z, dtype=float))
        self.state = self.model.consistent(self.model.state(t, q, qd, lag=lag), problem.form)
        self.found = self.model.evaluate(self.state, problem.form, bristles)
