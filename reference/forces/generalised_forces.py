"""Generalised forces of all force elements, and their potential energy.

The generalised forces are Q = −∂E_p/∂q − ∂R/∂q̇ + f_ext. The terms contain the potential energy
E_p, the Rayleigh dissipation function R and the applied forces f_ext. See Jarzębowska et al. 2020,
equations (14)–(16), and Urbaś 2016, equations (13) and (14).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from ...core.trajectory import Array
from ...description.types.force_elements import FORCE_ELEMENTS
from ...mechanism import Mechanism, Place
from ..kinematics.jet import Number
from ..kinematics.lengths import Length
from ..kinematics.quantities import ExpressionCompiler, KinematicState, Relation, one_by_one
from ..kinematics.segment import NotVectorisable
from .by_law import LawForces
from .element import ElementContext, ForceArrow, ForceContribution, ForceElements, Input
from .replacement_joints import ReplacementJoints
from .supports import Supports

_FORCES = ("elastic", "dissipative", "applied")


@dataclass(frozen=True)
class GeneralisedForces:
    """Generalised forces of a mechanism, separated by their cause, each of shape (…, n), N·m or N.

    Attributes
    ----------
    gravity : ndarray
        Weight of the bodies.
    elastic, dissipative : ndarray
        Springs and dampers of coordinates, supports, closures and force elements.
    applied : ndarray
        All other forces.
    driven : float or ndarray
        Power that is supplied to the springs by driven changes of their rest lengths, W.
    """

    gravity: Array
    elastic: Array
    dissipative: Array
    applied: Array
    driven: Number

    @property
    def total(self) -> Array:
        """Sum Q of all generalised forces, shape (…, n), N·m or N."""
        return self.gravity + self.elastic + self.dissipative + self.applied


def _modules() -> list[Any]:
    return [import_module(f".{name}", __package__) for name in FORCE_ELEMENTS]


def _places(module: Any, mechanism: Mechanism) -> list[Place]:
    return list(module.places(mechanism)) if hasattr(module, "places") else []


def force_places(mechanism: Mechanism) -> list[Place]:
    """Return the points whose motion the force elements need, in the order of the force elements."""
    return [place for module in _modules() for place in _places(module, mechanism)]


def force_lengths(mechanism: Mechanism, first: int) -> list[Length]:
    """Return the lengths of force elements that expressions can refer to.

    The argument `first` is the index of the first point of a force element among all points whose motion
    is computed. The function `force_places` returns the points from this index on.
    """
    found: list[Length] = []
    for module in _modules():
        if hasattr(module, "lengths"):
            found += module.lengths(mechanism, first)
        first += len(_places(module, mechanism))
    return found


class ForceModel:
    """All force elements of a mechanism, compiled.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with the force elements.
    reader : ExpressionCompiler
        Compiler of the description's expressions.
    first : int
        Index of the first point of a force element among all points whose motion is computed. The
        function `force_places` returns the points from this index on.
    inputs : mapping of str to input, optional
        Values of the FMU inputs by their symbols; missing inputs are zero.

    Attributes
    ----------
    replacement : ReplacementJoints
        Closures that are modelled by springs and dampers.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        reader: ExpressionCompiler,
        first: int,
        inputs: Mapping[str, Input] | None = None,
    ) -> None:
        self._gravity = _weights(mechanism)
        self._elements: list[ForceElements] = []
        for module in _modules():
            self._elements.append(module.of(ElementContext(mechanism, reader, first, inputs or {})))
            first += len(_places(module, mechanism))
            reader.forces |= _forces(self._elements[-1])
        self.readings = [reading for element in self._elements for reading in element.readings]
        self.replacement = next(e for e in self._elements if isinstance(e, ReplacementJoints))
        self._supports = next(e for e in self._elements if isinstance(e, Supports))
        self._by_law = next(e for e in self._elements if isinstance(e, LawForces))

    def stops(self) -> list[float]:
        """Return the times at which an input or an expression of time has a jump or a kink, s."""
        return [time for element in self._elements for time in element.stops()]

    def rates(self, state: KinematicState) -> Array:
        """Return the time derivatives of the state variables of elements, shape (…, states)."""
        return self._by_law.rates(state)

    def sample_times(self, end: float) -> list[float]:
        """Return the sample times of all sampled elements up to `end`, s."""
        return self._by_law.sample_times(end)

    def held(self, state: KinematicState) -> Array:
        """Return the internal state variables after all samples that are due at this time.

        A sampled element, such as a discrete-time controller, computes its quantities at sample
        times only. These quantities are internal state variables.
        """
        return self._by_law.held(state)

    def advanced(self, state: KinematicState) -> Array:
        """Return the internal state variables after the update of all elements that are sampled at this time.

        Before this call, `held` must have computed the quantities of these elements.
        """
        return self._by_law.advanced(state)

    def relations(self) -> list[Relation]:
        """Return the switching conditions of all force laws.

        Switching conditions in expressions of the description are not included.
        """
        return [relation for element in self._elements for relation in element.relations()]

    def signals(self, state: KinematicState) -> dict[str, float]:
        """Return the output values of all force elements by name."""
        return {name: value for element in self._elements for name, value in element.signals(state).items()}

    def on_base(self, state: KinematicState) -> dict[str, Array]:
        """Return the force of each support on the base by name, shape (3,), world axes, N."""
        return self._supports.by_name(state)

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of each force element, W, by its label.

        The power is negative if the element absorbs energy.
        """
        return {name: value for element in self._elements for name, value in element.powers(state).items()}

    def __call__(self, state: KinematicState) -> GeneralisedForces:
        """Return all generalised forces in a state."""
        zero, reactions = np.zeros(state.q.shape), [_reaction(element, state) for element in self._elements]
        return GeneralisedForces(
            gravity=state.posture.T_q.reshape(*zero.shape, -1) @ self._gravity.ravel(),
            elastic=_sum((part.elastic for part in reactions), zero),
            dissipative=_sum((part.dissipative for part in reactions), zero),
            applied=_sum((part.applied for part in reactions), zero),
            driven=sum(part.driven for part in reactions),
        )

    def potential(self, state: KinematicState) -> float:
        """Return the potential energy of gravity and springs, J.

        The potential energy of gravity is zero at the world's origin.
        """
        weight = self._gravity[:3, :, 3].sum(axis=1)
        work = float(np.vdot(state.posture.T, self._gravity) + weight @ state.posture.datum)
        return float(sum(element.reaction(state).energy for element in self._elements)) - work

    @property
    def marks(self) -> tuple[ForceArrow, ...]:
        """Drawings of all force elements."""
        return tuple(mark for element in self._elements for mark in element.marks)

    def acting(self, state: KinematicState) -> Array:
        """Return the force, N, or moment, N·m, that each drawing in `marks` represents, shape (drawings, 3).

        The force or moment acts at the point a of the drawing. The components are in world axes.
        """
        return np.vstack([np.zeros((0, 3)), *(element.acting(state) for element in self._elements)])

    def wrenches(self, state: KinematicState) -> Array:
        """Return the sum of all external wrenches on the ground and each body, shape (B, 6).

        Point forces and spring-damper closures exert these wrenches. A wrench is a force, N, followed by a
        moment, N·m, in world axes. Moments refer to the posture's datum, a reference point near the
        mechanism. Many states yield shape (…, B, 6).
        """
        if state.is_many:
            return np.array([self.wrenches(one) for one in state.each()])
        none = np.zeros((state.posture.T.shape[1], 6))
        return _sum((element.wrenches(state) for element in self._elements), none)


def _forces(element: ForceElements) -> dict[str, Callable[[KinematicState], Number]]:
    """Return a function of one or many states for each force that expressions can refer to, by name."""
    found = element.forces()
    return found if element.forces_take_many else {name: partial(one_by_one, of) for name, of in found.items()}


def _reaction(element: ForceElements, state: KinematicState) -> ForceContribution:
    """Return the generalised forces of a force element; many states are evaluated one by one if necessary."""
    if element.takes_many or not state.is_many:
        try:
            return element.reaction(state)
        except NotVectorisable:
            pass
    found, none = [element.reaction(one) for one in state.each()], np.zeros(state.q.shape[-1])
    forces = (np.array([getattr(part, key) + none for part in found]) for key in _FORCES)
    return ForceContribution(
        *forces, *(np.array([getattr(part, key) for part in found]) for key in ("energy", "driven"))
    )


def _sum(parts: Iterable[Array | float], zero: Array) -> Array:
    return sum((part for part in parts if isinstance(part, np.ndarray)), zero)


def _weights(mechanism: Mechanism) -> Array:
    """Return the matrices m g c̃ᵀ of the ground and all bodies, shape (4, B, 4).

    Each body has the mass m and the centre of mass with homogeneous coordinates c̃; g is the gravity
    vector. The work of gravity is the sum of the element-wise products of these matrices and the body
    transforms.
    """
    weights = np.zeros((4, len(mechanism.bodies) + 1, 4))
    for b, body in enumerate(mechanism.bodies):
        weights[:3, b + 1] = body.mass * np.outer(mechanism.gravity, [*body.com, 1.0])
    return weights
