"""Coordinates that accelerate at t = 0 because a programmed constraint takes over a joint's load.

In the search for the static equilibrium, a locked joint carries the load by its reaction. In the
run, a constraint force at another point carries the load. The mechanism therefore accelerates
although the description is correct.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from .. import analysis
from ..analysis.system import System
from ..core.trajectory import Array

_ROUNDING = 1e-12  # An entry of a Jacobian row counts as zero up to this fraction of the row's largest entry.


def taken_over(model: System, C: Array, rows: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return a mask of coordinates that may accelerate because a programmed constraint drives a joint.

    In the search for the static equilibrium, the joint was locked and carried a load. In the run, the
    programmed constraint has to carry this load. Two coordinates are coupled if they move the same
    body, or if one constraint equation contains both. The mask contains all coordinates that are
    coupled to the joint, directly or through other coordinates.

    Parameters
    ----------
    model : System
        Mechanism with its initial state.
    C : ndarray, shape (m, n)
        Constraint Jacobian at t = 0.
    rows : tuple of str
        Names of the constraint equations.

    Returns
    -------
    ndarray of bool, shape (n,)
        Mask of these coordinates.
    """
    coordinates = model.mechanism.coordinates
    settled = analysis.free_coordinates(model.mechanism, model.start[0])
    driven_alone = {motion.joint.partition(".")[0] for motion in model.chain.motions}
    was_held = [
        c.role == "joint" and c.owner not in driven_alone and k not in settled and c.name in model.dependent
        for k, c in enumerate(coordinates)
    ]
    acts = np.abs(C) > _ROUNDING * np.abs(C).max(axis=1, initial=0.0, keepdims=True)
    moves = np.zeros((len(model.mechanism.bodies), len(coordinates)), dtype=bool)
    for number in range(len(moves)):
        moves[number, list(model.mechanism.ancestors(number))] = True
    together = np.vstack([acts, moves]).astype(int)
    _, group = connected_components(together.T @ together)
    programmed = {row for task in model.chain.programmed for row in task.rows}
    is_driven = acts[[name in programmed for name in rows]].any(axis=0)
    return np.isin(group, np.intersect1d(group[np.array(was_held, dtype=bool)], group[is_driven]))
