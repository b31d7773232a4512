"""Description → mechanism: links placed in order, beams cut into elements, everything hung on its body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ..description import Chain
from ..description.fields.elements import Element
from ..description.fields.numbers import Given, Vector3
from ..description.tables import closure as described
from ..description.tables.base import Base
from ..description.tables.base import Support as DescribedSupport
from ..description.tables.frame import Frame
from ..description.tables.friction import Coulomb, Dahl, LuGre
from ..description.tables.inertia import Inertial
from ..description.tables.link import Beam, Joint, Link
from ..description.tables.parameter import Parameter
from ..description.tables.settings import Constraints
from ..description.tables.task import Force, Motion, Nonholonomic, Point, Programmed
from ..description.types.bounds import EXPONENT, NON_NEGATIVE, POSITIVE, Bounds
from ..description.types.closures import CLOSURE_TYPES, DEFORMATIONS, Condition
from ..description.types.joints import JOINT_TYPES, ElementaryMotion
from ..description.types.origin import Origin
from . import elements, rfem, tasks
from .algebra import Algebra, Matrix, Numbers, Value, Vector
from .by_law import LawElement, law_element
from .parts import (
    GROUND,
    AppliedForce,
    Body,
    Closure,
    Coordinate,
    Friction,
    JointFrame,
    KnifeEdge,
    Mechanism,
    Place,
    ProgrammedTask,
    Support,
)


def build(chain: Chain, algebra: Algebra | None = None) -> Mechanism:
    """Mechanism of a validated description."""
    return _Builder(chain, algebra or Numbers()).mechanism()


def placement_order(links: Sequence[Link]) -> list[Link]:
    """Links so that parents come first: again and again the first one of the file whose parent is placed.

    Links that hang on a missing parent or on a cycle are left out.
    """
    placed, waiting, order = {"ground", "base"}, list(links), []
    while ready := next((link for link in waiting if link.parent in placed), None):
        waiting.remove(ready)
        placed.add(ready.name)
        order.append(ready)
    return order


class _Builder:
    """Collects bodies and coordinates while walking the links in placement order."""

    def __init__(self, chain: Chain, algebra: Algebra) -> None:
        self.chain, self._general = chain, algebra
        self.algebra = algebra  # of the part that is being built
        self.bodies: list[Body] = []
        self.coordinates: list[Coordinate] = []
        self.first_body: dict[str, int] = {"ground": GROUND}
        self.elements: dict[str, list[rfem.Element]] = {}
        self.beams: dict[str, Beam] = {}

    def mechanism(self) -> Mechanism:
        gravity = self.algebra.vector("gravity", self.chain.gravity, "m/s2", "gravity, world frame")
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
                elements.line(line, self._of("line", line.name), self._place, self.chain.expression)
                for line in self.chain.lines
            ),
            contacts=tuple(
                elements.contact(contact, self._of("contact", contact.name), self._place)
                for contact in self.chain.contacts
            ),
            elements=tuple(self._by_law(key, element) for key, element in self.chain.elements),
            **self._stabilisation(self.chain.constraints),
            actuated=self._actuated(self.chain.constraints.actuated),
        )

    def _begin(self, kind: str, name: str = "") -> None:
        """The numbers that follow come from this part of the description."""
        self.algebra = self._general.of(Origin(kind, name))

    def _of(self, kind: str, name: str) -> Algebra:
        self._begin(kind, name)
        return self.algebra

    def _stabilisation(self, constraints: Constraints) -> dict[str, Value]:
        """What keeps the constraints; only what the formulation uses may get a name."""
        self._begin("general")
        numbers: dict[str, Value] = {key: getattr(constraints, key) for key in ("alpha", "beta", "kappa")}
        if constraints.formulation == "gpme_reduced":
            text = "feedback of the constraints' positions"
            return numbers | {"kappa": self.algebra.scalar("kappa", constraints.kappa, "1/s", text)}
        return numbers | {
            key: self.algebra.scalar(key, numbers[key], "1/s", f"Baumgarte's {key}") for key in ("alpha", "beta")
        }

    def _actuated(self, joints: str | tuple[str, ...]) -> tuple[int, ...] | None:
        return None if isinstance(joints, str) else tuple(sorted({*map(self._joint_coordinate, joints)}))

    def _base(self, base: Base) -> tuple[Support, ...]:
        self._begin("base")
        self.first_body["base"] = len(self.bodies)
        # The base frame coincides with the world at q_base = 0; a free body's motions lead from one to the other.
        coordinates = self._coordinates("base", "base", Joint(type="free"), springs=False)
        # Nothing that can be observed depends on the inertia of a base that does not move.
        inertial = self._inertial("base", base, constant_inertia=base.support == "rigid")
        self.bodies.append(Body("base", "base", GROUND, np.eye(3), np.zeros(3), coordinates, *inertial))
        if base.support == "rigid":
            return ()
        self._begin("base supports")
        return tuple(
            Support(
                base.support_names[i - 1],
                s.one_sided,
                self.algebra.vector(f"support{i}_position", s.position, "m", f"support {i}, base frame"),
                self._not_negative(
                    f"support{i}_stiffness", s.stiffness, "N/m", f"support {i}, world axes{_power(s, i)}"
                ),
                self._not_negative(f"support{i}_damping", s.damping, "N.s/m", f"support {i}, world axes"),
                elements.hunt_crossley(self.algebra, f"support{i}", f"support {i}", s.law, "m"),
            )
            for i, s in enumerate(base.supports, start=1)
        )

    def _not_negative(self, name: str, value: Sequence[float], unit: str, text: str) -> Vector:
        return self.algebra.vector(name, value, unit, text, NON_NEGATIVE)

    def _link(self, link: Link) -> None:
        self._begin("link", link.name)
        place, rotation = self._frame(link.parent, link.frame, link.name, f"joint frame of {link.name}")
        coordinates = self._coordinates(link.name, "joint", link.joint)
        self.first_body[link.name] = len(self.bodies)
        if link.beam is not None:
            self._beam(link, link.beam, place, rotation, coordinates)
            return
        frame, inertial = (place.body, rotation, place.position), self._inertial(link.name, link)
        self.bodies.append(Body(link.name, link.name, *frame, coordinates, *inertial))

    def _beam(self, link: Link, beam: Beam, place: Place, rotation: Matrix, coordinates: tuple[int, ...]) -> None:
        data, damping_time = self._beam_data(link.name, beam)
        parts = rfem.elements(data, beam.count)
        self.elements[link.name], self.beams[link.name] = parts, beam
        for r, element in enumerate(parts):
            own = "" if beam.count == 1 else f"r{r}"
            name = f"{link.name}_{own}" if own else link.name
            com = self.algebra.array([element.length / 2, 0.0, 0.0])
            inertia = self.algebra.array(_diagonal(element.moments))
            frame = (place.body, rotation, place.position)
            self.bodies.append(Body(name, link.name, *frame, coordinates, element.mass, com, inertia, own))
            if r + 1 < beam.count:
                place = Place(len(self.bodies) - 1, self.algebra.array([element.length, 0.0, 0.0]))
                rotation, coordinates = np.eye(3), self._elastic(link.name, r + 1, data, beam.count, damping_time)

    def _beam_data(self, name: str, beam: Beam) -> tuple[rfem.BeamData, Value]:
        units = {"length": "m", "area": "m2", "density": "kg/m3", "Iy": "m4", "Iz": "m4"}
        if beam.count > 1:
            units |= {"E": "Pa", "G": "Pa", "J": "m4"}
        values = {
            key: self.algebra.scalar(
                f"{name}_{key}", getattr(beam, key), units[key], f"{key} of beam {name}", POSITIVE
            )
            if key in units
            else getattr(beam, key)
            for key in ("length", "area", "density", "E", "G", "Iy", "Iz", "J")
        }
        damping_time: Value = 0.0
        if beam.count > 1:
            damping_time = self.algebra.scalar(
                f"{name}_damping_time", beam.damping_time, "s", f"Kelvin-Voigt time of beam {name}", NON_NEGATIVE
            )
        return rfem.BeamData(**values), damping_time

    def _elastic(self, name: str, r: int, data: rfem.BeamData, count: int, damping_time: Value) -> tuple[int, ...]:
        first = len(self.coordinates)
        for motion, stiffness in zip(JOINT_TYPES["spherical"], rfem.stiffnesses(data, count), strict=True):
            assert motion.axis is not None
            element, spring = f"r{r}", (stiffness, 0.0, damping_time * stiffness)
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
            own: dict[str, Any] = (self._spring(owner, motion, joint, i) if springs else {}) | self._drive(
                owner, joint
            )
            position, velocity = joint.values("position")[i], joint.values("velocity")[i]
            self.coordinates.append(
                Coordinate(owner, motion.coordinate, role, motion, axis, position, velocity, **own)
            )
        return tuple(range(first, len(self.coordinates)))

    def _drive(self, owner: str, joint: Joint) -> dict[str, Any]:
        """What a revolute or prismatic joint has besides springs."""
        found: dict[str, Any] = {}
        if isinstance(joint.friction, Coulomb):
            found["coulomb"] = elements.coulomb(joint, owner, self.algebra)
        elif joint.friction is not None:
            found["friction"] = self._friction(owner, joint, joint.friction)
        if joint.limits is not None:
            found["limits"] = elements.limits(joint, owner, self.algebra)
        if _acts(joint.armature):
            found["armature"] = elements.armature(joint, owner, self.algebra)
        return found

    def _friction(self, owner: str, joint: Joint, given: LuGre | Dahl) -> Friction:
        length = JOINT_TYPES[joint.type][0].unit

        def value(key: str, unit: str, text: str, bounds: Bounds = POSITIVE) -> Value:
            number = getattr(given, key)
            return self.algebra.scalar(f"{owner}_{key}", number, unit, f"friction of {owner}: {text}", bounds)

        lugre, bar = isinstance(given, LuGre), f"s/{length}"
        return Friction(
            model=given.model,
            sigma0=value("sigma0", f"1/{length}", "stiffness of the bristles"),
            sigma1=value("sigma1", bar, "damping of the bristles", NON_NEGATIVE) if lugre else 0.0,
            sigma2=value("sigma2", bar, "viscous coefficient", NON_NEGATIVE) if lugre else 0.0,
            mu_s=value("mu_s", "1", "static coefficient"),
            mu_k=value("mu_k", "1", "kinetic coefficient") if lugre else 0.0,
            v_s=value("v_s", f"{length}/s", "Stribeck velocity") if lugre else 1.0,
            gamma=1.0 if lugre else value("gamma", "1", "Dahl's exponent", EXPONENT),
            arm=value("diameter", "m", "diameter of the journal") / 2 if given.diameter else 1.0,
            normal_force=value("normal_force", "N", "normal force") if given.normal_force else None,
        )

    def _spring(self, owner: str, motion: ElementaryMotion, joint: Joint, i: int) -> dict[str, Value]:
        stiffness, rest, damping = (joint.values(key)[i] for key in ("stiffness", "rest", "damping"))
        # A multi-coordinate joint says which coordinate a parameter is about.
        prefix = owner if len(JOINT_TYPES[joint.type]) == 1 else f"{owner}_{motion.coordinate}"
        effort = "N.m" if motion.unit == "rad" else "N"
        spring: dict[str, Value] = {}
        if _acts(stiffness):
            unit, text = f"{effort}/{motion.unit}", f"joint spring of {owner}"
            spring["stiffness"] = self.algebra.scalar(f"{prefix}_stiffness", stiffness, unit, text, NON_NEGATIVE)
            spring["rest"] = self.algebra.scalar(
                f"{prefix}_rest", rest, motion.unit, f"where the joint spring of {owner} is relaxed"
            )
        if _acts(damping):
            unit, text = f"{effort}.s/{motion.unit}", f"joint damper of {owner}"
            spring["damping"] = self.algebra.scalar(f"{prefix}_damping", damping, unit, text, NON_NEGATIVE)
        return spring

    def _inertial(self, name: str, part: Inertial, constant_inertia: bool = False) -> tuple[Value, Vector, Matrix]:
        if not part.has_inertia:  # a mere frame has no numbers that could be changed
            nothing = part.about_com()
            return nothing[0], self.algebra.array([*nothing[1]]), self.algebra.array([*nothing[2]])
        mass, com, entries = part.numbers(self.algebra.value)
        bounds = POSITIVE if part.physical else NON_NEGATIVE
        if not constant_inertia:
            entries = self.algebra.vector(
                f"{name}_inertia", entries, "kg.m2", f"inertia of {name} about its com: xx, yy, zz, xy, xz, yz"
            )
        xx, yy, zz, xy, xz, yz = (entries[i] for i in range(6))
        bounds = POSITIVE if part.physical else NON_NEGATIVE
        return (
            self.algebra.scalar(f"{name}_mass", mass, "kg", f"mass of {name}", bounds),
            self.algebra.vector(f"{name}_com", com, "m", f"centre of mass of {name}, its frame"),
            self.algebra.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
        )

    def _place(self, link: str, position: Sequence[Value], name: str, text: str, x: float | None = None) -> Place:
        """A point of a link, hung on the rigid element that contains its x, a number where position has none."""
        vector = self.algebra.vector(name, position, "m", f"{text}, in the frame of {link}")
        body = self.first_body[link]
        if link not in self.beams:
            return Place(body, vector)
        beam, parts = self.beams[link], self.elements[link]
        r = rfem.element_at(float(position[0] if x is None else x), beam.length, beam.count)
        self._stays(
            vector[0], parts, r, f"{text}: way to the end of its rigid element of {link} (it may not leave it), m"
        )
        if r == 0:
            return Place(body, vector)
        return Place(body + r, self.algebra.array([vector[0] - parts[r].start, vector[1], vector[2]]))

    def _stays(self, x: Value, parts: Sequence[rfem.Element], r: int, message: str) -> None:
        """That a place on a beam of several elements stays on element r, whatever parameters are."""
        rounding = 1e-9 * (parts[-1].start + parts[-1].length)
        if r > 0:
            self.algebra.require(x - parts[r].start + rounding, message)
        if r + 1 < len(parts):
            self.algebra.require(parts[r + 1].start - x + rounding, message)

    def _frame(self, link: str, frame: Frame, name: str, text: str) -> tuple[Place, Matrix]:
        """Origin and axes of a frame fixed to a link; axes of numbers unless they follow from parameters."""
        offset = frame.origin(self.algebra) if frame.is_given else frame.offset.tolist()
        place = self._place(link, offset, f"{name}_offset", text, float(frame.offset[0]))
        return place, self._axes(frame, name, text)

    def _axes(self, frame: Frame, name: str, text: str) -> Matrix:
        """Axes of a frame, of numbers unless they follow from parameters."""
        if not frame.is_turned_by_parameters:
            return frame.rotation
        rows = [[x + 0.0 for x in row] for row in frame.axes(self.algebra)]  # no -0.0
        return self.algebra.derived(f"{name}_rotation", self.algebra.array(rows), "1", f"axes, {text}")

    def _point(self, name: str, point: Point) -> Place:
        self._begin("point", name)
        return self._place(point.link, point.position, f"{name}_position", f"point {name}")

    def _point_frame(self, name: str, place: Place, rpy: Vector3) -> JointFrame:
        self._begin("point", name)
        return JointFrame(place, self._axes(Frame(rpy=rpy), name, f"point {name}"))

    def _closure(self, closure: described.Closure) -> Closure:
        self._begin("closure", closure.name)
        name, length = closure.name, None
        if closure.length is not None:
            text = f"distance that {name} keeps"
            length = self.algebra.scalar(f"{name}_length", closure.length, "m", text, POSITIVE)
        a, b = self._joint_frame(closure.a, f"{name}_a"), self._joint_frame(closure.b, f"{name}_b")
        if closure.stiffness is None:
            conditions = CLOSURE_TYPES[closure.type]
            return Closure(name, a, b, conditions, None, None, length, _holds_orientation(conditions))
        springs = self._springs(closure, closure.stiffness)
        resists = [c for c, s in zip(DEFORMATIONS["local"], closure.stiffness, strict=True) if float(s) != 0.0]
        return Closure(name, a, b, *springs, length, _holds_orientation(resists))

    def _joint_frame(self, frame: described.ClosureFrame, name: str) -> JointFrame:
        return JointFrame(*self._frame(frame.link, frame, name, f"frame {name}"))

    def _springs(
        self, closure: described.Closure, stiffness: Sequence[float]
    ) -> tuple[tuple[Condition, ...], tuple[Value, ...], tuple[Value, ...]]:
        """Deformations of a replacement joint that have a stiffness or damping, and these."""
        conditions = DEFORMATIONS[closure.axes or "local"]
        damping = closure.damping or (0.0,) * len(conditions)
        acting = [i for i, pair in enumerate(zip(stiffness, damping, strict=True)) if any(map(_acts, pair))]
        return (
            tuple(conditions[i] for i in acting),
            tuple(self._spring_number(closure, "stiffness", i, stiffness[i]) for i in acting),
            tuple(self._spring_number(closure, "damping", i, damping[i]) for i in acting),
        )

    def _spring_number(self, closure: described.Closure, key: str, i: int, number: float) -> Value:
        if not _acts(number):
            return 0.0
        axis, unit = _DEFORMATIONS[i]
        per_rate = ".s" if key == "damping" else ""
        effort, _, motion = unit.partition("/")
        text = f"{key} of {closure.name}, {axis}"
        unit = f"{effort}{per_rate}/{motion}"
        return self.algebra.scalar(f"{closure.name}_{key}_{axis}", number, unit, text, NON_NEGATIVE)

    def _knife_edge(self, edge: Nonholonomic) -> KnifeEdge:
        self._begin("knife edge", edge.name)
        place = self._place(edge.link, edge.point, f"{edge.name}_point", f"contact of {edge.name}")
        return KnifeEdge(edge.name, place, np.array(edge.normal))

    def _task(self, entry: Programmed) -> ProgrammedTask:
        if entry.path is not None:
            tasks.keep_times(entry.path, entry.name, self.algebra)
        return tasks.programmed(entry, self.chain)

    def _force(self, force: Force) -> AppliedForce:
        self._begin("applied force", force.name)
        if force.joint is not None:
            values = None if force.effort is None else (self.chain.expression(force.effort),)
            return AppliedForce(force.name, self._joint_coordinate(force.joint), None, True, values)
        assert force.link is not None
        place = self._place(force.link, force.point, f"{force.name}_point", f"where {force.name} acts")
        trees = None if force.force is None else tuple(map(self.chain.expression, force.force))
        return AppliedForce(force.name, None, place, force.frame == "world", trees)

    def _by_law(self, key: str, element: Element) -> LawElement:
        algebra = self._of(element.kind(), element.name)
        return law_element(key, element, algebra, self._units_of, self.chain.expression)

    def _units_of(self, joint: str) -> tuple[str, str, str]:
        """Full name of a joint's coordinate, its unit, and that of its effort."""
        coordinate = self.coordinates[self._joint_coordinate(joint)]
        return coordinate.name, coordinate.unit, coordinate.effort_unit

    def _motion(self, motion: Motion) -> ProgrammedTask:
        k, algebra = self._joint_coordinate(motion.joint), self._of("motion", motion.name)
        return tasks.motion(motion, self.coordinates, k, self.chain, algebra)

    def _joint_coordinate(self, joint: str) -> int:
        owner, _, key = joint.partition(".")
        return next(
            k
            for k, coordinate in enumerate(self.coordinates)
            if coordinate.owner == owner and coordinate.role == "joint" and key in ("", coordinate.key)
        )


_DEFORMATIONS = (*((axis, "N/m") for axis in "xyz"), *((angle, "N.m/rad") for angle in ("phi", "theta", "psi")))


def _power(support: DescribedSupport, i: int) -> str:
    """Unit of a stiffness along z by a smooth law, which unit strings cannot say."""
    return f"; along z N/m^support{i}_exponent" if support.law is not None else ""


def _holds_orientation(conditions: Sequence[Condition]) -> bool:
    """Whether conditions resist rotations about all three axes."""
    return sum(condition.unit == "rad" for condition in conditions) == 3


def _acts(number: float) -> bool:
    """Of a stiffness or damping: whether there is such an element; an expression may be 0 for now."""
    return number != 0.0 or isinstance(number, Given)


def _parameter_text(name: str, parameter: Parameter) -> str:
    unit = "" if parameter.unit else "; unit as in its expressions"
    return parameter.description or f"parameter {name} of the description{unit}"


def _diagonal(moments: tuple[Value, Value, Value]) -> list[list[Value]]:
    return [[moments[i] if i == j else 0.0 for j in range(3)] for i in range(3)]
