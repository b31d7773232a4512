"""Construction of a mechanism from a description.

Links are placed in the order of the kinematic tree. Beams are divided into rigid finite elements.
Points, closures and force elements are assigned to bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Literal, overload

import numpy as np

from ..core.arithmetic import S
from ..description import Description
from ..description.fields.elements import Element
from ..description.fields.numbers import AnyNumber, ParametricNumber, Vector3, value_of
from ..description.tables import closure as described
from ..description.tables.base import Base
from ..description.tables.base import Support as DescribedSupport
from ..description.tables.frame import Frame
from ..description.tables.friction import Coulomb as GivenCoulomb
from ..description.tables.friction import Dahl, LuGre
from ..description.tables.inertia import Inertial
from ..description.tables.link import Beam, Joint, Link
from ..description.tables.parameter import Parameter
from ..description.tables.settings import Constraints
from ..description.tables.task import Force, Motion, Nonholonomic, Point, Programmed
from ..description.types.bounds import EXPONENT, NON_NEGATIVE, POSITIVE, Bounds
from ..description.types.closures import CLOSURE_TYPES, DEFORMATIONS, Condition
from ..description.types.joints import JOINT_TYPES, ElementaryMotion
from ..description.types.origin import Origin
from ..language import ir
from ..language.ir import Expr
from . import elements, rfem, tasks
from .algebra import Algebra, M, Numbers, V
from .by_law import LawElement, law_element, with_initial_values
from .parts import (
    GROUND,
    AppliedForce,
    BaseSupport,
    Body,
    Coordinate,
    CoulombFriction,
    Friction,
    JointFrame,
    KnifeEdge,
    LoopClosure,
    Mechanism,
    Place,
    ProgrammedTask,
)


@overload
def build(chain: Description) -> Mechanism: ...
@overload
def build(chain: Description, algebra: Algebra[S, V, M]) -> Mechanism[S, V, M]: ...
def build(chain: Description, algebra: Algebra[S, V, M] | None = None) -> Mechanism | Mechanism[S, V, M]:
    """Return the mechanism of a validated description, with numbers or with symbols."""
    if algebra is None:
        return _Builder(chain, Numbers()).mechanism()
    return _Builder(chain, algebra).mechanism()


def placement_order(links: Sequence[Link]) -> list[Link]:
    """Return the links in an order in which parents precede their children.

    Among all links whose parent is already placed, the first link of the file comes next. Links with a
    missing parent or in a cycle are omitted.
    """
    placed, waiting, order = {"ground", "base"}, list(links), []
    while ready := next((link for link in waiting if link.parent in placed), None):
        waiting.remove(ready)
        placed.add(ready.name)
        order.append(ready)
    return order


class _Builder(Generic[S, V, M]):
    """Builder that collects bodies and coordinates while it visits the links, each after its parent."""

    def __init__(self, chain: Description, algebra: Algebra[S, V, M]) -> None:
        self.chain, self._general = chain, algebra
        # `algebra` creates numbers or symbols, and records which key of the description defines each.
        self.algebra = algebra
        self.bodies: list[Body[S, V, M]] = []
        self.coordinates: list[Coordinate[S]] = []
        self.first_body: dict[str, int] = {"ground": GROUND}
        self.elements: dict[str, list[rfem.RigidElement[S]]] = {}
        self.beams: dict[str, Beam] = {}
        self.driven = chain.driven

    def mechanism(self) -> Mechanism[S, V, M]:
        gravity = self.algebra.vector("gravity", self.chain.gravity, "m/s2", "gravity vector in the world frame")
        self._begin("description")
        parameters = {
            name: self.algebra.parameter(name, p.value, p.unit, _parameter_text(name, p), p.bounds)
            for name, p in self.chain.parameters.items()
        }
        supports = self._base(self.chain.base) if self.chain.base else ()
        for link in placement_order(self.chain.links):
            self._link(link)
        points = {name: self._point(name, point) for name, point in self.chain.points.items()}
        return Mechanism(
            chain=self.chain,
            gravity=gravity,
            parameters=parameters,
            bodies=tuple(self.bodies),
            coordinates=tuple(self.coordinates),
            supports=supports,
            points=points,
            frames={
                name: self._point_frame(name, points[name], point.rpy)
                for name, point in self.chain.points.items()
                if point.rpy is not None
            },
            closures=tuple(self._closure(closure) for closure in self.chain.closures),
            programmed=(
                *map(self._task, self.chain.programmed),
                *map(self._motion, self.chain.motions),
            ),
            nonholonomic=tuple(self._knife_edge(edge) for edge in self.chain.nonholonomic),
            forces=tuple(self._force(force) for force in self.chain.forces),
            lines=tuple(
                elements.line(line, self._of("line", line.name), self._place, self._given)
                for line in self.chain.lines
            ),
            contacts=tuple(
                elements.contact(contact, self._of("contact", contact.name), self._place)
                for contact in self.chain.contacts
            ),
            elements=with_initial_values([self._by_law(key, element) for key, element in self.chain.elements]),
            **self._stabilisation(self.chain.constraints),
            actuated=self._actuated(self.chain.constraints.actuated),
        )

    def _begin(self, kind: str, name: str = "") -> None:
        self.algebra = self._general.of(Origin(kind, name))

    def _of(self, kind: str, name: str) -> Algebra[S, V, M]:
        self._begin(kind, name)
        return self.algebra

    def _stabilisation(self, constraints: Constraints) -> dict[str, S]:
        """Return the coefficients of the constraint stabilisation.

        Only the coefficients that the formulation uses become parameters.
        """
        self._begin("general")
        given = {"alpha": constraints.alpha, "beta": constraints.beta, "kappa": constraints.kappa}
        numbers = {key: self.algebra.value(number) for key, number in given.items()}
        if constraints.formulation == "gpme_reduced":
            text = "feedback coefficient of position constraint violations"
            return numbers | {"kappa": self.algebra.scalar("kappa", constraints.kappa, "1/s", text)}
        return numbers | {
            key: self.algebra.scalar(key, given[key], "1/s", f"Baumgarte coefficient {key}")
            for key in ("alpha", "beta")
        }

    def _actuated(self, joints: str | tuple[str, ...]) -> tuple[int, ...] | None:
        return None if isinstance(joints, str) else tuple(sorted({*map(self._joint_coordinate, joints)}))

    def _base(self, base: Base) -> tuple[BaseSupport[S, V], ...]:
        self._begin("base")
        self.first_body["base"] = len(self.bodies)
        # A joint with six coordinates connects the base to the world; if all six are zero, both frames coincide.
        coordinates = self._coordinates("base", "base", Joint(type="free"), springs=False)
        # A fixed base needs no inertia parameters, because its inertia has no influence on any result.
        inertial = self._inertial("base", base, constant_inertia=base.support == "rigid")
        axes, origin = self.algebra.constant_matrix(np.eye(3)), self.algebra.constant_vector(np.zeros(3))
        self.bodies.append(Body("base", "base", GROUND, axes, origin, coordinates, *inertial))
        if base.support == "rigid":
            return ()
        self._begin("base supports")
        return tuple(
            BaseSupport(
                base.support_names[i - 1],
                s.one_sided,
                self.algebra.vector(
                    f"support{i}_position", s.position, "m", f"position of support {i} in the base frame"
                ),
                self._not_negative(
                    f"support{i}_stiffness",
                    s.stiffness,
                    "N/m",
                    f"stiffness of support {i} along the world axes{_power(s, i)}",
                ),
                self._not_negative(
                    f"support{i}_damping", s.damping, "N.s/m", f"damping of support {i} along the world axes"
                ),
                elements.hunt_crossley(self.algebra, f"support{i}", f"support {i}", s.law, "m"),
            )
            for i, s in enumerate(base.supports, start=1)
        )

    def _not_negative(self, name: str, value: Sequence[AnyNumber], unit: str, text: str) -> V:
        return self.algebra.vector(name, value, unit, text, NON_NEGATIVE)

    def _link(self, link: Link) -> None:
        self._begin("link", link.name)
        place, rotation = self._frame(link.parent, link.frame, link.name, f"the joint frame of {link.name}")
        coordinates = self._coordinates(link.name, "joint", link.joint)
        self.first_body[link.name] = len(self.bodies)
        if link.beam is not None:
            self._beam(link, link.beam, place, rotation, coordinates)
            return
        frame, inertial = (place.body, rotation, place.position), self._inertial(link.name, link)
        self.bodies.append(Body(link.name, link.name, *frame, coordinates, *inertial))

    def _beam(self, link: Link, beam: Beam, place: Place[V], rotation: M, coordinates: tuple[int, ...]) -> None:
        data, damping_time = self._beam_data(link.name, beam)
        parts = rfem.elements(data, beam.count)
        self.elements[link.name], self.beams[link.name] = parts, beam
        for r, element in enumerate(parts):
            own = "" if beam.count == 1 else f"r{r}"
            name = f"{link.name}_{own}" if own else link.name
            com = self._along_x(element.length / 2)
            inertia = self.algebra.matrix_of(_diagonal(element.moments, self.algebra.value(0.0)))
            frame = (place.body, rotation, place.position)
            self.bodies.append(Body(name, link.name, *frame, coordinates, element.mass, com, inertia, own))
            if r + 1 < beam.count:
                place = Place(len(self.bodies) - 1, self._along_x(element.length))
                rotation = self.algebra.constant_matrix(np.eye(3))
                coordinates = self._elastic(link.name, r + 1, data, beam.count, damping_time)

    def _along_x(self, x: S) -> V:
        zero = self.algebra.value(0.0)
        return self.algebra.vector_of([x, zero, zero])

    def _beam_data(self, name: str, beam: Beam) -> tuple[rfem.BeamData[S], S]:
        named = set(_BEAM) - (set() if beam.count > 1 else {"E", "G", "J"})
        values = {
            key: self.algebra.scalar(
                f"{name}_{key}", getattr(beam, key), _BEAM[key][0], f"{_BEAM[key][1]} of beam {name}", POSITIVE
            )
            if key in named
            else self.algebra.value(getattr(beam, key))
            for key in _BEAM
        }
        damping_time = self.algebra.value(0.0)
        if beam.count > 1:
            damping_time = self.algebra.scalar(
                f"{name}_damping_time",
                beam.damping_time,
                "s",
                f"Kelvin-Voigt damping time of beam {name}",
                NON_NEGATIVE,
            )
        return rfem.BeamData(**values), damping_time

    def _elastic(self, name: str, r: int, data: rfem.BeamData[S], count: int, damping_time: S) -> tuple[int, ...]:
        first = len(self.coordinates)
        for motion, stiffness in zip(JOINT_TYPES["spherical"], rfem.stiffnesses(data, count), strict=True):
            assert motion.axis is not None
            element, spring = f"r{r}", (stiffness, self.algebra.value(0.0), damping_time * stiffness)
            key = f"{element}_{motion.coordinate}"
            self.coordinates.append(
                Coordinate(name, key, "elastic", motion, motion.axis, 0.0, 0.0, *spring, element=element)
            )
        return tuple(range(first, len(self.coordinates)))

    def _coordinates(
        self, owner: str, role: Literal["base", "joint"], joint: Joint, springs: bool = True
    ) -> tuple[int, ...]:
        first = len(self.coordinates)
        for i, motion in enumerate(JOINT_TYPES[joint.type]):
            axis = motion.axis or joint.axis
            assert axis is not None
            position, velocity = (value_of(joint.values(key)[i]) for key in ("position", "velocity"))
            spring = self._spring(owner, motion, joint, i) if springs else (None, None, None)
            coulomb, friction = self._joint_friction(owner, joint)
            self.coordinates.append(
                Coordinate(
                    owner,
                    motion.coordinate,
                    role,
                    motion,
                    axis,
                    position,
                    velocity,
                    *spring,
                    friction=friction,
                    coulomb=coulomb,
                    limits=None if joint.stops is None else elements.limits(joint, owner, self.algebra),
                    armature=elements.armature(joint, owner, self.algebra) if _acts(joint.armature) else None,
                )
            )
        return tuple(range(first, len(self.coordinates)))

    def _joint_friction(self, owner: str, joint: Joint) -> tuple[CoulombFriction[S] | None, Friction[S] | None]:
        """Return Coulomb friction and bristle friction of a revolute or prismatic joint.

        At least one of the two is None.
        """
        if joint.friction is None:
            return None, None
        if isinstance(joint.friction, GivenCoulomb):
            return elements.coulomb(joint, owner, self.algebra), None
        return None, self._friction(owner, joint, joint.friction)

    def _friction(self, owner: str, joint: Joint, given: LuGre | Dahl) -> Friction[S]:
        length = JOINT_TYPES[joint.type][0].unit

        def value(key: str, unit: str, text: str, bounds: Bounds = POSITIVE) -> S:
            number = getattr(given, key)
            return self.algebra.scalar(f"{owner}_{key}", number, unit, f"friction of {owner}: {text}", bounds)

        lugre, bar = isinstance(given, LuGre), f"s/{length}"
        zero, one = self.algebra.value(0.0), self.algebra.value(1.0)
        return Friction(
            model=given.model,
            sigma0=value("sigma0", f"1/{length}", "stiffness of the bristles"),
            sigma1=value("sigma1", bar, "damping of the bristles", NON_NEGATIVE) if lugre else zero,
            sigma2=value("sigma2", bar, "viscous coefficient", NON_NEGATIVE) if lugre else zero,
            mu_s=value("mu_s", "1", "static coefficient"),
            mu_k=value("mu_k", "1", "kinetic coefficient") if lugre else zero,
            v_s=value("v_s", f"{length}/s", "Stribeck velocity") if lugre else one,
            gamma=one if lugre else value("gamma", "1", "Dahl's exponent", EXPONENT),
            arm=value("diameter", "m", "diameter of the journal") / 2 if given.diameter else one,
            normal_force=value("normal_force", "N", "normal force") if given.normal_force else None,
        )

    def _spring(
        self, owner: str, motion: ElementaryMotion, joint: Joint, i: int
    ) -> tuple[S | None, S | None, S | None]:
        """Return stiffness, rest position and damping of a joint's coordinate.

        A value is None if the description does not define it.
        """
        stiffness, rest, damping = (joint.values(key)[i] for key in ("stiffness", "rest", "damping"))
        # If a joint has several coordinates, the names of its parameters contain the coordinate's name.
        prefix = owner if len(JOINT_TYPES[joint.type]) == 1 else f"{owner}_{motion.coordinate}"
        effort = "N.m" if motion.unit == "rad" else "N"
        spring: tuple[S | None, S | None] = (None, None)
        damper: S | None = None
        if _acts(stiffness):
            unit, text = f"{effort}/{motion.unit}", f"stiffness of the joint spring of {owner}"
            spring = (
                self.algebra.scalar(f"{prefix}_stiffness", stiffness, unit, text, NON_NEGATIVE),
                self.algebra.scalar(
                    f"{prefix}_rest", rest, motion.unit, f"rest position of the joint spring of {owner}"
                ),
            )
        if _acts(damping):
            unit, text = f"{effort}.s/{motion.unit}", f"damping of the joint damper of {owner}"
            damper = self.algebra.scalar(f"{prefix}_damping", damping, unit, text, NON_NEGATIVE)
        return *spring, damper

    def _inertial(self, name: str, part: Inertial, constant_inertia: bool = False) -> tuple[S, V, M]:
        if not part.has_inertia:  # A massless frame has no inertia parameters.
            nothing, origin, inertia = part.about_com()
            numbers = self.algebra.constant_vector(origin), self.algebra.constant_matrix(inertia)
            return self.algebra.value(nothing), *numbers
        mass, com, entries = part.numbers(self.algebra.value)
        bounds = POSITIVE if part.physical else NON_NEGATIVE
        if not constant_inertia:
            text = f"inertia of {name} about its centre of mass: xx, yy, zz, xy, xz, yz"
            named = self.algebra.vector(f"{name}_inertia", entries, "kg.m2", text)
            entries = self.algebra.elements(named)
        xx, yy, zz, xy, xz, yz = entries
        return (
            self.algebra.scalar(f"{name}_mass", mass, "kg", f"mass of {name}", bounds),
            self.algebra.vector(f"{name}_com", com, "m", f"centre of mass of {name} in its own frame"),
            self.algebra.matrix_of([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
        )

    def _place(self, link: str, position: Sequence[AnyNumber], name: str, text: str) -> Place[V]:
        """Return a point of a link, fixed to the rigid finite element that contains the point.

        The x coordinate of the point selects the element.
        """
        vector = self.algebra.vector(name, position, "m", f"position of {text} in the frame of {link}")
        return self._placed(link, vector, value_of(position[0]), text)

    def _placed(self, link: str, vector: V, number: float, text: str) -> Place[V]:
        """Return a point of a link as a point that is fixed to one of the link's rigid finite elements.

        The argument `number` is the x coordinate of the point in the link's frame, m. This coordinate
        determines the finite element. A link that is not a beam has only one body.
        """
        body = self.first_body[link]
        if link not in self.beams:
            return Place(body, vector)
        beam, parts = self.beams[link], self.elements[link]
        r = rfem.element_at(number, value_of(beam.length), beam.count)
        x, y, z = self.algebra.elements(vector)
        self._stays(x, parts, r, f"{text}: distance to the end of its rigid element of beam {link}, m")
        if r == 0:
            return Place(body, vector)
        return Place(body + r, self.algebra.vector_of([x - parts[r].start, y, z]))

    def _stays(self, x: S, parts: Sequence[rfem.RigidElement[S]], r: int, message: str) -> None:
        """Require that a point of a beam remains on its rigid element r for all parameter values."""
        rounding = 1e-9 * (parts[-1].start + parts[-1].length)
        if r > 0:
            self.algebra.require(x - parts[r].start + rounding, message)
        if r + 1 < len(parts):
            self.algebra.require(parts[r + 1].start - x + rounding, message)

    def _frame(self, link: str, frame: Frame, name: str, text: str) -> tuple[Place[V], M]:
        offset = frame.origin(self.algebra) if frame.is_given else frame.offset.tolist()
        vector = self.algebra.vector(f"{name}_offset", offset, "m", f"origin of {text} in the frame of {link}")
        place = self._placed(link, vector, float(frame.offset[0]), text)
        return place, self._axes(frame, name, text)

    def _axes(self, frame: Frame, name: str, text: str) -> M:
        """Return the axes of a frame, which are constant numbers if they do not depend on parameters."""
        if not frame.is_turned_by_parameters:
            return self.algebra.constant_matrix(frame.rotation)
        # The addition of 0.0 turns -0.0 into 0.0.
        rows = [[0.0 + x for x in row] for row in frame.axes(self.algebra)]
        return self.algebra.derived(f"{name}_rotation", self.algebra.matrix_of(rows), "1", f"axes of {text}")

    def _point(self, name: str, point: Point) -> Place[V]:
        self._begin("point", name)
        return self._place(point.link, point.position, f"{name}_position", f"point {name}")

    def _point_frame(self, name: str, place: Place[V], rpy: Vector3) -> JointFrame[V, M]:
        self._begin("point", name)
        return JointFrame(place, self._axes(Frame(rpy=rpy), name, f"point {name}"))

    def _closure(self, closure: described.Closure) -> LoopClosure[S, V, M]:
        self._begin("closure", closure.name)
        name, length = closure.name, None
        if closure.length is not None:
            text = f"constant distance between the frames of closure {name}"
            length = self.algebra.scalar(f"{name}_length", closure.length, "m", text, POSITIVE)
        a, b = self._joint_frame(closure.a, f"{name}_a"), self._joint_frame(closure.b, f"{name}_b")
        if closure.stiffness is None:
            return LoopClosure(name, a, b, CLOSURE_TYPES[closure.type], None, None, length)
        return LoopClosure(name, a, b, *self._springs(closure, closure.stiffness), length)

    def _joint_frame(self, frame: described.ClosureFrame, name: str) -> JointFrame[V, M]:
        return JointFrame(*self._frame(frame.link, frame, name, f"frame {name}"))

    def _springs(
        self, closure: described.Closure, stiffness: Sequence[AnyNumber]
    ) -> tuple[tuple[Condition, ...], tuple[S, ...], tuple[S, ...]]:
        """Return the deformations that the springs and dampers of a closure resist.

        The second and third results contain the stiffness and the damping for each of these
        deformations.
        """
        conditions = DEFORMATIONS[closure.axes or "local"]
        damping = closure.damping or (0.0,) * len(conditions)
        acting = [i for i, pair in enumerate(zip(stiffness, damping, strict=True)) if any(map(_acts, pair))]
        return (
            tuple(conditions[i] for i in acting),
            tuple(self._spring_number(closure, "stiffness", i, stiffness[i]) for i in acting),
            tuple(self._spring_number(closure, "damping", i, damping[i]) for i in acting),
        )

    def _spring_number(self, closure: described.Closure, key: str, i: int, number: AnyNumber) -> S:
        if not _acts(number):
            return self.algebra.value(0.0)
        axis, unit = _DEFORMATIONS[i]
        per_rate = ".s" if key == "damping" else ""
        effort, _, motion = unit.partition("/")
        text = f"{key} of closure {closure.name} against deformation {axis}"
        unit = f"{effort}{per_rate}/{motion}"
        return self.algebra.scalar(f"{closure.name}_{key}_{axis}", number, unit, text, NON_NEGATIVE)

    def _knife_edge(self, edge: Nonholonomic) -> KnifeEdge[V]:
        self._begin("knife edge", edge.name)
        place = self._place(edge.link, edge.point, f"{edge.name}_point", f"contact point of {edge.name}")
        return KnifeEdge(edge.name, place, np.array(edge.normal))

    def _task(self, entry: Programmed) -> ProgrammedTask[S]:
        if entry.path is not None:
            tasks.keep_times(entry.path, entry.name, self.algebra)
        return tasks.programmed(entry, self.chain)

    def _force(self, force: Force) -> AppliedForce[V]:
        self._begin("applied force", force.name)
        if force.joint is not None:
            values = (self._given(force.name, force.effort),)
            return AppliedForce(force.name, self._joint_coordinate(force.joint), None, True, values)
        assert force.link is not None
        place = self._place(
            force.link, force.point, f"{force.name}_point", f"the point of application of {force.name}"
        )
        given = force.force or (None, None, None)
        trees = tuple(map(self._given, force.components, given))
        return AppliedForce(force.name, None, place, force.frame == "world", trees)

    def _given(self, name: str, text: str | float | None) -> Expr | None:
        """Return the expression that determines the input `name` of an element.

        The argument `text` is an expression of the description; None means that the description has
        none. In this case, the result is the output of the controller that drives the input. If no
        controller drives the input, the result is None, and the input becomes an input of the FMU.
        """
        if text is not None:
            return self.chain.expression(text)
        return ir.symbol(self.driven[name]) if name in self.driven else None

    def _by_law(self, key: str, element: Element) -> LawElement[S]:
        algebra = self._of(element.kind(), element.name)
        return law_element(key, element, algebra, self._units_of, self.chain.expression, self.driven)

    def _units_of(self, joint: str) -> tuple[str, str, str]:
        coordinate = self.coordinates[self._joint_coordinate(joint)]
        return coordinate.name, coordinate.unit, coordinate.effort_unit

    def _motion(self, motion: Motion) -> ProgrammedTask[S]:
        k, algebra = self._joint_coordinate(motion.joint), self._of("motion", motion.name)
        return tasks.motion(motion, self.coordinates, k, self._given, algebra)

    def _joint_coordinate(self, joint: str) -> int:
        owner, _, key = joint.partition(".")
        return next(
            k
            for k, coordinate in enumerate(self.coordinates)
            if coordinate.owner == owner and coordinate.role == "joint" and key in ("", coordinate.key)
        )


_BEAM = {  # Each number that defines a beam has a unit and a description.
    "length": ("m", "length"),
    "area": ("m2", "cross-sectional area"),
    "density": ("kg/m3", "density"),
    "E": ("Pa", "Young's modulus"),
    "G": ("Pa", "shear modulus"),
    "Iy": ("m4", "second moment of area about y"),
    "Iz": ("m4", "second moment of area about z"),
    "J": ("m4", "torsion constant"),
}
_DEFORMATIONS = (*((axis, "N/m") for axis in "xyz"), *((angle, "N.m/rad") for angle in ("phi", "theta", "psi")))


def _power(support: DescribedSupport, i: int) -> str:
    """Return a text with the unit of a nonlinear support stiffness along z.

    The text extends the description of the parameter, because units in FMI and Modelica cannot
    contain a variable exponent.
    """
    return f"; along z N/m^support{i}_exponent" if support.law is not None else ""


def _acts(number: AnyNumber) -> bool:
    """Whether a coefficient creates a force element; true for nonzero numbers and for all expressions."""
    return isinstance(number, ParametricNumber) or number != 0.0


def _parameter_text(name: str, parameter: Parameter) -> str:
    unit = "" if parameter.unit else "; the unit follows from its use"
    return parameter.description or f"parameter '{name}' of the description{unit}"


def _diagonal(moments: Sequence[S], zero: S) -> list[list[S]]:
    return [[moments[i] if i == j else zero for j in range(3)] for i in range(3)]
