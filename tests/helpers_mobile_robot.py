"""Mobile robot in absolute coordinates (Wojtyra and Frączek 2013): M q̈ = Cᵀ λ, C q̈ = Γ.

21 coordinates and 22 constraint equations.

Body i of 1 to 7 has x and y of its centre of mass, m, and an angle, rad. The numbers of examples/mobile_robot.toml
are repeated here, in frames whose origins are the centres of mass; nothing is taken from the package.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Place = tuple[float, float]
Rows = tuple[Array, Array]  # C of shape (rows, 21), and Γ

OMEGA = np.array([[0.0, -1.0], [1.0, 0.0]])
MASSES = [(20.0, 2.0), (1.0, 5e-3), (1.0, 5e-3), (0.3, 1e-3), (0.3, 1e-3), (0.8, 2e-3), (8.0, 0.5)]  # kg, kg·m²
CENTRES = [(0.0, 0.0), (0.4, 0.0), (-0.4, 0.0), (0.3, 0.08), (-0.3, 0.08), (0.0, 0.16), (-0.8, 0.0)]  # at d = 0
# bodies, and the joint's place in the frame of each
REVOLUTES: dict[str, tuple[int, Place, int, Place]] = {
    "A": (1, (-0.5, 0.0), 7, (0.3, 0.0)),
    "B": (1, (0.4, 0.0), 2, (0.0, 0.0)),
    "C": (1, (-0.4, 0.0), 3, (0.0, 0.0)),
    "D": (2, (-0.1, 0.0), 4, (0.0, -0.08)),
    "E": (3, (0.1, 0.0), 5, (0.0, -0.08)),
    "F": (4, (0.0, 0.08), 6, (0.3, 0.0)),
    "G": (5, (0.0, 0.08), 6, (-0.3, 0.0)),
}
EDGES: dict[str, tuple[int, Place]] = {
    "W1": (2, (0.0, 0.0)),
    "W2": (3, (0.0, 0.0)),
    "W3": (1, (0.0, 0.25)),
    "W4": (1, (0.0, -0.25)),
    "W5": (7, (-0.3, 0.0)),
}
UNIQUE = ("A", "D", "E", "F", "G", "H", "driving", "W5")  # Wojtyra and Frączek 2013, section 4.2
NOT_UNIQUE = ("B", "C", "W1", "W2", "W3", "W4")


def pairs(q: Array, qd: Array, d_ddot: float) -> dict[str, Rows]:
    """Rows of each kinematic pair, in the paper's order; q and qd of shape (7, 3), d_ddot in m/s²."""
    found = {name: _revolute(q, qd, *ends) for name, ends in REVOLUTES.items()}
    turn = np.zeros((1, 21))
    turn[0, [2, 17]] = -1.0, 1.0
    across, along = _on_platform(q, qd, (1.0, 0.0)), _on_platform(q, qd, (0.0, 1.0))
    found["H"] = (np.vstack([across[0], turn]), np.append(across[1], 0.0))
    found["driving"] = (along[0], along[1] + d_ddot)
    return found | {name: _edge(q, qd, *edge) for name, edge in EDGES.items()}


def reactions(q: Array, qd: Array, d_ddot: float, without: Collection[str] = ()) -> tuple[Array, dict[str, Array]]:
    """Return the accelerations q̈, shape (7, 3), and the generalised reaction of each kinematic pair, shape (21,).

    The generalised reactions are C_Xᵀ λ_X (Wojtyra and Frączek 2013, (16)). `without` names constraint
    equations with λ = 0, such as C_y or W4; the other multipliers have the least norm.
    """
    found = pairs(q, qd, d_ddot)
    C, gamma = (np.concatenate(parts) for parts in zip(*found.values(), strict=True))
    names = [name for pair, rows in found.items() for name in _row_names(pair, len(rows[1]))]
    kept = np.array([name not in without for name in names])
    M = np.array([entry for mass, moment in MASSES for entry in (mass, mass, moment)])
    multipliers = np.zeros(len(names))
    multipliers[kept] = np.linalg.lstsq(C[kept] / M @ C[kept].T, gamma[kept], rcond=1e-11)[0]
    ends = np.cumsum([len(rows[1]) for rows in found.values()])
    parts = np.split(multipliers, ends[:-1])
    per_pair = {name: rows[0].T @ part for (name, rows), part in zip(found.items(), parts, strict=True)}
    return (C.T @ multipliers / M).reshape(7, 3), per_pair


def _row_names(pair: str, count: int) -> list[str]:
    return [pair] if count == 1 else [f"{pair}_{axis}" for axis in "xy"]


def _turned(q: Array, body: int, place: Place) -> Array:
    c, s = np.cos(q[body - 1, 2]), np.sin(q[body - 1, 2])
    return np.array([[c, -s], [s, c]]) @ place


def _point(q: Array, qd: Array, body: int, place: Place) -> Rows:
    """∂v/∂q̇ of a point of a body, shape (2, 21), and its acceleration for q̈ = 0."""
    J, arm, first = np.zeros((2, 21)), _turned(q, body, place), 3 * body - 3
    J[:, first : first + 2], J[:, first + 2] = np.eye(2), OMEGA @ arm
    return J, -arm * qd[body - 1, 2] ** 2


def _revolute(q: Array, qd: Array, i: int, place_i: Place, j: int, place_j: Place) -> Rows:
    """Rows along the axes of body i, so that leaving one out means the same as in the example."""
    (J_i, a_i), (J_j, a_j) = _point(q, qd, i, place_i), _point(q, qd, j, place_j)
    axes = np.array([_turned(q, i, (1.0, 0.0)), _turned(q, i, (0.0, 1.0))])
    return axes @ (J_i - J_j), axes @ (a_j - a_i)


def _on_platform(q: Array, qd: Array, axis: Place) -> Rows:
    """Motion of body 6 along an axis of body 1."""
    e, w = _turned(q, 1, axis), qd[0, 2]
    way, rate = q[5, :2] - q[0, :2], qd[5, :2] - qd[0, :2]
    C = np.zeros((1, 21))
    C[0, 15:17], C[0, 0:2], C[0, 2] = e, -e, (OMEGA @ e) @ way
    return C, np.array([w * w * e @ way - 2 * w * (OMEGA @ e) @ rate])


def _edge(q: Array, qd: Array, body: int, place: Place) -> Rows:
    """Return a knife-edge condition: the velocity has no component along the body's y axis.

    Source: Wojtyra and Frączek 2013, (30).
    """
    n, (J, bias) = _turned(q, body, (0.0, 1.0)), _point(q, qd, body, place)
    return (n @ J)[None], np.array([-n @ bias - qd[body - 1, 2] * (OMEGA @ n) @ J @ qd.ravel()])
