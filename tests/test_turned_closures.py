"""Closures whose frames are turned far against each other: closed the right way round, or a message.

In the reference's start, in that of an FMU whose parameters turn the frames, and in the Modelica source.
"""

from __future__ import annotations

import re
from typing import Any

import fmpy
import numpy as np
import pytest
from helpers_backends import Compiled, CompileData, Fmu
from helpers_parts import Table, Y, body, link, machine
from scipy.spatial.transform import Rotation

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import DescriptionError, SolveError
from gpmelica.description.load import from_data
from gpmelica.generator import modelica
from gpmelica.runs.rumoca import CompiledModel

_SPRINGS = {"model": "spring_damper", "damping": [100.0] * 6}
_STIFF = [1e5, 1e5, 1e5, 1e4, 1e4, 1e4]


def held(turn: float, axis: tuple[float, float, float] = (0.0, 1.0, 0.0), **keys: Any) -> Table:
    """A ball joint and a rigid closure to the ground, whose frames start turned, rad; no gravity."""
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_rotvec(turn * np.array(axis) / np.linalg.norm(axis)).as_matrix()
    lock = {"name": "lock", "type": "fixed", "b": {"link": "ground"}} | keys
    lock["a"] = {"link": "ball", "matrix": matrix.tolist()}
    return machine(link("ball", "spherical") | body(), closures=[lock], gravity=[0.0, 0.0, 0.0])


@pytest.mark.parametrize("turn", [1.6, 2.0944, 2.6, 3.1, np.pi])
@pytest.mark.parametrize("start", ["statics", "description"])
def test_a_replacement_joint_that_is_turned_too_far_is_refused(turn: float, start: str) -> None:
    """Without the error, springs would silently move the joint to half a turn."""
    table = held(turn, **_SPRINGS, stiffness=_STIFF) | {"simulation": {"start": start}}
    with pytest.raises(DescriptionError, match=r"lock are turned by .* rad .* expected less than 1.57 rad"):
        assemble_system(from_data(table))


def test_frames_turned_by_a_third_about_the_diagonal_are_refused() -> None:
    """All three cosines vanish there."""
    table = held(2.0 * np.pi / 3.0, (1.0, 1.0, 1.0), **_SPRINGS, stiffness=_STIFF)
    with pytest.raises(DescriptionError, match=r"turned by 2.09 rad"):
        assemble_system(from_data(table))


@pytest.mark.parametrize("turn", [0.0, 0.8, 1.3])
def test_springs_turn_the_frames_together(turn: float) -> None:
    model = assemble_system(from_data(held(turn, **_SPRINGS, stiffness=_STIFF)))
    found = Rotation.from_euler("ZYX", model.start[0]).magnitude()
    assert found == pytest.approx(turn, abs=1e-9)


def test_a_free_axis_may_turn() -> None:
    """Without a stiffness about z the frames of a revolute replacement joint may have any angle about it."""
    stiffness = [1e5, 1e5, 1e5, 1e4, 1e4, 0.0]
    assemble_system(from_data(held(2.5, (0.0, 0.0, 1.0), **_SPRINGS, stiffness=stiffness)))


@pytest.mark.parametrize("turn", [2.0, 2.6, 3.1, np.pi])
def test_a_rigid_closure_is_closed_the_right_way_round(turn: float) -> None:
    model = assemble_system(from_data(held(turn)))
    assert Rotation.from_euler("ZYX", model.start[0]).magnitude() == pytest.approx(turn, abs=1e-8)


# ---- Frames that parameters turn --------------------------------------------------------------------------------

_DEGREES = [100.0, 130.0, 170.0, 180.0]
_ANGLES = ("roll", "pitch", "yaw")
_REFUSED = r"frames a and b of closure lock are rotated relative to each other at the start; .* found in rad: "


def locked(joint: tuple[Any, ...], start: str = "description", **keys: Any) -> Table:
    """A body on a joint, and a rigid closure to the ground whose frame a has three parameters; no gravity."""
    lock = {"name": "lock", "type": "fixed", "a": {"link": "ball", "rpy": list(_ANGLES)}, "b": {"link": "ground"}}
    return machine(
        link("ball", *joint) | body(),
        closures=[lock | keys],
        gravity=[0.0, 0.0, 0.0],
        parameters={"roll": 0.0, "pitch": 0.3, "yaw": 0.0},
        simulation={"start": start},
    )


def angles(turn: Rotation) -> dict[str, float]:
    """Parameters that turn frame a so."""
    return dict(zip(_ANGLES, turn.as_euler("xyz").tolist(), strict=True))


def about(axis: tuple[float, float, float], degrees: float) -> Rotation:
    """A rotation."""
    return Rotation.from_rotvec(np.radians(degrees) * np.array(axis) / np.linalg.norm(axis))


@pytest.fixture(scope="module", params=["statics", "description"])
def ball(request: pytest.FixtureRequest, compile_data: CompileData) -> Compiled:
    """FMU of a ball joint with a rigid closure."""
    return compile_data(locked(("spherical",), request.param))


@pytest.fixture(scope="module")
def hinge(compile_data: CompileData) -> Compiled:
    """FMU of a hinge with a rigid closure, five of whose six conditions are redundant."""
    return compile_data(locked(("revolute", Y)))


@pytest.fixture(scope="module", params=["statics", "description"])
def springs(request: pytest.FixtureRequest, compile_data: CompileData) -> Compiled:
    """FMU of a ball joint with a replacement joint."""
    return compile_data(locked(("spherical",), request.param, **_SPRINGS, stiffness=_STIFF))


@pytest.fixture(scope="module")
def free_axis(compile_data: CompileData) -> Compiled:
    """FMU of a ball joint with a replacement joint that lets one axis turn."""
    return compile_data(locked(("spherical",), "description", **_SPRINGS, stiffness=[*_STIFF[:5], 0.0]))


