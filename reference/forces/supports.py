"""Springs and dampers between base and ground, along world axes.

The equations are (14)–(16) of Jarzębowska et al. 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ...core.trajectory import Array
from ...description.types.measures import FORCE
from ...mechanism import GROUND, Mechanism, Place
from ..kinematics.jet import Number
from ..kinematics.lengths import Height, LinearHeight
from ..kinematics.quantities import KinematicState, Relation
from ..kinematics.segment import holds_in_all
from .element import ElementContext, ForceArrow, ForceContribution, ForceElements
from .unilateral import Overlap


class Supports(ForceElements):
    """Springs and dampers between base and ground, along world axes.

    The deflection d is the displacement of the supported point of the base from the undeformed
    position. For small angles, the linearised deflection is U q_base with a constant matrix U
    (Jarzębowska et al. 2020, below equation (14)). With stiffness S and damping D, the generalised
    force is Q = −(∂d/∂q)ᵀ(S d + D ḋ).
    """

    takes_many = True

    def __init__(self, given: ElementContext) -> None:
        mechanism, first = given.mechanism, given.first
        base, supports = mechanism.chain.base, mechanism.supports
        self._held = places(mechanism)
        self._columns = slice(first, first + len(supports))
        self._one_sided = np.array([s.one_sided for s in supports], dtype=bool)
        self._supports = supports
        stacked = np.array([[s.position, s.stiffness, s.damping] for s in supports], dtype=float)
        self._position, self._stiffness, self._damping = stacked.reshape(-1, 3, 3).transpose(1, 2, 0)
        self._exponent, self._loss = np.ones((3, len(supports))), np.zeros((3, len(supports)))
        for k, support in enumerate(supports):
            if support.law is not None:
                self._exponent[2, k], self._loss[2, k] = float(support.law.exponent), float(support.law.loss)
        linearized = base is not None and base.linearized
        self._U = _small_motion(self._position, mechanism.n) if linearized else None

    def reaction(self, state: KinematicState) -> ForceContribution:
        """Return the generalised forces and the stored energy of all supports.

        Slipping supports store no energy in the tangential directions.
        """
        deflection, _, jacobian = self._deflection(state)
        parts = self._parts(state)
        # If there are no supports, NumPy cannot infer the length of this array dimension.
        size = self._position.size
        across = -jacobian.reshape(*jacobian.shape[:-2], size)
        forces = parts.reshape(*parts.shape[:-2], size, 1)
        elastic, dissipative, applied = (across @ forces)[..., 0]
        energy = np.sum(parts[0] * deflection / (self._exponent + 1.0), axis=(-2, -1))
        return ForceContribution(elastic, dissipative, applied, energy)

    @property
    def marks(self) -> tuple[ForceArrow, ...]:
        """Drawings of the supports: a foot on the ground for each support, at its undeformed position."""
        return tuple(
            ForceArrow(
                "base.supports",
                f"support {support.name.removeprefix('support')}",
                "support",
                place,
                Place(GROUND, place.position),
            )
            for support, place in zip(self._supports, self._held, strict=True)
        )

    def acting(self, state: KinematicState) -> Array:
        """Return the force of each support on the base, shape (supports, 3), world axes, N."""
        return np.asarray(-self._parts(state).sum(axis=0).T)

    def by_name(self, state: KinematicState) -> dict[str, Array]:
        """Return the force of each support on the base by name, shape (3,), world axes, N."""
        return dict(zip((support.name for support in self._supports), self.acting(state), strict=True))

    def relations(self) -> list[Relation]:
        """Return the switching conditions of unilateral supports.

        A support has three conditions: it is below the ground level, its force is compressive, and
        it slips.
        """
        found = []
        for k in np.flatnonzero(self._one_sided).tolist():
            name, overlap = self._supports[k].name, self._overlap(k)
            found += overlap.relations()
            found.append(
                Relation((name, "along"), overlap.label, self._margin_of(k, _beyond), ("slips", "sticks"))
            )
        return found

    def _overlap(self, k: int) -> Overlap:
        name = self._supports[k].name
        pressing = self._margin_of(k, _pressing)
        return Overlap(name, f"support {name}", partial(self._depth, k), pressing, ("touches", "lifts"))

    def _depth(self, k: int, state: KinematicState) -> Number:
        return -self._deflection(state)[0][..., 2, k]

    def forces(self) -> dict[str, Callable[[KinematicState], Number]]:
        """Return a function for each unilateral support that computes its vertical force, N, from a state.

        The keys of the result are the names of the forces in expressions.
        """
        held = np.flatnonzero(self._one_sided).tolist()
        return {f"{self._supports[k].name}.{FORCE}": self._force_of(k) for k in held}

    def _force_of(self, k: int) -> Callable[[KinematicState], float]:
        return lambda state: -float(self._parts(state)[:, 2, k].sum())

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of each support, W."""
        _, rate, _ = self._deflection(state)
        taken = np.sum(self._parts(state).sum(axis=0) * rate, axis=0)
        return {f"support {s.name}": -float(x) for s, x in zip(self._supports, taken, strict=True)}

    def signals(self, state: KinematicState) -> dict[str, float]:
        """Return two outputs for each unilateral support, by output name: gap, m, and vertical force, N."""
        deflection, _, _ = self._deflection(state)
        along_z = self._parts(state)[:, 2].sum(axis=0)
        found: dict[str, float] = {}
        for k in np.flatnonzero(self._one_sided).tolist():
            found[self._supports[k].signals["gap"].signal.name] = float(deflection[2, k])
            found[self._supports[k].signals["force"].signal.name] = -float(along_z[k])
        return found

    def _parts(self, state: KinematicState) -> Array:
        """Return the support forces by cause: springs, dampers and slipping, shape (3, …, 3, supports), N.

        The forces act on the ground. A unilateral support acts only below the ground and never pulls. The
        tangential force of such a support does not exceed its normal force.
        """
        free = self._free(state)
        parts = np.concatenate([free, np.zeros((1, *free.shape[1:]))])
        for k in np.flatnonzero(self._one_sided).tolist():
            name, pressing, beyond = self._supports[k].name, _pressing(free[..., k]), _beyond(free[..., k])
            along = pressing + beyond
            if not self._overlap(k).acts(state):
                parts[..., k] = 0.0
            elif state.segment.holds((name, "along"), beyond) and holds_in_all(along != 0.0):
                parts[2, ..., :2, k] = free[..., :2, k].sum(axis=0) * (pressing / along)[..., None]
                parts[:2, ..., :2, k] = 0.0
        return parts

    def _margin_of(self, k: int, of: Callable[[Array], float]) -> Callable[[KinematicState], float]:
        return lambda state: of(self._free(state)[..., k])

    def _free(self, state: KinematicState) -> Array:
        """Return spring and damper forces as if all supports were bilateral, shape (2, …, 3, supports), N.

        The first axis has one entry for springs and one for dampers. The forces act on the ground.
        """
        deflection, rate, _ = self._deflection(state)
        elastic = self._stiffness * np.sign(deflection) * np.abs(deflection) ** self._exponent
        return np.array([elastic, (self._damping - self._loss * elastic) * rate])

    def _deflection(self, state: KinematicState) -> tuple[Array, Array, Array]:
        """Return the deflections d of all supports, their rates ḋ, and the derivatives ∂d/∂q.

        Deflections and rates have shape (…, 3, supports), m and m/s; ∂d/∂q has shape (…, n, 3, supports).
        """
        if self._U is not None:
            many, each = state.q.shape[:-1], self._position.shape
            jacobian = np.broadcast_to(self._U.reshape(len(self._U), *each), (*many, len(self._U), *each))
            return (state.q @ self._U).reshape(*many, *each), (state.qd @ self._U).reshape(*many, *each), jacobian
        places, own = state.places, self._columns
        deflection = places.position[..., own] + (state.posture.datum[..., None] - self._position)
        return deflection, places.velocity[..., own], places.jacobian[..., own]


