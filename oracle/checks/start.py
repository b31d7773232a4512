"""Independent checks of the model generator's initial state, and of its choice of constraints and coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..equations.claims import Claims
from ..equations.model import Model
from ..expressions.state import State
from .loops import open_loops, wrong_branch
from .ranks import comparable, on_constraints, rank_range, units_of
from .reactions import not_unique
from .statics import unbalanced

# An initial value x equals the described value if they differ by at most this fraction of max(1, |x|).
_UNCHANGED = 1e-9
# A constraint's velocity violation is accepted up to this fraction of max(1, largest initial rate).
_ALLOWED = 1e-7
# A unit Jacobian row is redundant if its distance from the span of the independent rows is at most this.
_IMPLIED = 1e-5
_RANK = 1e-10  # The least-squares solver treats singular values below this fraction of the largest one as zero.
# The admissible violation is multiplied by this factor, because two independent solvers round differently.
_SLACK = 1.01


def check_start(data: Mapping[str, Any], claims: Claims) -> tuple[str, ...]:
    """Return a message for each claim of the model generator that the independent checks do not confirm.

    Parameters
    ----------
    data : mapping
        Description as nested dictionaries.
    claims : Claims
        Initial state and choices of the model generator.
    """
    model = Model(data, claims)
    unknown = tuple(_unknown(model))
    if unknown:
        return unknown
    state = model.state(0.0, model.q0, model.qd0)
    parts = (
        _moved(model),
        open_loops(model, state),
        wrong_branch(model, state),
        _violated(model, state),
        _forbidden_velocities(model, state),
        unbalanced(model),
        _rank(model, state),
        not_unique(model, state),
    )
    return tuple(sentence for part in parts for sentence in part)


def _unknown(model: Model) -> Iterator[str]:
    for name in model.claims.rows:
        if name not in model.rows:
            yield f"the constraint equation {name} does not follow from the description"
    for name in model.rows:
        if name not in model.claims.rows:
            yield f"the constraint equation {name}, which the description asks for, is missing"


def _moved(model: Model) -> Iterator[str]:
    """Yield a message for each initial value that differs from the description without a valid reason.

    Valid reasons are projection onto the constraints, loop closures, the static equilibrium and
    velocity-level constraints.
    """
    if model.data["constraints"]["projection"] or model.cuts:
        return
    is_static, held = model.data["simulation"]["start"] == "statics", model.claims.held
    for k, c in enumerate(model.machine.coordinates):
        if (c.name in held or not is_static) and abs(model.q0[k] - c.start) > _UNCHANGED * max(1.0, abs(c.start)):
            yield f"{c.name} starts at {model.q0[k]:.9g} instead of the described {c.start:.9g}"
    if not np.any(model.orders == 1) and not model.machine.base_held:
        for k, c in enumerate(model.machine.coordinates):
            if abs(model.qd0[k] - c.start_rate) > _UNCHANGED * max(1.0, abs(c.start_rate)):
                yield f"the rate of {c.name} starts at {model.qd0[k]:.9g} instead of {c.start_rate:.9g}"


def _violated(model: Model, state: State) -> Iterator[str]:
    settings = model.data["simulation"]
    if settings["start"] == "description":
        return
    rows, first = model.stack(state), 0
    tasks = [*model.data["programmed"], *model.data["motions"]]
    known = [name for table in tasks if table["name"] in settings["starts_violated"] for name in _rows_of(table)]
    for group in model.programmed:
        for name in group.names:
            if name not in known and not abs(rows.Phi[first]) <= _SLACK * settings["violation"]:
                yield f"{name} is violated by {rows.Phi[first]:.3g} at the start"
            first += 1


def _rows_of(table: Mapping[str, Any]) -> list[str]:
    path = table.get("path")
    if path is None:
        return [table["name"]]
    turning = ["rx", "ry", "rz"] if path["orientations"] is not None else []
    return [f"{table['name']}_{axis}" for axis in (*path["components"], *turning)]


def _forbidden_velocities(model: Model, state: State) -> Iterator[str]:
    rows, size = model.stack(state), float(np.abs(model.qd0).max(initial=0.0))
    closing = {name for cut in model.cuts for name in cut.names}
    for k, name in enumerate(model.rows):
        if (name in closing or model.orders[k] == 1) and not abs(rows.Phi_dot[k]) <= _ALLOWED * max(size, 1.0):
            yield f"the initial velocities violate {name} by {rows.Phi_dot[k]:.3g}"


def _rank(model: Model, state: State) -> Iterator[str]:
    if not model.rows:
        return
    size, units = units_of(model, state)
    near = on_constraints(model, units)
    if near is None:
        return
    magnitudes = [magnitude for group in model.groups for magnitude in group.magnitudes(near, size, units)]
    claims, (C, is_short) = model.claims, comparable(model.stack(near).equations, units, magnitudes)
    found = rank_range(C, is_short)
    if not found.allows(claims.rank):
        yield f"the constraint equations have rank {found.least}, not {claims.rank}"
    kept = [model.rows.index(name) for name in claims.kept]
    if rank_range(C[kept]).most < len(kept):
        yield f"the constraint equations chosen as independent are linearly dependent: {', '.join(claims.kept)}"
    for k, name in enumerate(model.rows):
        if k not in kept and not is_short[k]:
            share = np.linalg.lstsq(C[kept].T, C[k], rcond=_RANK)[0] if kept else np.zeros(0)
            if np.linalg.norm(C[k] - share @ C[kept]) > _IMPLIED:
                yield f"{name} is omitted as redundant, but the independent constraint equations do not imply it"
