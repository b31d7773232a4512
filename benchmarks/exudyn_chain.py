"""A crane in Exudyn: a tree in minimal coordinates, with springs of its joints and no functions of Python's.

Its settings are those that took the least time of many: the module without checks of ranges, dense matrices, and a
modified Newton method whose Jacobian is renewed when an iteration reduces the error by less than ten.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO

import numpy as np
from mujoco_chain import BASE, small_motions
from numpy.typing import NDArray

from gpmelica.analysis.system import System
from gpmelica.description.types.joints import X, Y, Z
from gpmelica.mechanism import GROUND, Coordinate, Mechanism

sys.exudynFast = True  # type: ignore[attr-defined]  # its module without checks of ranges, which it announces
with redirect_stdout(StringIO()):
    import exudyn
    from exudyn.itemInterface import NodeGenericODE2, ObjectKinematicTree, SensorKinematicTree, SensorNode

Array = NDArray[np.float64]
PUSH = 0.1  # s, as long as the first joint's torque acts
_NAMES = {"rotation": "Revolute", "translation": "Prismatic"}
_AXES = {X: "X", Y: "Y", Z: "Z"}


@dataclass(frozen=True)
class Method:
    """A solver of Exudyn's.

    adaptive  it chooses its steps
    newton    of an implicit one: if the error is the residual (0) or the increment (1), and the tolerance
    """

    name: str
    adaptive: bool = False
    newton: tuple[int, float] | None = None

    def label(self, rung: float) -> str:
        """Label of a run with a tolerance, or a step in s."""
        unit, name = "" if self.adaptive else " s", self.name.removeprefix("Explicit")
        return f"{rung:.0e}{unit}" if self.newton else f"{rung:.0e}{unit}, {name}"

    def settings(self, tolerance: float) -> exudyn.SimulationSettings:
        """Without times and steps; only adaptive methods mind the tolerance."""
        given = exudyn.SimulationSettings()
        given.solution.file.write = False
        given.linearSolver.solverType = exudyn.LinearSolverType.EigenDense
        ways = given.timeIntegration
        ways.verboseMode = 0
        ways.solverType = getattr(exudyn.DynamicSolverType, self.name)
        ways.explicit.computeEndOfStepAccelerations = False
        ways.initialStepSize, ways.stepSizeSafety = 1e-3, 0.8  # 10 ms overflow, and then it tries for ever
        ways.relativeTolerance = ways.absoluteTolerance = tolerance
        if self.newton:
            mode, ways.newton.relativeTolerance = self.newton
            ways.newton.residualMode, ways.newton.modifiedNewtonContractivity = mode, 0.1
            ways.newton.absoluteTolerance = ways.newton.relativeTolerance if mode else 1e-10
        return given


RK44, DOPRI5, ODE23 = Method("RK44"), Method("DOPRI5", adaptive=True), Method("ODE23", adaptive=True)
EXPLICIT = (Method("ExplicitMidpoint"), Method("RK33"), RK44, Method("RK67"), ODE23, DOPRI5)
NEWTON = ((0, 1e-3), (0, 1e-4), (0, 1e-5), (0, 1e-6), (1, 1e-8))
TRAPEZOIDAL = tuple(Method("TrapezoidalIndex2", newton=each) for each in NEWTON)


class ExudynChain:
    """Exudyn's model of a machine.

    torque  on the first joint until `PUSH`, N·m
    point   of the last body, shape (3,), m
    """

    def __init__(self, model: System, torque: float, point: Sequence[float]) -> None:
        coordinates = model.mechanism.coordinates
        self._symbols = ["t", *(c.symbol for c in coordinates), "E_x", "E_y", "E_z"]
        self._push = np.zeros(len(coordinates))
        self._push[next(k for k, c in enumerate(coordinates) if c.role == "joint")] = torque
        self._container = exudyn.SystemContainer()  # which its system needs
        self._system = self._container.AddSystem()
        self._tree, self._sensors = _add(self._system, model, point)
        self._system.Assemble()
        self._start = self._system.systemData.GetSystemState(exudyn.ConfigurationType.Initial)

    def run(
        self, stop: float, method: Method, rung: float, period: float, signals: Sequence[str]
    ) -> tuple[Array, Array, float]:
        """Times, shape (N,), and values, (N, k), where steps end after each period; CPU time; all times in s.

        `rung` is the step, or the tolerance of an adaptive method. RuntimeError if it is unstable.
        """
        given, step = method.settings(rung), period if method.adaptive else rung
        given.solution.sensors.writePeriod = period
        self._system.systemData.SetSystemState(self._start, exudyn.ConfigurationType.Initial)
        begin = time.process_time()
        pushed = self._solve(given, 0.0, PUSH, step, self._push)
        free = self._solve(given, PUSH, stop, step, 0.0 * self._push)
        seconds = time.process_time() - begin
        rows = np.vstack([pushed, free[1:]])
        if not np.all(np.isfinite(rows)):
            raise RuntimeError("unstable")
        return rows[:, 0], rows[:, [self._symbols.index(name) for name in signals]], seconds

    def _solve(
        self, given: exudyn.SimulationSettings, begin: float, end: float, step: float, forces: Array
    ) -> Array:
        """Goes on from where the system is; time, coordinates and the point's place, shape (N, n + 4)."""
        ways = given.timeIntegration
        ways.startTime, ways.endTime, ways.numberOfSteps = begin, end, round((end - begin) / step)
        self._system.SetObjectParameter(self._tree, "jointForceVector", forces)
        self._system.SolveDynamic(given, updateInitialValues=True)
        coordinates, place = map(self._system.GetSensorStoredData, self._sensors)
        return np.hstack([coordinates, place[:, 1:]])


