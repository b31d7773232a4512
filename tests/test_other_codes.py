"""Runs of MuJoCo and Exudyn beside runs of the reference solver: no equation, table or start value is shared."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import pytest
from helpers_loops import four_bar
from helpers_parts import X, Y, Z, body, link, machine
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import gpmelica as gp
from gpmelica.description.load import from_data

Array = NDArray[np.float64]
STOP = 1.0  # s


def _simulated(tables: dict[str, Any], **simulation: Any) -> Any:
    settings = {"start": "description", "stop": STOP, "output_step": 0.02, "tolerance": 1e-10}
    return gp.Model(from_data(tables | {"simulation": settings | simulation})).simulate()


_ARM = """<mujoco><option gravity="1.5 -2.5 -9.81"/><worldbody>
  <body name="mast" pos="0.1 0.2 0.3"><joint type="hinge" axis="0 0 1" armature="0.3" damping="0.7"/>
    <inertial pos="0.1 0 0.4" mass="6" diaginertia="0.5 0.4 0.3"/>
    <body name="boom" pos="0 0 0.9" euler="0 0.4 0">
      <joint type="hinge" axis="0 1 0" stiffness="30" springref="0.2"/>
      <inertial pos="0.6 0.05 0" mass="4" diaginertia="0.02 0.6 0.6"/>
      <body name="ram" pos="1.1 0 0"><joint type="slide" axis="1 0 0" stiffness="400" damping="2"/>
        <inertial pos="0.3 0 0.02" mass="2" diaginertia="0.01 0.1 0.1"/>
        <body name="tool" pos="0.6 0 0"><joint type="hinge" axis="0.6 0 0.8" damping="0.05"/>
          <inertial pos="0.1 0.1 0" mass="1" diaginertia="0.02 0.02 0.03"/>
</body></body></body></body></worldbody></mujoco>"""


def _arm() -> dict[str, Any]:
    """The arm of `_ARM` as a description."""
    inertias = {
        "mast": body(6.0, [0.1, 0.0, 0.4], [0.5, 0.4, 0.3]),
        "boom": body(4.0, [0.6, 0.05, 0.0], [0.02, 0.6, 0.6]),
        "ram": body(2.0, [0.3, 0.0, 0.02], [0.01, 0.1, 0.1]),
        "tool": body(1.0, [0.1, 0.1, 0.0], [0.02, 0.02, 0.03]),
    }
    links = (
        link("mast", "revolute", Z, xyz=[0.1, 0.2, 0.3], armature=0.3, damping=0.7, velocity=1.0),
        link("boom", "revolute", Y, "mast", xyz=[0.0, 0.0, 0.9], rpy=[0.0, 0.4, 0.0], stiffness=30.0, rest=0.2),
        link("ram", "prismatic", X, "boom", xyz=[1.1, 0.0, 0.0], stiffness=400.0, damping=2.0),
        link("tool", "revolute", [0.6, 0.0, 0.8], "ram", xyz=[0.6, 0.0, 0.0], damping=0.05, velocity=2.0),
    )
    return machine(*(entry | inertias[entry["name"]] for entry in links), gravity=[1.5, -2.5, -9.81])


def test_arm_moves_as_in_mujoco() -> None:
    """Hinges and a slide with springs, dampers and armature: MuJoCo's accelerations, integrated by SciPy."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    model = mujoco.MjModel.from_xml_string(_ARM.replace("<mujoco>", '<mujoco><compiler angle="radian"/>'))
    data = mujoco.MjData(model)

    def rate(_: float, state: Array) -> Array:
        data.qpos[:], data.qvel[:] = state[:4], state[4:]
        mujoco.mj_forward(model, data)
        return np.concatenate([data.qvel, data.qacc])

    start = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0])
    run = _simulated(_arm())
    expected = solve_ivp(rate, (0.0, STOP), start, "DOP853", run.time, rtol=1e-11, atol=1e-12).y
    for name, values in zip(("mast_angle", "boom_angle", "ram_position", "tool_angle"), expected, strict=False):
        assert np.ptp(values) > 0.01
        assert run[name] == pytest.approx(values, abs=1e-8)


