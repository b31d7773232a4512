"""Initial velocities that satisfy loop closures, knife edges and velocity-level programmed
constraints.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...description.types.start_search import KEPT
from ...mechanism import Mechanism
from ...reference.constraints.redundancy import without_rounding
from ...reference.kinematics.extent import units_of_change
from ...reference.solve.model import ReferenceModel
from .assembly import moving, smallest_change, unlocking


def allowed_velocities(mechanism: Mechanism, q: Array, qd: Array) -> Array:
    """Return the rates closest to qd that fulfil all velocity-level constraints at q, shape (n,).

    The function changes only the rates of joints that may move to close the loops. Position-level
    programmed constraints are ignored, because they may be violated initially.

    Parameters
    ----------
    mechanism : Mechanism
        Bodies, joints and constraints.
    q, qd : ndarray, shape (n,)
        Positions, rad or m, and described rates, rad/s or m/s.

    Raises
    ------
    SolveError
        If constraints remain violated; the message names them and the residuals.
    """
    by_rates = any(entry.order == 1 for entry in mechanism.programmed)
    if not (mechanism.closures or mechanism.nonholonomic or by_rates):
        return qd
    model = ReferenceModel(mechanism, start=(q, qd))
    constraints = model.constraints
    wanted = constraints.orders == 1
    wanted[constraints.closure_rows] = True
    state = model.state(0.0, q, qd)
    rows = constraints(state)
    unit, sizes = units_of_change(mechanism, state.posture)[1], constraints.sizes(state).C
    C = without_rounding(rows.C, sizes, unit)[wanted]
    kept: Array = qd - smallest_change(unit * moving(mechanism), C, rows.Phi_dot[wanted])
    left = constraints(model.state(0.0, q, kept)).Phi_dot
    left = np.where(np.abs(left) > KEPT * np.maximum(1.0, sizes @ np.abs(qd)), left, 0.0)
    found = [*_violated(mechanism, constraints.names, wanted, left)]
    if found:
        raise SolveError(f"{'; '.join(found)}; change the initial velocities{unlocking(mechanism)}")
    return kept


def _violated(
    mechanism: Mechanism, names: tuple[str, ...], wanted: NDArray[np.bool_], left: Array
) -> Iterator[str]:
    """Yield a message for each closure and each velocity constraint that the rates violate."""
    rates = dict(zip(np.array(names)[wanted].tolist(), left[wanted].tolist(), strict=True))
    for closure in mechanism.closures:
        lost = dict.fromkeys(("m", "rad"), 0.0)
        for row, condition in zip(closure.rows, closure.conditions, strict=False):
            lost[condition.unit] = float(np.hypot(lost[condition.unit], rates.pop(row)))
        if max(lost.values()) > 0:
            yield f"closure {closure.name} opens at {lost['m']:.3g} m/s and {lost['rad']:.3g} rad/s initially"
    for row, rate in rates.items():
        if rate:
            yield f"{row} is violated by {abs(rate):.3g} initially"
