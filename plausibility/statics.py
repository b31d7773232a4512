"""Remarks on a static equilibrium far from the described position, and on accelerations at t = 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .. import analysis
from ..analysis.system import System
from ..core.trajectory import Array
from .geometry import extent
from .initial_state import InitialState
from .places import link
from .remark import Remark

# Static equilibrium is implausible if it rotates a body from its described position by more than this angle, rad.
_TURNED = 0.2
# Static equilibrium is implausible if it moves a body by more than this fraction of the mechanism's extent.
_MOVED = 0.1
_STANDARD_GRAVITY = 9.80665  # m/s²
# A mechanism counts as staying at rest if its initial accelerations are at most this value, m/s².
_AT_REST = 1e-3 * _STANDARD_GRAVITY


def far_equilibria(model: System) -> Iterator[Remark]:
    """Yield remarks on links and the base if their equilibrium is far from the described position.

    Kinematic loops are closed before the comparison. Therefore, loops that are slightly open in the
    description cause no remarks.
    """
    if model.chain.simulation.start != "statics" or not _balanced(model):
        return
    whole = extent(model)
    described = np.array([c.position for c in model.mechanism.coordinates], dtype=float)
    before = _by_link(model, analysis.assemble(model.mechanism, described))
    for name, after in _by_link(model, model.start[0]).items():
        turned, moved = _difference(before[name], after)
        where = link(model.chain, name)
        if turned > _TURNED:
            angle = f"{turned:.3g} rad ({np.degrees(turned):.3g}°)"
            fact = f"static equilibrium rotates {name} by {angle} from the description{_found(model, name)}"
            yield Remark("statics_far", where, fact, _cause(name), turned, "rad", _TURNED)
        elif moved > _MOVED * whole:
            fact = f"static equilibrium moves {name} by {moved:.3g} m from the description{_found(model, name)}"
            yield Remark("statics_far", where, fact, _cause(name), moved, "m", _MOVED * whole)


def _balanced(model: System) -> tuple[int, ...]:
    return analysis.free_coordinates(model.mechanism, model.start[0])


def _by_link(model: System, q: Array) -> dict[str, Array]:
    """Return the frame of each link relative to its parent body, shape (4, 4), by link name.

    For a beam, the frame is that of the last beam element.
    """
    frames, bodies = analysis.poses(model.mechanism, q), model.mechanism.bodies
    carriers: dict[str, int] = {}
    found: dict[str, Array] = {}
    for index, body in enumerate(bodies):
        carrier = carriers.setdefault(body.link, body.parent)
        carried_by = np.eye(4) if carrier < 0 else frames[carrier]
        found[body.link] = np.linalg.solve(carried_by, frames[index])
    return found


def _difference(before: Array, after: Array) -> tuple[float, float]:
    """Return the rotation angle, rad, and the distance, m, between two frames."""
    rotation = before[:3, :3].T @ after[:3, :3]
    sine = np.linalg.norm(rotation - rotation.T) / np.sqrt(2.0)
    angle = np.arctan2(sine, np.trace(rotation) - 1.0)
    return float(angle), float(np.linalg.norm(after[:3, 3] - before[:3, 3]))


def _found(model: System, name: str) -> str:
    found = [
        f"{c.name} = {q:.4g} {c.unit}"
        for c, q in zip(model.mechanism.coordinates, model.start[0], strict=True)
        if c.owner == name and c.role == "joint"
    ]
    return f", to {', '.join(found)}" if found else ""


def _cause(name: str) -> str:
    if name == "base":
        return "can the supports hold the base? check their positions, masses and com (m, not mm)"
    return (
        "enter this as the position if it is intended; otherwise: are springs too soft, is com in mm, or should"
        " statics.locked contain the joint?"
    )


def accelerated_start(model: System, initial: InitialState) -> Iterator[Remark]:
    """Yield a remark on the largest acceleration at t = 0 if the description requests a static start.

    There is no remark on accelerations that are commanded by programmed constraints or motions.
    Coordinates that accelerate because a programmed constraint takes over the load of a locked joint
    are ignored. The check is skipped if initial velocities are nonzero, or if constraints may be
    violated initially.
    """
    if not _is_static(model):
        return
    lever = extent(model)
    linear = [
        abs(x) * (lever if c.unit == "rad" else 1.0)
        for c, x in zip(model.mechanism.coordinates, initial.uncommanded * ~initial.is_taken_over, strict=True)
    ]
    k = int(np.argmax(linear))
    if linear[k] <= _AT_REST:
        return
    coordinate, value = model.mechanism.coordinates[k], float(initial.uncommanded[k])
    unit = f"{coordinate.unit}/s2"
    limit = _AT_REST / (lever if coordinate.unit == "rad" else 1.0)
    yield Remark(
        "start_accelerates",
        "simulation.start",
        f'start = "statics", but {coordinate.name} accelerates with {value:.3g} {unit} at t = 0',
        "was a joint locked in statics that nothing drives, or is a force or input nonzero at t = 0?",
        value,
        unit,
        limit,
    )


def _is_static(model: System) -> bool:
    """Return whether the description requests a static start and gives no reason for accelerations.

    Reasons are initial velocities, and programmed constraints that may be violated initially.
    """
    chain, simulation = model.chain, model.chain.simulation
    asked = "start" in simulation.model_fields_set or "statics" in chain.model_fields_set
    moves = bool(np.any(model.start[1]))
    return simulation.start == "statics" and asked and not moves and not simulation.starts_violated