@pytest.mark.parametrize("degrees", [60.0, *_DEGREES])
@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 1.0)])
def test_an_fmu_closes_a_rigid_closure_the_right_way_round(
    ball: Compiled, axis: tuple[float, float, float], degrees: float
) -> None:
    """A ball joint allows every orientation, so that its frames agree wherever parameters turn them."""
    wanted = about(axis, degrees)
    with Fmu(ball, "me") as fmu:
        found = fmu.restart(angles(wanted)).get(["ball_psi", "ball_theta", "ball_phi"])
    assert (Rotation.from_euler("ZYX", found) * wanted).magnitude() < 1e-8


@pytest.mark.parametrize("degrees", _DEGREES)
def test_an_fmu_turns_a_hinge_as_far_as_the_reference(hinge: Compiled, degrees: float) -> None:
    """Half a turn may go either way."""
    values = angles(about((0.0, 1.0, 0.0), degrees))
    with Fmu(hinge, "cs") as fmu:
        found = fmu.restart(values).get(["ball_angle"])
    expected = assemble_system(from_data(locked(("revolute", Y)), changes={"parameters": values})).start[0]
    assert np.cos(found - expected) == pytest.approx(1.0, abs=1e-12)
    assert np.cos(found) == pytest.approx(np.cos(np.radians(degrees)), abs=1e-9)


def test_an_fmu_refuses_frames_that_no_motion_brings_together(hinge: Compiled) -> None:
    """Half a turn about an axis that the hinge does not have: all cosines vanish there."""
    with Fmu(hinge, "cs") as fmu:
        with pytest.raises(fmpy.fmi1.FMICallException):
            fmu.restart(angles(about((0.0, 0.0, 1.0), 180.0)))
        _is_refused(fmu, np.pi)


def _is_refused(fmu: Fmu, turn: float | None = None) -> None:
    found = re.search(_REFUSED + r"([0-9.]+)", fmu.messages[-1])
    assert found is not None, fmu.messages[-1]
    assert turn is None or float(found[1]) == pytest.approx(turn, abs=0.01)


@pytest.mark.parametrize("degrees", _DEGREES)
def test_an_fmu_refuses_a_replacement_joint_that_is_turned_too_far(springs: Compiled, degrees: float) -> None:
    """The message names the angle: half a turn where statics have let the springs settle."""
    settles = springs.model.chain.simulation.start == "statics"
    with Fmu(springs, "cs") as fmu:
        with pytest.raises(fmpy.fmi1.FMICallException):
            fmu.restart(angles(about((0.0, 1.0, 0.0), degrees)))
        _is_refused(fmu, np.pi if settles else np.radians(degrees))


def test_an_fmu_accepts_a_replacement_joint_below_a_quarter_turn(springs: Compiled) -> None:
    """With statics its springs bring the frames together; without, the ball stays."""
    settles = springs.model.chain.simulation.start == "statics"
    with Fmu(springs, "cs") as fmu:
        found = fmu.restart(angles(about((0.0, 1.0, 0.0), 80.0))).get(["ball_theta"])
    assert found == pytest.approx(-np.radians(80.0) if settles else 0.0, abs=1e-8)


def test_an_fmu_lets_a_free_axis_turn(free_axis: Compiled) -> None:
    """Springs about two axes alone do not make a closure that holds its orientation."""
    with Fmu(free_axis, "cs") as fmu:
        fmu.restart(angles(about((0.0, 0.0, 1.0), 170.0)))


@pytest.mark.slow
@pytest.mark.parametrize("described", [0.0, 100.0])
def test_rotation_check_uses_the_current_stiffness(described: float, compile_data: CompileData) -> None:
    """A stiffness that depends on a parameter counts with the parameter's current value."""
    data = locked(("spherical",), "description", **_SPRINGS, stiffness=[*_STIFF[:5], "k"])
    data["parameters"]["k"] = described
    with Fmu(compile_data(data), "cs") as fmu:
        fmu.restart(angles(about((0.0, 0.0, 1.0), 170.0)) | {"k": 0.0})
        with pytest.raises(fmpy.fmi1.FMICallException):
            fmu.restart(angles(about((0.0, 0.0, 1.0), 170.0)) | {"k": 100.0})
        _is_refused(fmu, np.radians(170.0))


def test_derivatives_of_a_start_go_through_the_whole_rotation(ball: Compiled) -> None:
    """The ball follows the frame's pitch one to one."""
    with Fmu(ball, "me") as fmu:
        fmu.initialization({"pitch": np.radians(130.0)})
        rows = fmu.references(["ball_psi", "ball_theta", "ball_phi"])
        slopes = fmu.fmi.getDirectionalDerivative(rows, fmu.references(["pitch"]), [1.0])
    assert slopes == pytest.approx([0.0, -1.0, 0.0], abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [{}, _SPRINGS | {"stiffness": _STIFF}])
def test_the_modelica_source_refuses_frames_that_are_turned_too_far(keys: dict[str, Any]) -> None:
    """There the states start where the description has them, and cosines would pull frames to half a turn."""
    pytest.importorskip("rumoca")
    model = assemble_system(from_data(locked(("spherical",), **keys)))
    compiled = CompiledModel(model.modelica(), modelica.experiment(model.name))
    for degrees in (0.0, 60.0):
        compiled.values(["ball_theta"], 0.0, {"pitch": np.radians(degrees)})
    for degrees in (130.0, 170.0, 180.0):
        with pytest.raises(SolveError, match="closure lock are rotated relative to each other at the start"):
            compiled.values(["ball_theta"], 0.0, {"pitch": np.radians(degrees)})
