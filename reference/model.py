"""The mechanism ready for evaluation: M q̈ + h = Q and its constraints (design 4.1, 4.3, 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..generator.mechanism import Body, Mechanism
from .constraints import Constraints, Rows
from .expression import stops
from .gpme import Partition, choose_dependent, dependent_indices
from .kinematics import Kinematics, Places, Posture
from .loads import Input, LoadModel, Loads, load_places
from .quantities import Quantities, Reader, State

Array = NDArray[np.float64]
Start = tuple[Array, Array]


@dataclass(frozen=True)
class Evaluation:
    """Everything at one state. n coordinates in the order of `mechanism.coordinates`, m constraint rows.

    M          shape (n, n), kg, kg·m or kg·m²
    h          shape (n,), N or N·m: M q̈ + h = Q + effort
    Q          shape (n,), N or N·m: gravity, springs, dampers, supports, applied forces
    Phi        shape (m,), see `constraints.Rows` for these four
    Phi_dot    shape (m,)
    C          shape (m, n)
    gamma      shape (m,)
    qdd        shape (n,), rad/s² or m/s²
    effort     shape (n,), N or N·m: M q̈ + h − Q, what the constraints exert on each coordinate
    rows       m names
    dependent  m names of the dependent coordinates
    """

    M: Array
    h: Array
    Q: Array
    Phi: Array
    Phi_dot: Array
    C: Array
    gamma: Array
    qdd: Array
    effort: Array
    rows: tuple[str, ...]
    dependent: tuple[str, ...]


class Model:
    """A mechanism compiled for many evaluations; holds no state.

    start   (q0, qd0), each of shape (n,): what `start(x)` refers to; None: the state being evaluated
    inputs  FMU inputs by symbol: numbers, or functions of time in s; those without one are zero
    """

    def __init__(
        self, mechanism: Mechanism, *, start: Start | None = None, inputs: Mapping[str, Input] | None = None
    ) -> None:
        self.mechanism = mechanism
        self._kinematics = Kinematics(mechanism)
        places = [*mechanism.points.values(), *load_places(mechanism)]
        self._places = Places(places, self._kinematics.slots)
        self.quantities = Quantities(mechanism)
        self._inertia = np.array([np.zeros((4, 4)), *map(pseudo_inertia, mechanism.bodies)])
        self.reader = Reader(mechanism, self.quantities, None if start is None else self.state(0.0, *start))
        self._loads = LoadModel(mechanism, self.reader, len(mechanism.points), inputs)
        self.constraints = Constraints(mechanism, self.quantities, self.reader)
        self._baumgarte = float(mechanism.alpha), float(mechanism.beta)

    def state(self, t: float, q: Array, qd: Array, since: float | None = None) -> State:
        """Kinematics at t, s; q and qd of shape (n,).

        since  s, when the present time segment began: conditionals on time that switch later have not
               switched yet, even if t lies beyond; default t
        """
        posture = self._kinematics(q, qd)
        places = self._places.motion(posture)
        return self.quantities.state((t, t if since is None else since), q, qd, posture, places)

    def mass(self, posture: Posture) -> tuple[Array, Array]:
        """M, shape (n, n), and h, shape (n,): M_ij = Σ tr(T_i H T_jᵀ), h_i = Σ tr(T_i H (Σ_mn T_mn q̇_m q̇_n)ᵀ)."""
        n = self.mechanism.n
        TH = (posture.T.transpose(1, 0, 2) @ self._inertia).transpose(1, 0, 2)
        T_q_H = posture.derivative(TH).reshape(n, -1)
        return T_q_H @ posture.T_q.reshape(n, -1).T, T_q_H @ posture.T_bias.ravel()

    def loads(self, state: State) -> Loads:
        """Generalised forces in the state."""
        return self._loads(state)

    def partition(self, state: State, dependent: Sequence[str] | None = None) -> Partition:
        """Dependent coordinates by name or, for "auto", from C in the state; default: the description's choice."""
        choice = dependent or self.mechanism.chain.constraints.dependent
        rows = self.constraints.names
        if choice == "auto":
            chosen = choose_dependent(self.mechanism, self.constraints(state).C)
        else:
            chosen = dependent_indices(self.mechanism, choice, len(rows))
        return Partition(self.mechanism, chosen, rows)

    def accelerations(self, state: State, partition: Partition) -> Array:
        """q̈, shape (n,); raises SolveError where C_d is singular."""
        return self._solve(state, partition)[-1]

    def evaluate(self, state: State, partition: Partition) -> Evaluation:
        """Everything in the state; raises SolveError where C_d is singular."""
        M, h, Q, rows, qdd = self._solve(state, partition)
        return Evaluation(
            M=M,
            h=h,
            Q=Q,
            Phi=rows.Phi,
            Phi_dot=rows.Phi_dot,
            C=rows.C,
            gamma=rows.gamma,
            qdd=qdd,
            effort=M @ qdd + h - Q,
            rows=self.constraints.names,
            dependent=partition.names,
        )

    def _solve(self, state: State, partition: Partition) -> tuple[Array, Array, Array, Rows, Array]:
        M, h = self.mass(state.posture)
        Q, rows = self._loads(state).total, self.constraints(state)
        return M, h, Q, rows, partition.accelerations(state.t, M, Q - h, rows, self._baumgarte)

    def stops(self, end: float) -> list[float]:
        """Times in (0, end), s, increasing, where an integrator has to stop and start anew."""
        times = [*self.constraints.stops()]
        for reading in self._loads.readings:
            times += stops(reading.node)
        separate: list[float] = []
        for time in sorted(t for t in times if 0.0 < t < end):
            # Of times that differ by rounding the last one counts, by which all have happened.
            if separate and time - separate[-1] < 1e-12 * end:
                separate.pop()
            separate.append(time)
        return separate


def pseudo_inertia(body: Body) -> Array:
    """H, shape (4, 4), about the origin of the body's frame, in its axes (P0 (10)); kg, kg·m, kg·m²."""
    com, inertia = np.asarray(body.com, dtype=float), np.asarray(body.inertia, dtype=float)
    H = np.empty((4, 4))
    H[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia + body.mass * np.outer(com, com)
    H[:3, 3] = H[3, :3] = body.mass * com
    H[3, 3] = body.mass
    return H
