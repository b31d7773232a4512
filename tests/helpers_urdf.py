"""Robots of URDF files in Pinocchio's own reader, in the coordinates of their descriptions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
from helpers_stages import state_vector
from numpy.typing import NDArray

from gpmelica.analysis.system import System
from gpmelica.exchange.names import identifiers
from gpmelica.exchange.urdf import read_urdf
from gpmelica.fmu.code.casadi_eval import Evaluator
from gpmelica.language import ir
from gpmelica.mechanism import Mechanism

Array = NDArray[np.float64]


def robots() -> list[Path]:
    """Every URDF file that example-robot-data ships."""
    folder = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
    return sorted(folder.glob("*/*/*.urdf"))


def robot(name: str) -> Path:
    """One of them, by its file's name."""
    return next(path for path in robots() if path.name == name)


@dataclass(frozen=True)
class Dynamics:
    """M, (n, n), h, (n,), and q̈, (n,), by one of the backends."""

    M: Array
    h: Array
    qdd: Array

    def error(self, truth: Dynamics) -> float:
        """The largest of the three relative errors.

        Where forces or accelerations vanish, such as those of propellers, relative to what rates of 1 would make.
        """
        natural = float(np.abs(truth.M).max())
        pairs = ((self.M, truth.M, natural), (self.h, truth.h, natural), (self.qdd, truth.qdd, 1.0))
        return max(float(np.abs(a - b).max() / max(np.abs(b).max(), least)) for a, b, least in pairs)

    @property
    def condition(self) -> float:
        """Return the condition number of M with unit diagonal; q̈ is less certain than forces by this factor."""
        unit = np.sqrt(np.diag(self.M))
        return float(np.linalg.cond(self.M / np.outer(unit, unit)))


class PinocchioRobot:
    """Pinocchio's model of a URDF file; a floating base has the coordinates x, y, z, psi, theta, phi.

    order  place in Pinocchio's velocities of each coordinate of the description
    """

    def __init__(self, path: Path, model: System, floating: bool) -> None:
        self.description = model.mechanism
        self.model = pin.buildModelFromUrdf(str(path), *([_free()] if floating else []))
        self.data = self.model.createData()
        source = read_urdf(path)
        names = identifiers(source.links, "link_")
        joint_of = {names[joint.child]: joint for joint in source.joints}
        root = names[source.root.name]
        self.order: list[int] = []
        for c in model.mechanism.coordinates:
            name = "root_joint" if c.owner == root else joint_of[c.owner].name
            joint = self.model.joints[self.model.getJointId(name)]
            first = next(k for k, x in enumerate(model.mechanism.coordinates) if x.owner == c.owner)
            self.order.append(joint.idx_v + model.mechanism.coordinates.index(c) - first)
        self.follows = {
            self.index(names[joint.child]): (
                self.index(names[next(j for j in source.joints if j.name == joint.mimic.joint).child]),
                joint.mimic.multiplier,
                joint.mimic.offset,
            )
            for joint in source.joints
            if joint.mimic is not None
        }

    def index(self, link: str) -> int:
        """Return the index of the single coordinate of a link's joint."""
        return next(k for k, c in enumerate(self.description.coordinates) if c.owner == link)

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.order)

    @cached_property
    def free(self) -> Array:
        """∂q̇/∂q̇ of those that follow no other one: shape (n, free)."""
        own = [k for k in range(self.n) if k not in self.follows]
        G = np.zeros((self.n, len(own)))
        for column, k in enumerate(own):
            G[k, column] = 1.0
        for k in self.follows:
            follower, factor = k, 1.0
            while follower in self.follows:
                other, multiplier, _ = self.follows[follower]
                follower, factor = other, factor * multiplier
            G[k] = factor * G[follower]
        return G

    def states(self, count: int, seed: int) -> Iterator[tuple[Array, Array]]:
        """Random q and q̇ where every joint that follows another one does; Euler angles not near ±π/2."""
        rng = np.random.default_rng(seed)
        for _ in range(count):
            q, qd = rng.uniform(-1.2, 1.2, self.n), self.free @ rng.normal(size=self.free.shape[1])
            for _ in self.follows:
                for k, (other, multiplier, offset) in self.follows.items():
                    q[k] = multiplier * q[other] + offset
            yield q, qd

    def configuration(self, q: Array) -> Array:
        """Pinocchio's q; joints without limits have cosine and sine."""
        found = np.zeros(self.model.nq)
        for k, place in enumerate(self.order):
            joint = next(j for j in self.model.joints if 0 <= place - j.idx_v < j.nv)
            if joint.nq == 2 * joint.nv:
                found[joint.idx_q : joint.idx_q + 2] = np.cos(q[k]), np.sin(q[k])
            else:
                found[joint.idx_q + place - joint.idx_v] = q[k]
        return found

    def __call__(self, q: Array, qd: Array) -> Dynamics:
        """Damping and friction of the joints as described, which Pinocchio's algorithms leave out."""
        given, rates, effort = self.configuration(q), np.zeros(self.n), np.zeros(self.n)
        dissipation = dissipated(self.description, qd)
        rates[self.order], effort[self.order] = qd, -dissipation
        upper = np.triu(pin.crba(self.model, self.data, given))
        M = (upper + np.triu(upper, 1).T)[np.ix_(self.order, self.order)]
        h = pin.nonLinearEffects(self.model, self.data, given, rates)[self.order]
        if not self.follows:
            return Dynamics(M, h, pin.aba(self.model, self.data, given, rates, effort)[self.order])
        G = self.free
        return Dynamics(M, h, G @ np.linalg.solve(G.T @ M @ G, G.T @ (-dissipation - h)))


def dissipated(mechanism: Mechanism, qd: Array) -> Array:
    """Efforts of viscous dampers and Coulomb friction against the motion, shape (n,), N or N·m."""
    links = {link.name: link.joint for link in mechanism.chain.links}
    found = np.array([float(c.damping or 0.0) for c in mechanism.coordinates]) * qd
    for k, c in enumerate(mechanism.coordinates):
        friction: Any = links[c.owner].friction
        if friction is not None:
            found[k] += friction.effort * np.tanh(qd[k] / friction.v_s)
    return found


def _free() -> Any:
    joint = pin.JointModelComposite()
    for part in (pin.JointModelTranslation(), pin.JointModelRZ(), pin.JointModelRY(), pin.JointModelRX()):
        joint.addJoint(part)
    return joint


class GeneratedMatrices:
    """M and h of the generated equations, by CasADi."""

    def __init__(self, model: System) -> None:
        self.model, program = model, model.native_program
        x = ca.SX.sym("x", len(program.states))
        known = {parameter.name: ca.SX(ca.DM(parameter.value)) for parameter in program.parameters}
        known |= {"time": ca.SX(0.0)} | {state.variable: x[i] for i, state in enumerate(program.states)}
        evaluate = Evaluator(program, known, None)
        n = model.mechanism.n
        wanted = [evaluate(ir.symbol("M", (n, n))), evaluate(ir.symbol("h", (n,)))]
        self._function = ca.Function("matrices", [x], [ca.densify(entry) for entry in wanted])

    def __call__(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """M, shape (n, n), and h, (n,)."""
        M, h = self._function(state_vector(self.model, q, qd, ()))
        return np.array(M), np.array(h).ravel()
