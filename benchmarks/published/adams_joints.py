"""Pendulums on one joint each, which Adams computed for the joint tests of Project Chrono."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from helpers_parts import Z, body, link, machine

import gpmelica as gp
from gpmelica.description.load import from_data

from .case import Array, Case, Signals, Trajectory, read

Table = dict[str, Any]
_TILTED = {"xyz": [1.0, 2.0, 3.0], "rpy": ["-pi/4", 0.0, 0.0]}
_ROD = body(1.0, [2.0, 0.0, 0.0], [0.04, 0.1, 0.1])
_AXES = "xyz"


def _model(name: str, *links: Table, **tables: Any) -> gp.Model:
    """A machine of links whose last one is the pendulum `rod`, with the centre of mass C."""
    settings = {"start": "description", "stop": 5.0, "output_step": 0.05, "tolerance": 1e-9}
    centre = {"C": {"link": "rod", "position": links[-1]["com"]}}
    outputs = {"points": "all", "links": [entry["name"] for entry in links], "loads": "all"}
    whole = machine(*links, name=f"Adams{name}", gravity=[0.0, 0.0, -9.80665], simulation=settings)
    return gp.Model(from_data(whole | {"points": centre, "outputs": outputs} | tables))


def _one_joint(kind: str, *axis: Sequence[float]) -> gp.Model:
    return _model(kind, link("rod", kind, *axis, **_TILTED) | _ROD)


def _cylindrical() -> gp.Model:
    carriage = {
        "name": "carriage",
        "parent": "ground",
        "frame": _TILTED,
        "joint": {"type": "prismatic", "axis": Z},
    }
    return _model("cylindrical", carriage, link("rod", "revolute", Z, "carriage") | _ROD)


def _universal() -> gp.Model:
    """A Hooke joint whose shafts lie along x = y; the cross turns in the ground about the first of our axes."""
    half = float(np.sqrt(0.5))
    # columns: axes of the joint frame; Adams' x, which the ground's fork holds, is z here, and its shaft is -x
    R = [[-half, 0.5, 0.5], [-half, -0.5, -0.5], [0.0, -half, half]]
    frame = [[*row, 0.0] for row in R] + [[0.0, 0.0, 0.0, 1.0]]
    return _model(
        "universal", link("rod", "universal", matrix=frame) | body(1.0, [-2.0, 0.0, 0.0], [0.04, 0.1, 0.1])
    )


def _distance() -> gp.Model:
    """A free rod whose end is 2 m away from the origin."""
    rod = link("rod", "free", position=[0.0, 2.0, 0.0, 0.0, 0.0, 0.0]) | body(
        1.0, [0.0, 2.0, 0.0], [0.1, 0.04, 0.1]
    )
    ends = {"a": {"link": "ground", "xyz": [0.0] * 3}, "b": {"link": "rod", "xyz": [0.0] * 3}}
    return _model("distance", rod, closures=[{"name": "string", "type": "distance", "length": 2.0} | ends])


def _spring() -> gp.Model:
    """A free rod on a spring and damper that ends at the rod's centre of mass."""
    rod = link("rod", "free", position=[0.0, 2.0, 0.0, 0.0, 0.0, 0.0]) | body(
        1.0, [0.0, 0.0, 0.0], [0.04, 0.1, 0.1]
    )
    ends = {"a": {"link": "ground", "point": [0.0] * 3}, "b": {"link": "rod", "point": [0.0] * 3}}
    spring = {"name": "spring", "stiffness": 100.0, "damping": 5.0, "rest": 2.0} | ends
    return _model("spring", rod, lines=[spring])


def _motion(recorded: Signals) -> dict[str, Array]:
    found = {}
    for quantity, signal in (("position", "C_"), ("velocity", "C_v"), ("acceleration", "C_a")):
        found |= {f"{quantity}_{axis}": recorded[f"{signal}{axis}"] for axis in _AXES}
    return found | {f"angular_velocity_{axis}": recorded[f"rod_omega_{axis}"] for axis in _AXES}


def _with_reactions(jointed: str, recorded: Signals) -> Signals:
    """Motion, and the joint's force on the ground and torque about its place in the ground, in world axes."""
    w, x, y, z = (recorded[f"{jointed}_quaternion_{part}"] for part in "wxyz")
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    force, moment = (
        -np.einsum("ijk,jk->ik", R, [recorded[f"{jointed}_load_{letter}{axis}"] for axis in _AXES])
        for letter in "fn"
    )
    origin = np.array([recorded[f"{jointed}_origin_{axis}"] for axis in _AXES])
    torque = moment + np.cross(origin - origin[:, :1], force, axis=0)
    found = _motion(recorded)
    for quantity, world in (("force", force), ("torque", torque)):
        found |= {f"{quantity}_{axis}": world[k] for k, axis in enumerate(_AXES)}
    return found


def _with_spring(recorded: Signals) -> Signals:
    """Motion, and the force of the spring on the ground."""
    found = _motion(recorded)
    tension = recorded["spring_force"] / recorded["spring_length"]
    return found | {f"force_{axis}": tension * recorded[f"C_{axis}"] for axis in _AXES}


_MOTION = tuple(f"C_{kind}{axis}" for kind in ("", "v", "a") for axis in _AXES) + tuple(
    f"rod_omega_{axis}" for axis in _AXES
)


def _reactions(jointed: str) -> tuple[str, ...]:
    loads = tuple(f"{jointed}_load_{letter}{axis}" for letter in "fn" for axis in _AXES)
    pose = tuple(f"{jointed}_origin_{axis}" for axis in _AXES) + tuple(
        f"{jointed}_quaternion_{part}" for part in "wxyz"
    )
    return (*loads, *pose)


def _case(
    name: str,
    test: str,
    model: Callable[[], gp.Model],
    quantities: Callable[[Signals], Signals],
    signals: Sequence[str] = (),
    **options: Any,
) -> Case:
    return Case(
        name=f"adams-{name}",
        source=f"Adams in Project Chrono's joint tests, {test}",
        precision="6 digits printed; tolerances of Chrono's own tests are 1e-3 to 2e-2",
        bound=1e-3,
        values=Trajectory(model, lambda: read(f"adams_{name}.csv"), (*_MOTION, *signals), quantities),
        **options,
    )


def _joint(name: str, test: str, model: Callable[[], gp.Model], jointed: str = "rod", **options: Any) -> Case:
    return _case(name, test, model, partial(_with_reactions, jointed), _reactions(jointed), **options)


CASES = (
    _joint("revolute", "Revolute_Case02", lambda: _one_joint("revolute", Z), quick=True),
    _joint("spherical", "Spherical_Case02", lambda: _one_joint("spherical")),
    _joint("universal", "Universal_Case03", _universal),
    _joint("prismatic", "Prismatic_Case02", lambda: _one_joint("prismatic", Z)),
    _joint("cylindrical", "Cylindrical_Case03", _cylindrical, "carriage"),
    _case("distance", "Distance_Case03", _distance, _motion),
    _case("spring", "TranSpring_Case02", _spring, _with_spring, ("spring_force", "spring_length")),
)
