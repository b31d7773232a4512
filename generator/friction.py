"""Friction whose normal force is the joint's own load (design 4.8; P0 (19)–(22), P2 (13)–(15)).

The load depends on the accelerations and these on the friction. Both are affine in the friction efforts τ, so
the loop is solved in τ alone: a fixed number of sweeps over precomputed responses, the same in every backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import ir
from .ir import Expr, Index
from .kinematics import Kinematics
from .mechanism import FRICTION_SWEEPS, Coordinate, Mechanism
from .program import Parameter, Program, State

_SMALLEST = 1e-12  # N²: keeps the root of the normal force differentiable at no load


@dataclass(frozen=True)
class Bristle:
    """Friction state of one coordinate: its rate, and the friction coefficient; symbols."""

    coordinate: int
    rate: Expr
    mu: Expr


def rubbing(mechanism: Mechanism) -> list[int]:
    """Indices of the coordinates that have friction."""
    return [k for k, coordinate in enumerate(mechanism.coordinates) if coordinate.friction is not None]


def bristles(program: Program, mechanism: Mechanism) -> list[Bristle]:
    """Define rates of the friction states and the coefficients."""
    program.section("friction states")
    return [_bristle(program, k, mechanism.coordinates[k]) for k in rubbing(mechanism)]


def _bristle(program: Program, k: int, coordinate: Coordinate) -> Bristle:
    friction, name = coordinate.friction, coordinate.symbol
    assert friction is not None
    z, speed = ir.symbol(f"{name}_z"), ir.symbol(f"{name}_dot")
    sigma0, mu_s, mu_k = ir.lift(friction.sigma0), ir.lift(friction.mu_s), ir.lift(friction.mu_k)
    if friction.model == "lugre":
        stribeck = ir.call("exp", -ir.power(speed / friction.v_s, ir.constant(2.0)))
        rate = speed - sigma0 * ir.call("abs", speed) * z / (mu_k + (mu_s - mu_k) * stribeck)
    else:
        room = program.define(
            f"room_{name}", 1.0 - sigma0 * z * ir.call("sign", speed) / mu_s, "1", f"how far {name} is from sliding"
        )
        rate = speed * ir.power(ir.call("abs", room), ir.lift(friction.gamma)) * ir.call("sign", room)
    rate = program.define(f"{name}_z_dot", rate, f"{coordinate.unit}/s", f"rate of the bristles of {coordinate.name}")
    mu = sigma0 * z + ir.lift(friction.sigma1) * rate + ir.lift(friction.sigma2) * speed
    mu = program.define(f"mu_{name}", mu, "1", f"friction coefficient of {coordinate.name}")
    return Bristle(k, rate, mu)


def states(program: Program, mechanism: Mechanism, found: Sequence[Bristle]) -> None:
    """Add the friction states to the program."""
    for bristle in found:
        coordinate = mechanism.coordinates[bristle.coordinate]
        name, text = f"{coordinate.symbol}_z", f"deflection of the bristles of {coordinate.name}"
        program.parameters.append(Parameter(f"{name}_start", np.array(0.0), coordinate.unit, f"{text} at the start"))
        start = ir.symbol(f"{name}_start")
        program.states.append(State(name, coordinate.unit, text, start, bristle.rate, nominal=1e-4))


@dataclass(frozen=True)
class Response:
    """Force through a joint, world axes: F0 − F1·τ; e is the joint's axis. Shapes (3,), (3, f), (3,)."""

    F0: Expr
    F1: Expr
    e: Expr

    def normal(self, tau: Expr | None) -> Expr:
        """Length of the force's part perpendicular to the axis, N; τ of shape (f,), or None for zero."""
        F = self.F0 if tau is None else self.F0 - self.F1 @ tau
        square = F @ F - (F @ self.e) * (F @ self.e)
        return ir.call("sqrt", ir.constant(_SMALLEST) + square)


def efforts(
    program: Program,
    mechanism: Mechanism,
    found: Sequence[Bristle],
    responses: dict[int, Response],
) -> Expr:
    """Define the friction efforts τ, shape (f,), N or N·m, against the motion; responses by coordinate."""
    program.section("friction")
    f = len(found)
    sweeps = FRICTION_SWEEPS if responses else 0
    name, tau = "", None
    for sweep in range(sweeps + 1):
        parts: list[tuple[Index, Expr]] = [
            ((i,), _effort(mechanism, bristle, responses, tau)) for i, bristle in enumerate(found)
        ]
        name = "tau" if sweep == sweeps else f"tau_{sweep}"
        text = "friction efforts" if sweep == sweeps else f"friction efforts, sweep {sweep}"
        tau = program.assemble(name, (f,), parts, None, f"{text}; N or N.m")
    assert tau is not None
    return tau


def _effort(
    mechanism: Mechanism, bristle: Bristle, responses: dict[int, Response], tau: Expr | None
) -> Expr:
    friction = mechanism.coordinates[bristle.coordinate].friction
    assert friction is not None
    if friction.normal_force is not None:
        normal = ir.lift(friction.normal_force)
    else:
        normal = responses[bristle.coordinate].normal(tau)
    return bristle.mu * ir.lift(friction.arm) * normal


def axis(kinematics: Kinematics, k: int) -> Expr:
    """Shape (3,): world axis of a revolute or prismatic coordinate."""
    motion = kinematics.axes[k]
    return motion.u if ir.is_zero(motion.e) else motion.e
