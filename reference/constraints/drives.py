"""Drives that realise the programmed constraints: in all joints, or in the actuated joints only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...mechanism import Coordinate, Mechanism
from .constraints import CompiledConstraints
from .redundancy import Elimination, MinimumNorm, independent_rows, scaled

# Drives cannot realise a constraint if the best fit of its unit Jacobian row has a residual above this value.
# Drive efforts are not unique if the normalised matrix of their equations has a singular value up to this limit.
_LEFT = 1e-6


def _remedy(lacking: Coordinate) -> str:
    if lacking.role == "joint":
        return "add or replace a joint in constraints.actuated"
    return "no drive can act there, so prescribe the joints by [[motions]], or remove constraints.actuated"


class AllJoints:
    """Drives in all joints.

    The drives alone realise the programmed constraints. The multipliers of knife edges and closures are
    therefore the reactions at the knife edges and closures.
    """

    rows: tuple[int, ...] = ()

    def __init__(self, constraints: CompiledConstraints) -> None:
        self._contacts = constraints.contact_rows

    def contacts(self, C: Array, effort: Array, multipliers: Array) -> Array:
        """Return the multipliers of the k equations of knife edges and closures, shape (…, k, c).

        The argument `multipliers`, shape (…, m, c), contains the multipliers of all m equations. Each of
        the c columns belongs to one right-hand side.
        """
        del C, effort
        return multipliers[..., self._contacts, :]


class Actuated:
    """Drives in some joints only, whose efforts τ follow from the inverse dynamics.

    The n equations are [C_otherᵀ B] [λ; τ] = M q̈ + h − Q. C_other is the Jacobian of knife edges,
    closures and the fixed base. B has one column of the identity matrix for each actuated coordinate.

    Attributes
    ----------
    rows : tuple of int
        Indices of the independent rows of C_other among all constraint equations.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        constraints: CompiledConstraints,
        C: Array,
        kept: Sequence[int],
        sizes: Array,
        unit: Array,
    ) -> None:
        """Prepare the computation of drive efforts from a state that fulfils the constraints.

        Parameters
        ----------
        mechanism : Mechanism
            Mechanism with the actuated joints.
        constraints : CompiledConstraints
            Constraint equations.
        C : ndarray, shape (m, n)
            Constraint Jacobian with rows of length 1.
        kept : sequence of int
            Indices of independent equations.
        sizes, unit : ndarray
            Magnitudes of the summed terms in C, and scales of the coordinates; see
            `redundancy.MinimumNorm`.

        Raises
        ------
        SolveError
            If the drives cannot realise each programmed constraint, or if their efforts are not unique.
        """
        self._contacts = constraints.contact_rows
        self._others = [k for k in range(len(C)) if k not in constraints.programmed]
        self._columns = np.eye(mechanism.n)[:, list(mechanism.actuated or ())]
        others = C[self._others]
        preferred = [i for i, k in enumerate(self._others) if k in kept]
        rows = independent_rows(others, [preferred, [i for i in range(len(others)) if i not in preferred]])
        self.rows = tuple(self._others[i] for i in rows)
        least = mechanism.redundant == "minimum_norm"
        self._basis = (
            MinimumNorm(len(rows), sizes[self._others], unit) if least else Elimination(rows, len(others))
        )
        self._check(mechanism, constraints, C)

    def contacts(self, C: Array, effort: Array, multipliers: Array) -> Array:
        """Return the multipliers of the k equations of knife edges and closures by inverse dynamics.

        The argument `effort` is the sum M q̈ + h − Q, shape (…, n, c). The result has shape (…, k, c): each
        column of `effort` yields one column of multipliers.
        """
        if C.ndim > 2:
            parts = zip(C, effort, multipliers, strict=True)
            return np.array([self.contacts(*part) for part in parts])
        others = C[self._others]
        basis = self._basis(others)
        unknown = np.linalg.lstsq(self._system(basis @ others), effort, rcond=None)[0]
        # The slice omits the equations of a fixed base, which are listed after those of knife edges and closures.
        return np.asarray((basis.T @ unknown[: len(basis)])[: self._contacts.stop - self._contacts.start])

    def _system(self, rows: Array) -> Array:
        return np.hstack([rows.T, self._columns])

    def _check(self, mechanism: Mechanism, constraints: CompiledConstraints, C: Array) -> None:
        system = scaled(self._system(C[list(self.rows)]).T).T
        joints = ", ".join(mechanism.coordinates[k].name for k in mechanism.actuated or ()) or "no joint"
        if np.linalg.matrix_rank(system, tol=_LEFT) < system.shape[1]:
            raise SolveError(
                f"the efforts of the drives of {joints} are not unique: closures, knife edges or other drives can"
                " exert the same forces; remove a joint from constraints.actuated, or replace it by another joint"
            )
        for k in constraints.programmed:
            row = C[k]
            left = row - system @ np.linalg.lstsq(system, row, rcond=None)[0]
            if np.linalg.norm(left) > _LEFT:
                lacking = mechanism.coordinates[int(np.argmax(np.abs(left)))]
                raise SolveError(
                    f"the drives of {joints} cannot realise {constraints.names[k]}: this constraint also needs an"
                    f" effort on {lacking.name}; {_remedy(lacking)}"
                )
