"""Mechanisms whose constraint rows depend on each other."""

from __future__ import annotations

from typing import Any

import helpers_problem as solving
import numpy as np
from helpers_parts import Z, body, link, machine
from helpers_reference import mechanism_of
from numpy.typing import NDArray

from gpmelica.description.tables.frame import roll_pitch_yaw
from gpmelica.mechanism import Mechanism

Array = NDArray[np.float64]


def polygon(seed: int, **constraints: Any) -> dict[str, Any]:
    """A closed planar chain of four or five links in a tilted plane, all joints spatial: 3 redundant rows.

    Masses and centres of mass are random, also out of the plane.
    """
    rng = np.random.default_rng(seed)
    sides = 4 + seed % 2
    lengths, angles = rng.uniform(0.8, 1.2, sides), rng.uniform(0.3, 0.6, sides)
    links = []
    for k in range(sides):
        frame = {"xyz": [lengths[k - 1], 0.0, 0.0]} if k else {"rpy": rng.uniform(-0.6, 0.6, 3).tolist()}
        motion = {"position": float(angles[k] + (0.9 if k else 0.0)), "velocity": float(rng.normal())}
        side = link(f"side{k}", "revolute", Z, f"side{k - 1}" if k else "ground", **frame, **motion, damping=0.3)
        mass, com = rng.uniform(0.5, 2.0), [0.5 * lengths[k], *rng.uniform(-0.1, 0.1, 2)]
        links.append(side | body(mass, com, rng.uniform(0.1, 0.2, 3).tolist()))
    tilt = {"rpy": links[0]["frame"]["rpy"]}  # the plane's frame, in which the loop ends near to the origin
    anchor = [0.6, 0.1, 0.0]
    turned = roll_pitch_yaw(*tilt["rpy"]) @ anchor
    closure = {"name": "pin", "type": "revolute", "a": {"link": "ground", "xyz": turned.tolist(), **tilt}}
    closure |= {"b": {"link": f"side{sides - 1}", "xyz": [float(lengths[-1]), 0.0, 0.0]}}
    simulation = {"start": "description", "stop": 0.5, "tolerance": 1e-11}
    return machine(*links, name="Polygon", closures=[closure], simulation=simulation, constraints=constraints)


def repeated_task(seed: int, **constraints: Any) -> dict[str, Any]:
    """A spatial arm of five joints whose tip is held along x and z, and once more in two sums of these rows."""
    rng = np.random.default_rng(seed)
    inertia = body(1.0, [0.25, 0.0, 0.05], [0.02, 0.1, 0.1])
    links = []
    for k in range(5):
        frame = {"xyz": [0.5 if k else 0.0, 0.0, 0.0], "rpy": rng.uniform(-0.8, 0.8, 3).tolist()}
        arm = link(f"arm{k}", "revolute", Z, f"arm{k - 1}" if k else "ground", **frame)
        arm["joint"]["position"] = float(rng.uniform(-0.8, 0.8))
        links.append(arm | inertia)
    rows = {
        "along": "E.x - start(E.x) - 0.1*t^3",
        "up": "E.z - start(E.z)",
        "both": "(E.x - start(E.x)) + 2*(E.z - start(E.z)) - 0.1*t^3",
        "mixed": "3*(E.x - start(E.x)) - (E.z - start(E.z)) - 0.3*t^3",
    }
    return machine(
        *links,
        points={"E": {"link": "arm4", "position": [0.4, 0.1, 0.0]}},
        programmed=[{"name": name, "expression": text} for name, text in rows.items()],
        simulation={"start": "description", "stop": 0.2, "tolerance": 1e-11},
        constraints=constraints,
    )


def started(data: dict[str, Any]) -> tuple[Mechanism, tuple[Array, Array]]:
    """Mechanism and start state."""
    mechanism = mechanism_of(data)
    return mechanism, solving.start_state(mechanism)
