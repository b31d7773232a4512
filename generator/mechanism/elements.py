"""Force elements of a mechanism by their description: lines, contacts, what joints have on their coordinates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..description.tables import contact as described_contact
from ..description.tables import line as described_line
from ..description.tables.friction import Coulomb as DescribedCoulomb
from ..description.tables.line import Followed
from ..description.tables.link import Joint
from ..language import expressions
from ..language.ir import Expr
from ..types.bounds import NON_NEGATIVE, POSITIVE
from ..types.joints import JOINT_TYPES
from .algebra import Algebra, Value
from .parts import Contact, Coulomb, Filter, Limits, Line, Place

Placed = Callable[..., Place]  # link, position, name, text


def line(given: described_line.Line, algebra: Algebra, place: Placed, parsed: Callable[..., Expr]) -> Line:
    """A line; place: where a point of a link is; parsed: an expression that may use what is measured elsewhere."""
    name = given.name
    a, b = (
        place(end.link, end.point, f"{name}_{key}", f"end {key} of {name}")
        for key, end in (("a", given.a), ("b", given.b))
    )
    springs = given.force is None and not given.input
    stiffness, damping = (
        algebra.scalar(f"{name}_{key}", number, unit, f"{key} of {name}", NON_NEGATIVE) if springs else None
        for key, number, unit in (("stiffness", given.stiffness, "N/m"), ("damping", given.damping, "N.s/m"))
    )
    own = {quantity: f"{name}.{quantity}" for quantity in described_line.OWN_NAMES}
    force = None if given.force is None else expressions.renamed(parsed(given.force), own)
    law = (force, given.input, given.tension_only)
    if not isinstance(given.rest, Followed):
        return Line(name, a, b, stiffness, damping, expressions.parse(given.rest), *law)
    return Line(name, a, b, stiffness, damping, expressions.parse(0.0), *law, _filter(given.rest, algebra))


def _filter(given: Followed, algebra: Algebra) -> Filter:
    """What a line's length at rest follows."""
    name, start = given.input, None
    cutoff = algebra.scalar(
        f"{name}_cutoff", given.cutoff, "Hz", f"cutoff frequency of the filter of {name}", POSITIVE
    )
    if given.start is not None:
        start = algebra.scalar(f"{name}_start", given.start, "m", f"what {name} begins with", NON_NEGATIVE)
    return Filter(name, "m", cutoff, None, start)


def contact(given: described_contact.Contact, algebra: Algebra, place: Placed) -> Contact:
    """A contact; place: where a point of a link is."""
    name, friction = given.name, given.friction
    where = place(given.link, given.point, f"{name}_point", f"point of {name}")
    text = f"a point of the plane of {name}, world frame"
    mu: Value = None
    v_s: Value = None
    if friction is not None:
        mu = algebra.scalar(f"{name}_mu", friction.mu, "1", f"coefficient of friction of {name}", NON_NEGATIVE)
        v_s = algebra.scalar(f"{name}_v_s", friction.v_s, "m/s", f"regularising velocity of {name}", POSITIVE)
    return Contact(
        name,
        where,
        algebra.vector(f"{name}_origin", given.plane.point, "m", text),
        np.array(given.plane.normal),
        algebra.scalar(f"{name}_stiffness", given.stiffness, "N/m", f"stiffness of {name}", POSITIVE),
        algebra.scalar(f"{name}_damping", given.damping, "N.s/m", f"damping of {name}", NON_NEGATIVE),
        mu,
        v_s,
    )


def coulomb(joint: Joint, owner: str, algebra: Algebra) -> Coulomb:
    """Friction of a joint."""
    length, effort = _units(joint)
    assert isinstance(joint.friction, DescribedCoulomb)
    return Coulomb(
        algebra.scalar(f"{owner}_friction", joint.friction.effort, effort, f"friction of {owner}", POSITIVE),
        algebra.scalar(
            f"{owner}_v_s", joint.friction.v_s, f"{length}/s", f"regularising velocity of {owner}", POSITIVE
        ),
    )


def limits(joint: Joint, owner: str, algebra: Algebra) -> Limits:
    """Stops of a joint."""
    (length, effort), given = _units(joint), joint.limits
    assert given is not None
    lower, upper = (
        None if stop is None else algebra.scalar(f"{owner}_{key}_stop", stop, length, f"{key} stop of {owner}")
        for key, stop in (("lower", given.lower), ("upper", given.upper))
    )
    text = f"of the stops of {owner}"
    return Limits(
        lower,
        upper,
        algebra.scalar(
            f"{owner}_stop_stiffness", given.stiffness, f"{effort}/{length}", f"stiffness {text}", POSITIVE
        ),
        algebra.scalar(
            f"{owner}_stop_damping", given.damping, f"{effort}.s/{length}", f"damping {text}", NON_NEGATIVE
        ),
    )


def armature(joint: Joint, owner: str, algebra: Algebra) -> Value:
    """Of a joint's drive, on its axis."""
    unit = "kg.m2" if _units(joint)[0] == "rad" else "kg"
    text = f"rotor inertia on the axis of {owner}"
    return algebra.scalar(f"{owner}_armature", joint.armature, unit, text, NON_NEGATIVE)


def _units(joint: Joint) -> tuple[str, str]:
    """Of a joint's coordinate and effort."""
    length = JOINT_TYPES[joint.type][0].unit
    return length, "N.m" if length == "rad" else "N"
