"""N-four-bar mechanism of the IFToMM multibody benchmark library (A02), and its motion in closed form.

N + 1 rods stand side by side on the ground, N couplers join their free ends; each is a slender rod of 1 m, 1 kg.
Gravity acts along −y. The point B0, the end of the first rod, starts above its hinge with 1 m/s along +x.

Where the rods lie along the ground, the constraints depend on each other and N further branches of motion begin.
Source: M. González, D. Dopico, U. Lugrís, J. Cuadrado, A benchmarking system for MBS simulation software,
Multibody System Dynamics 16 (2006), and lim.ii.udc.es/mbsbenchmark, problem A02.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers_parts import Z, body, link, machine
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]
UPRIGHT = np.pi / 2
GRAVITY = 9.81


def n_four_bar(
    count: int, closure: str = "point_on_line", angle: float = UPRIGHT, rate: float = -1.0, **tables: Any
) -> dict[str, Any]:
    """Description with `count` windows, which is N.

    Parameters
    ----------
    count
        Number of windows, N ≥ 1.
    closure
        Type of the cut joints: `point_on_line` has no redundant constraint, `spherical` and `revolute` have some.
    angle, rate
        Initial angle of the rods about z from the x axis, rad, and its rate, rad/s.
    tables
        Further tables of the description.
    """
    couplers = range(1, count + 1)
    rods = [_rod(f"rod{k}", "ground", float(k), angle, rate) for k in range(count + 1)]
    links = rods + [_rod(f"coupler{k}", f"rod{k - 1}", 1.0, -angle, -rate) for k in couplers]
    closures = [
        {"name": f"B{k}", "type": closure, "a": _end(f"coupler{k}"), "b": _end(f"rod{k}")} for k in couplers
    ]
    times = {"start": "description", "stop": 10.0, "output_step": 0.025}
    parts = {"closures": closures, "points": {"B0": {"link": "rod0", "position": [1.0, 0.0, 0.0]}}}
    return machine(*links, name="NFourBar", gravity=[0.0, -GRAVITY, 0.0], simulation=times, **parts) | tables


def _rod(name: str, parent: str, x: float, angle: float, rate: float) -> dict[str, Any]:
    inertia = [0.0, 1.0 / 12.0, 1.0 / 12.0]
    hinge = link(name, "revolute", Z, parent, xyz=[x, 0.0, 0.0], position=angle, velocity=rate)
    return hinge | body(1.0, [0.5, 0.0, 0.0], inertia)


def _end(name: str) -> dict[str, Any]:
    return {"link": name, "xyz": [1.0, 0.0, 0.0]}


def parallel_angle(count: int, time: Array, angle: float = UPRIGHT, rate: float = -1.0) -> Array:
    """Angle of all rods on the branch on which they stay parallel, rad, shape (N,) like `time`, s.

    The couplers translate there, so that the mechanism is a pendulum with one degree of freedom.
    """
    inertia, moment = (count + 1) / 3.0 + count, (count + 1) / 2.0 + count
    slope = moment * GRAVITY / inertia

    def rates(_: float, y: Array) -> Array:
        return np.array([y[1], -slope * np.cos(y[0])])

    span = (0.0, float(time[-1]))
    found = solve_ivp(rates, span, [angle, rate], method="DOP853", rtol=1e-13, atol=1e-13, t_eval=time)
    return np.asarray(found.y[0], dtype=np.float64)
