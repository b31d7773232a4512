"""Equations of motion of a description at one state: inertia, forces and constraints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...core.trajectory import TIME_MARGIN, Array, coincide
from ..bodies.frames import rotation
from ..bodies.machine import Machine
from ..bodies.motion import Kinematics, Points
from ..constraints.closures import CutJoint
from ..constraints.paths import PathOrientations, PathPositions, path_groups
from ..constraints.rows import Equation, Group
from ..constraints.tasks import DrivenJoint, HeldBase, KnifeEdge, ProgrammedExpression
from ..elements import elements, measured
from ..expressions.jets import value
from ..expressions.language import Expression, Language
from ..expressions.setting import Setting
from ..expressions.sides import Sides
from ..expressions.state import Names, Numbers, State, add_coordinates, add_cosines, add_point
from ..expressions.tables import Lookup
from ..forces.applied import AppliedForce
from ..forces.contacts import Contact
from ..forces.element import Element
from ..forces.filters import filters
from ..forces.friction import bristles
from ..forces.lines import Line
from ..forces.load import Load
from ..forces.replacement_joints import ReplacementJoint
from ..forces.springs import CoordinateSprings
from ..forces.stops import stops
from ..forces.supports import supports
from .claims import Claims
from .dynamics import Inertial, Inertias


@dataclass(frozen=True)
class Stack:
    """All m constraint equations at one state.

    Parameters
    ----------
    Phi, Phi_dot : ndarray, shape (m,)
        Residuals at position and velocity level.
    C, gamma : ndarray, shapes (m, n) and (m,)
        Jacobian and right-hand side of C q̈ = γ.
    equations : sequence of Equation
        Constraint equations with the wrenches of their multipliers.
    """

    Phi: Array
    Phi_dot: Array
    C: Array
    gamma: Array
    equations: Sequence[Equation]


@dataclass(frozen=True)
class Situation:
    """Equations of motion M q̈ + h = Q + Cᵀλ at one state.

    Q does not contain the efforts of joint friction models that have a bristle deflection as state.

    Parameters
    ----------
    state : State
        Kinematics and other quantities at the state.
    inertial : Inertial
        Inertia quantities of the bodies.
    M, h, Q : ndarray, shapes (n, n), (n,) and (n,)
        Mass matrix, velocity-dependent inertia forces and generalised applied forces.
    load : Load
        Forces on bodies and coordinates, weight included.
    rows : Stack
        Constraint equations.
    """

    state: State
    inertial: Inertial
    M: Array
    h: Array
    Q: Array
    load: Load
    rows: Stack


class Model:
    """Equations of a mechanism, built from its description and an initial state.

    Parameters
    ----------
    data : mapping
        Description as nested dictionaries, with parameters replaced by numbers.
    claims : Claims
        Initial state and choices of the model generator.
    nesting : int
        Maximum number of calls of the function start that depend on each other, for example 2 for start(x)
        if the expression of the signal x contains start(y). A second model, whose `nesting` is smaller by
        one, computes start(x). A model with `nesting` 0 is evaluated at the initial state only, so that
        start(x) = x.
    """

    def __init__(self, data: Mapping[str, Any], claims: Claims, *, nesting: int = 2) -> None:
        self.data, self.claims = data, claims
        self.machine = machine = Machine(data)
        self.q0 = np.array([claims.start[c.signal] for c in machine.coordinates], dtype=float)
        self.qd0 = np.array([claims.start[f"{c.signal}_dot"] for c in machine.coordinates], dtype=float)
        self.filters = filters(machine, self.q0)
        self.bristles = bristles(machine)
        lookups = {name: Lookup(table) for name, table in data["tables"].items()}
        at_start = Model(data, claims, nesting=nesting - 1).value_at_start if nesting else None
        self.language = Language(data["parameters"], lookups, _renamed(data), at_start)
        where = {filter_.name: i for i, filter_ in enumerate(self.filters)}
        self.setting = setting = Setting(machine, self.language, Names(), filters=where)
        self.points = {name: setting.point(p["link"], p["position"]) for name, p in data["points"].items()}
        self._name_quantities()
        self.elements = _elements(setting)
        self._driven = {name: partial(setting.names.force, quantity) for name, quantity in setting.driven.items()}
        self.lag0 = np.array([*np.zeros(2 * len(self.filters)), *(each.begin for each in setting.memory)])
        self.programmed = _programmed(setting, self.points)
        self.edges = [KnifeEdge(table, setting) for table in data["nonholonomic"]]
        closures = [table for table in data["closures"] if table["model"] == "constraint"]
        self.cuts = [CutJoint(table, setting) for table in closures]
        self.groups: list[Group] = [*self.programmed, *self.edges, *self.cuts]
        self.groups += [HeldBase(setting)] if machine.base_held else []
        self.rows = tuple(name for group in self.groups for name in group.names)
        self.orders = np.array([group.order for group in self.groups for _ in group.names], dtype=int)
        first = sum(len(group.names) for group in self.programmed)
        count = len(self.edges) + sum(len(cut.names) for cut in self.cuts)
        self.contact_rows = slice(first, first + count)
        self._compile_outputs()
        self._kinematics, self._points = Kinematics(machine), Points(setting.places)
        self.inertias = Inertias(machine)
        self._initial = self.state(0.0, self.q0, self.qd0)
        # Sampled controllers take their first sample at t = 0, which determines their initial values.
        self._initial.memory = self._initial.memory.copy()
        self._initial.pending = [sample for _, sample in setting.samplers]

    def state(
        self,
        t: float,
        q: Array,
        qd: Array,
        lag: Array | None = None,
        inputs: Mapping[str, float] | None = None,
        sides: Sides | None = None,
    ) -> State:
        """Return the kinematics, inputs and filter outputs at one instant.

        Parameters
        ----------
        t : float
            Time, s.
        q, qd : ndarray, shape (n,)
            Coordinates, rad or m, and their rates, rad/s or m/s.
        lag : ndarray, shape (2k + s,), or None
            Filter states y − y(0) and ẏ of each of the k input filters, then s states of controllers; None
            for the initial values.
        inputs : mapping or None
            Input values by name; a missing input keeps its initial value.
        sides : Sides or None
            Frozen switching conditions. With None, each condition is evaluated; conditions on time are
            evaluated just after t.
        """
        motion, given = self._kinematics(q, qd), inputs or {}
        own, k = self.lag0 if lag is None else lag, len(self.filters)
        followed = np.zeros((k, 3))
        followed[:, :2] = own[: 2 * k].reshape(k, 2)
        followed[:, 0] += [f.begin for f in self.filters]
        after = Sides(just_after(t)) if sides is None else sides
        found = State(t, motion, self._points(motion), after, followed, given, own[2 * k :], self._driven)
        for i, f in enumerate(self.filters):
            followed[i, 2] = f.second(followed[i, 0], followed[i, 1], found.input(f.name, f.begin))
        return found

    def lag_rates(self, state: State) -> Array:
        """Return the time derivatives of the filter and controller states, shape (2k + s,).

        Each of the k input filters has two states; the controllers have s states.
        """
        return np.array([*state.followed[:, 1:].ravel(), *(each.rate(state) for each in self.setting.memory)])

    def sampled(self, state: State) -> Array:
        """Return the states of controllers, shape (s,), after all samples that are due at the time of `state`."""
        state.memory = state.memory.copy()
        state.pending = [
            sample
            for period, sample in self.setting.samplers
            if coincide(round(state.t / period) * period, state.t)
        ]
        while state.pending:
            state.take(state.pending[0])
        return state.memory

    def situation(self, state: State) -> Situation:
        """Return the equations of motion at one state."""
        inertial = self.inertias(state.motion)
        load = Load(len(self.machine.bodies), self.machine.n)
        self.inertias.add_weight(inertial, load)
        for element in self.elements:
            element.act(state, load)
        load.settle(state.points)
        M = inertial.mass_matrix() + self.inertias.armature
        Q = load.generalised(state.motion)
        return Situation(state, inertial, M, inertial.projected(), Q, load, self.stack(state))

    def conditions(self, state: State) -> Sides:
        """Evaluate and return all switching conditions at one state, without the equations of motion."""
        load = Load(len(self.machine.bodies), self.machine.n)
        for element in self.elements:
            element.act(state, load)
        for group in self.programmed:
            group.equations(state)
        return state.sides

    def stack(self, state: State) -> Stack:
        """Return all constraint equations at one state."""
        found = [equation for group in self.groups for equation in group.equations(state)]
        return Stack(
            np.array([e.value for e in found]),
            np.array([e.rate for e in found]),
            np.array([e.C for e in found]).reshape(len(found), self.machine.n),
            np.array([e.gamma for e in found]),
            found,
        )

    @property
    def driven(self) -> list[int]:
        """Indices of the coordinates that have an output for the drive effort or the base reaction."""
        actuated = self.data["constraints"]["actuated"]
        if self.programmed and actuated != "all":
            return sorted({self.machine.coordinate(name) for name in actuated})
        found = {self.machine.coordinate(table["joint"]) for table in self.data["motions"]}
        for k, coordinate in enumerate(self.machine.coordinates):
            # A programmed constraint requires drives in all joints, a prescribed motion only in its own joint.
            has_drive = coordinate.role == "joint" and bool(self.data["programmed"])
            if has_drive or (coordinate.role == "base" and self.machine.base_held):
                found.add(k)
        return sorted(found)

    def _name_quantities(self) -> None:
        add_coordinates(self.setting.names, [c.name for c in self.machine.coordinates])
        for name, k in self.points.items():
            add_point(self.setting.names, name, k)
            rpy = self.data["points"][name]["rpy"]
            if rpy is not None:
                body = self.setting.places[k].body
                add_cosines(self.setting.names, name, body, rotation(rpy).as_matrix())

    def _compile_outputs(self) -> None:
        self.outputs: dict[str, Expression] = {
            name: self.language.compile(f"noevent({table['expression']})", f"output {name}")
            for name, table in self.data["outputs"]["expressions"].items()
        }

    def value_at_start(self, expression: Expression) -> float:
        """Return the value of an expression at t = 0; conditions on time are evaluated just after t = 0."""
        return value(expression(Numbers(self._initial, self.setting.names)))

    def initial(self, name: str) -> float:
        """Return the value of a variable of expressions at t = 0.

        The accelerations of the coordinates are taken as zero.
        """
        return value(Numbers(self._initial, self.setting.names, np.zeros(self.machine.n)).number(name))


def just_after(t: float) -> float:
    """Return a time just after t, s, which is later than all time events at t."""
    return math.nextafter(t + TIME_MARGIN * max(1.0, abs(t)), math.inf)


def _elements(setting: Setting) -> list[Element]:
    data = setting.data
    joints = [table for table in data["closures"] if table["model"] == "spring_damper"]
    return [
        supports(setting),
        CoordinateSprings(setting),
        *stops(setting),
        *(ReplacementJoint(table, setting) for table in joints),
        *(Line(table, setting) for table in data["lines"]),
        *(Contact(table, setting) for table in data["contacts"]),
        *(AppliedForce(table, setting) for table in data["forces"]),
        *elements(setting),
    ]


_Programmed = ProgrammedExpression | PathPositions | PathOrientations | DrivenJoint


def _programmed(setting: Setting, points: Mapping[str, int]) -> list[_Programmed]:
    found: list[_Programmed] = []
    for table in setting.data["programmed"]:
        if table["path"] is not None:
            found += path_groups(table["name"], table["path"], setting, points)
            continue
        expression = setting.compile(table["expression"], table["name"])
        found.append(ProgrammedExpression(table["name"], table["order"], expression, setting))
    return [*found, *(DrivenJoint(table, setting) for table in setting.data["motions"])]


def _renamed(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the internal names of the quantities that the force elements measure, such as `lift.length`.

    The keys of the dictionary are the names in expressions, such as `lift_length`.
    """
    base = data["base"] or {"supports": []}
    one_sided = [
        table["name"] or f"support{i}" for i, table in enumerate(base["supports"], start=1) if table["one_sided"]
    ]
    owners = {
        ("length", "rate", "force"): [table["name"] for table in data["lines"]],
        ("gap", "force"): [*(table["name"] for table in data["contacts"]), *one_sided],
    }
    return measured(data) | {
        f"{name}_{quantity}": f"{name}.{quantity}"
        for quantities, names in owners.items()
        for name in names
        for quantity in quantities
    }