def _exudyn() -> Any:
    with redirect_stdout(StringIO()):
        return pytest.importorskip("exudyn", reason="Exudyn is not installed")


def _turned(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _bar(system: Any, foot: Array, length: float, angle: float) -> int:
    """Number of a bar's body in absolute coordinates, whose reference point is its centre of mass."""
    from exudyn.utilities import RigidBodyInertia  # noqa: PLC0415

    inertia = np.diag([0.01, 0.2 * length, 0.2 * length])
    return int(
        system.CreateRigidBody(
            inertia=RigidBodyInertia(mass=2 * length, inertiaTensor=inertia),
            referencePosition=(foot + _turned(angle) @ [length / 2, 0.0, 0.0]).tolist(),
            referenceRotationMatrix=_turned(angle),
            gravity=[0.0, -9.81, 0.0],
        )
    )


def _add_four_bar(system: Any, angles: Array) -> list[int]:
    """Numbers of crank, coupler and rocker, joined by four revolute joints."""
    lengths, turns = (0.4, 1.0, 0.8), (angles[0], angles[0] + angles[1], angles[2])
    ends = [_turned(turn) @ [length, 0.0, 0.0] for length, turn in zip(lengths, turns, strict=True)]
    feet = [np.zeros(3), ends[0], np.array([1.0, 0.0, 0.0])]
    ground = system.CreateGround()
    bars = [_bar(system, *each) for each in zip(feet, lengths, turns, strict=True)]
    crank, coupler, rocker = bars
    pairs = ((ground, crank), (crank, coupler), (ground, rocker), (coupler, rocker))
    for pair, place in zip(pairs, [*feet, feet[2] + ends[2]], strict=True):
        system.CreateRevoluteJoint(
            itemNumbers=list(pair), position=place.tolist(), axis=[0.0, 0.0, 1.0], useGlobalFrame=True
        )
    return bars


def _trapezoidal(exudyn: Any, step: float) -> Any:
    """Settings of a run with a fixed step, s; a planar loop of revolute joints has redundant constraints."""
    settings = exudyn.SimulationSettings()
    settings.solution.file.write = False
    settings.linearSolver.ignoreSingularJacobian = True
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenDense
    march = settings.timeIntegration
    march.verboseMode = 0
    march.endTime, march.numberOfSteps = STOP, round(STOP / step)
    march.newton.relativeTolerance, march.newton.absoluteTolerance = 1e-10, 1e-11
    return settings


def _exudyn_angles(start: Array, step: float) -> Array:
    """Angles of crank, coupler (to the crank) and rocker at the end, shape (3,), rad."""
    exudyn = _exudyn()
    container = exudyn.SystemContainer()  # owns the system
    system = container.AddSystem()
    bars = _add_four_bar(system, start)
    system.Assemble()
    system.SolveDynamic(_trapezoidal(exudyn, step), solverType=exudyn.DynamicSolverType.TrapezoidalIndex2)
    matrices = [system.GetObjectOutputBody(bar, exudyn.OutputVariableType.RotationMatrix) for bar in bars]
    crank, coupler, rocker = (np.arctan2(R[3], R[0]) for R in matrices)
    return np.array([crank, coupler - crank, rocker])


def test_four_bar_moves_as_in_exudyn() -> None:
    """A falling four-bar, cut at a pin here and in absolute coordinates there; extrapolated by order 2."""
    run = _simulated(four_bar(), start="statics")
    names = ("crank_angle", "coupler_angle", "rocker_angle")
    start = np.array([run[name][0] for name in names])
    coarse, fine = (_exudyn_angles(start, step) for step in (1e-3, 5e-4))
    found = np.array([run[name][-1] for name in names])
    assert np.abs(found - start).max() > 0.3
    assert np.exp(1j * found) == pytest.approx(np.exp(1j * (fine + (fine - coarse) / 3)), abs=1e-6)
