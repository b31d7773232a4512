"""Uniqueness of joint reactions for the command `reactions` and for warnings (Wojtyra and Frączek 2013)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table

from .. import analysis
from ..analysis.system import System
from ..core.errors import SolveError
from ..mechanism import Coordinate, Mechanism

NOT_UNIQUE = "not unique"


def data(found: analysis.Reactions) -> dict[str, Any]:
    """Return the analysis of joint reactions as JSON-ready data."""
    return {
        "rows": found.rows,
        "columns": found.columns,
        "rank": found.rank.rank,
        "redundancy": found.redundancy,
        "ranks": {"holonomic": found.holonomic, "nonholonomic": found.nonholonomic},
        "unique": {verdict.name: verdict.unique for verdict in found.verdicts},
        "components": {verdict.name: verdict.components for verdict in found.verdicts},
        "redundant_rows": [list(group) for group in found.redundant_rows],
        "planar": found.planar,
        "tolerance": found.rank.tolerance,
        "singular_values": {"smallest": found.rank.smallest, "largest_as_zero": found.rank.largest},
        "rank_elsewhere": found.elsewhere,
    }


def tables(mechanism: Mechanism, found: analysis.Reactions) -> list[Table | str]:
    """Return the analysis of joint reactions as tables and lines for a terminal."""
    table = Table("joint or equation", "kind", "reaction", "components that are not unique")
    for verdict in found.verdicts:
        doubtful = " ".join(key for key, unique in verdict.components.items() if not unique)
        table.add_row(verdict.name, verdict.kind, "unique" if verdict.unique else NOT_UNIQUE, doubtful)
    plane = "planar: 3" if found.planar else "6"
    return [
        f"{found.rows} constraint equations, {found.columns} columns ({plane} per body), rank {found.rank.rank}"
        f" (holonomic {found.holonomic}, nonholonomic {found.nonholonomic}): degree of redundancy"
        f" {found.redundancy}",
        gap(found.rank),
        table,
        *(f"{what}: {rows}" for what, rows in redundancy(found.redundant_rows).items()),
        *warnings(mechanism, found),
    ]


def redundancy(groups: Iterable[tuple[str, ...]]) -> dict[str, str]:
    """Return the names of redundant constraint equations, grouped by the reason of their redundancy."""
    alone = ", ".join(group[0] for group in groups if len(group) == 1)
    together = "; ".join(", ".join(group) for group in groups if len(group) > 1)
    found = {
        "constraint equations that depend on each other": together,
        "constraint equations that the joints alone fulfil": alone,
    }
    return {what: rows for what, rows in found.items() if rows}


def redundancy_of(model: System) -> dict[str, str]:
    """Return the names of the redundant constraint equations at a model's initial state.

    The names are grouped by the reason of the redundancy. One more entry contains those redundant
    constraint equations that are not part of the equations of motion.
    """
    found = redundancy(model.solvability.redundant)
    if found:
        found["redundant constraint equations left out"] = (
            ", ".join(model.left_out) or "none, because reactions have the least norm"
        )
    return found


def gap(rank: analysis.Rank) -> str:
    """Return a sentence on the singular values that decide the rank of the constraint Jacobian.

    The sentence contains the smallest nonzero singular value, and the largest one that counts as
    zero.
    """
    largest = f"{rank.largest:.2g}" if rank.largest else "0"
    return (
        f"singular values up to {rank.tolerance:.2g} count as zero (equations are scaled to length 1): the"
        f" smallest nonzero one is {rank.smallest:.2g}, the largest one that counts as zero is {largest}"
    )


def warnings(mechanism: Mechanism, found: analysis.Reactions) -> list[str]:
    """Return warnings about uncertain joint reactions at the initial state.

    One warning is for friction that depends on reactions that are not unique. Another warning is for a
    singular initial state.
    """
    friction = [
        _friction_warning(c, found)
        for c in mechanism.coordinates
        if c.friction is not None and c.friction.normal_force is None and doubtful_loads(found, c.owner)
    ]
    if not found.singular:
        return friction
    return [
        *friction,
        f"the initial state is singular: the constraint Jacobian has rank {found.rank.rank} there and"
        f" {found.elsewhere} elsewhere, so constraints that are redundant initially may be independent later;"
        " choose another initial state",
    ]


def warnings_of(model: System) -> list[str]:
    """Return the warnings for a model.

    If the analysis of joint reactions fails, the warnings contain the error message of the analysis.
    """
    notes = analysis.start_notes(model.problem)
    try:
        return [*notes, *warnings(model.mechanism, model.reactions)]
    except SolveError as error:
        return [*notes, str(error)]


def _friction_warning(coordinate: Coordinate, found: analysis.Reactions) -> str:
    doubtful = doubtful_loads(found, coordinate.owner, coordinate.axis)
    components = " ".join(key for key in doubtful if key not in ("axial", "normal"))
    text = f"friction in {coordinate.name}: the joint's reaction is not unique ({components})"
    if "normal" in doubtful:
        return (
            f"{text}, and neither is the normal force; set friction.normal_force, or remove redundant constraints"
        )
    return f"{text}, but the normal force, on which the friction depends, is unique"


def doubtful_loads(found: analysis.Reactions, link: str, axis: Iterable[float] | None = None) -> list[str]:
    """Return the components of a joint's reaction that are not unique.

    Parameters
    ----------
    found
        Result of the analysis of joint reactions.
    link
        Link that the joint moves.
    axis
        Axis of the joint in the joint's frame. The force components `axial` and `normal` are along and
        across this axis. Without an axis, the result contains neither `axial` nor `normal`.
    """
    # If a closure has the name of the link, the joint of the link is listed as "NAME (joint)".
    names = (link, f"{link} (joint)")
    verdict = next((v for v in found.verdicts if v.kind == "joint" and v.name in names), None)
    lost = [] if verdict is None else [key for key, unique in verdict.components.items() if not unique]
    if axis is None:
        return lost
    shares = dict(zip(("fx", "fy", "fz"), map(abs, axis), strict=True))
    axial = any(shares.get(key, 0.0) > 0.0 for key in lost)
    normal = any(key in shares and shares[key] < 1.0 for key in lost)
    return [*lost, *(["axial"] if axial else []), *(["normal"] if normal else [])]


def not_unique(model: System) -> dict[str, list[str]]:
    """Return the components of reactions that are not unique, by joint, closure or knife edge.

    If a reaction is unique, the result does not contain it. The result is empty if the analysis of
    reactions fails.
    """
    try:
        found = model.reactions
    except SolveError:
        return {}
    joints: dict[str, tuple[int, ...]] = {}
    for body in model.mechanism.bodies:
        joints.setdefault(
            body.link, body.coordinates
        )  # The first rigid finite element of a flexible link has the joint's coordinates.
    parts: Mapping[str, list[str]] = {
        link: doubtful_loads(found, link, model.mechanism.coordinates[own[0]].axis if len(own) == 1 else None)
        for link, own in joints.items()
    }
    others = [verdict for verdict in found.verdicts if verdict.kind in ("closure", "nonholonomic")]
    contacts = {v.name: [key for key, unique in v.components.items() if not unique] for v in others}
    return {name: lost for name, lost in {**parts, **contacts}.items() if lost}
