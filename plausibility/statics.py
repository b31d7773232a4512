"""Static equilibrium far from the description, and an initial state that does not stay at rest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .. import analysis
from ..analysis.prepared import Prepared
from ..core.trajectory import Array
from .geometry import extent
from .initial_state import InitialState
from .places import link
from .remark import Remark

_TURNED = 0.2  # rad
_MOVED = 0.1  # of the mechanism's extent
_STANDARD_GRAVITY = 9.80665  # m/s²
_AT_REST = 1e-3 * _STANDARD_GRAVITY  # m/s²


def far_equilibria(model: Prepared) -> Iterator[Remark]:
    """Joints, beams and the base that static equilibrium leaves far from where the description puts them.

    Loops are closed first: how far they are open in the description has nothing to do with statics.
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
            fact = f"static equilibrium turns it by {angle} from the description"
            yield Remark("statics_far", where, fact, _cause(name), turned, "rad", _TURNED)
        elif moved > _MOVED * whole:
            fact = f"static equilibrium moves it by {moved:.3g} m from the description"
            yield Remark("statics_far", where, fact, _cause(name), moved, "m", _MOVED * whole)


def _balanced(model: Prepared) -> tuple[int, ...]:
    return analysis.free_coordinates(model.mechanism, model.start[0])


def _by_link(model: Prepared, q: Array) -> dict[str, Array]:
    """Frames of links, of beams that of the last element, in the bodies that carry them, shape (4, 4), by link."""
    frames, bodies = analysis.poses(model.mechanism, q), model.mechanism.bodies
    carriers: dict[str, int] = {}
    found: dict[str, Array] = {}
    for index, body in enumerate(bodies):
        carrier = carriers.setdefault(body.link, body.parent)
        carried_by = np.eye(4) if carrier < 0 else frames[carrier]
        found[body.link] = np.linalg.solve(carried_by, frames[index])
    return found


def _difference(before: Array, after: Array) -> tuple[float, float]:
    """Angle, rad, and distance, m, between two frames."""
    rotation = before[:3, :3].T @ after[:3, :3]
    sine = np.linalg.norm(rotation - rotation.T) / np.sqrt(2.0)
    angle = np.arctan2(sine, np.trace(rotation) - 1.0)
    return float(angle), float(np.linalg.norm(after[:3, 3] - before[:3, 3]))


def _cause(name: str) -> str:
    if name == "base":
        return "the supports cannot hold it? look at their places, at masses and at com (m, not mm)"
    return "springs too soft, com in mm, or a joint that should be in statics.locked?"


def accelerated_start(model: Prepared, initial: InitialState) -> Iterator[Remark]:
    """The coordinate that accelerates most at t = 0, where the description asks for a static start.

    Commanded accelerations and all that they cause are no reason to ask. Reasons to accelerate are velocities in
    the description and programmed constraints that may be violated at the start. A programmed constraint that
    drives a joint which statics held is one for the coordinates that it moves.
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
        "a joint that statics held and that nothing drives, or a force or input that is not zero at first?",
        value,
        unit,
        limit,
    )


def _is_static(model: Prepared) -> bool:
    """Whether the description asks for a static start, and names no reason to accelerate."""
    chain, simulation = model.chain, model.chain.simulation
    asked = "start" in simulation.model_fields_set or "statics" in chain.model_fields_set
    moves = bool(np.any(model.start[1]))
    return simulation.start == "statics" and asked and not moves and not simulation.starts_violated
