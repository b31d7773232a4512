"""Check that the initial state is a static equilibrium of the coordinates that are not locked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..equations.model import Model
from .ranks import comparable, rank_range, units_of

# In equilibrium, the residual is at most this fraction of the largest applied force, moment or weight.
_BALANCED = 1e-7
_RANK = 1e-9  # The least-squares solver treats singular values below this fraction of the largest one as zero.
# Residuals are compared with at least this force or moment, N or N·m, even if no force is applied.
_NO_FORCE = 1e-12


def unbalanced(model: Model) -> Iterator[str]:
    """Yield messages about coordinates that are wrongly locked, wrongly free, or not in equilibrium.

    The check applies to descriptions with `simulation.start = "statics"`.
    """
    if model.data["simulation"]["start"] != "statics":
        return
    wrongly_held = list(_wrongly_held(model))
    if wrongly_held:
        yield from wrongly_held
        return
    coordinates = model.machine.coordinates
    free = [k for k, c in enumerate(coordinates) if c.name not in model.claims.held]
    if not free or model.data["constraints"]["projection"]:
        return
    found = model.situation(model.state(0.0, model.q0, 0.0 * model.qd0))
    C = found.rows.C[_closure_rows(model)][:, free]
    Q = found.Q[free]
    left = Q - C.T @ np.linalg.lstsq(C.T, Q, rcond=_RANK)[0] if len(C) else Q
    acting = max(float(np.abs(found.load.force[:-1]).max()), float(np.abs(found.load.effort).max()), _NO_FORCE)
    mass = sum(body.inertia.mass for body in model.machine.bodies)
    weight = mass * float(np.linalg.norm(model.data["gravity"]))
    worst = int(np.argmax(np.abs(left)))
    if not abs(left[worst]) <= _BALANCED * max(acting, weight):
        c = coordinates[free[worst]]
        unit = "N.m" if c.freedom.turns else "N"
        yield (
            f"the initial state is not a static equilibrium: the residual of {c.name} is {left[worst]:.3g} {unit},"
            f" with applied forces up to {max(acting, weight):.3g} N"
        )


def _closure_rows(model: Model) -> list[int]:
    names = {name for cut in model.cuts for name in cut.names}
    return [k for k, name in enumerate(model.rows) if name in names]


def _wrongly_held(model: Model) -> Iterator[str]:
    locked, held = model.data["statics"]["locked"], set(model.claims.held)
    coordinates = model.machine.coordinates
    may_be_held = {
        c.name
        for c in coordinates
        if (c.role == "base" and model.machine.base_held)
        or (c.role == "joint" and (not c.stiffness if locked is None else c.link in locked))
    }
    for name in sorted(held - may_be_held):
        yield f"{name} was locked in the search for the static equilibrium, but the description does not lock it"
    if locked is not None:
        for name in sorted(may_be_held - held):
            yield f"{name} was not locked in the search for the static equilibrium, but statics.locked names it"
        return
    loose = [k for k, c in enumerate(coordinates) if c.name in may_be_held and c.role == "joint"]
    following = [k for k in loose if coordinates[k].name not in held]
    state = model.state(0.0, model.q0, 0.0 * model.qd0)
    found = [equation for cut in model.cuts for equation in cut.equations(state)]
    C, is_short = comparable(found, units_of(model, state)[1])
    moved = rank_range(C[:, loose], is_short)
    if not moved.allows(len(following)):
        yield (
            f"{len(following)} joint coordinates without springs followed the loops in the search for the static"
            f" equilibrium, but the loops determine {moved.least}"
        )
