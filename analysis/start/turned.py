"""Rotations between the frames of closures that let these not turn against each other.

The conditions on three axes are cosines, which also vanish where the frames are turned by 120° or 180°, and the
springs of a replacement joint push there from about 90° on. Only the whole rotation tells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...description.types.closures import MOST_TURNED
from ...mechanism import LoopClosure, Mechanism
from ...reference.constraints.closures import axis_vector, frame_pose
from ...reference.kinematics.kinematics import Kinematics, Posture, Vectors


def turn(posture: Posture, closure: LoopClosure) -> float:
    """Return the angle of the rotation between the frames of a closure, rad, 0 to π."""
    a, b = frame_pose(posture, closure.a), frame_pose(posture, closure.b)
    # the Frobenius norm of R − 1 is √8·sin(angle/2)
    half = float(np.linalg.norm(a[:3, :3].T @ b[:3, :3] - np.eye(3))) / np.sqrt(8.0)
    return 2.0 * float(np.arcsin(min(1.0, half)))


def check_turned(mechanism: Mechanism, q: Array) -> None:
    """Raise SolveError with closures that hold orientations and are turned by 90° or more at q, shape (n,).

    Closures that let their frames turn about some axis are not looked at.
    """
    closures = [closure for closure in mechanism.closures if _holds_orientation(closure)]
    if not closures:
        return
    posture = Kinematics(mechanism)(q, np.zeros(mechanism.n))
    angles = {closure.name: turn(posture, closure) for closure in closures}
    wrong = [
        f"the frames of closure {name} are turned by {x:.3g} rad" for name, x in angles.items() if x >= MOST_TURNED
    ]
    if wrong:
        raise SolveError(
            f"{'; '.join(wrong)} against each other at the start; expected less than 1.57 rad (90°), because"
            " beyond it the closure pulls them to half a turn: turn frame a or b by its rpy, or start nearer to"
            " the closed position"
        )


def _holds_orientation(closure: LoopClosure) -> bool:
    """Whether conditions, or springs of a replacement joint, act about all three axes."""
    springs = closure.stiffness
    return len(closure.turning) == 3 and (springs is None or all(springs[k] != 0.0 for k in closure.turning))


class Turns:
    """Rotations from frame a to frame b of k closures as three numbers each, compiled.

    The numbers are the rotation's axis times 4 tan(angle/4), four times the modified Rodrigues parameters (Schaub
    and Junkins, Analytical Mechanics of Space Systems): for small angles the rotation vector, up to half a turn
    smooth and zero only where the frames agree.
    """

    def __init__(self, mechanism: Mechanism, closures: Sequence[LoopClosure]) -> None:
        slots, frames = len(mechanism.bodies) + 1, [frame for c in closures for frame in (c.a, c.b)]
        axes = [axis_vector(frame, i, slots) for frame in frames for i in range(3)]
        self._axes = Vectors(np.array(axes).transpose(1, 2, 0))

    def rows(self, posture: Posture) -> tuple[Array, Array, Array]:
        """Return values, shape (3 k,), rows of angular velocities, and what the rows are made of, shape (3 k, n).

        Rows are those of the angular velocity of frame b against frame a, in the axes of a, per coordinate rate:
        where the frames agree, these are the values' derivatives.
        """
        motion, n = self._axes.motion(posture), len(posture.moves)
        R = motion.position.reshape(3, -1, 2, 3).transpose(1, 2, 0, 3)
        changes = motion.jacobian.reshape(n, 3, -1, 2, 3).transpose(2, 3, 0, 1, 4)
        w = 0.5 * np.cross(R[:, :, None], changes, axis=3).sum(axis=4)
        a, b = R[:, 0], R[:, 1]
        values = 4.0 * Rotation.from_matrix(a.transpose(0, 2, 1) @ b).as_mrp()
        slopes = ((w[:, 1] - w[:, 0]) @ a).transpose(0, 2, 1)
        sizes = self._axes.sizes(posture)[1].reshape(n, -1, 2, 3).sum(axis=2).transpose(1, 2, 0)
        return values.reshape(-1), slopes.reshape(-1, n), sizes.reshape(-1, n)
