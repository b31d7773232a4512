"""The crane of the examples, all of it, in the Modelica Standard Library's MultiBody.

Its supports are forces on feet of the base. The point E keeps to ellipse and height by an ideal force along their
gradients, whose two sizes are unknowns.
"""

from __future__ import annotations

from collections.abc import Iterator

from helpers_multibody import PARTS, Drawing, end, tree, vector

from gpmelica.analysis.system import System
from gpmelica.mechanism import BaseSupport

_FORCES = "Modelica.Mechanics.MultiBody.Forces"

# Constraints (17) and (22) of Jarzębowska et al. 2020; see examples/crane.toml.
# The height of E is a quintic polynomial of time.
# omc differentiates the constraint equations.
_TASK = (
    "tau = noEvent(if time < 1 then time else 1)",
    "{x, y, z} = tip.frame_b.r_0",
    "Phi = {(x/a)^2 + (y/b)^2 - (x_start/a)^2 - (y_start/b)^2, z - z_start - rise*tau^3*(10 - 15*tau + 6*tau^2)}",
    "Phi_dot = der(Phi)",
    "der(Phi_dot) + 2*alpha*Phi_dot + beta^2*Phi = {0, 0}",
    "guide.force = lambda[1]*{2*x/a^2, 2*y/b^2, 0} + lambda[2]*{0, 0, 1}",
)
_UNKNOWNS = "tau, x, y, z, Phi[2], Phi_dot[2], lambda[2]"


def crane(model: System, name: str) -> str:
    """Text of the crane, with any number of elements of its boom; the torque on its column is an input."""
    mechanism, tip = model.mechanism, model.chain.points["E"].position
    drawing = tree(model, tip)
    for i, support in enumerate(mechanism.supports):
        _add_support(drawing, i, support, end(mechanism, 0))
    drawing.declarations.extend(
        [f"{_FORCES}.WorldForce guide(animation = false)", *_parameters(model), f"Real {_UNKNOWNS}"]
    )
    drawing.connect(("tip.frame_b", "guide.frame_b"))
    drawing.equations.extend(_TASK)
    return drawing.text(name)


def _add_support(drawing: Drawing, i: int, support: BaseSupport, base: str) -> None:
    """Spring and damper in the axes of the world, with no force where the base's coordinates are 0."""
    place, k, d = map(vector, (support.position, support.stiffness, support.damping))
    foot = f"{PARTS}.FixedTranslation foot{i}(r = {place}, animation = false)"
    drawing.declarations.extend([foot, f"{_FORCES}.WorldForce support{i}(animation = false)"])
    drawing.connect((base, f"foot{i}.frame_a"), (f"foot{i}.frame_b", f"support{i}.frame_b"))
    r = f"foot{i}.frame_b.r_0"
    drawing.equations.append(f"support{i}.force = -{k}.*({r} - {place}) - {d}.*der({r})")


def _parameters(model: System) -> Iterator[str]:
    described, constraints = model.chain.parameters, model.chain.constraints
    values = {name: described[name].value for name in ("a", "b", "rise")}
    values |= {"alpha": constraints.alpha, "beta": constraints.beta}
    values |= {f"{axis}_start": model.start_values()[f"start_E_{axis}"] for axis in "xyz"}
    for name, value in values.items():
        yield f"parameter Real {name} = {float(value)!r}"
