"""Computation of all output signals at one state. A dictionary maps FMU variable names to values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.trajectory import Array
from ..bodies.machine import GROUND, Machine
from ..equations.model import Model, Situation
from ..equations.solution import Solution, Solver
from ..expressions.jets import value
from ..expressions.state import Numbers, State

_LOAD = ("fx", "fy", "fz", "nx", "ny", "nz")
_XYZ = "xyz"
_NamedValue = tuple[str, Any]


class Signals:
    """Function that computes all outputs of a description.

    Parameters
    ----------
    model, solver : Model and Solver
        Equations of motion and their solver.
    """

    def __init__(self, model: Model, solver: Solver) -> None:
        self._model, self._solver = model, solver
        outputs = model.data["outputs"]
        self._loads = model.machine.links if outputs["loads"] == "all" else outputs["loads"]
        self._accelerated = list(model.points) if outputs["points"] == "all" else outputs["points"]
        self._posed = (
            [link["name"] for link in model.data["links"]] if outputs["links"] == "all" else outputs["links"]
        )

    def __call__(self, state: State, z: Array, lag: Array) -> dict[str, float]:
        """Return all outputs at one state, by name.

        Parameters
        ----------
        state : State
            Kinematics and inputs.
        z : ndarray, shape (f,)
            Friction states, rad or m.
        lag : ndarray, shape (2k + s,)
            Filter states y − y(0) and ẏ of each of the k input filters, then states of controllers.
        """
        found = self._model.situation(state)
        solution = self._solver(found, z)
        parts = (
            self._coordinates(state, solution, z),
            self._points(state, solution),
            self._filters(state, lag),
            (pair for element in self._model.elements for pair in element.signals(state).items()),
            self._constraints(found, solution),
            self._joint_loads(found, solution),
            self._poses(state),
            self._energies(found),
            self._expressions(state, solution),
        )
        return {name: float(number) for part in parts for name, number in part}

    def _coordinates(self, state: State, solution: Solution, z: Array) -> Iterator[_NamedValue]:
        for k, coordinate in enumerate(self._model.machine.coordinates):
            yield coordinate.signal, state.motion.q[k]
            yield f"{coordinate.signal}_dot", state.motion.qd[k]
            yield f"{coordinate.signal}_ddot", solution.qdd[k]
        for i, one in enumerate(self._model.bristles):
            yield f"{self._model.machine.coordinates[one.k].signal}_z", z[i]

    def _points(self, state: State, solution: Solution) -> Iterator[_NamedValue]:
        for name, k in self._model.points.items():
            p = state.points
            levels = {"": p.position[k], "v": p.velocity[k]}
            if name in self._accelerated:
                levels["a"] = p.bias[k] + solution.qdd @ p.by_rates[:, k]
            for level, vector in levels.items():
                yield from ((f"{name}_{level}{x}", number) for x, number in zip(_XYZ, vector, strict=True))

    def _filters(self, state: State, lag: Array) -> Iterator[_NamedValue]:
        for i, one in enumerate(self._model.filters):
            yield f"{one.name}_filtered", state.followed[i, 0]
            yield f"{one.name}_offset", lag[2 * i]
            yield f"{one.name}_offset_rate", lag[2 * i + 1]

    def _constraints(self, found: Situation, solution: Solution) -> Iterator[_NamedValue]:
        model, contact_rows = self._model, self._model.contact_rows
        if not model.rows:
            return
        yield "violation_position", np.linalg.norm(found.rows.Phi)
        yield "violation_velocity", np.linalg.norm(found.rows.Phi_dot)
        drive = solution.effort - solution.contacts @ found.rows.C[contact_rows]
        for k in model.driven:
            yield f"{model.machine.coordinates[k].signal}_effort", drive[k]
        for i, edge in enumerate(model.edges):
            yield f"{edge.names[0]}_force", solution.contacts[i]

    def _joint_loads(self, found: Situation, solution: Solution) -> Iterator[_NamedValue]:
        for link in self._loads:
            load = self._solver.joint_load(found, solution, link)
            yield from ((f"{link}_load_{name}", number) for name, number in zip(_LOAD, load, strict=True))
            own = [c for c in self._model.machine.coordinates if c.link == link and c.role == "joint"]
            if len(own) == 1:
                axis = own[0].freedom.axis
                axial = load[:3] @ axis
                yield f"{link}_load_axial", axial
                yield f"{link}_load_normal", np.linalg.norm(load[:3] - axial * axis)

    def _poses(self, state: State) -> Iterator[_NamedValue]:
        machine, motion = self._model.machine, state.motion
        for link in self._posed:
            b = machine.first_body(link)
            x, y, z, w = turned(machine, motion.q, b).as_quat()
            values = {"origin": motion.r[b], "omega": motion.omega[b]}
            yield from ((f"{link}_{key}_{x}", v[i]) for key, v in values.items() for i, x in enumerate(_XYZ))
            yield from ((f"{link}_quaternion_{n}", c) for n, c in zip("wxyz", (w, x, y, z), strict=True))

    def _energies(self, found: Situation) -> Iterator[_NamedValue]:
        if self._model.data["outputs"]["energy"]:
            qd = found.state.motion.qd
            kinetic = 0.5 * qd @ found.M @ qd
            yield "kinetic_energy", kinetic
            yield "potential_energy", found.load.energy
            yield "total_energy", kinetic + found.load.energy

    def _expressions(self, state: State, solution: Solution) -> Iterator[_NamedValue]:
        scope = Numbers(state, self._model.setting.names, solution.qdd)
        yield from ((name, value(expression(scope))) for name, expression in self._model.outputs.items())


def turned(machine: Machine, q: Array, b: int) -> Rotation:
    """Return the orientation of body b at coordinates q, shape (n,), as a unit quaternion.

    The quaternion, including its sign, depends continuously on the coordinates.
    """
    if b == GROUND:
        return Rotation.identity()
    body = machine.bodies[b]
    found = turned(machine, q, body.parent) * body.rotation
    for k in body.coordinates:
        freedom = machine.coordinates[k].freedom
        if freedom.turns:
            half = 0.5 * q[k]
            found = found * Rotation.from_quat([*(np.sin(half) * freedom.axis), np.cos(half)])
    return found
