"""How far the frames of a closure are turned against each other.

The conditions on three axes are cosines, which also vanish where the frames are turned by 120° or 180°, and the
springs of a replacement joint push there from about 90° on. Only the whole rotation tells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...mechanism import Closure, Mechanism
from ...reference.constraints.closures import axis_vector, frame_pose
from ...reference.kinematics.kinematics import Kinematics, Posture, Vectors

_MOST = np.pi / 2  # rad: beyond, springs no longer pull the frames together


def turn(posture: Posture, closure: Closure) -> float:
    """Return the angle of the rotation between the frames of a closure, rad, 0 to π."""
    a, b = frame_pose(posture, closure.a), frame_pose(posture, closure.b)
    # the Frobenius norm of R − 1 is √8·sin(angle/2)
    half = float(np.linalg.norm(a[:3, :3].T @ b[:3, :3] - np.eye(3))) / np.sqrt(8.0)
    return 2.0 * float(np.arcsin(min(1.0, half)))


def check_turned(mechanism: Mechanism, q: Array) -> None:
    """Raise SolveError with replacement joints whose frames are turned by 90° or more at q, shape (n,).

    Only closures with stiffness against rotation about all three axes are looked at; others may turn.
    """
    closures = [closure for closure in mechanism.closures if _holds_orientation(closure)]
    if not closures:
        return
    posture = Kinematics(mechanism)(q, np.zeros(mechanism.n))
    angles = {closure.name: turn(posture, closure) for closure in closures}
    wrong = [f"the frames of closure {name} are turned by {x:.3g} rad" for name, x in angles.items() if x >= _MOST]
    if wrong:
        raise SolveError(
            f"{'; '.join(wrong)} against each other at the start; expected less than 1.57 rad (90°), because the"
            " springs of a replacement joint turn its frames apart from there on: turn frame a or b by its rpy, or"
            " start nearer to the closed position"
        )


def _holds_orientation(closure: Closure) -> bool:
    """Whether springs act on three axes."""
    pairs = zip(closure.conditions, closure.stiffness or (), strict=False)
    return sum(condition.unit == "rad" and float(stiffness) != 0 for condition, stiffness in pairs) == 3


class Orientations:
    """The differences R_b − R_a between the frames of closures, compiled; zero only where the frames agree."""

    def __init__(self, mechanism: Mechanism, closures: Sequence[Closure]) -> None:
        slots = len(mechanism.bodies) + 1
        axes = [axis_vector(c.b, i, slots) - axis_vector(c.a, i, slots) for c in closures for i in range(3)]
        self._axes = Vectors(np.array(axes).transpose(1, 2, 0))

    def rows(self, posture: Posture) -> tuple[Array, Array]:
        """Return values, shape (9 k,), and their derivatives by the coordinates, shape (9 k, n), of k closures."""
        motion = self._axes.motion(posture)
        return motion.position.reshape(-1), motion.jacobian.reshape(len(motion.jacobian), -1).T
