"""Who realises the programmed constraints: drives in all joints, or in the actuated ones alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...mechanism import Mechanism
from .constraints import CompiledConstraints
from .redundancy import Elimination, MinimumNorm, independent_rows, scaled

_LEFT = 1e-6  # of a programmed row, by what the drives can do


class AllJoints:
    """Each joint has a drive: knife edges and closures bear their own multipliers."""

    rows: tuple[int, ...] = ()

    def __init__(self, constraints: CompiledConstraints) -> None:
        self._contacts = constraints.contact_rows

    def contacts(self, C: Array, effort: Array, multipliers: Array) -> Array:
        """λ of knife edges and closures, shape (…, k, c), from λ of all rows, shape (…, m, c)."""
        del C, effort
        return multipliers[..., self._contacts, :]


class Actuated:
    """Only some coordinates have a drive τ: [C_otherᵀ B] [λ; τ] = M q̈ + h − Q, n equations.

    C_other has the rows of knife edges, closures and the fixed base; redundant ones are handled as the description
    says. B has a column of the unit matrix for each actuated coordinate.

    rows   indices of independent rows of C_other among all rows
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
        """C, shape (m, n), at a consistent state, rows of length 1; kept: indices of independent rows.

        sizes, unit   see `redundancy.MinimumNorm`

        Raises SolveError if the drives cannot realise each programmed row, or not in one way alone.
        """
        self._contacts = constraints.contact_rows
        self._others = [k for k in range(len(C)) if k not in constraints.programmed]
        self._columns = np.eye(mechanism.n)[:, list(mechanism.actuated or ())]
        others = C[self._others]
        wanted = [i for i, k in enumerate(self._others) if k in kept]
        rows = independent_rows(others, [wanted, [i for i in range(len(others)) if i not in wanted]])
        self.rows = tuple(self._others[i] for i in rows)
        least = mechanism.redundant == "minimum_norm"
        self._basis = (
            MinimumNorm(len(rows), sizes[self._others], unit) if least else Elimination(rows, len(others))
        )
        self._check(mechanism, constraints, C)

    def contacts(self, C: Array, effort: Array, multipliers: Array) -> Array:
        """λ of knife edges and closures, shape (…, k, c), from M q̈ + h − Q, shape (…, n, c)."""
        if C.ndim > 2:
            parts = zip(C, effort, multipliers, strict=True)
            return np.array([self.contacts(*part) for part in parts])
        others = C[self._others]
        basis = self._basis(others)
        unknown = np.linalg.lstsq(self._system(basis @ others), effort, rcond=None)[0]
        # contact rows come first among the others
        return np.asarray((basis.T @ unknown[: len(basis)])[: self._contacts.stop - self._contacts.start])

    def _system(self, rows: Array) -> Array:
        return np.hstack([rows.T, self._columns])

    def _check(self, mechanism: Mechanism, constraints: CompiledConstraints, C: Array) -> None:
        system = scaled(self._system(C[list(self.rows)]).T).T
        joints = ", ".join(mechanism.coordinates[k].name for k in mechanism.actuated or ()) or "no joint"
        if np.linalg.matrix_rank(system, tol=_LEFT) < system.shape[1]:
            raise SolveError(
                f"the efforts of drives of {joints} are not unique: closures and knife edges can take them, or one"
                " drive another's; leave one out of constraints.actuated, or name another joint"
            )
        for k in constraints.programmed:
            row = C[k]
            left = row - system @ np.linalg.lstsq(system, row, rcond=None)[0]
            if np.linalg.norm(left) > _LEFT:
                raise SolveError(
                    f"the drives of {joints} cannot realise {constraints.names[k]}: they leave"
                    f" {mechanism.coordinates[int(np.argmax(np.abs(left)))].name} without what it needs; name"
                    " another joint in constraints.actuated"
                )
