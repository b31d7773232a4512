"""A machine whose joints follow inputs, tables and expressions, and what is known of its motion in closed form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from helpers_parts import Y, Z, body, link
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]
TABLE = Path(__file__).parent / "data" / "swing.csv"
G, ARM, MASS, MOMENT = 9.81, 0.6, 3.0, 0.4
START, COMMAND, CUTOFF = 0.3, 1.1, 2.0  # rad, rad, Hz
LENGTH, LOWERED, HOIST = 1.9, 2.4, 3.0  # m, m, Hz
LOAD, STIFFNESS, DAMPING = 10.0, 4e3, 60.0


def drives(**changes: Any) -> dict[str, Any]:
    """A pendulum that follows an input, one that follows a table, one that it pulls along, a load on a hoist."""
    rod = body(MASS, [0.0, 0.0, -ARM], [MOMENT, MOMENT, 0.1])
    links = [
        link("arm", "revolute", Y, position=START) | rod,
        link("swing", "revolute", Y, xyz=[3.0, 0.0, 0.0]) | rod,
        link("tail", "revolute", Y, "swing", xyz=[0.0, 0.0, -1.0], damping=0.1) | rod,
        link("load", "prismatic", Z, position=-LENGTH) | body(LOAD),
    ]
    file = {"file": str(TABLE), "time": "t"}
    rope = {"name": "rope", "a": {"link": "ground"}, "b": {"link": "load"}}
    rope |= {"stiffness": STIFFNESS, "damping": DAMPING}
    return {
        "schema": 1,
        "name": "Drives",
        "parameters": {"lag": 0.05},
        "tables": {
            "swing": file | {"value": "angle"},
            "gust": file | {"value": "torque", "interpolation": "linear"},
        },
        "links": links,
        "motions": [
            {"name": "reach", "joint": "arm", "input": True, "cutoff": CUTOFF},
            {"name": "swinging", "joint": "swing.angle", "position": "table(swing, t - lag)"},
        ],
        "forces": [{"name": "wind", "joint": "tail", "effort": "table(gust, 1.5*t)"}],
        "lines": [rope | {"rest": {"input": "hoist", "cutoff": HOIST, "start": LENGTH}}],
        "simulation": {"start": "description", "stop": 1.0, "output_step": 0.02, "tolerance": 1e-10},
    } | changes


def response(t: Array, cutoff: float) -> tuple[Array, Array, Array]:
    """A filter's answer to a step of 1 at t = 0, with two derivatives: 1 − (1 + ωt) exp(−ωt)."""
    w = 2 * np.pi * cutoff
    decay = np.exp(-w * t)
    return 1 - (1 + w * t) * decay, w**2 * t * decay, w**2 * (1 - w * t) * decay


def reach(t: Array) -> dict[str, Array]:
    """The arm after a command from START to COMMAND, and what its drive delivers."""
    y, rate, second = (START * (k == 0) + (COMMAND - START) * x for k, x in enumerate(response(t, CUTOFF)))
    effort = (MOMENT + MASS * ARM**2) * second + MASS * G * ARM * np.sin(y)
    names = ("arm_angle", "arm_angle_dot", "arm_angle_ddot", "arm_angle_effort", "reach_filtered")
    return dict(zip(names, (y, rate, second, effort, y), strict=True))


def lowering(t: Array) -> dict[str, Array]:
    """The load on its rope, whose length at rest follows a command from LENGTH to LOWERED."""

    def rest(t: Any) -> Any:
        return LENGTH + (LOWERED - LENGTH) * response(t, HOIST)[0], (LOWERED - LENGTH) * response(t, HOIST)[1]

    def rate(t: float, y: Array) -> list[float]:
        length, speed = rest(t)
        return [y[1], -G + (STIFFNESS * (-y[0] - length) + DAMPING * (-y[1] - speed)) / LOAD]

    found = solve_ivp(rate, (0.0, t[-1]), [-LENGTH, 0.0], t_eval=t, rtol=1e-12, atol=1e-13, method="DOP853").y
    length, speed = rest(t)
    force = STIFFNESS * (-found[0] - length) + DAMPING * (-found[1] - speed)
    return {
        "load_position": found[0],
        "load_position_dot": found[1],
        "rope_force": force,
        "hoist_filtered": length,
    }
