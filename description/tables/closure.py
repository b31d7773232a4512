"""Loop closures: joints that close a kinematic loop between two frames."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from ..fields.names import PartName
from ..fields.numbers import NonNegative, Positive
from ..fields.types import KeyProblem, Part
from ..types.closures import CLOSURE_TYPES
from .frame import Frame

NonNegative6 = tuple[NonNegative, NonNegative, NonNegative, NonNegative, NonNegative, NonNegative]


class ClosureFrame(Frame):
    """Frame that is fixed to a link, given in the frame of the undeformed link."""

    link: str
    """Link that carries the frame: its name, `base` or `ground`."""


class Closure(Part):
    """Joint between frames a and b that closes a kinematic loop.

    If the joint has a free axis, it is the z axis of both frames.
    """

    name: PartName
    """Name of the closure; the constraint equations are called `<name>_x` and so on."""
    type: str = Field(json_schema_extra={"enum": list(CLOSURE_TYPES)})
    """Type of the joint. `distance` keeps the distance of the origins, `point_on_line` keeps the origin
    of b on the z axis of a."""
    a: ClosureFrame
    """Frame a, in which deformations and constraint equations are measured."""
    b: ClosureFrame
    """Frame b, on another link."""
    model: Literal["constraint", "spring_damper"] = "constraint"
    """`constraint`: an ideal joint with constraint equations; `spring_damper`: spring-dampers in place of the
    joint, without constraint equations."""
    length: Positive | None = None
    """Distance of the origins, m; for type `distance` only."""
    stiffness: NonNegative6 | None = None
    """Stiffness of a `spring_damper` along x, y, z, N/m, and about φ, θ, ψ, N·m/rad; 0 for a free direction."""
    damping: NonNegative6 | None = None
    """Damping of a `spring_damper` along x, y, z, N·s/m, and about φ, θ, ψ, N·m·s/rad; default 0."""
    axes: Literal["local", "world"] | None = None
    """Axes x, y, z of a `spring_damper`: those of frame a (`local`, the default) or those of the world
    frame (`world`)."""

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the constraint equations of the loop closure.

        A closure by spring-dampers has no constraint equations.
        """
        if self.model == "spring_damper":
            return ()
        return tuple(f"{self.name}_{condition.name}" for condition in CLOSURE_TYPES[self.type])

    @field_validator("type")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in CLOSURE_TYPES:
            raise ValueError(f"expected one of {', '.join(CLOSURE_TYPES)}, got {value!r}")
        return value

    @model_validator(mode="after")
    def _complete(self) -> Closure:
        springs = self.model == "spring_damper"
        if springs != (self.stiffness is not None):
            raise KeyProblem(
                "stiffness", 'expected six numbers with model = "spring_damper", and none with other models'
            )
        if not springs and (self.damping is not None or self.axes is not None):
            key = "axes" if self.damping is None else "damping"
            raise KeyProblem(key, 'the key requires model = "spring_damper"')
        if (self.type == "distance") != (self.length is not None):
            raise KeyProblem("length", "a distance closure requires this key; other closures must not have it")
        if springs and self.type == "distance":
            raise KeyProblem(
                "model",
                'a distance closure cannot have springs; use type = "spherical", or model = "constraint"',
            )
        if self.a.link == self.b.link:
            raise KeyProblem("b.link", f"expected a link other than the link of frame a, {self.a.link!r}")
        return self
