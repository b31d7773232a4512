"""Unilateral contacts between points of links and planes, with regularised Coulomb friction.

The plane exerts a compressive normal force N, whose law is in the module `unilateral`. The
friction force μ·N·tanh(|v|/v_s) opposes the sliding velocity v. The parameter v_s is the
regularisation velocity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicMechanism, SymbolicPlaneContact
from ..bodies.lengths import End, along
from .element import Forces, size
from .unilateral import PressingLaw


@dataclass(frozen=True)
class ContactForce:
    """Contact force on the body of a point; the gap and the normal force are outputs."""

    contact: SymbolicPlaneContact

    def act(self, forces: Forces) -> None:
        """Add the normal force and the friction force on the body of the contact point."""
        contact, kinematics, define, name = (
            self.contact,
            forces.kinematics,
            forces.program.define,
            self.contact.name,
        )
        forces.program.section("contact", name)
        body, normal = contact.place.body, ir.lift(contact.normal)
        lever = define(
            f"lever_{name}",
            kinematics.lever(contact.place),
            "m",
            f"position of the point of contact {name} relative to the origin of its body",
        )
        gap = normal @ (kinematics.position(body, lever) - contact.origin)
        gap = forces.publish(contact.signals["gap"], gap)
        forces.points.lengths.add(f"{name}.gap", partial(along, kinematics, normal, (End(body, lever),)))
        velocity = define(
            f"v_{name}", kinematics.velocity(body, lever), "m/s", f"velocity of the point of contact {name}"
        )
        N = self._normal_force(forces, gap, normal @ velocity)
        F = N * normal
        if contact.mu is not None and contact.v_s is not None:
            sliding = velocity - (normal @ velocity) * normal
            F = F + self._friction(forces, contact.mu * N, contact.v_s, sliding)
        F = define(f"F_{name}", F, "N", f"force of the plane on the point of contact {name}")
        forces.wrench(
            body,
            define(
                f"N_{name}", ir.cross(lever, F), "N.m", f"moment of contact {name} about the origin of its body"
            ),
            F,
        )

    def _normal_force(self, forces: Forces, gap: Expr, opening: Expr) -> Expr:
        contact = self.contact
        law = PressingLaw(contact.stiffness, contact.damping, contact.law)
        text = f"spring and damper force of {contact.name} before the restriction to compression"
        free = forces.program.define(f"{contact.name}_if_held", law.force(-gap, -opening), "N", text)
        forces.stores(lambda: forces.overlapping(-gap, free, law.energy(-gap)))
        return forces.publish(contact.signals["force"], forces.overlapping(-gap, free, free))

    def _friction(self, forces: Forces, limit: Expr, v_s: Expr, sliding: Expr) -> Expr:
        """Return the friction force, N, which opposes the sliding velocity; its magnitude is at most `limit`."""
        contact, define = self.contact, forces.program.define
        sliding = define(f"slip_{contact.name}", sliding, "m/s", f"sliding velocity of contact {contact.name}")
        speed = size(sliding @ sliding / (v_s * v_s))
        speed = define(
            f"speed_{contact.name}",
            speed,
            "1",
            f"sliding speed of contact {contact.name} divided by the regularisation velocity",
        )
        return -(limit * (ir.call("tanh", speed) / speed) / v_s) * sliding


def of(mechanism: SymbolicMechanism) -> Iterator[ContactForce]:
    """Return one force element for each contact of the mechanism."""
    return (ContactForce(contact) for contact in mechanism.contacts)
