"""The description's formulation made ready: rows chosen on the constraint manifold, coordinates by name or C."""

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

_MARGIN = 10.0  # of the coordinates' uncertainty: rows that are not longer are zero


@dataclass(frozen=True, eq=False)
class InitialValueProblem:
    """Equations of motion of a mechanism with initial state and inputs, each part built once, at its first use.

    Attributes
    ----------
    mechanism : Mechanism
        Bodies, force elements and tasks as numbers.
    start : tuple of arrays
        Initial coordinates and rates (q0, qd0), shape (n,) each, rad or m (per s).
    inputs : mapping, optional
        FMU inputs by symbol: numbers, or functions of time in s; default zero.
    dependent : sequence of str, optional
        Dependent coordinates, or "auto"; default the description's choice.
    """

    mechanism: Mechanism
    start: Start
    inputs: Mapping[str, Input] | None = None
    dependent: Sequence[str] | None = None

    @cached_property
    def model(self) -> ReferenceModel:
        """Equations of motion, compiled for many evaluations."""
        return ReferenceModel(self.mechanism, start=self.start, inputs=self.inputs)

    @cached_property
    def initial_state(self) -> KinematicState:
        """Kinematics at t = 0."""
        q, qd = (np.asarray(part, dtype=float) for part in self.start)
        return self.model.state(0.0, q, qd)

    @cached_property
    def rows(self) -> RowChoice:
        """Choice of the constraint equations that are kept; raises SolveError for an invalid one by name."""
        return row_choice(self.model, self.initial_state)

    @cached_property
    def form(self) -> Gpme:
        """Solution of the equations by the description's formulation; raises SolveError, see `formulation`."""
        return self.formulation(self.dependent)

    def formulation(self, dependent: Sequence[str] | None) -> Gpme:
        """Solution for these dependent coordinates, "auto", or by default the description's choice."""
        return _formulation(self.model, self.initial_state, self.rows, dependent)

    @cached_property
    def solvability(self) -> Solvability:
        """Rank of C, redundant rows and a regular choice of coordinates and rows at the start."""
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
        """Rank of C in a state: t in s, q and qd of shape (n,)."""
        model = self.model
        return rank_at(self.mechanism, model.constraints, *_fulfilled(model, model.state(t, q, qd)))


def formulation(model: ReferenceModel, start: KinematicState, dependent: Sequence[str] | None = None) -> Gpme:
    """Solution of a model's equations.

    start       where the run begins: rows are chosen in the nearest state that fulfils the position constraints
    dependent   dependent coordinates, or "auto"; default: the description's choice
    Raises SolveError for rows or coordinates that the description names and that do not do.
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
    """Return the kept constraints, chosen in the nearest state that fulfils the position constraints."""
    return choose_rows(model.mechanism, model.constraints, *_fulfilled(model, start))


def _fulfilled(model: ReferenceModel, near: KinematicState) -> tuple[KinematicState, float]:
    """The nearest state that fulfils the position constraints, and how uncertain its coordinates are."""
    nearest = Manifold(model, near).nearest(near)
    if nearest.fulfilled:
        return nearest.state, _MARGIN * nearest.uncertainty
    # What the rows demand cannot be had near by: there they would only seem to depend on each other.
    return near, 0.0


@dataclass(frozen=True)
class Solvability:
    """Rank, redundancy and coordinate partition in the initial state (Wojtyra and Frączek 2013, 2.1, 3.1).

    dependent      names of dependent coordinates, one per independent row, in the mechanism's order
    independent    names of rows that do not depend on each other, in the rows' order: those that are kept unless
                   `redundant = "minimum_norm"`
    without_drive  names of independent rows that no drive realises (knife edges, closures, the base's);
                   none where all joints have a drive
    redundant      groups of names of rows that depend on each other
    rank           of C, rows scaled to length 1
    tolerance      singular values of that C up to it count as zero
    gap            the smallest singular value that counts, and the largest that does not
    extent         of the mechanism, m, see `extent.units_of_change`
    """

    dependent: tuple[str, ...]
    independent: tuple[str, ...]
    without_drive: tuple[str, ...]
    redundant: tuple[tuple[str, ...], ...]
    rank: int
    tolerance: float
    gap: tuple[float, float]
    extent: float
