"""Links with their joints, and flexible beams."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator, model_validator

from ..fields.names import PartName
from ..fields.numbers import AnyNumber, NonNegative, Number, PlainNonNegative, Positive, value_of
from ..fields.types import (
    KeyProblem,
    NonNegativePerItem,
    Part,
    PerCoordinate,
    PlainPerCoordinate,
    Text,
    UnitVector,
)
from ..types.joints import JOINT_TYPES
from .contact import ContactLaw, without_damper
from .frame import Frame
from .friction import Coulomb, Friction
from .inertia import Inertial
from .shape import Shape


class Limits(Part):
    """Limits of a revolute or prismatic joint.

    With `stiffness`, the limits are end stops: beyond a limit, a spring-damper pushes the joint back
    and never pulls. Without `stiffness`, the limits have no effect.
    """

    lower: Number | None = None
    """Lower limit of the coordinate, rad or m; default: none."""
    upper: Number | None = None
    """Upper limit of the coordinate, rad or m; default: none."""
    stiffness: Positive | None = None
    """Stiffness of the stops, N·m/rad or N/m; with `law` N·m/radⁿ or N/mⁿ. Default: no stops."""
    damping: NonNegative = 0.0
    """Damping of the stop, N·m·s/rad or N·s/m."""
    law: ContactLaw | None = None
    """Contact law instead of the damper."""
    effort: PlainNonNegative | None = None
    """Largest effort of the joint's drive, N·m or N, for other formats; does not act."""
    velocity: PlainNonNegative | None = None
    """Largest rate of the coordinate, rad/s or m/s, for other formats; does not act."""

    @property
    def act(self) -> bool:
        """Whether the limits are end stops."""
        return self.stiffness is not None

    @model_validator(mode="after")
    def _in_order(self) -> Limits:
        without_damper(self.law, self.model_fields_set)
        if self.stiffness is None:
            for key in sorted({"damping", "law"} & self.model_fields_set):
                raise KeyProblem(
                    "stiffness", f"the key is missing; limits with {key} are end stops, which need a stiffness"
                )
        if self.lower is None and self.upper is None and (self.act or self.effort is self.velocity is None):
            raise ValueError("the table has no limit; give lower, upper or both")
        if self.lower is not None and self.upper is not None:
            lower, upper = value_of(self.lower), value_of(self.upper)
            if lower >= upper:
                raise KeyProblem("upper", f"expected a value greater than `lower` ({lower:g}), got {upper:g}")
        return self


