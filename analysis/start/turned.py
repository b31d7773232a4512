"""Rotations between the frames of closures that fix the relative orientation.

A spring-damper closure pulls its frames into alignment only if the rotation between them is less
than about 90°. For larger rotations, the springs may push towards a wrong orientation, rotated by
120° or 180°. In that orientation, the conditions on direction cosines are also fulfilled.
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
    # If R is the matrix of a rotation by the angle θ, the Frobenius norm of R − 1 is √8·sin(θ/2).
    half = float(np.linalg.norm(a[:3, :3].T @ b[:3, :3] - np.eye(3))) / np.sqrt(8.0)
    return 2.0 * float(np.arcsin(min(1.0, half)))


def check_turned(mechanism: Mechanism, q: Array) -> None:
    """Raise SolveError if a closure's frames are rotated by 90° or more relative to each other at positions q.

    Closures that permit a relative rotation about some axis are not checked.
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
            f"{'; '.join(wrong)} relative to each other in the initial position; expected less than 1.57 rad"
            " (90°), because beyond this angle the closure would pull the frames to a relative angle of 180°;"
            " change the key rpy of frame a or b, or choose initial positions closer to the closed loop"
        )


def _holds_orientation(closure: LoopClosure) -> bool:
    """Whether the closure resists relative rotations about all three axes, by conditions or by springs."""
    springs = closure.stiffness
    return len(closure.turning) == 3 and (springs is None or all(springs[k] != 0.0 for k in closure.turning))


class Turns:
    """Relative rotations between the frames of k closures as rotation parameters, with derivatives.

    The three rotation parameters of a closure are four times the modified Rodrigues parameters: the
    rotation axis times 4 tan(angle/4) (Schaub and Junkins, Analytical Mechanics of Space Systems). For
    small angles the parameters equal the rotation vector. For angles up to 180° the parameters are
    smooth, and zero only if the frames have equal orientation.
    """

    def __init__(self, mechanism: Mechanism, closures: Sequence[LoopClosure]) -> None:
        slots, frames = len(mechanism.bodies) + 1, [frame for c in closures for frame in (c.a, c.b)]
        axes = [axis_vector(frame, i, slots) for frame in frames for i in range(3)]
        self._axes = Vectors(np.array(axes).transpose(1, 2, 0))

    def rows(self, posture: Posture) -> tuple[Array, Array, Array]:
        """Return the rotation parameters and the Jacobian of the relative angular velocities.

        The angular velocity of frame b relative to frame a has components in the axes of frame a. If the
        frames have equal orientation, this velocity equals the time derivative of the rotation parameters.

        Returns
        -------
        values : ndarray, shape (3 k,)
            Rotation parameters, rad.
        slopes : ndarray, shape (3 k, n)
            Jacobian of the angular velocities with respect to the coordinate rates.
        sizes : ndarray, shape (3 k, n)
            For each element of the Jacobian, the sum of the absolute values of its terms.
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
