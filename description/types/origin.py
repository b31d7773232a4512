"""Classes for the name of a signal, and for the table from which a signal or an equation originates."""

from __future__ import annotations

from dataclasses import dataclass

# Name of each signal in Modelica models, FMUs and result files; {owner} is, for example, a coordinate.
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
    ("support", "load"): "{owner}_support_{component}",
    ("closure", "load"): "{owner}_closure_{component}",
    ("element", "measure"): "{owner}_{component}",
    ("line", "length"): "{owner}_length",
    ("line", "rate"): "{owner}_rate",
    ("line", "force"): "{owner}_force",
}


@dataclass(frozen=True)
class Origin:
    """Part of the description, or step of the derivation, from which an equation or signal originates.

    Parameters
    ----------
    kind
        Kind of part, such as `base`, `link`, `closure` or `applied force`. For an equation that
        belongs to no single part, `kind` is the step of the derivation, such as `accelerations`.
    name
        Name of the part; empty if only one part of this kind exists.
    element
        Rigid finite element of a flexible link, such as `r1`; else empty.
    """

    kind: str
    name: str = ""
    element: str = ""

    def __str__(self) -> str:
        """Return kind and name of the part, such as `link boom`, for headings."""
        entry = f"{self.kind} {self.name}" if self.name else self.kind
        return f"{entry}, element {self.element}" if self.element else entry


@dataclass(frozen=True)
class Signal:
    """Meaning of a state, an output or a result of a simulation.

    Parameters
    ----------
    quantity
        Physical quantity, such as `position`. The table `_NAMES` lists the quantities of each kind
        of `origin`.
    origin
        Part of the description, such as `Origin("coordinate", "column.angle")`.
    component
        Component of the quantity: `x`, `y` or `z` of a vector; `fx` … `nz` of a closure or support;
        `fx` … `nz`, `axial` or `normal` of a joint reaction. A constraint violation has the components
        `position` and `velocity`. For an element with a law, the component is the name of the
        published quantity.
    """

    quantity: str
    origin: Origin
    component: str = ""

    @property
    def name(self) -> str:
        """Name of the signal in FMUs and result files, such as `column_angle_dot`, `E_vx` or
        `boom_load_fz`.
        """
        owner = self.origin.name.replace(".", "_")
        return _NAMES[self.origin.kind, self.quantity].format(owner=owner, component=self.component)


def of_point(point: str, quantity: str, axis: str = "") -> Signal:
    """Return the signal `position`, `velocity` or `acceleration` of a point along the axis x, y or
    z, world frame.
    """
    return Signal(quantity, Origin("point", point), axis)


def joint_load(link: str, component: str) -> Signal:
    """Return the signal of one component of a joint reaction: `fx` … `nz`, `axial` or `normal`."""
    return Signal("load", Origin("link", link), component)


def closure_load(closure: str, component: str) -> Signal:
    """Return the signal of one component of the wrench of a loop closure on the body of frame b.

    The components `fx` … `nz` have the units N and N·m. Moments refer to the origin of frame b, and
    axes are those of the world.
    """
    return Signal("load", Origin("closure", closure), component)


def support_load(support: str, component: str) -> Signal:
    """Return the signal of one component of a support's force on the base: `fx`, `fy` or `fz`, N, world axes."""
    return Signal("load", Origin("support", support), component)


def row_force(row: str, kind: str = "constraint") -> Signal:
    """Return the signal of the Lagrange multiplier of a constraint equation.

    For a knife edge, which prevents motion along a normal, the multiplier is the normal force on
    the link, N.
    """
    return Signal("force", Origin(kind, row))


def violation(level: str) -> Signal:
    """Return the signal of the norm of the violations of all constraint equations.

    The norm is that of the residuals Φ if `level` is `position`, and that of their time derivatives Φ̇
    if `level` is `velocity`.
    """
    return Signal("violation", Origin("constraints"), level)
