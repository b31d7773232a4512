"""Generalised forces Q = −∂E_p/∂q − ∂R/∂q̇ + f_ext of all force elements, and the energy behind them.

Jarzębowska et al. 2020, equations (14)–(16), Urbaś 2016, equations (13), (14).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ...core.trajectory import Array
from ...description.types.force_elements import FORCE_ELEMENTS
from ...mechanism import Mechanism, Place
from ..kinematics.jet import Number
from ..kinematics.lengths import Length
from ..kinematics.quantities import ExpressionCompiler, KinematicState, Relation
from ..kinematics.segment import NotVectorisable
from .element import ElementContext, ForceArrow, ForceContribution, ForceElements, Input
from .replacement_joints import ReplacementJoints

_FORCES = ("elastic", "dissipative", "applied")


@dataclass(frozen=True)
class GeneralisedForces:
    """Generalised forces by origin, each of shape (…, n), N·m or N.

    elastic      springs of coordinates, supports and closures
    dissipative  their dampers
    driven       W, that springs take from what moves their lengths at rest
    """

    gravity: Array
    elastic: Array
    dissipative: Array
    applied: Array
    driven: Number

    @property
    def total(self) -> Array:
        """Q, shape (…, n), N·m or N."""
        return self.gravity + self.elastic + self.dissipative + self.applied


def _modules() -> list[Any]:
    return [import_module(f".{name}", __package__) for name in FORCE_ELEMENTS]


def _places(module: Any, mechanism: Mechanism) -> list[Place]:
    return list(module.places(mechanism)) if hasattr(module, "places") else []


def force_places(mechanism: Mechanism) -> list[Place]:
    """Places whose motion the force elements need, in the order of these."""
    return [place for module in _modules() for place in _places(module, mechanism)]


def force_lengths(mechanism: Mechanism, first: int) -> list[Length]:
    """Lengths that the force elements let expressions name; first: index of the first of `force_places`."""
    found: list[Length] = []
    for module in _modules():
        if hasattr(module, "lengths"):
            found += module.lengths(mechanism, first)
        first += len(_places(module, mechanism))
    return found


class ForceModel:
    """All force elements of a mechanism, compiled.

    first        index of the first of `force_places` among the state's places
    inputs       values of the FMU inputs by their symbols; those without one are zero
    replacement  the spring-damper closures
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
            reader.forces |= self._elements[-1].forces()
        self.readings = [reading for element in self._elements for reading in element.readings]
        self.replacement = next(e for e in self._elements if isinstance(e, ReplacementJoints))

    def stops(self) -> list[float]:
        """Times at which an input or an expression of time jumps or has a kink, s."""
        return [time for element in self._elements for time in element.stops()]

    def relations(self) -> list[Relation]:
        """Return the switching conditions of all elements, apart from those of expressions."""
        return [relation for element in self._elements for relation in element.relations()]

    def signals(self, state: KinematicState) -> dict[str, float]:
        """Outputs of the elements by their names."""
        return {name: value for element in self._elements for name, value in element.signals(state).items()}

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of each element, W; see `ForceElement.powers`."""
        return {name: value for element in self._elements for name, value in element.powers(state).items()}

    def __call__(self, state: KinematicState) -> GeneralisedForces:
        """All generalised forces in the state."""
        zero, reactions = np.zeros(state.q.shape), [_reaction(element, state) for element in self._elements]
        return GeneralisedForces(
            gravity=state.posture.T_q.reshape(*zero.shape, -1) @ self._gravity.ravel(),
            elastic=_sum((part.elastic for part in reactions), zero),
            dissipative=_sum((part.dissipative for part in reactions), zero),
            applied=_sum((part.applied for part in reactions), zero),
            driven=sum(part.driven for part in reactions),
        )

    def potential(self, state: KinematicState) -> float:
        """Energy of gravity (zero at the world's origin) and springs, J."""
        weight = self._gravity[:3, :, 3].sum(axis=1)
        work = float(np.vdot(state.posture.T, self._gravity) + weight @ state.posture.datum)
        return float(sum(element.reaction(state).energy for element in self._elements)) - work

    @property
    def marks(self) -> tuple[ForceArrow, ...]:
        """Return the pictures of all elements."""
        return tuple(mark for element in self._elements for mark in element.marks)

    def acting(self, state: KinematicState) -> Array:
        """Force at each mark's place a, shape (marks, 3), world axes, N, or N·m."""
        return np.vstack([np.zeros((0, 3)), *(element.acting(state) for element in self._elements)])

    def wrenches(self, state: KinematicState) -> Array:
        """Return the wrenches of point forces and spring-damper closures on each slot, shape (B, 6).

        Force, then moment about the posture's datum; world axes, N and N·m; of many states (…, B, 6).
        """
        if state.is_many:
            return np.array([self.wrenches(one) for one in state.each()])
        none = np.zeros((state.posture.T.shape[1], 6))
        return _sum((element.wrenches(state) for element in self._elements), none)


def _reaction(element: ForceElements, state: KinematicState) -> ForceContribution:
    """In a state, or in each of many: one by one where an element does not take them all at once."""
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
    """m g c̃ᵀ of every slot, shape (4, B, 4): its product with T, summed, is the work of gravity."""
    weights = np.zeros((4, len(mechanism.bodies) + 1, 4))
    for b, body in enumerate(mechanism.bodies):
        weights[:3, b + 1] = body.mass * np.outer(mechanism.gravity, [*body.com, 1.0])
    return weights
