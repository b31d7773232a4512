"""Closing the loops: positions that fulfil the closures, as near to the given ones as possible.

Only joints move: base, elastic coordinates and the joints of links in `statics.locked` stay as they are. The
smallest change is that of least Σ (ℓ Δangle)² + Σ (Δlength)², ℓ the mechanism's extent.
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

_STAYING = {"base": "the base", "elastic": "beams"}  # roles of coordinates that do not change to close loops


def assemble(mechanism: Mechanism, q: Array) -> Array:
    """Positions that close all loops, shape (n,), rad or m, from q by the smallest change.

    Frames that a closure does not let turn are brought together by the whole rotation between them: cosines also
    vanish where it is a third or half of a turn.
    Raises SolveError with the closures that stay open, and by how much.
    """
    loops = _Loops(mechanism, q)
    closed = _nearest(loops, q)
    loops.check(closed)
    return closed.copy()


def _nearest(loops: _Loops, q: Array) -> Array:
    """Positions, shape (n,), where the conditions vanish as nearly as steps from q can bring it about.

    Newton steps of minimum norm, damped where the gap would grow (Levenberg–Marquardt, whose steps are normal to
    the motions of the closed loops, too); conditions may depend on each other.
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
    """Shape (n,): 1 for coordinates that may change to close loops, else 0."""
    locked = mechanism.chain.statics.locked or ()
    return np.array([float(c.role == "joint" and c.owner not in locked) for c in mechanism.coordinates])


def smallest_change(scale: Array, C: Array, gap: Array, damping: float = 0.0) -> Array:
    """The smallest x/scale, shape (n,), with C x = gap as nearly as possible; 0 where scale, shape (n,), is 0.

    Rows of C, shape (m, n), may depend on each other. damping is relative to C's largest singular value.
    """
    left, values, right = np.linalg.svd(C * scale, full_matrices=False)
    largest = float(values.max(initial=0.0))
    values = np.where(values > RANK * largest, values, 0.0)
    weight = values**2 + (damping * largest) ** 2
    factors = values / np.where(weight > 0, weight, 1.0)
    return np.asarray(scale * (right.T @ (factors * (left.T @ gap))), dtype=np.float64)


def unlocking(mechanism: Mechanism) -> str:
    """Advice to let more joints move, if any are locked."""
    locked = ", ".join(mechanism.chain.statics.locked or ())
    return f", or unlock {locked} in [statics]" if locked else ""


@dataclass(frozen=True)
class _Gap:
    """Gap of a closure: m and rad, or m/s and rad/s."""

    closure: LoopClosure
    length: float
    angle: float

    @property
    def closed(self) -> bool:
        return max(self.length, self.angle) <= CLOSED


class _Loops:
    """The loops' conditions, all in m: cosines are multiplied by the extent.

    unit    shape (n,), see `units_of_change`
    scale   the same, but 0 for coordinates that stay
    """

    def __init__(self, mechanism: Mechanism, q: Array) -> None:
        cut = [closure for closure in mechanism.closures if closure.rows]
        self._mechanism, self._conditions = mechanism, Conditions(mechanism, cut)
        self._kinematics, self._rest = Kinematics(mechanism), np.zeros(mechanism.n)
        self.extent, self.unit = units_of_change(mechanism, self._kinematics(q, self._rest))
        self.scale = self.unit * moving(mechanism)
        rigid = [closure for closure in cut if len(closure.turning) == 3]
        self._turns = Turns(mechanism, rigid) if rigid else None
        kinds = [(c.unit == "rad", len(closure.turning) == 3) for closure in cut for c in closure.conditions]
        self._is_angle = np.array([is_angle for is_angle, _ in kinds], dtype=bool)
        self._is_turn = np.array([is_angle and holds for is_angle, holds in kinds], dtype=bool)

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Values at q, shape (n,), in m, shape (m,), and rows of their derivatives, shape (m, n)."""
        posture = self._kinematics(q, self._rest)
        rows, weight = self._conditions.rows(posture), np.where(self._is_angle, self.extent, 1.0)
        values, C, sizes = rows.Phi, rows.C, self._conditions.sizes(posture).C
        if self._turns is not None:
            values, C, sizes = values.copy(), C.copy(), sizes.copy()
            values[self._is_turn], C[self._is_turn], sizes[self._is_turn] = self._turns.rows(posture)
        return weight * values, weight[:, None] * without_rounding(C, sizes, self.unit)

    def step(self, values: Array, C: Array, damping: float) -> Array:
        """Change towards closed loops, (n,), not too long; damping is relative to C's largest singular value."""
        step = -smallest_change(self.scale, C, values, damping)
        return step * min(1.0, ASSEMBLY.longest * self.extent / max(float(np.abs(step / self.unit).max()), RANK))

    def check(self, q: Array) -> None:
        """Raises SolveError if a loop is open."""
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
            advice = "change the links' lengths or frames, or start nearer to a closed position"
            raise SolveError(f"{'; '.join(open_ones)}; {advice}{unlocking(self._mechanism)}{self._staying()}")

    def _staying(self) -> str:
        """Return a note on coordinates that do not move to close loops."""
        roles = {c.role for c in self._mechanism.coordinates}
        kinds = [words for role, words in _STAYING.items() if role in roles]
        return f" ({' and '.join(kinds)} stay as they are at this)" if kinds else ""

    def _link(self, frame: JointFrame) -> str:
        return "ground" if frame.place.body == GROUND else self._mechanism.bodies[frame.place.body].link


def _gap(posture: Posture, closure: LoopClosure, values: Array) -> _Gap:
    """Gap of a closure with these values of its conditions."""
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
