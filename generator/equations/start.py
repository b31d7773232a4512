"""Conditions on the initial state of a mechanism whose parameters have been changed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...description.types.following import StartDependence
from ...language import ir
from ...mechanism import Place
from ...mechanism.symbolic import SymbolicMechanism, SymbolicPlace
from ..program.program import Start
from .constraints import turns
from .solution.open_equations import OpenEquations

Array = NDArray[np.float64]


def derive(equations: OpenEquations, start: tuple[Array, Array], following: StartDependence) -> None:
    """Add conditions on the initial state to the program: closed loops and static equilibrium.

    In static equilibrium, the velocity is zero. With the equations of motion M q̈ + h = Q,
    the generalised gravity force is then −h.
    """
    mechanism, kinematics, rows = equations.mechanism, equations.bodies, equations.constraints
    names = tuple(row.name for row in rows.rows) if rows else ()
    q0, qd0 = (tuple(part.tolist()) for part in start)
    equations.program.start = Start(
        **vars(following),
        coordinates=tuple(c.symbol for c in mechanism.coordinates),
        is_angle=tuple(c.unit == "rad" for c in mechanism.coordinates),
        defaults=(q0, qd0),
        rows=names,
        forces=tuple(equations.Q[k] - equations.inertia.h[k] for k in range(mechanism.n)),
        C=rows.C if rows else None,
        Phi=rows.Phi if rows else None,
        Phi_dot=rows.Phi_dot if rows else None,
        turns=tuple(turns.turns(kinematics, names)),
        places=tuple(kinematics.position(place.body, kinematics.lever(place)) for place in _places(mechanism)),
    )


def _places(mechanism: SymbolicMechanism) -> list[SymbolicPlace]:
    """Return the locations of joints and loop closures.

    The extent of the mechanism is the largest distance between two of these points.
    """
    closures = [frame.place for closure in mechanism.closures for frame in (closure.a, closure.b)]
    return [*closures, *(Place(b, ir.zeros(3)) for b in range(len(mechanism.bodies)))]