def _add(system: exudyn.MainSystem, model: System, point: Sequence[float]) -> tuple[int, tuple[int, int]]:
    """Numbers of the tree, and of sensors of its coordinates and of the last body's point."""
    position, velocity = model.start
    n, kinds = len(position), exudyn.OutputVariableType
    motion = {"initialCoordinates": position, "initialCoordinates_t": velocity}
    node = system.AddNode(NodeGenericODE2(numberOfODE2Coordinates=n, referenceCoordinates=np.zeros(n), **motion))
    tree = system.AddObject(_tree(model.mechanism, node))
    stored = {"storeInternal": True, "writeToFile": False}
    coordinates = SensorNode(nodeNumber=node, outputVariableType=kinds.Coordinates, **stored)
    end = {"objectNumber": tree, "linkNumber": n - 1, "localPosition": point}
    place = SensorKinematicTree(**end, outputVariableType=kinds.Position, **stored)
    return tree, (system.AddSensor(coordinates), system.AddSensor(place))


def _tree(mechanism: Mechanism, node: int) -> ObjectKinematicTree:
    """A link per coordinate, of which the last one of a body has its mass."""
    stiffness, damping = _springs(mechanism)
    return ObjectKinematicTree(
        nodeNumber=node,
        gravity=[float(each) for each in mechanism.gravity],
        jointTypes=[_joint(each) for each in mechanism.coordinates],
        jointForceVector=np.zeros_like(stiffness),
        jointPositionOffsetVector=_numbers(each.rest for each in mechanism.coordinates),
        jointVelocityOffsetVector=np.zeros_like(stiffness),
        jointPControlVector=stiffness,
        jointDControlVector=damping,
        **_links(mechanism),
    )


def _links(mechanism: Mechanism) -> dict[str, object]:
    """Parents, joint frames and inertias."""
    n = len(mechanism.coordinates)
    parents, masses, coms, inertias = np.arange(n) - 1, np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3, 3))
    offsets, rotations = np.zeros((n, 3)), np.array([np.eye(3)] * n)
    for body in mechanism.bodies:
        first, last = body.coordinates[0], body.coordinates[-1]
        parents[first] = -1 if body.parent == GROUND else mechanism.bodies[body.parent].coordinates[-1]
        offsets[first], rotations[first] = body.offset, body.rotation
        masses[last], coms[last], inertias[last] = body.mass, body.com, body.inertia
    return {
        "linkParents": parents,
        "jointOffsets": exudyn.Vector3DList(list(offsets)),
        "jointTransformations": exudyn.Matrix3DList(list(rotations)),
        "linkMasses": masses,
        "linkCOMs": exudyn.Vector3DList(list(coms)),
        "linkInertiasCOM": exudyn.Matrix3DList(list(inertias)),
    }


def _joint(coordinate: Coordinate) -> exudyn.JointType:
    return getattr(exudyn.JointType, _NAMES[coordinate.motion.kind] + _AXES[coordinate.axis])


def _springs(mechanism: Mechanism) -> tuple[Array, Array]:
    """Stiffness and damping of each coordinate, shapes (n,), supports included."""
    symbols = [each.symbol for each in mechanism.coordinates]
    base = [symbols.index(f"base_{key}") for key in BASE]
    stiffness = _numbers(each.stiffness for each in mechanism.coordinates)
    damping = _numbers(each.damping for each in mechanism.coordinates)
    stiffness[base] += _of_base(mechanism, "stiffness")
    damping[base] += _of_base(mechanism, "damping")
    return stiffness, damping


def _of_base(mechanism: Mechanism, name: str) -> Array:
    """The supports' stiffness or damping in the base's coordinates, shape (6,); ValueError if it couples them."""
    rows = [(small_motions(each), np.array(getattr(each, name), dtype=float)) for each in mechanism.supports]
    found = sum((way.T * numbers @ way for way, numbers in rows), np.zeros((6, 6)))
    if not np.allclose(found, np.diag(np.diag(found))):
        raise ValueError(f"{name} of supports couples the base's coordinates, which springs of joints cannot")
    return np.diag(found)


def _numbers(values: Iterable[object]) -> Array:
    return np.array([value or 0.0 for value in values], dtype=float)
