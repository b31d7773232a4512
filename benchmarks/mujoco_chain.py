"""A crane in MuJoCo: its tree of bodies, springs on coordinates, and linear supports.

Supports are springs on sums of the base's coordinates (fixed tendons), which are C code; forces at points would be
Python's.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from gpmelica.analysis.system import System
from gpmelica.mechanism import GROUND, BaseSupport, Body, Coordinate, Mechanism

Array = NDArray[np.float64]
_TYPES = {"rotation": "hinge", "translation": "slide"}
mujoco.set_mju_user_warning(lambda text: None)  # it would be written to a file here
BASE = ("x", "y", "z", "phi", "theta", "psi")  # coordinates of a base on springs


class MujocoChain:
    """MuJoCo's model of a machine.

    torque  on the first joint for the first 0.1 s, N·m
    point   of the last body, shape (3,), m
    """

    def __init__(self, model: System, integrator: str, torque: float, point: Sequence[float]) -> None:
        self._symbols = [c.symbol for c in model.mechanism.coordinates]
        self._torque, self._driven = (
            torque,
            next(k for k, c in enumerate(model.mechanism.coordinates) if c.role == "joint"),
        )
        self._start = model.start
        self.model = mujoco.MjModel.from_xml_string(_text(model.mechanism, integrator, point))

    def run(self, stop: float, step: float, parts: int, signals: Sequence[str]) -> tuple[Array, float]:
        """Values at every `step`, shape (N, k), in so many parts each; CPU time, s."""
        self.model.opt.timestep = step / parts
        data = mujoco.MjData(self.model)
        data.qpos[:], data.qvel[:] = self._start
        values = [self._values(data, signals)]
        begin = time.process_time()
        for k in range(round(stop / step)):
            data.qfrc_applied[self._driven] = self._torque if k * step < 0.1 - 1e-9 else 0.0
            mujoco.mj_step(self.model, data, parts)
            values.append(self._values(data, signals))
        seconds = time.process_time() - begin
        if not np.all(np.isfinite(values)) or data.warning.number.any():
            raise RuntimeError("unstable")
        return np.array(values), seconds

    def _values(self, data: mujoco.MjData, signals: Sequence[str]) -> list[float]:
        mujoco.mj_kinematics(self.model, data)  # a step leaves positions of its begin
        known = dict(zip(self._symbols, data.qpos, strict=True))
        known |= dict(zip(("E_x", "E_y", "E_z"), data.site_xpos[0], strict=True))
        return [known[name] for name in signals]


def small_motions(support: BaseSupport) -> Array:
    """Displacement of a support's point per small motion of the base's coordinates `BASE`, shape (3, 6)."""
    x, y, z = (float(each) for each in support.position)
    return np.hstack([np.eye(3), [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]])


def _numbers(values: Sequence[float] | Array) -> str:
    return " ".join(f"{x:.17g}" for x in np.ravel(values))


def _text(mechanism: Mechanism, integrator: str, point: Sequence[float]) -> str:
    return f"""<mujoco>
<compiler angle="radian" balanceinertia="false"/>
<option integrator="{integrator}" gravity="{_numbers(mechanism.gravity)}"><flag constraint="disable"/></option>
<worldbody>{_children(mechanism, GROUND, point)}</worldbody>
<tendon>{_supports(mechanism)}</tendon>
</mujoco>"""


def _children(mechanism: Mechanism, parent: int, point: Sequence[float]) -> str:
    bodies = enumerate(mechanism.bodies)
    return "".join(_body(mechanism, b, body, point) for b, body in bodies if body.parent == parent)


def _body(mechanism: Mechanism, index: int, body: Body, point: Sequence[float]) -> str:
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ravel(np.array(body.rotation, dtype=float)))
    joints = "".join(_joint(mechanism.coordinates[k]) for k in body.coordinates)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = np.array(body.inertia, dtype=float)
    inertia = f'mass="{body.mass:.17g}" fullinertia="{_numbers([xx, yy, zz, xy, xz, yz])}"'
    site = f'<site pos="{_numbers(point)}"/>' if index == len(mechanism.bodies) - 1 else ""
    return (
        f'<body pos="{_numbers(body.offset)}" quat="{_numbers(quaternion)}">{joints}'
        f'<inertial pos="{_numbers(body.com)}" {inertia}/>{site}{_children(mechanism, index, point)}</body>'
    )


def _joint(coordinate: Coordinate) -> str:
    spring = {"stiffness": coordinate.stiffness, "damping": coordinate.damping, "springref": coordinate.rest}
    given = " ".join(f'{key}="{value:.17g}"' for key, value in spring.items() if value is not None)
    kind, axis = _TYPES[coordinate.motion.kind], _numbers(coordinate.axis)
    return f'<joint name="{coordinate.symbol}" type="{kind}" axis="{axis}" {given}/>'


def _supports(mechanism: Mechanism) -> str:
    """A spring per support and direction, on the displacement of its point by small motions of the base."""
    found = []
    for support in mechanism.supports:
        rows = zip(small_motions(support), support.stiffness, support.damping, strict=True)
        for way, stiffness, damping in rows:
            parts = "".join(
                f'<joint joint="base_{key}" coef="{part:.17g}"/>'
                for key, part in zip(BASE, way, strict=True)
                if part
            )
            found.append(
                f'<fixed stiffness="{stiffness:.17g}" damping="{damping:.17g}" springlength="0">{parts}</fixed>'
            )
    return "".join(found)
