"""Mechanical end stops of coordinates, and Coulomb friction of joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kinematics.jet import Number
from ..kinematics.quantities import KinematicState, Relation
from .element import ElementContext, ForceContribution, ForceElements
from .unilateral import NumericPressingLaw, Overlap, pressing_law


@dataclass(frozen=True)
class _Stop:
    """End stop of coordinate k.

    If `way` is 1, the stop is a lower limit and pushes the coordinate upwards. If `way` is −1, the stop
    is an upper limit and pushes the coordinate downwards.
    """

    key: str
    k: int
    way: float
    at: float
    law: NumericPressingLaw

    @property
    def overlap(self) -> Overlap:
        return Overlap(self.key, f"stop {self.key}", self.depth, self.held, ("is met", "is left"))

    def depth(self, state: KinematicState) -> Number:
        return self.way * (self.at - state.q[..., self.k])

    def held(self, state: KinematicState) -> Number:
        """Return the effort of the end stop's spring and damper, N·m or N; negative if they would pull."""
        return self.law.force(self.depth(state), -self.way * state.qd[..., self.k])


class Stops(ForceElements):
    """End stops and Coulomb friction of all coordinates."""

    takes_many = True

    def __init__(self, given: ElementContext) -> None:
        mechanism = given.mechanism
        self._stops = [
            _Stop(
                f"{coordinate.name} {key}",
                k,
                way,
                float(getattr(coordinate.limits, key)),
                pressing_law(coordinate.limits.stiffness, coordinate.limits.damping, coordinate.limits.law),
            )
            for k, coordinate in enumerate(mechanism.coordinates)
            if coordinate.limits is not None
            for key, way in (("lower", 1.0), ("upper", -1.0))
            if getattr(coordinate.limits, key) is not None
        ]
        friction = [(k, c.coulomb) for k, c in enumerate(mechanism.coordinates) if c.coulomb is not None]
        self._owners = [coordinate.owner for coordinate in mechanism.coordinates]
        self._rubbing = np.array([k for k, _ in friction], dtype=int)
        self._effort = np.array([float(coulomb.effort) for _, coulomb in friction])
        self._v_s = np.array([float(coulomb.v_s) for _, coulomb in friction])

    def relations(self) -> list[Relation]:
        """Return the two switching conditions of each end stop.

        The first is true while the coordinate is beyond the stop, the second while the force is
        compressive.
        """
        return [relation for stop in self._stops for relation in stop.overlap.relations()]

    def reaction(self, state: KinematicState) -> ForceContribution:
        """Return the generalised forces of the end stops and of the joints' Coulomb friction."""
        elastic, dissipative, applied = np.zeros((3, *state.q.shape))
        energy = np.zeros(state.q.shape[:-1])
        for stop in self._stops:
            if stop.overlap.acts(state):
                spring = stop.law.elastic(stop.depth(state))
                elastic[..., stop.k] += stop.way * spring
                dissipative[..., stop.k] += stop.way * (stop.held(state) - spring)
                energy += stop.law.energy(stop.depth(state))
        applied[..., self._rubbing] = -self._effort * np.tanh(state.qd[..., self._rubbing] / self._v_s)
        return ForceContribution(elastic, dissipative, applied, energy)

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of each joint's end stops and of its Coulomb friction, W."""
        found: dict[str, float] = {}
        for stop in self._stops:
            name, effort = f"stops of {self._owners[stop.k]}", 0.0
            if stop.overlap.acts(state):
                effort = stop.way * stop.held(state)
            found[name] = found.get(name, 0.0) + effort * float(state.qd[stop.k])
        for k, effort, v_s in zip(self._rubbing.tolist(), self._effort, self._v_s, strict=True):
            rate = float(state.qd[k])
            found[f"friction of {self._owners[k]}"] = -float(effort * np.tanh(rate / v_s)) * rate
        return found


of = Stops
