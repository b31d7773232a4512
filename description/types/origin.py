"""Part of the description from which an equation comes, and meaning and name of each signal."""

from __future__ import annotations

from dataclasses import dataclass

# kind of origin, quantity → the signal's name in Modelica, FMUs and results
_NAMES = {
    ("coordinate", "position"): "{owner}",
    ("coordinate", "velocity"): "{owner}_dot",
    ("coordinate", "acceleration"): "{owner}_ddot",
    ("coordinate", "bristle"): "{owner}_z",
    ("coordinate", "effort"): "{owner}_effort",
    ("point", "position"): "{owner}_{component}",
    ("point", "velocity"): "{owner}_v{component}",
    ("point", "acceleration"): "{owner}_a{component}",
    ("link", "load"): "{owner}_load_{component}",
    ("link", "origin"): "{owner}_origin_{component}",
    ("link", "quaternion"): "{owner}_quaternion_{component}",
    ("link", "omega"): "{owner}_omega_{component}",
    ("energy", "energy"): "{component}_energy",
    ("output", "value"): "{owner}",
    ("constraint", "force"): "{owner}_force",
    ("knife edge", "force"): "{owner}_force",
    ("constraints", "violation"): "violation_{component}",
    ("filter", "value"): "{owner}_filtered",
    ("filter", "offset"): "{owner}_offset",
    ("filter", "offset_rate"): "{owner}_offset_rate",
    ("contact", "gap"): "{owner}_gap",
    ("contact", "force"): "{owner}_force",
    ("support", "gap"): "{owner}_gap",
    ("support", "force"): "{owner}_force",
    ("element", "measure"): "{owner}_{component}",
    ("line", "length"): "{owner}_length",
    ("line", "rate"): "{owner}_rate",
    ("line", "force"): "{owner}_force",
}


@dataclass(frozen=True)
class Origin:
    """An entry of the description, or a step of the derivation.

    kind     `base`, `link`, `point`, `closure`, `knife edge`, `applied force`, … or the step: `accelerations`
    name     of the entry; empty where there is one of the kind alone
    element  of a flexible link, `r1`, …
    """

    kind: str
    name: str = ""
    element: str = ""

    def __str__(self) -> str:
        """Return the text for headings."""
        entry = f"{self.kind} {self.name}" if self.name else self.kind
        return f"{entry}, element {self.element}" if self.element else entry


@dataclass(frozen=True)
class Signal:
    """Meaning of a state, of an output or of a result of a run.

    quantity   with the origin's kind one of the rows above
    origin     the part that it belongs to; of a coordinate `Origin("coordinate", "column.angle")`
    component  `x`, `y`, `z` of a vector; of a load `fx` … `nz`, `axial`, `normal`; of a violation its level;
               of an element with a law the quantity: `force`
    """

    quantity: str
    origin: Origin
    component: str = ""

    @property
    def name(self) -> str:
        """The one that scripts rely on: `column_angle_dot`, `E_vx`, `boom_load_fz`."""
        owner = self.origin.name.replace(".", "_")
        return _NAMES[self.origin.kind, self.quantity].format(owner=owner, component=self.component)


def of_point(point: str, quantity: str, axis: str = "") -> Signal:
    """`position`, `velocity` or `acceleration` of a named point, along world `x`, `y` or `z`."""
    return Signal(quantity, Origin("point", point), axis)


def joint_load(link: str, component: str) -> Signal:
    """Return the signal of one component of a joint reaction: `fx` … `nz`, `axial`, `normal`."""
    return Signal("load", Origin("link", link), component)


def row_force(row: str, kind: str = "constraint") -> Signal:
    """The multiplier of a constraint row; kind `knife edge`: the edge's force on its link."""
    return Signal("force", Origin(kind, row))


def violation(level: str) -> Signal:
    """Norm of all constraint rows, `position`, or of their rates, `velocity`."""
    return Signal("violation", Origin("constraints"), level)
