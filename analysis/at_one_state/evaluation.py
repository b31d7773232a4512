"""Evaluation of the equations of motion at one state: accelerations and joint reactions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...core.trajectory import Array
from ...reference.forces.joint_loads import all_links
from ...reference.solve.formulations import StateEquations
from ...reference.solve.model import Evaluation
from ...reference.solve.solver import InitialValueProblem


def evaluate(
    problem: InitialValueProblem,
    t: float,
    q: ArrayLike,
    qd: ArrayLike,
    z: ArrayLike | None = None,
) -> Evaluation:
    """Evaluate the equations of motion at one state: M, h, Q, Φ, C, γ, q̈, λ and friction.

    With `gpme_reduced`, the velocities of dependent coordinates follow from the constraints instead of
    qd.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of the mechanism.
    t : float
        Time, s.
    q, qd : array_like, shape (n,)
        Coordinates, rad or m, and rates, rad/s or m/s.
    z : array_like, shape (f + s,), optional
        Friction states, rad or m, in the order of their coordinates, then internal states of filters and
        controllers; by default their initial values.

    Raises
    ------
    SolveError
        If C_d is singular.
    """
    return _Point(problem, t, (q, qd), z).found


def accelerations_by_rows(problem: InitialValueProblem, found: Evaluation, names: Collection[str]) -> Array:
    """Return the accelerations that the right-hand sides γ of selected constraint equations cause.

    All forces, and the right-hand sides γ of all other constraint equations, are set to zero.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of the mechanism.
    found : Evaluation
        Evaluation at one state.
    names : collection of str
        Names of the selected constraint equations.

    Returns
    -------
    ndarray, shape (n,)
        Accelerations q̈, rad/s² or m/s².
    """
    wanted = np.where([name in names for name in found.rows], found.gamma, 0.0)
    system = StateEquations(0.0, found.M, np.zeros((len(found.h), 1)), found.C, wanted[:, None])
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
    """Return the joint reactions: the wrench that each joint transmits to the subtree of its link.

    A reaction has the components fx fy fz nx ny nz, N and N·m. Reference point and axes are those of
    the link's frame, which moves with the link. The reaction includes the forces of the joint's
    springs, dampers, drive and friction. A drive exerts the effort that the programmed constraints
    require.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of the mechanism.
    t : float
        Time, s.
    q, qd : array_like, shape (n,)
        Coordinates, rad or m, and rates, rad/s or m/s.
    z : array_like, shape (f + s,), optional
        Friction and internal states; see `evaluate`.
    links : sequence of str, optional
        Names of the links; default all.

    Returns
    -------
    dict
        Reactions, shape (6,), by link.

    Raises
    ------
    SolveError
        If a link is unknown, or C_d is singular.
    """
    point = _Point(problem, t, (q, qd), z)
    joints = point.model.joint_loads(all_links(problem.mechanism) if links is None else links)
    return dict(zip(joints.links, point.model.loads_at(joints, point.state, point.found), strict=True))


class _Point:
    """State at one instant, and the solution of the equations of motion in this state; see `evaluate`."""

    def __init__(
        self, problem: InitialValueProblem, t: float, at: tuple[ArrayLike, ArrayLike], z: ArrayLike | None
    ) -> None:
        self.model = problem.model
        q, qd = (np.asarray(part, dtype=float) for part in at)
        bristles, lag = self.model.further(None if z is None else np.asarray(z, dtype=float))
        self.state = self.model.consistent(self.model.state(t, q, qd, lag=lag), problem.form)
        self.found = self.model.evaluate(self.state, problem.form, bristles)
