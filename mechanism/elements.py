"""Force elements of a mechanism, created from their description.

The elements are two-point forces, contacts, end stops and friction.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.arithmetic import S
from ..description.tables import contact as described_contact
from ..description.tables import line as described_line
from ..description.tables.contact import ContactLaw
from ..description.tables.friction import Coulomb as DescribedCoulomb
from ..description.tables.line import Followed
from ..description.tables.link import Joint, Limits
from ..description.types.bounds import HERTZIAN, NON_NEGATIVE, POSITIVE
from ..description.types.joints import JOINT_TYPES
from ..language import expressions
from ..language.ir import Expr
from .algebra import Algebra, M, V
from .parts import CoulombFriction, EndStops, Filter, HuntCrossley, Place, PlaneContact, TwoPointForce

# A function of this type returns a body-fixed point from a link, a position on the link, a name and a description.
Placed = Callable[..., Place[V]]
# A function of this type returns the expression of an input from the input's name and value in the description.
Given = Callable[[str, str | float | None], Expr | None]


def line(
    given: described_line.Line, algebra: Algebra[S, V, M], place: Placed[V], parsed: Given
) -> TwoPointForce[S, V]:
    """Return a two-point force element.

    Parameters
    ----------
    given : Line
        Entry of the description.
    algebra : Algebra
        Object that represents the numbers of the description as numbers or as symbols.
    place : callable
        Function that returns the `Place` of a point on a link.
    parsed : callable
        Function that returns the parsed expression of a force or a length. If the force or length is an input
        that a controller drives, the function returns the controller's output. It returns None for
        another input of the FMU.
    """
    name = given.name
    a, b = (
        place(end.link, end.point, f"{name}_{key}", f"end {key} of {name}")
        for key, end in (("a", given.a), ("b", given.b))
    )
    springs = given.force is None and not given.input
    stiffness, damping = (
        algebra.scalar(f"{name}_{key}", number, unit, f"{key} of line {name}", NON_NEGATIVE) if springs else None
        for key, number, unit in (("stiffness", given.stiffness, "N/m"), ("damping", given.damping, "N.s/m"))
    )
    own = {quantity: f"{name}.{quantity}" for quantity in described_line.OWN_NAMES}
    force = parsed(name, given.force)
    force = None if force is None else expressions.renamed(force, own)
    law = (force, given.input and force is None, given.tension_only)
    if not isinstance(given.rest, Followed):
        return TwoPointForce(name, a, b, stiffness, damping, expressions.parse(given.rest), *law)
    return TwoPointForce(
        name, a, b, stiffness, damping, expressions.parse(0.0), *law, _filter(given.rest, algebra, parsed)
    )


def _filter(given: Followed, algebra: Algebra[S, V, M], parsed: Given) -> Filter[S]:
    """Return the filter between an FMU input and the rest length of a two-point force element."""
    name, start = given.input, None
    cutoff = algebra.scalar(
        f"{name}_cutoff", given.cutoff, "Hz", f"cutoff frequency of the filter of input {name}", POSITIVE
    )
    if given.start is not None:
        start = algebra.scalar(f"{name}_start", given.start, "m", f"initial value of input {name}", NON_NEGATIVE)
    return Filter(name, "m", cutoff, None, start, parsed(name, None))


def contact(given: described_contact.Contact, algebra: Algebra[S, V, M], place: Placed[V]) -> PlaneContact[S, V]:
    """Return a unilateral contact between a point of a link and a plane.

    The function `place` returns the `Place` of a point of a link, i.e. a body and a position on it.
    """
    name, friction = given.name, given.friction
    where = place(given.link, given.point, f"{name}_point", f"contact point of {name}")
    text = f"point on the plane of contact {name} in the world frame"
    mu: S | None = None
    v_s: S | None = None
    if friction is not None:
        mu = algebra.scalar(
            f"{name}_mu", friction.mu, "1", f"friction coefficient of contact {name}", NON_NEGATIVE
        )
        v_s = algebra.scalar(
            f"{name}_v_s", friction.v_s, "m/s", f"regularising velocity of the friction of {name}", POSITIVE
        )
    return PlaneContact(
        name,
        where,
        algebra.vector(f"{name}_origin", given.plane.point, "m", text),
        np.array(given.plane.normal),
        *_pressed(algebra, name, f"contact {name}", given, ("N", "m")),
        mu,
        v_s,
    )


def coulomb(joint: Joint, owner: str, algebra: Algebra[S, V, M]) -> CoulombFriction[S]:
    """Return the regularised Coulomb friction of a joint."""
    length, effort = _units(joint)
    assert isinstance(joint.friction, DescribedCoulomb)
    return CoulombFriction(
        algebra.scalar(
            f"{owner}_friction", joint.friction.effort, effort, f"Coulomb friction effort of {owner}", POSITIVE
        ),
        algebra.scalar(
            f"{owner}_v_s",
            joint.friction.v_s,
            f"{length}/s",
            f"regularising velocity of the friction of {owner}",
            POSITIVE,
        ),
    )


def limits(joint: Joint, owner: str, algebra: Algebra[S, V, M]) -> EndStops[S]:
    """Return the mechanical end stops of a joint."""
    (length, effort), given = _units(joint), joint.stops
    assert given is not None
    lower, upper = (
        None
        if stop is None
        else algebra.scalar(f"{owner}_{key}_stop", stop, length, f"position of the {key} end stop of {owner}")
        for key, stop in (("lower", given.lower), ("upper", given.upper))
    )
    name, text, units = f"{owner}_stop", f"the end stops of {owner}", (effort, length)
    return EndStops(
        lower,
        upper,
        *_pressed(algebra, name, text, given, units),
    )


def hunt_crossley(
    algebra: Algebra[S, V, M], name: str, text: str, law: ContactLaw | None, unit: str
) -> HuntCrossley[S] | None:
    """Return the Hunt–Crossley parameters of a unilateral element; None for a linear force law.

    The argument `unit` is the unit of the penetration depth, m or rad.
    """
    if law is None:
        return None
    return HuntCrossley(
        algebra.scalar(
            f"{name}_exponent", law.exponent, "1", f"exponent of the contact depth of {text}", HERTZIAN
        ),
        algebra.scalar(
            f"{name}_loss", law.loss, f"s/{unit}", f"Hunt-Crossley loss coefficient of {text}", NON_NEGATIVE
        ),
    )


def _pressed(
    algebra: Algebra[S, V, M],
    name: str,
    text: str,
    given: described_contact.Contact | Limits,
    units: tuple[str, str],
) -> tuple[S, S, HuntCrossley[S] | None]:
    """Return the stiffness, the damping and the Hunt–Crossley parameters of a unilateral element.

    The third result is None if the element has no Hunt–Crossley law.

    With the Hunt–Crossley law, the damping is zero, and the unit of the stiffness depends on the
    exponent. The text that describes the stiffness parameter therefore contains the unit.
    """
    (effort, length), law = units, given.law
    assert given.stiffness is not None
    unit, power = (f"{effort}/{length}", "") if law is None else (None, f", {effort}/{length}^{name}_exponent")
    stiffness = algebra.scalar(f"{name}_stiffness", given.stiffness, unit, f"stiffness of {text}{power}", POSITIVE)
    if law is not None:
        return stiffness, algebra.value(0.0), hunt_crossley(algebra, name, text, law, length)
    damping = algebra.scalar(
        f"{name}_damping", given.damping, f"{effort}.s/{length}", f"damping of {text}", NON_NEGATIVE
    )
    return stiffness, damping, None


def armature(joint: Joint, owner: str, algebra: Algebra[S, V, M]) -> S:
    """Return the rotor inertia of a joint's drive, about or along the joint axis, kg·m² or kg."""
    unit = "kg.m2" if _units(joint)[0] == "rad" else "kg"
    text = f"rotor inertia about the joint axis of {owner}"
    return algebra.scalar(f"{owner}_armature", joint.armature, unit, text, NON_NEGATIVE)


def _units(joint: Joint) -> tuple[str, str]:
    length = JOINT_TYPES[joint.type][0].unit
    return length, "N.m" if length == "rad" else "N"
