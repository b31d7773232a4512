"""Assembly: closing the kinematic loops by the smallest change of the described joint positions.

Only joints move. The base, elastic coordinates and joints of links in `statics.locked` keep their
positions. The smallest change minimises Σ (ℓ Δangle)² + Σ (Δlength)², where ℓ is the extent of the
mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...description.types.start_search import ASSEMBLY, CLOSED, RANK, STALLED
from ...mechanism import GROUND, JointFrame, LoopClosure, Mechanism
from ...reference.constraints.closures import Conditions, frame_pose
from ...reference.constraints.redundancy import without_rounding
from ...reference.kinematics.extent import units_of_change
from ...reference.kinematics.kinematics import Kinematics, Posture
from .turned import Turns, turn

# Error messages use these words for coordinates that the search for a consistent position does not change.
_STAYING = {"base": "the base", "elastic": "beams"}


def assemble(mechanism: Mechanism, q: Array, mobile: Array | None = None) -> Array:
    """Return the positions closest to q that close all loops, shape (n,), rad or m.

    The orientation error of a rigid closure is the rotation between frames a and b. Direction cosines
    are not used, because some relative rotations by 120° and 180° also fulfil the conditions on
    direction cosines.

    Parameters
    ----------
    mechanism : Mechanism
        Bodies and closures.
    q : ndarray, shape (n,)
        Described positions, rad or m.
    mobile : ndarray, shape (n,), optional
        1 for coordinates that may change, 0 for all others; by default, the result of `moving`.

    Raises
    ------
    SolveError
        If a loop cannot be closed; the message names the open closures and their gaps.
    """
    loops = _Loops(mechanism, q, moving(mechanism) if mobile is None else mobile)
    closed = _nearest(loops, q)
    loops.check(closed)
    return closed.copy()


def _nearest(loops: _Loops, q: Array) -> Array:
    """Return the positions near q, shape (n,), that minimise the closure residuals.

    The iteration takes minimum-norm Newton steps. If a step would increase the residual, the step is
    damped (Levenberg-Marquardt). Closure conditions may be redundant.
    """
    values, C = loops.rows(q)
    gap, damping = float(np.linalg.norm(values)), 0.0
    for _ in range(ASSEMBLY.most_steps):
        trial = q + loops.step(values, C, damping)
        trial_values, trial_C = loops.rows(trial)
        trial_gap = float(np.linalg.norm(trial_values))
        if trial_gap < gap:
            stalled = trial_gap > (1 - STALLED) * gap
            q, values, C, gap, damping = trial, trial_values, trial_C, trial_gap, damping / 10
        else:
            stalled = damping > 1.0 / RANK
            damping = max(4.0 * damping, RANK)
        if stalled:
            break
    return q


def moving(mechanism: Mechanism) -> Array:
    """Return 1 for each coordinate that may change to close the loops, 0 for all others, shape (n,)."""
    locked = mechanism.chain.statics.locked or ()
    return np.array([float(c.role == "joint" and c.owner not in locked) for c in mechanism.coordinates])


def smallest_change(scale: Array, C: Array, gap: Array, damping: float = 0.0) -> Array:
    """Return the least-squares solution x of C x = gap with the least norm |x/scale|, shape (n,).

    Parameters
    ----------
    scale : ndarray, shape (n,)
        Changes of the unknowns that count as equally large. An unknown with scale 0 stays 0.
    C : ndarray, shape (m, n)
        Jacobian, whose rows may be linearly dependent.
    gap : ndarray, shape (m,)
        Right-hand side.
    damping : float
        Levenberg-Marquardt damping, relative to the largest singular value of C·scale.
    """
    left, values, right = np.linalg.svd(C * scale, full_matrices=False)
    largest = float(values.max(initial=0.0))
    values = np.where(values > RANK * largest, values, 0.0)
    weight = values**2 + (damping * largest) ** 2
    factors = values / np.where(weight > 0, weight, 1.0)
    return np.asarray(scale * (right.T @ (factors * (left.T @ gap))), dtype=np.float64)


def unlocking(mechanism: Mechanism) -> str:
    """Return the advice to unlock the links in `statics.locked`; the text is empty if this key lists no links."""
    locked = ", ".join(mechanism.chain.statics.locked or ())
    return f", or unlock {locked} in [statics]" if locked else ""


@dataclass(frozen=True)
class _Gap:
    """Gap between the two frames of a closure: distance (m) and angle (rad).

    For velocities, the attributes contain the time derivatives of distance and angle (m/s and
    rad/s).
    """

    closure: LoopClosure
    length: float
    angle: float

    @property
    def closed(self) -> bool:
        return max(self.length, self.angle) <= CLOSED


class _Loops:
    """Closure conditions of all loops, m.

    Angles are multiplied by the mechanism's extent, so that all conditions have the unit m.

    Attributes
    ----------
    extent : float
        Mechanism's extent, m.
    unit : ndarray, shape (n,)
        Change of each coordinate that is comparable to a displacement of 1 m: 1/extent rad, or 1 m.
    scale : ndarray, shape (n,)
        Equal to `unit`, but 0 for coordinates that must not change.
    """

    def __init__(self, mechanism: Mechanism, q: Array, mobile: Array) -> None:
        cut = [closure for closure in mechanism.closures if closure.rows]
        self._mechanism, self._conditions = mechanism, Conditions(mechanism, cut)
        self._kinematics, self._rest = Kinematics(mechanism), np.zeros(mechanism.n)
        self.extent, self.unit = units_of_change(mechanism, self._kinematics(q, self._rest))
        self.scale = self.unit * mobile
        rigid = [closure for closure in cut if len(closure.turning) == 3]
        self._turns = Turns(mechanism, rigid) if rigid else None
        kinds = [(c.unit == "rad", len(closure.turning) == 3) for closure in cut for c in closure.conditions]
        self._is_angle = np.array([is_angle for is_angle, _ in kinds], dtype=bool)
        self._is_turn = np.array([is_angle and holds for is_angle, holds in kinds], dtype=bool)

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Return closure residuals, shape (m,), m, and the Jacobian, shape (m, n), at positions q."""
        posture = self._kinematics(q, self._rest)
        rows, weight = self._conditions.rows(posture), np.where(self._is_angle, self.extent, 1.0)
        values, C, sizes = rows.Phi, rows.C, self._conditions.sizes(posture).C
        if self._turns is not None:
            values, C, sizes = values.copy(), C.copy(), sizes.copy()
            values[self._is_turn], C[self._is_turn], sizes[self._is_turn] = self._turns.rows(posture)
        return weight * values, weight[:, None] * without_rounding(C, sizes, self.unit)

    def step(self, values: Array, C: Array, damping: float) -> Array:
        """Return a damped Newton step of limited length that closes the loops, shape (n,)."""
        step = -smallest_change(self.scale, C, values, damping)
        return step * min(1.0, ASSEMBLY.longest * self.extent / max(float(np.abs(step / self.unit).max()), RANK))

    def check(self, q: Array) -> None:
        """Raise SolveError if a kinematic loop is not closed at positions q."""
        posture = self._kinematics(q, self._rest)
        values = self._conditions.rows(posture).Phi
        gaps = [
            _gap(posture, closure, values[self._conditions.owner == i])
            for i, closure in enumerate(self._conditions.closures)
        ]
        open_ones = [
            f"closure {g.closure.name} cannot be closed: {g.length:.3g} m and {g.angle:.3g} rad remain between its"
            f" frames on {self._link(g.closure.a)} and {self._link(g.closure.b)}"
            for g in gaps
            if not g.closed
        ]
        if open_ones:
            advice = "change the links' lengths or frames, or choose initial positions closer to a closed loop"
            raise SolveError(f"{'; '.join(open_ones)}; {advice}{unlocking(self._mechanism)}{self._staying()}")

    def _staying(self) -> str:
        """Return a note for error messages: the search for closed loops moves neither base nor beams.

        The note is empty if the mechanism has neither a moving base nor beams.
        """
        roles = {c.role for c in self._mechanism.coordinates}
        kinds = [words for role, words in _STAYING.items() if role in roles]
        return f" (the search does not move {' and '.join(kinds)})" if kinds else ""

    def _link(self, frame: JointFrame) -> str:
        return "ground" if frame.place.body == GROUND else self._mechanism.bodies[frame.place.body].link


def _gap(posture: Posture, closure: LoopClosure, values: Array) -> _Gap:
    a, b = frame_pose(posture, closure.a), frame_pose(posture, closure.b)
    angles = np.array([value for value, c in zip(values, closure.conditions, strict=True) if c.unit == "rad"])
    sine = float(np.linalg.norm(angles))
    angle = turn(posture, closure) if len(angles) == 3 else float(np.arcsin(min(1.0, sine)))
    return _Gap(closure, _length(a, b, closure, values), angle)


def _length(a: Array, b: Array, closure: LoopClosure, values: Array) -> float:
    if closure.length is not None:
        return abs(float(np.linalg.norm(b[:3, 3] - a[:3, 3])) - float(closure.length))
    lengths = [value for value, c in zip(values, closure.conditions, strict=True) if c.unit == "m"]
    return float(np.linalg.norm(lengths))
