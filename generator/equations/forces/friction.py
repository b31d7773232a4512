"""Joint friction whose normal force is the joint reaction.

The equations are (13) of Jarzębowska et al. 2020 and (19) of Jarzębowska et al. 2023.

The friction depends on the joint reactions, the joint reactions on the accelerations, and the
accelerations on the friction. These dependencies form an algebraic loop. The joint reactions are
affine functions of the friction efforts τ. Their coefficients are computed first. Newton's method
then solves the loop, in which τ is the only unknown. All backends take the same fixed number of
Newton steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....language import ir
from ....language.ir import Expr, Index
from ....mechanism import FRICTION_SWEEPS
from ....mechanism.symbolic import SymbolicCoordinate, SymbolicFriction, SymbolicMechanism
from ...program.program import START_VALUES, EquationSystem, ModelParameter, StateVariable
from ..bodies.kinematics import SymbolicKinematics

# This value is added to the squared normal force, N², so that the square root is differentiable at zero.
_SMALLEST = 1e-12


@dataclass(frozen=True)
class Bristle:
    """Friction of one coordinate by a model with a bristle deflection as state variable.

    The attribute `rate` is the time derivative of the bristle deflection. The attribute `mu` is the
    friction coefficient. Both are symbols of the program.
    """

    coordinate: int
    rate: Expr
    mu: Expr


def with_friction(mechanism: SymbolicMechanism) -> list[int]:
    return [k for k, coordinate in enumerate(mechanism.coordinates) if coordinate.friction is not None]


def bristles(program: EquationSystem, mechanism: SymbolicMechanism) -> list[Bristle]:
    """Define the bristle friction of all coordinates with friction.

    Two definitions per coordinate give the rate of the bristle deflection and the friction coefficient.
    """
    program.section("friction states")
    return [_bristle(program, k, mechanism.coordinates[k]) for k in with_friction(mechanism)]


def _bristle(program: EquationSystem, k: int, coordinate: SymbolicCoordinate) -> Bristle:
    friction, name = coordinate.friction, coordinate.symbol
    assert friction is not None
    z, speed = ir.symbol(f"{name}_z"), ir.symbol(f"{name}_dot")
    rate = (_lugre if friction.model == "lugre" else _dahl)(program, friction, name, z, speed)
    text = f"rate of the bristle deflection of {coordinate.name}"
    rate = program.define(f"{name}_z_dot", rate, f"{coordinate.unit}/s", text)
    sigma0, sigma1, sigma2 = friction.sigma0, friction.sigma1, friction.sigma2
    mu = sigma0 * z + sigma1 * rate + sigma2 * speed
    return Bristle(k, rate, program.define(f"mu_{name}", mu, "1", f"friction coefficient of {coordinate.name}"))


def _lugre(program: EquationSystem, friction: SymbolicFriction, name: str, z: Expr, speed: Expr) -> Expr:
    mu_k, ratio = friction.mu_k, speed / friction.v_s
    stribeck = ir.call("exp", -ir.power(ratio, ir.constant(2.0)))
    steady = mu_k + (friction.mu_s - mu_k) * stribeck
    return speed - friction.sigma0 * ir.call("abs", speed) * z / steady


def _dahl(program: EquationSystem, friction: SymbolicFriction, name: str, z: Expr, speed: Expr) -> Expr:
    room = 1.0 - friction.sigma0 * z * ir.call("sign", speed) / friction.mu_s
    room = program.define(
        f"room_{name}", room, "1", f"distance of the friction of {name} from full sliding, 0 while sliding"
    )
    slip = ir.power(ir.call("abs", room), friction.gamma) * ir.call("sign", room)
    return speed * slip


def states(program: EquationSystem, mechanism: SymbolicMechanism, found: Sequence[Bristle]) -> None:
    """Add the bristle deflection of each coordinate with friction to the program as a state variable."""
    for bristle in found:
        coordinate = mechanism.coordinates[bristle.coordinate]
        signal, text = coordinate.signal("bristle"), f"bristle deflection of the friction of {coordinate.name}"
        name = f"{signal.name}_start"
        program.parameters.append(
            ModelParameter(name, np.array(0.0), coordinate.unit, f"initial {text}", START_VALUES)
        )
        program.integrate(StateVariable(signal, coordinate.unit, text, ir.symbol(name), bristle.rate, 1e-4))


@dataclass(frozen=True)
class Response:
    """Joint force perpendicular to the joint axis, N0 − N1·τ, where τ are the friction efforts.

    The vector N0, shape (3,), and the matrix N1, shape (3, f), are in world axes.
    """

    N0: Expr
    N1: Expr


def across(force: Expr, e: Expr) -> Expr:
    """Return the component of a force, shape (3,), perpendicular to the unit vector e."""
    return force - (force @ e) * e


def efforts(
    program: EquationSystem, mechanism: SymbolicMechanism, found: Sequence[Bristle], responses: dict[int, Response]
) -> Expr:
    """Define the friction efforts τ, shape (f,), N or N·m, positive against the motion.

    A fixed number of Newton steps solves τ_i = μ_i·arm_i·f_n,i(τ). Here, f_n,i is the normal force and
    μ_i the friction coefficient. The factor arm_i is the radius of the journal, or 1 if the joint has
    no journal diameter. The initial guess of τ follows from the normal forces without friction. The
    argument `responses` maps the index of a coordinate to the force in its joint. If it is empty, the
    description gives all normal forces.
    """
    program.section("friction")
    f, text = len(found), "friction efforts; N or N.m"
    names = ", ".join(mechanism.coordinates[bristle.coordinate].name for bristle in found)
    factors = [_factor(program, mechanism, bristle) for bristle in found]
    if not responses:
        given = [factor * _given(mechanism, bristle) for factor, bristle in zip(factors, found, strict=True)]
        return program.define("tau", ir.array(given), None, text)
    tau: Expr = ir.zeros(f)
    for sweep in range(FRICTION_SWEEPS + 1):
        residual, slope = [], []
        for i, (factor, bristle) in enumerate(zip(factors, found, strict=True)):
            value, row = _normal(program, mechanism, bristle, responses, tau, sweep)
            residual.append(tau[i] - factor * value)
            slope.append([ir.constant(float(i == j)) - factor * row[j] for j in range(f)])
        if sweep == 0:
            # The initial guess of the friction efforts uses the normal forces that act without friction.
            tau = program.define("tau_0", -ir.array(residual), None, f"initial guess of the {text}")
            continue
        J = program.assemble(
            f"J_{sweep}", (f, f), _rows(slope), None, f"Jacobian of the friction equations, Newton step {sweep}"
        )
        step = program.solve(
            f"step_{sweep}",
            J,
            ir.array(residual),
            f"correction of the friction efforts, Newton step {sweep}; N or N.m",
            names,
        )
        name = "tau" if sweep == FRICTION_SWEEPS else f"tau_{sweep}"
        tau = program.define(name, tau - step, None, text)
    return tau


def _rows(rows: Sequence[Sequence[Expr]]) -> list[tuple[Index, Expr]]:
    return [((i, j), value) for i, row in enumerate(rows) for j, value in enumerate(row)]


def _factor(program: EquationSystem, mechanism: SymbolicMechanism, bristle: Bristle) -> Expr:
    """Return the friction effort per normal force, μ·arm."""
    coordinate = mechanism.coordinates[bristle.coordinate]
    assert coordinate.friction is not None
    return program.define(
        f"grip_{coordinate.symbol}",
        bristle.mu * coordinate.friction.arm,
        "m" if coordinate.unit == "rad" else "1",
        f"friction effort of {coordinate.name} per unit normal force",
    )


def _given(mechanism: SymbolicMechanism, bristle: Bristle) -> Expr:
    friction = mechanism.coordinates[bristle.coordinate].friction
    assert friction is not None and friction.normal_force is not None
    return friction.normal_force


def _normal(
    program: EquationSystem,
    mechanism: SymbolicMechanism,
    bristle: Bristle,
    responses: dict[int, Response],
    tau: Expr,
    sweep: int,
) -> tuple[Expr, list[Expr]]:
    """Return the normal force, N, at given friction efforts τ, and its derivatives with respect to τ."""
    f = tau.shape[0]
    if bristle.coordinate not in responses:
        return _given(mechanism, bristle), [ir.constant(0.0)] * f
    response, symbol = responses[bristle.coordinate], mechanism.coordinates[bristle.coordinate].symbol
    N = response.N0 - response.N1 @ tau
    N = program.define(
        f"N_{symbol}_{sweep}", N, "N", f"force perpendicular to the joint axis of {symbol}, Newton step {sweep}"
    )
    value = ir.call("sqrt", ir.constant(_SMALLEST) + N @ N)
    value = program.define(
        f"normal_{symbol}_{sweep}", value, "N", f"normal force of the friction of {symbol}, Newton step {sweep}"
    )
    return value, [-(N @ response.N1[:, j]) / value for j in range(f)]


def axis(kinematics: SymbolicKinematics, k: int) -> Expr:
    """Return the world axis of a revolute or prismatic coordinate, shape (3,)."""
    motion = kinematics.axes[k]
    return motion.u if ir.is_zero(motion.e) else motion.e
