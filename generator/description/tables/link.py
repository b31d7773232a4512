"""Links, their joints and beams."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator, model_validator

from ...types.joints import JOINT_TYPES
from .frame import Frame
from .friction import Friction
from .inertia import Inertial
from .names import Name
from .types import KeyProblem, NonNegative, NonNegativePerCoordinate, Part, PerCoordinate, Positive, UnitVector


class Joint(Part):
    """Joint between a link and its parent.

    axis                    unit vector in the joint frame; revolute and prismatic
    position, velocity      start values, rad or m and rad/s or m/s: one number per coordinate
    stiffness, rest, damping   spring about `rest` and viscous damper, per coordinate
    """

    type: str = Field(json_schema_extra={"enum": list(JOINT_TYPES)})
    axis: UnitVector | None = None
    position: PerCoordinate = 0.0
    velocity: PerCoordinate = 0.0
    stiffness: NonNegativePerCoordinate = 0.0
    rest: PerCoordinate = 0.0
    damping: NonNegativePerCoordinate = 0.0
    friction: Friction | None = None

    @field_validator("type")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in JOINT_TYPES:
            raise ValueError(f"expected one of {', '.join(JOINT_TYPES)}, got {value!r}")
        return value

    @field_validator("position", "velocity", "stiffness", "rest", "damping")
    @classmethod
    def _one_per_coordinate(
        cls, value: float | tuple[float, ...], info: ValidationInfo
    ) -> float | tuple[float, ...]:
        kind = info.data.get("type")
        if kind is None:
            return value
        names = [motion.coordinate for motion in JOINT_TYPES[kind]]
        if not names and value:
            raise ValueError(f"a {kind} joint has no coordinates; leave the key out")
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
                "axis", f"is missing; a {self.type} joint needs one, for example axis = [0.0, 0.0, 1.0]"
            )
        if not needed and self.axis is not None:
            raise KeyProblem("axis", f"a {self.type} joint has no free choice of axis; turn its frame instead")
        return self

    @model_validator(mode="after")
    def _friction_fits(self) -> Joint:
        if self.friction is None:
            return self
        if self.type not in ("revolute", "prismatic"):
            raise KeyProblem("friction", f"expected a revolute or prismatic joint, got {self.type}")
        if (self.type == "revolute") != (self.friction.diameter is not None):
            text = "a revolute joint needs its journal's diameter, a prismatic one has none"
            raise KeyProblem("friction.diameter", text)
        return self

    def values(self, key: str) -> tuple[float, ...]:
        """The key's numbers, one per coordinate of the joint."""
        value = getattr(self, key)
        return value if isinstance(value, tuple) else (value,) * len(JOINT_TYPES[self.type])


class Beam(Part):
    """Prismatic beam along the link's x axis (design 4.10): SI units; damping_time in s."""

    length: Positive
    area: Positive
    density: Positive
    E: Positive
    G: Positive
    Iy: Positive
    Iz: Positive
    J: Positive
    damping_time: NonNegative = 0.0
    elements: int = Field(1, strict=True, ge=1, le=64)
    flexible: bool = Field(True, strict=True)

    @property
    def count(self) -> int:
        """Number of rigid finite elements; 1 is a rigid link."""
        return self.elements if self.flexible else 1


class Link(Inertial):
    """A rigid body, or a beam, with its joint frame in the parent's frame."""

    name: Name
    parent: str
    frame: Frame = Frame()
    joint: Joint
    beam: Beam | None = None

    @model_validator(mode="after")
    def _has_mass(self) -> Link:
        if self.beam is not None and self.has_inertia:
            raise ValueError("give a beam, or mass, com and inertia, not both")
        if self.beam is None and not self.has_inertia:
            raise ValueError("mass and inertia are missing (or give a beam, or pseudo_inertia)")
        return self
