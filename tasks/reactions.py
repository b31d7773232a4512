"""Unique joint reactions: the `reactions` command, and warnings of other commands (Wojtyra and Frączek 2013)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table

from .. import analysis
from ..analysis.prepared import Prepared
from ..core.errors import SolveError
from ..mechanism import Coordinate, Mechanism

NOT_UNIQUE = "not unique"


def data(found: analysis.Reactions) -> dict[str, Any]:
    """JSON-ready (design section 6); `components` and `tolerance` say more."""
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
    """For a terminal."""
    table = Table("joint or row", "kind", "reaction", "components that are not unique")
    for verdict in found.verdicts:
        doubtful = " ".join(key for key, unique in verdict.components.items() if not unique)
        table.add_row(verdict.name, verdict.kind, "unique" if verdict.unique else NOT_UNIQUE, doubtful)
    plane = "planar: 3" if found.planar else "6"
    return [
        f"{found.rows} rows, {found.columns} columns ({plane} per body), rank {found.rank.rank} (holonomic"
        f" {found.holonomic}, nonholonomic {found.nonholonomic}): degree of redundancy {found.redundancy}",
        gap(found.rank),
        table,
        *(f"{what}: {rows}" for what, rows in redundancy(found.redundant_rows).items()),
        *warnings(mechanism, found),
    ]


def redundancy(groups: Iterable[tuple[str, ...]]) -> dict[str, str]:
    """The description's redundant rows, group by group: what they are → their names."""
    alone = ", ".join(group[0] for group in groups if len(group) == 1)
    together = "; ".join(", ".join(group) for group in groups if len(group) > 1)
    found = {"rows that depend on each other": together, "rows that the joints fulfil by themselves": alone}
    return {what: rows for what, rows in found.items() if rows}


def redundancy_of(model: Prepared) -> dict[str, str]:
    """Return the redundancy at a model's initial state, and the constraints that are left out."""
    found = redundancy(model.solvability.redundant)
    if found:
        found["rows left out"] = ", ".join(model.left_out) or "none: reactions of least norm"
    return found


def gap(rank: analysis.Rank) -> str:
    """Return a line on the certainty of the rank."""
    zero = f"of the others the largest is {rank.largest:.2g}" if rank.largest else "there are no others but zeros"
    return (
        f"rows have length 1; singular values up to {rank.tolerance:.2g} count as zero, the smallest that does not"
        f" is {rank.smallest:.2g}, {zero}"
    )


def warnings(mechanism: Mechanism, found: analysis.Reactions) -> list[str]:
    """Return warnings on friction that depends on doubtful reactions, and on a singular initial state."""
    friction = [
        _friction_warning(c, found)
        for c in mechanism.coordinates
        if c.friction is not None and c.friction.normal_force is None and doubtful_loads(found, c.owner)
    ]
    if not found.singular:
        return friction
    return [
        *friction,
        f"the start is singular: C has rank {found.rank.rank} there and {found.elsewhere} elsewhere, so rows and"
        " reactions that are redundant at the start may not be so later; start elsewhere",
    ]


def warnings_of(model: Prepared) -> list[str]:
    """The warnings for a model; where the analysis fails, its message."""
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
        return f"{text}, nor is the normal force: give friction.normal_force, or remove redundant constraints"
    return f"{text}, but the normal force, which the friction depends on, is"


def doubtful_loads(found: analysis.Reactions, link: str, axis: Iterable[float] | None = None) -> list[str]:
    """Parts of the link's joint load that are not unique: fx … nz, and with the joint's axis axial and normal."""
    names = (link, f"{link} (joint)")  # the latter where a closure has the same name
    verdict = next((v for v in found.verdicts if v.kind == "joint" and v.name in names), None)
    lost = [] if verdict is None else [key for key, unique in verdict.components.items() if not unique]
    if axis is None:
        return lost
    shares = dict(zip(("fx", "fy", "fz"), map(abs, axis), strict=True))
    axial = any(shares.get(key, 0.0) > 0.0 for key in lost)
    normal = any(key in shares and shares[key] < 1.0 for key in lost)
    return [*lost, *(["axial"] if axial else []), *(["normal"] if normal else [])]


def not_unique(model: Prepared) -> dict[str, list[str]]:
    """Joint, closure or knife edge → parts of its load that are not unique; those without such are left out.

    Where the analysis fails, see `reference.reactions`, nothing is known and nothing is marked.
    """
    try:
        found = model.reactions
    except SolveError:
        return {}
    joints: dict[str, tuple[int, ...]] = {}
    for body in model.mechanism.bodies:
        joints.setdefault(body.link, body.coordinates)  # of a flexible link the first element's
    parts: Mapping[str, list[str]] = {
        link: doubtful_loads(found, link, model.mechanism.coordinates[own[0]].axis if len(own) == 1 else None)
        for link, own in joints.items()
    }
    others = [verdict for verdict in found.verdicts if verdict.kind in ("closure", "nonholonomic")]
    contacts = {v.name: [key for key, unique in v.components.items() if not unique] for v in others}
    return {name: lost for name, lost in {**parts, **contacts}.items() if lost}
