"""The same kinematic tree in Pinocchio: mass matrix (CRBA) and bias forces (RNEA), timed from Python."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np
import pinocchio as pin
from crane import Array

from gpmelica.generator.mechanism import GROUND, Body, Coordinate, Mechanism
from gpmelica.generator.types.joints import X, Y, Z

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
    """Pinocchio's model of a mechanism at q and qd of shape (count, n)."""

    def __init__(self, mechanism: Mechanism, q: Array, qd: Array, grouped: bool) -> None:
        self._model, self._nothing = tree(mechanism, grouped), pin.Model()
        self._points = list(zip(q, qd, strict=True))
        self._no_points = [(np.zeros(0), np.zeros(0))] * len(q)

    def mass_and_bias(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """M, shape (n, n), and h without gravity, shape (n,); q and qd of shape (n,)."""
        data = self._model.createData()
        bias = pin.nonLinearEffects(self._model, data, q, qd).copy()
        gravity = pin.computeGeneralizedGravity(self._model, data, q).copy()
        return pin.crba(self._model, data, q).copy(), bias - gravity

    def evaluations(self, calls: int) -> float:
        """Seconds of so many evaluations of M and bias forces, calls from Python included."""
        return _seconds(self._model, self._points, calls)

    def overhead(self, calls: int) -> float:
        """Seconds of the same Python loop for a model without a joint."""
        return _seconds(self._nothing, self._no_points, calls)


def _seconds(model: Any, points: Sequence[tuple[Array, Array]], calls: int) -> float:
    data, mass, bias = model.createData(), pin.crba, pin.nonLinearEffects
    begin = time.perf_counter()
    for q, qd in islice(cycle(points), calls):
        mass(model, data, q)
        bias(model, data, q, qd)
    return time.perf_counter() - begin
