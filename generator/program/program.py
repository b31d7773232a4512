"""Equations of a model in order of evaluation: parameters, states, inputs, definitions, linear systems, outputs.

The program does not depend on a target language; generators for Modelica and C traverse it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...description.types.bounds import ANY, Bounds
from ...description.types.following import StartDependence
from ...description.types.origin import Origin, Signal
from ...language import ir
from ...language.ir import Expr, Index, Shape
from ...language.piecewise import Piecewise
from .gathered import Gatherings
from .items import PLAIN, ConstrainedSolve, Definition, Item, LinearSolve, Traits, given, used
from .tree import Composites, Transmitted, Tree

GENERAL = Origin("general")
START_VALUES = Origin("start values of the states")
STATE = "_state"  # Names of state variables end with this suffix.
HELD = "_held"  # Names of variables that change only at sample times end with this suffix.


@dataclass(frozen=True)
class ModelParameter:
    """Number or vector that the FMU's user can change before a run.

    Attributes
    ----------
    value
        Default value as an array of the parameter's shape. Matrices are not admitted, because backends
        store them in different orders.
    bounds
        Admissible range of each element.
    """

    name: str
    value: NDArray[np.float64]
    unit: str | None
    description: str
    origin: Origin = GENERAL
    bounds: Bounds = ANY

    def __post_init__(self) -> None:
        if self.value.ndim > 1:
            raise ValueError(f"parameter {self.name} has the shape {self.shape}; expected a number or a vector")

    @property
    def shape(self) -> Shape:
        return self.value.shape


@dataclass(frozen=True)
class Input:
    """Input of the FMU; its value is `start` until the importer sets another value."""

    name: str
    unit: str
    description: str
    start: float = 0.0


@dataclass(frozen=True)
class StateVariable:
    """State variable with its initial value, time derivative and nominal magnitude.

    The output `name` is equal to the state variable.
    """

    signal: Signal
    unit: str
    description: str
    start: Expr
    derivative: Expr
    nominal: float

    @property
    def name(self) -> str:
        """Return the name of the output that is equal to this state variable."""
        return self.signal.name

    @property
    def variable(self) -> str:
        """Return the name of the state variable, which differs from the name of its output.

        OpenModelica would rename a state variable that is also an output.
        """
        return f"{self.name}{STATE}"

    @property
    def variable_description(self) -> str:
        """Return the description of the state variable, which differs from the description of its output."""
        return f"state variable: {self.description}"


@dataclass(frozen=True)
class StartValue:
    """Initial value of an expression that is an argument of the function `start` in the description.

    Attributes
    ----------
    expr
        Expression over symbols of the program.
    tree
        Expression over names of the description.
    """

    name: str
    description: str
    expr: Expr
    tree: Expr


@dataclass(frozen=True)
class SwitchingCondition:
    """Condition that is true while its event indicator is positive, and that changes at state events only.

    A trial step of a solver can end after the event, while the condition still has its old value.
    Both branches of a
    conditional expression must therefore be smooth on both sides of the event.
    """

    name: str
    indicator: Expr
    description: str


@dataclass(frozen=True)
class Assertion:
    """Assertion `value < bound`, with a message that is shown if the assertion is violated.

    The time of the violation is appended to the message. If the assertion concerns the initial state
    only, the value is appended instead.
    """

    value: Expr
    bound: float
    message: str


@dataclass(frozen=True)
class LineLength:
    """Length of a two-point force element, m, and its rate, m/s.

    At zero length the direction of the force is undefined.
    """

    line: str
    value: Expr
    rate: Expr


@dataclass(frozen=True)
class Requirement:
    """Bounds on a value that is calculated from parameters, with a message about the value."""

    value: Expr
    bounds: Bounds
    message: str


@dataclass(frozen=True)
class TimeEvent:
    """Event at a time that depends on parameters only.

    Attributes
    ----------
    name
        Name of the switch variable: 0 before the event time and 1 from then on.
    time
        Event time, s, as an expression of parameters.
    rate
        Time derivative of the difference between left and right side of the condition that switches at
        the event. None if the event switches no condition. In this case, the third time derivative of
        an expression jumps at the event.
    """

    name: str
    time: Expr
    rate: Expr | None


@dataclass(frozen=True)
class HeldVariable:
    """Variable that changes only at sample times. The output `name` is equal to it.

    Attributes
    ----------
    start
        Value of the variable before the first sample.
    next
        Expression for the value after a sample. In this expression, `pre(name)` is the value of a
        variable before the sample. A name without `pre` is the value after the sample, if the variable
        is sampled at the same time.
    """

    signal: Signal
    unit: str
    description: str
    start: Expr
    next: Expr

    @property
    def name(self) -> str:
        """Return the name of the output that has the value of this variable."""
        return self.signal.name

    @property
    def variable(self) -> str:
        """Return the name of the sampled variable, which differs from the name of its output.

        Modelica compilers distinguish the variable, which changes at sample times, from the output.
        """
        return f"{self.name}{HELD}"


@dataclass(frozen=True)
class Sampling:
    """Variables of a sampled element, which change at t = 0 and at all multiples of the sample time.

    Attributes
    ----------
    origin
        Entry of the description that defines the sampled element.
    period
        Sample time, s, as an expression of parameters.
    held
        Variables of the element in the order in which they are computed at a sample.
    """

    origin: Origin
    period: Expr
    held: tuple[HeldVariable, ...]

    @property
    def values(self) -> list[Expr]:
        """Expressions of all variables after a sample time, in terms of the values before this time."""
        known: dict[str, Expr] = {}
        for variable in self.held:
            known[variable.variable] = _before_sample(variable.next, known)
        return list(known.values())


def _before_sample(tree: Expr, known: Mapping[str, Expr]) -> Expr:
    if tree.op == "symbol":
        return known.get(tree.data, tree)
    if tree.function == "pre":
        return tree.args[0]
    return ir.rebuilt(tree, [_before_sample(argument, known) for argument in tree.args]) if tree.args else tree


@dataclass(frozen=True)
class Lookup:
    """Lookup in a table whose argument is linear in time; a variable contains the current polynomial piece.

    Attributes
    ----------
    name
        Name of the variable that contains the current polynomial piece, shape (5,).
    function
        Name of the function that returns the piece. All lookups of the same table share this function.
    begin
        Argument of the table at t = 0, as an expression of parameters.
    rate
        Time derivative of the argument, as an expression of parameters.
    """

    name: str
    function: str
    table: Piecewise
    begin: Expr
    rate: Expr
    description: str

    @property
    def argument(self) -> Expr:
        """Return the argument of the lookup table as an expression of time."""
        return self.begin + self.rate * ir.symbol("time")


@dataclass(frozen=True)
class Output:
    """Output variable of the model, with the expression that defines its value.

    The unit is None if the description does not specify one. The nominal magnitude is None if the model
    does not declare one.
    """

    signal: Signal
    unit: str | None
    description: str
    expr: Expr
    nominal: float | None = None

    @property
    def name(self) -> str:
        return self.signal.name


@dataclass(frozen=True)
class Projection:
    """Projection of the state onto the constraints, by equations that are not part of the model.

    Attributes
    ----------
    violation
        Norm of the constraint violation that the projection removes.
    solve
        Linear system whose solution contains the correction of the state.
    change
        Correction of each state variable, in the order of the program's list of state variables.
    """

    violation: Expr
    solve: LinearSolve
    change: tuple[Expr, ...]


@dataclass(frozen=True)
class Turn:
    """Relative rotation of the two frames of a loop closure that locks all three rotations.

    Attributes
    ----------
    rows
        Indices of the three constraint equations that lock the rotations about the x, y and z axes of
        frame a. Each equation sets a direction cosine to zero. The solver for the initial state
        replaces these equations by the condition that the frames coincide in orientation.
    R
        Rotation matrix, shape (3, 3). Its columns are the axes of frame b in the axes of frame a.
    rates
        Angular velocity of frame b relative to frame a, in axes of frame a, shape (3, n). Column k is
        its value for a unit rate of coordinate k.
    """

    rows: tuple[int, ...]
    R: Expr
    rates: Expr


@dataclass(frozen=True, kw_only=True)
class Start(StartDependence):
    """Conditions on the initial state under modified parameters: closed loops and balanced forces.

    Attributes
    ----------
    coordinates
        Names of all n coordinates, from which the names of states are formed.
    is_angle
        Whether each coordinate is an angle.
    defaults
        Default q and q̇ of the initial state, n numbers each.
    rows
        Names of all constraint equations.
    forces
        Generalised forces on all n coordinates at zero velocity, N or N·m.
    C, Phi, Phi_dot
        Jacobian, values and rates of all constraint equations; None without constraints.
    turns
        Relative rotations of closures that lock all rotations.
    places
        Points of the mechanism, shape (3,) each, m; their largest distance is the extent.
    """

    coordinates: tuple[str, ...]
    is_angle: tuple[bool, ...]
    defaults: tuple[tuple[float, ...], tuple[float, ...]]
    rows: tuple[str, ...]
    forces: tuple[Expr, ...]
    C: Expr | None
    Phi: Expr | None
    Phi_dot: Expr | None
    turns: tuple[Turn, ...]
    places: tuple[Expr, ...]


@dataclass
class EquationSystem:
    """Equations of one model in order of evaluation.

    Attributes
    ----------
    formulation
        Phrase that states the kind of the equations of motion and the number of state variables.
    rows
        Names of all constraint equations, in order.
    residuals
        Values of all constraint equations under the key `position`, and their time derivatives under
        the key `velocity`. The mapping is empty if there are no constraints.
    requirements
        Bounds on values that are calculated from parameters. They are checked before a run.
    start_checks
        Assertions on the initial state. All importers and simulation tools evaluate them.
    checks
        Assertions on the initial state and on the state after each completed step. All importers and
        simulation tools evaluate them.
    assertions
        Assertions against singular matrices, for tools that do not report singular matrices themselves.
    lengths
        Lengths of two-point force elements, none of which may become zero.
    meeting
        Smallest admissible length of a two-point force element, m. A shorter element ends the run like
        an element of zero length.
    events
        Time events. The position of an event in this list is the index of its switch variable.
    lookups
        Lookups of tables whose arguments are linear in time.
    samplings
        Variables of each sampled element. A sampled element comes after the elements whose
        variables it uses.
    timed
        Expressions of the description that depend on time.
    initial
        Values at t = 0 of quantities to which expressions refer by name, if these values are known.
    relations
        Switching conditions of state events. In the list of all switches, the switches of state events
        come after the switches of time events.
    start
        Equations that determine the initial state if parameters are changed. None if the initial state
        is fixed.
    projections
        Projection of positions under the key `position`, and of velocities under the key `velocity`.
        The mapping is empty if projection is switched off.
    accepted
        Largest admissible norm of the initial constraint violation. The initial state is projected if
        the norm does not exceed this limit.
    info
        Further information for the headers of generated files, such as the coordinate partition.
    gatherings
        Index sets of Modelica arrays, and those arrays whose elements are separate definitions of the
        program.
    listed
        Names of outputs that are elements of arrays with mixed units.
    composites
        Masses, first moments and inertia wrenches of subtrees, from which the mass matrix is formed.
    """

    name: str
    description: str
    formulation: str = ""
    rows: tuple[str, ...] = ()
    residuals: dict[str, Expr] = field(default_factory=dict)
    parameters: list[ModelParameter] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    states: list[StateVariable] = field(default_factory=list)
    start_values: list[StartValue] = field(default_factory=list)
    events: list[TimeEvent] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    samplings: list[Sampling] = field(default_factory=list)
    timed: list[Expr] = field(default_factory=list)
    initial: dict[str, float] = field(default_factory=dict)
    relations: list[SwitchingCondition] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    start: Start | None = None
    projections: dict[str, Projection] = field(default_factory=dict)
    accepted: float = 0.0
    requirements: list[Requirement] = field(default_factory=list)
    start_checks: list[Assertion] = field(default_factory=list)
    checks: list[Assertion] = field(default_factory=list)
    assertions: list[Assertion] = field(default_factory=list)
    lengths: list[LineLength] = field(default_factory=list)
    meeting: float = 0.0
    info: dict[str, str] = field(default_factory=dict)
    gatherings: Gatherings = field(default_factory=Gatherings)
    listed: set[str] = field(default_factory=set)
    composites: Composites | None = None
    reserved: set[str] = field(default_factory=set)
    _origin: Origin = GENERAL
    _fixed: set[str] = field(default_factory=set, init=False)
    # This number of leading elements of `items` has already been searched for constants.
    _seen: int = field(default=0, init=False)

    @property
    def headline(self) -> str:
        """Return one line of text: the description of the model, then its formulation."""
        return f"{self.description}; {self.formulation}" if self.description else self.formulation

    @property
    def completes_steps(self) -> bool:
        """Whether importers must call `completedIntegratorStep`.

        This call projects the state, checks assertions and detects events.
        """
        return bool(self.projections or self.checks or self.relations or self.rows or self.lengths)

    @property
    def published(self) -> set[str]:
        """Return the names of the outputs for which the program defines a variable of the same name."""
        return {o.name for o in self.outputs if o.expr.op == "symbol" and o.expr.data == o.name}

    @property
    def calculated(self) -> list[Definition]:
        """Return the definitions whose values the FMU publishes as calculated parameters."""
        return [item for item in self.items if isinstance(item, Definition) and item.calculated]

    def emptied(self) -> EquationSystem:
        """Return a copy of the program without definitions: the list `items` of the copy is empty.

        The copy still contains the names of definitions that depend on parameters only.
        """
        result = replace(self, items=[], reserved=set(self.reserved), gatherings=self.gatherings.copy())
        result._fixed |= self._constants()
        return result

    def section(self, kind: str, name: str = "", element: str = "") -> None:
        """Set the part of the description that is recorded as the origin of the following definitions."""
        self._origin = Origin(kind, name, element)

    @property
    def signals(self) -> dict[str, Signal]:
        """Return a mapping from the name of each output to the signal of this output."""
        return {output.name: output.signal for output in self.outputs}

    def fresh(self, name: str) -> str:
        """Return the name with underscores appended until it is unique, and reserve it."""
        while name in self.reserved:
            name += "_"
        self.reserved.add(name)
        return name

    def define(
        self,
        name: str,
        expr: Any,
        unit: str | None,
        description: str,
        inertial: Transmitted | None = None,
    ) -> Expr:
        """Define a quantity by an expression, and return the symbol of the quantity.

        If the expression is a constant or a symbol, it is returned itself, and no definition is added.
        """
        lifted = ir.lift(expr)
        if lifted.op in ("symbol", "constant"):
            return lifted
        return self.assemble(name, lifted.shape, [((), lifted)], unit, description, Traits(inertial=inertial))

    def assemble(
        self,
        name: str,
        shape: Shape,
        parts: Sequence[tuple[Index, Expr]],
        unit: str | None,
        description: str,
        traits: Traits = PLAIN,
    ) -> Expr:
        """Define a scalar or an array by pairs of index and expression, and return its symbol.

        Together, the expressions must define all elements.
        """
        name = self.fresh(name)
        # A Modelica parameter has one defining expression, so an array defined slice by slice is a variable.
        whole = all(index == () for index, _ in parts)
        constant = whole and not traits.replaceable and all(self.is_constant(expr) for _, expr in parts)
        self.items.append(
            Definition(name, shape, unit, description, tuple(parts), self._origin, constant, **vars(traits))
        )
        return ir.symbol(name, shape)

    def solve(
        self,
        name: str,
        matrix: Expr,
        right: Expr,
        description: str,
        about: str,
        *,
        ratios: int | None = None,
        tree: Tree | None = None,
        symmetric: bool = False,
    ) -> Expr:
        """Add a linear system and return the symbol of its unknown; see `LinearSolve`."""
        name = self.fresh(name)
        system = (matrix, right, about, self._origin, ratios, tree, symmetric)
        solve = LinearSolve(name, right.shape, None, description, *system)
        self.items.append(solve)
        return ir.symbol(name, right.shape)

    def constrained_solve(
        self,
        names: tuple[str, str | None],
        system: tuple[Expr, Expr, Expr, Expr],
        description: str,
        coordinates: Sequence[str],
        dependent: Sequence[int],
        ratios: tuple[Expr, Expr | None] | None,
        tree: Tree,
    ) -> tuple[Expr, Expr | None]:
        """Add a linear system with constraints, and return the symbols of its unknowns X and Λ.

        The argument `system` contains M, C, F and W, which `ConstrainedSolve` defines.
        """
        X, Lambda = (name if name is None else self.fresh(name) for name in names)
        assert X is not None
        _, _, right, wanted = system
        chosen = (tuple(coordinates), tuple(dependent))
        self.items.append(
            ConstrainedSolve(X, right.shape, Lambda, description, *system, *chosen, self._origin, ratios, tree)
        )
        return ir.symbol(X, right.shape), None if Lambda is None else ir.symbol(Lambda, wanted.shape)

    def give(self, name: str, expr: Expr, unit: str, description: str) -> None:
        """Define a scalar quantity under a name that is already reserved for this quantity."""
        self.items.append(Definition(name, (), unit, description, (((), expr),), self._origin))

    def publish(self, signal: Signal, expr: Expr, unit: str, description: str) -> None:
        """Define a quantity that is an output and that equations can use by the output's name.

        The definition has the name of the output.
        """
        self.give(signal.name, expr, unit, description)
        self.outputs.append(Output(signal, unit, description, ir.symbol(signal.name)))

    def relate(self, indicator: Expr) -> str:
        """Add a switching condition that is true while the indicator is positive; return its name."""
        name = self.fresh(f"event_indicator_{len(self.relations) + 1}")
        self.relations.append(SwitchingCondition(name, indicator, str(self._origin)))
        return name

    def integrate(self, state: StateVariable) -> None:
        """Add a state variable, and an output that is equal to the state variable."""
        self.states.append(state)
        self.section("states")
        self.publish(state.signal, ir.symbol(state.variable), state.unit, state.description)

    def sort(self) -> None:
        """Sort definitions and linear systems such that each comes after those that it uses.

        The order changes only if necessary. Definitions that depend on each other in a cycle keep their
        order. Such a cycle occurs only if two variables have the same name, which `variables.clashes`
        reports as an error.
        """
        giver = {name: i for i, item in enumerate(self.items) for name in given(item)}
        needs = [sorted({giver[name] for name in used(item) if name in giver}) for item in self.items]
        placed: dict[int, None] = {}
        expanded: set[int] = set()
        waiting = list(reversed(range(len(self.items))))
        while waiting:
            missing = [i for i in needs[waiting[-1]] if i not in placed and i not in expanded]
            if missing and waiting[-1] not in placed:
                expanded.add(waiting[-1])
                waiting += reversed(missing)
            else:
                placed.setdefault(waiting.pop())
        self.items = [self.items[i] for i in placed]
        self._sort_samplings()

    def _sort_samplings(self) -> None:
        """Sort the sampled elements so that each element follows the elements whose variables it uses."""
        items = {name: item for item in self.items for name in given(item)}
        owner = {variable.variable: i for i, sampling in enumerate(self.samplings) for variable in sampling.held}

        def needs(sampling: Sampling) -> set[int]:
            names, waiting = set[str](), [name for value in sampling.values for name in value.symbols]
            while waiting:
                name = waiting.pop()
                if name not in names:
                    names.add(name)
                    waiting += used(items[name]) if name in items else ()
            return {owner[name] for name in names if name in owner}

        order = TopologicalSorter({i: needs(x) - {i} for i, x in enumerate(self.samplings)}).static_order()
        self.samplings = [self.samplings[i] for i in order]

    def is_constant(self, expr: Expr) -> bool:
        """Whether an expression depends on parameters only."""
        others = expr.symbols - self._constants()
        if not others:
            return True
        return others <= {entry.name for entries in (self.parameters, self.start_values) for entry in entries}

    def _constants(self) -> set[str]:
        """Return the names of all definitions whose values depend on parameters only.

        Each call searches only the definitions that were added since the previous call.
        """
        new = self.items[self._seen :]
        self._fixed |= {item.name for item in new if isinstance(item, Definition) and item.constant}
        self._seen = len(self.items)
        return self._fixed
