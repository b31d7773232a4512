"""Linear models in tests: small machines with closed forms, and differences on the constraint manifold."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers_backends import Array, Compiled
from helpers_parts import X, Y, beam, body, link, machine
from helpers_reference import BEAM

from gpmelica.analysis import ReferenceModel
from gpmelica.analysis.system import System
from gpmelica.linear import OperatingPoint, StateSpace
from gpmelica.runs.fmpy_runs.instance import Instance
from gpmelica.runs.fmpy_runs.states import State, signals

GRAVITY = 9.81
SUPPORT = {"stiffness": [1e5, 1.5e5, 1e7], "damping": [1e3, 2e3, 1e5]}
MASS, INERTIA, CORNER = 5000.0, (3000.0, 3500.0, 5000.0), (1.5, 1.0)
SLIDE = {"mass": 3.0, "stiffness": 1200.0}
LUGRE = {"model": "lugre", "sigma0": 1e4, "sigma1": 2.0, "sigma2": 0.4, "mu_s": 0.2, "mu_k": 0.1, "v_s": 0.1}


def elastic() -> dict[str, Any]:
    """A base on four springs and dampers, and a cantilever on the ground, without gravity."""
    corners = [[x, y, 0.0] for x in (-CORNER[0], CORNER[0]) for y in (-CORNER[1], CORNER[1])]
    base = body(MASS, inertia=INERTIA) | {"supports": [SUPPORT | {"position": corner} for corner in corners]}
    cantilever = beam("beam", BEAM | {"elements": 4}, "fixed")
    return machine(cantilever, name="Elastic", gravity=[0.0, 0.0, 0.0], base=base)


def hanging() -> dict[str, Any]:
    """In equilibrium: a double pendulum with a motor, a mass on a spring with a bristle, and one that is free."""
    friction = LUGRE | {"normal_force": 50.0}
    return machine(
        _rod("upper", "ground", 0.0, 1.0),
        _rod("lower", "upper", 1.0, 0.2),
        _slide("slide", X, stiffness=SLIDE["stiffness"], friction=friction),
        _slide("free", Y),
        name="Hanging",
        forces=[{"name": "motor", "joint": "upper", "input": True}],
        points={"E": {"link": "lower", "position": X}},
        statics={"locked": []},
        simulation={"stop": 2.0},
    )


def _rod(name: str, parent: str, x: float, angle: float) -> dict[str, Any]:
    rod = link(name, "revolute", Y, parent, xyz=[x, 0.0, 0.0], position=angle)
    return rod | body(1.0, [0.5, 0.0, 0.0], [0.001, 1 / 12, 1 / 12])


def _slide(name: str, axis: list[float], **joint: Any) -> dict[str, Any]:
    return link(name, "prismatic", axis, **joint) | body(SLIDE["mass"], inertia=[0.1, 0.1, 0.1])


def point(model: System, t: float = 0.0, state: State | None = None, **inputs: float) -> OperatingPoint:
    """At a state, default the start, and a time, s; inputs that are not given are zero."""
    bristles = [c for c in model.mechanism.coordinates if c.friction is not None]
    at = state or State(t, *model.start, np.zeros(len(bristles)))
    known = {entry.name: 0.0 for entry in model.native_program.inputs}
    return OperatingPoint(t, signals(model, at), known | inputs)


class Nearby:
    """A machine near states of its constraint manifold: what the reference's rows leave to independent signals.

    Newton's method brings the others back; ẋ and outputs there are the FMU's.
    """

    def __init__(self, compiled: Compiled, t: float) -> None:
        self.model, self._t = compiled.model, t
        self._reference, self._fmu = (
            ReferenceModel(self.model.mechanism, start=self.model.start),
            Instance(compiled.fmu),
        )
        kept = [self.model.rows.index(name) for name in self.model.solvability.independent]
        orders = np.array(self._reference.constraints.orders, dtype=int)
        self._rows = [[k for k in kept if orders[k] <= level] for level in (0, 1)]

    def __enter__(self) -> Nearby:
        return self

    def __exit__(self, *reason: object) -> None:
        self._fmu.__exit__(None, None, None)

    def completed(self, at: OperatingPoint, independent: tuple[str, ...]) -> OperatingPoint:
        """The point with the other coordinates and rates as the rows want them."""
        names, n = list(at.signals), self.model.mechanism.n
        w = np.array(list(at.signals.values()))
        others = [k for k, name in enumerate(names[: 2 * n]) if name not in independent]
        places, rates = [k for k in others if k < n], [k for k in others if k >= n]
        for _ in range(12):
            rows = self._reference.constraints(self._reference.state(self._t, w[:n], w[n : 2 * n]))
            if places:
                w[places] -= np.linalg.solve(rows.C[np.ix_(self._rows[0], places)], rows.Phi[self._rows[0]])
            if rates:
                C = rows.C[np.ix_(self._rows[1], [k - n for k in rates])]
                w[rates] -= np.linalg.solve(C, rows.Phi_dot[self._rows[1]])
        return OperatingPoint(self._t, dict(zip(names, w.tolist(), strict=True)), at.inputs)

    def moved(self, at: OperatingPoint, space: StateSpace, z: Array) -> OperatingPoint:
        """Completed, with the states and inputs of a linear model at z, shape (k + m,)."""
        k = len(space.states)
        states = dict(zip(space.states, z[:k].tolist(), strict=True))
        inputs = dict(zip(space.inputs, z[k:].tolist(), strict=True))
        return self.completed(OperatingPoint(self._t, {**at.signals, **states}, inputs), space.states)

    def rates(self, at: OperatingPoint, space: StateSpace) -> Array:
        """ẋ and y of a linear model, shape (k + p,), by the FMU."""
        x = np.array([at.signals[state.name] for state in self.model.native_program.states])
        self._fmu.move(self._t, x, at.inputs)
        return self._fmu.read([*map(self._rate, space.states), *space.outputs])

    def _rate(self, state: str) -> str:
        own = {s.name: s for s in self.model.native_program.states}.get(state)
        if own is not None and own.signal.quantity == "bristle":
            return f"der({own.variable})"
        return f"{state.removesuffix('_dot')}_ddot" if state.endswith("_dot") else f"{state}_dot"