def _pressing(free: Array) -> Number:
    """Return the downward force of a support on the ground, N; negative if the support would pull.

    The argument `free` contains the spring and damper forces of the support on the ground, shape (2, …,
    3).
    """
    return -free[..., 2].sum(axis=0)


def _beyond(free: Array) -> Number:
    """Return the tangential force of a support minus its normal force, N.

    The argument `free` contains the spring and damper forces of the support on the ground, shape (2, …,
    3).
    """
    return np.linalg.norm(free[..., :2].sum(axis=0), axis=-1) - _pressing(free)


def _small_motion(positions: Array, n: int) -> Array:
    """Return the transposed matrices U of all supports, shape (n, 3·supports).

    The matrix U maps a small motion of the base to the displacement of a support. The motion consists
    of a translation and the angles psi, theta and phi about z, y and x.
    """
    (x, y, z), zero = positions, np.zeros(positions.shape[1])
    U = np.zeros((n, 3, positions.shape[1]))
    U[:3] = np.eye(3)[:, :, None]
    U[3], U[4], U[5] = [-y, x, zero], [z, zero, -x], [zero, -z, y]
    return U.reshape(n, -1)


def places(mechanism: Mechanism) -> list[Place]:
    """Return the points of the base at which the flexible supports act."""
    base = next((b for b, body in enumerate(mechanism.bodies) if body.name == "base"), 0)
    return [Place(base, support.position) for support in mechanism.supports]


def lengths(mechanism: Mechanism, first: int) -> Iterator[Height | LinearHeight]:
    """Yield the gap of each unilateral support for use in expressions."""
    base, n = mechanism.chain.base, mechanism.n
    for k, support in enumerate(mechanism.supports):
        position = np.asarray(support.position, dtype=float)
        name = f"{support.name}.gap"
        if support.one_sided and base is not None and base.linearized:
            yield LinearHeight(name, f"{name}_dot", _small_motion(position[:, None], n)[:, 2])
        elif support.one_sided:
            yield Height(name, f"{name}_dot", first + k, 1, position, np.array([0.0, 0.0, 1.0]))


of = Supports
