"""What the start states have to fulfil where parameters are others than the description's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..language.ir import Expr
from ..mechanism import Mechanism, Place
from ..program.program import Program, Start
from .bodies.dynamics import Dynamics
from .bodies.kinematics import Kinematics
from .constraints.constraints import Constraints

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """Which coordinates and rows, by index, see `program.Start`; described: q and q̇, shape (n,) each."""

    described: tuple[Array, Array]
    moving: tuple[int, ...]
    assembly: tuple[int, ...]
    free: tuple[int, ...]
    settled: tuple[int, ...]
    equilibrium: tuple[int, ...]
    velocities: tuple[int, ...]


def derive(
    program: Program,
    mechanism: Mechanism,
    kinematics: Kinematics,
    inertia: Dynamics,
    Q: Expr,
    rows: Constraints | None,
    start: tuple[Array, Array],
    choice: Choice,
) -> None:
    """State the conditions of the start: at rest the inertia forces h are the weight, taken negative."""
    (q, qd), (q0, qd0) = ([tuple(x.tolist()) for x in pair] for pair in (choice.described, start))
    program.start = Start(
        tuple(c.symbol for c in mechanism.coordinates),
        tuple(c.unit == "rad" for c in mechanism.coordinates),
        (q, qd),
        (q0, qd0),
        choice.moving,
        choice.assembly,
        choice.free,
        choice.settled,
        choice.equilibrium,
        choice.velocities,
        tuple(row.name for row in rows.rows) if rows else (),
        tuple(Q[k] - inertia.h[k] for k in range(mechanism.n)),
        rows.C if rows else None,
        rows.Phi if rows else None,
        rows.Phi_dot if rows else None,
        tuple(kinematics.position(place.body, kinematics.lever(place)) for place in _places(mechanism)),
    )


def _places(mechanism: Mechanism) -> list[Place]:
    """Of the joints: the box around them is the mechanism's extent."""
    closures = [frame.place for closure in mechanism.closures for frame in (closure.a, closure.b)]
    return [*closures, *(Place(b, np.zeros(3)) for b in range(len(mechanism.bodies)))]
