"""Initial value problem of the reference solver, with formulation and coordinate partition.

Independent equations are chosen on the constraint manifold. The dependent coordinates are named in
the description, or are chosen by means of the constraint Jacobian.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core.trajectory import Array
from ...mechanism import Mechanism
from ..constraints.choice import RowChoice, choose_rows, rank_at
from ..constraints.redundancy import Rank
from ..forces.element import Input
from ..kinematics.quantities import KinematicState
from .formulations import FORMULATIONS, Gpme
from .gpme import choose_dependent, dependent_indices
from .manifold import Manifold
from .model import ReferenceModel, Start

# A Jacobian row counts as zero if |row| / (sum of |terms|) is below this multiple of the relative error of q.
_MARGIN = 10.0


@dataclass(frozen=True, eq=False)
class InitialValueProblem:
    """Equations of motion of a mechanism, with initial state and inputs.

    All attributes that require computation are computed once, at their first use.

    Attributes
    ----------
    mechanism : Mechanism
        Bodies, force elements and tasks as numbers.
    start : tuple of arrays
        Initial coordinates q0 (rad or m) and velocities qd0 (rad/s or m/s), shape (n,) each.
    inputs : mapping, optional
        FMU inputs by symbol: numbers, or functions of time in s; zero by default.
    dependent : sequence of str, optional
        Names of the dependent coordinates, or "auto"; by default the description's choice.
    """

    mechanism: Mechanism
    start: Start
    inputs: Mapping[str, Input] | None = None
    dependent: Sequence[str] | None = None

    @cached_property
    def model(self) -> ReferenceModel:
        return ReferenceModel(self.mechanism, start=self.start, inputs=self.inputs)

    @cached_property
    def initial_state(self) -> KinematicState:
        """Kinematic state at t = 0."""
        q, qd = (np.asarray(part, dtype=float) for part in self.start)
        return self.model.state(0.0, q, qd)

    @cached_property
    def rows(self) -> RowChoice:
        """Choice of independent constraint equations.

        Raises SolveError if the choice in the description is invalid.
        """
        return row_choice(self.model, self.initial_state)

    @cached_property
    def form(self) -> Gpme:
        """Formulation that computes the accelerations; raises SolveError for invalid dependent coordinates."""
        return self.formulation(self.dependent)

    def formulation(self, dependent: Sequence[str] | None) -> Gpme:
        """Return the formulation of the equations of motion for a choice of dependent coordinates.

        The argument contains names of coordinates, or is "auto" or None. With None, the description's
        choice is used.
        """
        return _formulation(self.model, self.initial_state, self.rows, dependent)

    @cached_property
    def solvability(self) -> Solvability:
        """Constraint rank, redundant equations and coordinate partition in the initial state."""
        rows, names = self.rows, self.model.constraints.names
        return Solvability(
            dependent=self.form.partition(self.model.constraints(self.initial_state).C).names,
            independent=tuple(names[k] for k in rows.independent),
            without_drive=tuple(names[k] for k in rows.drives.rows),
            redundant=tuple(tuple(names[k] for k in group) for group in rows.groups),
            rank=rows.rank.rank,
            tolerance=rows.rank.tolerance,
            gap=(rows.rank.smallest, rows.rank.largest),
            extent=rows.extent,
        )

    def rank_at(self, t: float, q: Array, qd: Array) -> Rank:
        """Return the rank of the constraint Jacobian at time t, s, with q and qd of shape (n,)."""
        model = self.model
        return rank_at(self.mechanism, model.constraints, *_fulfilled(model, model.state(t, q, qd)))


def formulation(model: ReferenceModel, start: KinematicState, dependent: Sequence[str] | None = None) -> Gpme:
    """Return the formulation of the equations of motion that the description selects.

    Parameters
    ----------
    model : ReferenceModel
        Equations of motion.
    start : KinematicState
        Initial state. Independent equations are chosen at the nearest state that fulfils the position
        constraints.
    dependent : sequence of str, optional
        Names of the dependent coordinates, or "auto"; by default the description's choice.

    Raises
    ------
    SolveError
        If the choice of equations or coordinates in the description is invalid.
    """
    return _formulation(model, start, row_choice(model, start), dependent)


def _formulation(
    model: ReferenceModel, start: KinematicState, rows: RowChoice, dependent: Sequence[str] | None
) -> Gpme:
    mechanism = model.mechanism
    choice = dependent or mechanism.chain.constraints.dependent
    form = FORMULATIONS[mechanism.formulation]
    if choice != "auto":
        return form(mechanism, rows, dependent_indices(mechanism, choice, rows.rank.rank))
    C = model.constraints(start).C
    return form(mechanism, rows, choose_dependent(mechanism, rows.basis(C) @ C) if form.reduced else None)


def row_choice(model: ReferenceModel, start: KinematicState) -> RowChoice:
    """Return the choice of independent constraint equations.

    The choice is made at the state nearest to `start` that fulfils the position constraints.
    """
    return choose_rows(model.mechanism, model.constraints, *_fulfilled(model, start))


def _fulfilled(model: ReferenceModel, near: KinematicState) -> tuple[KinematicState, float]:
    """Return the nearest state that fulfils the position constraints, and the error of its coordinates.

    If no such state is found, the given state and the error 0 are returned.
    """
    nearest = Manifold(model, near).nearest(near)
    if nearest.fulfilled:
        return nearest.state, _MARGIN * nearest.uncertainty
    # Without a consistent state, the position error is set to 0; otherwise equations could seem redundant.
    return near, 0.0


@dataclass(frozen=True)
class Solvability:
    """Rank, redundancy and coordinate partition of the constraints in the initial state.

    See Wojtyra and Frączek 2013, sections 2.1 and 3.1.

    Attributes
    ----------
    dependent : tuple of str
        Names of the dependent coordinates, one for each independent equation.
    independent : tuple of str
        Names of independent equations. The solver uses these equations, or combinations of all
        equations if `redundant = "minimum_norm"`.
    without_drive : tuple of str
        Names of independent equations that no drive realises: knife edges, closures and a fixed base.
        Empty if all joints have a drive.
    redundant : tuple of tuple of str
        Groups of mutually dependent equations.
    rank : int
        Rank of the constraint Jacobian with rows of length 1.
    tolerance : float
        Threshold; singular values up to it count as zero.
    gap : tuple of float
        Smallest singular value above the threshold, and largest singular value that counts as zero.
    extent : float
        Characteristic length of the mechanism, m, see `extent.units_of_change`.
    """

    dependent: tuple[str, ...]
    independent: tuple[str, ...]
    without_drive: tuple[str, ...]
    redundant: tuple[tuple[str, ...], ...]
    rank: int
    tolerance: float
    gap: tuple[float, float]
    extent: float