class Joint(Part):
    """Joint between a link and its parent.

    Keys of a joint with several coordinates accept arrays.
    """

    type: str = Field(json_schema_extra={"enum": list(JOINT_TYPES)})
    """Joint type. The page on joints and frames shows order and signs of the coordinates."""
    name: Text = ""
    """Name of the joint in other formats, such as URDF; default: a name that follows from its coordinate."""
    axis: UnitVector | None = None
    """Axis of a revolute or prismatic joint: a unit vector in the joint frame. Other types have no
    axis; rotate their frame."""
    position: PlainPerCoordinate = 0.0
    """Initial coordinates, rad or m."""
    velocity: PlainPerCoordinate = 0.0
    """Initial rates, rad/s or m/s."""
    stiffness: NonNegativePerItem = 0.0
    """Stiffness of the joint spring, N·m/rad or N/m."""
    rest: PerCoordinate = 0.0
    """Coordinate at which the joint spring is undeformed, rad or m."""
    damping: NonNegativePerItem = 0.0
    """Viscous damping of the joint, N·m·s/rad or N·s/m."""
    friction: Friction | None = None
    """Friction of a revolute or prismatic joint."""
    limits: Limits | None = None
    """Limits or end stops of a revolute or prismatic joint."""
    armature: NonNegative = 0.0
    """Rotor inertia times the square of the gear ratio, kg·m² or kg, of a revolute or prismatic joint."""

    @field_validator("type")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in JOINT_TYPES:
            raise ValueError(f"expected one of {', '.join(JOINT_TYPES)}, got {value!r}")
        return value

    @field_validator("position", "velocity", "stiffness", "rest", "damping")
    @classmethod
    def _one_per_coordinate(
        cls, value: AnyNumber | tuple[AnyNumber, ...], info: ValidationInfo
    ) -> AnyNumber | tuple[AnyNumber, ...]:
        kind = info.data.get("type")
        if kind is None:
            return value
        names = [motion.coordinate for motion in JOINT_TYPES[kind]]
        if not names and value:
            raise ValueError(f"a {kind} joint has no coordinates; remove the key")
        if isinstance(value, tuple) and len(value) != len(names):
            raise ValueError(
                f"expected {len(names)} value(s), one per coordinate of the {kind} joint ({', '.join(names)}),"
                f" got {len(value)}"
            )
        return value

    @model_validator(mode="after")
    def _axis_where_needed(self) -> Joint:
        needed = any(motion.axis is None for motion in JOINT_TYPES[self.type])
        if needed and self.axis is None:
            raise KeyProblem(
                "axis", f"the key is missing; a {self.type} joint needs one, for example axis = [0.0, 0.0, 1.0]"
            )
        if not needed and self.axis is not None:
            raise KeyProblem(
                "axis", f"the axis of a {self.type} joint cannot be chosen; rotate the frame of the joint instead"
            )
        return self

    @model_validator(mode="after")
    def _friction_fits(self) -> Joint:
        for key in ("friction", "limits", "armature"):
            if getattr(self, key) and self.type not in ("revolute", "prismatic"):
                raise KeyProblem(key, f"expected a revolute or prismatic joint, got {self.type}")
        if self.friction is None or isinstance(self.friction, Coulomb):
            return self
        if (self.type == "revolute") != (self.friction.diameter is not None):
            text = "a revolute joint requires a journal diameter, and a prismatic joint has none"
            raise KeyProblem("friction.diameter", text)
        return self

    @property
    def stops(self) -> Limits | None:
        """Limits that act as end stops; None if the joint has no end stops."""
        return self.limits if self.limits is not None and self.limits.act else None

    def values(self, key: str) -> tuple[AnyNumber, ...]:
        """Return the values of a key for all coordinates of the joint.

        A single number applies to each coordinate.
        """
        value = getattr(self, key)
        return value if isinstance(value, tuple) else (value,) * len(JOINT_TYPES[self.type])


class Beam(Part):
    """Prismatic beam along the x axis of the link, divided into rigid finite elements with springs
    between them.
    """

    length: Positive
    """Length along x, m."""
    area: Positive
    """Cross-sectional area, m²."""
    density: Positive
    """Density of the material, kg/m³."""
    E: Positive
    """Young's modulus, Pa."""
    G: Positive
    """Shear modulus, Pa."""
    Iy: Positive
    """Second moment of area about y, m⁴, for bending in the x-z plane."""
    Iz: Positive
    """Second moment of area about z, m⁴, for bending in the x-y plane."""
    J: Positive
    """Torsion constant of the cross-section, m⁴."""
    damping_time: NonNegative = 0.0
    """Ratio of damping to stiffness of the springs (Kelvin–Voigt model), s."""
    elements: int = Field(1, strict=True, ge=1, le=64)
    """Number of rigid finite elements; 1 for a rigid link."""
    flexible: bool = Field(True, strict=True)
    """Whether the beam is flexible; `false` makes one rigid element, regardless of `elements`."""

    @property
    def count(self) -> int:
        """Number of rigid finite elements; 1 for a rigid link."""
        return self.elements if self.flexible else 1


class Link(Inertial):
    """Rigid body, beam, or frame without mass, with its joint frame in the parent frame."""

    name: PartName
    """Name of the link; its coordinates are called `<name>.angle` and so on."""
    alias: Text = ""
    """Name of the link in other formats, such as URDF; default: `name`."""
    parent: str
    """Parent that carries the joint: the name of another link, `base` or `ground`."""
    frame: Frame = Frame()
    """Joint frame in the parent frame, for joint coordinates of 0."""
    joint: Joint
    """Joint between the link and its parent."""
    beam: Beam | None = None
    """Prismatic beam, flexible or rigid, instead of `mass`, `com` and `inertia`."""
    shape: Shape | None = None
    """Appearance in pictures; default: a box with the mass and inertia of the link, and rods to its joints."""

    @model_validator(mode="after")
    def _one_body(self) -> Link:
        if self.beam is not None and self.has_inertia:
            raise ValueError("give a beam, or mass, com and inertia, not both")
        if self.beam is not None and self.beam.count > 1 and self.shape is not None:
            raise KeyProblem("shape", "a flexible beam is drawn as a bending tube; remove the shape")
        return self
