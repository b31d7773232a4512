"""A mechanism's kinematic tree in Pinocchio: forward dynamics with and without constraints, timed from Python."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np
import pinocchio as pin
from crane import Array

from gpmelica.analysis import Evaluation
from gpmelica.description.types.joints import X, Y, Z
from gpmelica.mechanism import GROUND, Body, Coordinate, Mechanism

_TRANSLATION = (("translation", X), ("translation", Y), ("translation", Z))
_EULER_ANGLES = (("rotation", Z), ("rotation", Y), ("rotation", X))


def tree(mechanism: Mechanism, grouped: bool) -> Any:
    """pin.Model of a mechanism's bodies, with the same coordinates in the same order.

    grouped  three coordinates as one joint where Pinocchio has such a one, which is faster; else one joint each
    """
    model, joints = pin.Model(), {GROUND: 0}
    model.gravity.linear = np.array(mechanism.gravity)
    for index, body in enumerate(mechanism.bodies):
        coordinates = [mechanism.coordinates[k] for k in body.coordinates]
        joints[index] = _add(model, joints[body.parent], body, list(_joints(coordinates, grouped)))
    return model


def _add(model: Any, parent: int, body: Body, joints: Sequence[Any]) -> int:
    placement = pin.SE3(body.rotation, np.array(body.offset))
    for number, joint in enumerate(joints):
        parent = model.addJoint(parent, joint, placement, f"{body.name}_{number}")
        placement = pin.SE3.Identity()
    inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia))
    model.appendBodyToJoint(parent, inertia, placement)
    return parent


def _joints(coordinates: Sequence[Coordinate], grouped: bool) -> Iterator[Any]:
    motions = [(coordinate.motion.kind, coordinate.axis) for coordinate in coordinates]
    while motions:
        three = tuple(motions[:3])
        if grouped and three in (_TRANSLATION, _EULER_ANGLES):
            yield pin.JointModelTranslation() if three == _TRANSLATION else pin.JointModelSphericalZYX()
            del motions[:3]
        else:
            yield _single(*motions.pop(0))


def _single(kind: str, axis: tuple[float, float, float]) -> Any:
    if kind == "rotation":
        return {X: pin.JointModelRX, Y: pin.JointModelRY, Z: pin.JointModelRZ}[axis]()
    return {X: pin.JointModelPX, Y: pin.JointModelPY, Z: pin.JointModelPZ}[axis]()


class PinocchioLoops:
    """Pinocchio's model of a mechanism at q and qd of shape (count, n), loaded so that it moves as it does."""

    def __init__(
        self, mechanism: Mechanism, q: Array, qd: Array, moving: Sequence[Evaluation], grouped: bool
    ) -> None:
        self._model, self._nothing = tree(mechanism, grouped), pin.Model()
        self._nothing_at = [(np.zeros(0),) * 3] * len(q)
        loads = [self._load(*point) for point in zip(q, qd, moving, strict=True)]
        self._free = list(zip(q, qd, loads, strict=True))
        self._rows = [
            (*point, np.asfortranarray(each.C), -each.C @ each.qdd)
            for point, each in zip(self._free, moving, strict=True)
        ]

    def _load(self, q: Array, qd: Array, moving: Evaluation) -> Array:
        """Generalised forces of a motion by Pinocchio's inverse dynamics, shape (n,), N or N·m."""
        return pin.rnea(self._model, self._model.createData(), q, qd, moving.qdd).copy()

    def aba_once(self) -> Array:
        """q̈ of the free tree at the first point, shape (n,)."""
        return pin.aba(self._model, self._model.createData(), *self._free[0]).copy()

    def with_rows_once(self) -> Array:
        """q̈ with constraint rows at the first point, shape (n,)."""
        return pin.forwardDynamics(self._model, self._model.createData(), *self._rows[0]).copy()

    def aba(self, calls: int) -> float:
        """Seconds of so many evaluations of the free tree, calls from Python included."""
        return _seconds(pin.aba, self._model, self._free, calls)

    def with_rows(self, calls: int) -> float:
        """Seconds of so many evaluations with constraint rows, calls from Python included."""
        return _seconds(pin.forwardDynamics, self._model, self._rows, calls)

    def overhead(self, calls: int) -> float:
        """Seconds of the same Python loop for a model without a joint."""
        return _seconds(pin.aba, self._nothing, self._nothing_at, calls)


def _seconds(function: Callable[..., Any], model: Any, points: Sequence[tuple[Array, ...]], calls: int) -> float:
    data, begin = model.createData(), time.perf_counter()
    for point in islice(cycle(points), calls):
        function(model, data, *point)
    return time.perf_counter() - begin
