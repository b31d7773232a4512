"""A model's equations in order: parameters, states, inputs, definitions, linear solves, outputs.

Nothing here knows Modelica or C; renderers walk the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
STATE = "_state"  # ends the names of states


@dataclass(frozen=True)
class ModelParameter:
    """A number or vector that the FMU's user may change before the run.

    value   default, an array of the parameter's shape; no matrix, of which each backend has its order
    bounds  admissible range of each element
    """

    name: str
    value: NDArray[np.float64]
    unit: str | None
    description: str
    origin: Origin = GENERAL
    bounds: Bounds = ANY

    def __post_init__(self) -> None:
        if self.value.ndim > 1:
            raise ValueError(f"{self.name} has the shape {self.shape}, expected a number or a vector")

    @property
    def shape(self) -> Shape:
        """Shape of the value."""
        return self.value.shape


@dataclass(frozen=True)
class Input:
    """A quantity that the FMU's user gives during the run; `start` until set."""

    name: str
    unit: str
    description: str
    start: float = 0.0


@dataclass(frozen=True)
class StateVariable:
    """State variable shown by the output `name`, with initial value, derivative and nominal magnitude."""

    signal: Signal
    unit: str
    description: str
    start: Expr
    derivative: Expr
    nominal: float

    @property
    def name(self) -> str:
        """Name of the signal."""
        return self.signal.name

    @property
    def variable(self) -> str:
        """Name of the state itself. Not the output's: omc would rename a state that is an output."""
        return f"{self.name}{STATE}"

    @property
    def variable_description(self) -> str:
        """Description of the state variable itself."""
        return f"{self.description}, as a state"


@dataclass(frozen=True)
class StartValue:
    """A value that an expression of the description has at the start (t = 0).

    expr, tree  the value, for the start's state; as the description has it
    """

    name: str
    description: str
    expr: Expr
    tree: Expr


@dataclass(frozen=True)
class SwitchingCondition:
    """Switching condition: true while the indicator is positive, and changed only at events.

    Its two sides are smooth beyond the event, as far as a solver's trial steps reach.
    """

    name: str
    indicator: Expr
    description: str


@dataclass(frozen=True)
class Assertion:
    """Condition `value < bound`; the time completes its message, of a check of the start the value."""

    value: Expr
    bound: float
    message: str


@dataclass(frozen=True)
class LineLength:
    """Length of a line, m, and its rate, m/s: the line's force has no direction where the length is zero."""

    line: str
    value: Expr
    rate: Expr


@dataclass(frozen=True)
class Requirement:
    """Bounds of a value that follows from parameters, with its meaning for messages."""

    value: Expr
    bounds: Bounds
    message: str


@dataclass(frozen=True)
class TimeEvent:
    """A time at which something switches.

    name  name of the switch, 0 before that time and 1 from then on
    time  event time, s, an expression of parameters
    rate  time derivative of the quantity that changes sign; None: a jump of a function's third derivative
    """

    name: str
    time: Expr
    rate: Expr | None


@dataclass(frozen=True)
class Lookup:
    """Current polynomial piece of a lookup table, shape (PIECE,), at an argument linear in time.

    name      name of the variable that holds the piece
    function  name of the function that returns the piece; one for all lookups of a table
    begin     argument of the table at t = 0, an expression of parameters
    rate      time derivative of the argument, an expression of parameters
    """

    name: str
    function: str
    table: Piecewise
    begin: Expr
    rate: Expr
    description: str

    @property
    def argument(self) -> Expr:
        """Argument of the table at the current time."""
        return self.begin + self.rate * ir.symbol("time")


@dataclass(frozen=True)
class Output:
    """A quantity that the FMU's user reads; without a unit it is one that nobody has said."""

    signal: Signal
    unit: str | None
    description: str
    expr: Expr

    @property
    def name(self) -> str:
        """Name of the signal."""
        return self.signal.name


@dataclass(frozen=True)
class Projection:
    """Projection of the states onto the constraints, solved separately from the program's items.

    violation  norm of the constraint violation
    solve      linear system of the correction
    change     correction of each state, in their order
    """

    violation: Expr
    solve: LinearSolve
    change: tuple[Expr, ...]


@dataclass(frozen=True)
class Turn:
    """Rotation between the frames of a closure that does not let them turn, in place of its three cosines.

    rows    indices of the constraint equations that are these cosines, about x, y and z of frame a
    R       axes of frame b in those of frame a, shape (3, 3)
    rates   angular velocity of frame b against frame a per coordinate rate, in the axes of a, shape (3, n)
    """

    rows: tuple[int, ...]
    R: Expr
    rates: Expr


@dataclass(frozen=True, kw_only=True)
class Start(StartDependence):
    """Initial conditions under modified parameters: closed loops and balanced forces.

    coordinates  names of all n, as states have them; is_angle: whether each is one
    defaults     q and q̇ of the start, n numbers each
    rows         names of all constraint rows
    forces       forces on all n coordinates at rest, N or N·m
    C, Phi, Phi_dot  Jacobian, values and rates of all constraint equations; None if there are none
    turns        rotations by which loops are closed
    places       points of the mechanism, shape (3,) each, m; their largest distance is its extent
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
class Program:
    """Equations of one model in computable order.

    formulation  which equations these are, and how many states they have
    rows         names of all constraint rows, in order
    residuals    level, `position` or `velocity` → vector of all rows' values or rates; empty without rows
    requirements of the parameters, before a run
    start_checks of the start alone, in every tool
    checks       of the start and of every completed step, in every tool
    assertions   for tools that do not say themselves what is singular
    lengths      of lines, none of which may pass through zero
    meeting      m, length at which the ends of a line meet
    events       switching times; the position is the switch's index
    lookups      tables of the description, as far as expressions use them
    timed        the description's expressions, as far as they may depend on time
    initial      values at t = 0 of names in these expressions, as far as they are known
    relations    what changes at events whose times are not known before; their switches come after those of events
    start        how the start states follow the parameters; None: they are those that are given
    projections  level, `position` or `velocity` → its projection; empty where it is not wanted
    accepted     norm of the constraints' violation up to which a start is on them, so that it may be projected
    info         further facts for headers: coordinates, partition
    gatherings   what the definitions are elements of, for texts with arrays
    listed       outputs that are elements of arrays that mix units
    composites   sums over subtrees that the mass matrix is made of
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
    _seen: int = field(default=0, init=False)  # how many of the items are looked through for constants

    @property
    def headline(self) -> str:
        """Description and formulation of the model, for lists that show only its name."""
        return f"{self.description}; {self.formulation}" if self.description else self.formulation

    @property
    def completes_steps(self) -> bool:
        """Whether importers have to call `completedIntegratorStep`, which projects, checks and takes events."""
        return bool(self.projections or self.checks or self.relations or self.rows or self.lengths)

    @property
    def published(self) -> set[str]:
        """Names of outputs that are items themselves."""
        return {o.name for o in self.outputs if o.expr.op == "symbol" and o.expr.data == o.name}

    @property
    def calculated(self) -> list[Definition]:
        """Numbers that are expressions of parameters; of the FMU, too."""
        return [item for item in self.items if isinstance(item, Definition) and item.calculated]

    def emptied(self) -> Program:
        """Return the program without items; names of constant definitions stay known."""
        result = replace(self, items=[], reserved=set(self.reserved), gatherings=self.gatherings.copy())
        result._fixed |= self._constants()
        return result

    def section(self, kind: str, name: str = "", element: str = "") -> None:
        """Origin of the definitions that follow."""
        self._origin = Origin(kind, name, element)

    @property
    def signals(self) -> dict[str, Signal]:
        """Output name → signal."""
        return {output.name: output.signal for output in self.outputs}

    def fresh(self, name: str) -> str:
        """Return the name, with `_` appended until it clashes with no other, and reserve it."""
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
        """Give an expression a name; returns the symbol. Constants and symbols need no name of their own."""
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
        """A definition block by block; returns the symbol."""
        name = self.fresh(name)
        # Modelica gives a parameter its value where it is declared, so as a whole
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
        """Symbols of X and Λ of `names`; system: M, C, F, W; see `ConstrainedSolve`."""
        X, Lambda = (name if name is None else self.fresh(name) for name in names)
        assert X is not None
        _, _, right, wanted = system
        chosen = (tuple(coordinates), tuple(dependent))
        self.items.append(
            ConstrainedSolve(X, right.shape, Lambda, description, *system, *chosen, self._origin, ratios, tree)
        )
        return ir.symbol(X, right.shape), None if Lambda is None else ir.symbol(Lambda, wanted.shape)

    def give(self, name: str, expr: Expr, unit: str, description: str) -> None:
        """A scalar item by a name that is reserved for it."""
        self.items.append(Definition(name, (), unit, description, (((), expr),), self._origin))

    def publish(self, signal: Signal, expr: Expr, unit: str, description: str) -> None:
        """An output that the equations themselves use: an item by the output's name."""
        self.give(signal.name, expr, unit, description)
        self.outputs.append(Output(signal, unit, description, ir.symbol(signal.name)))

    def relate(self, indicator: Expr) -> str:
        """A new relation that is true while the indicator is positive; returns its name."""
        name = self.fresh(f"event_indicator_{len(self.relations) + 1}")
        self.relations.append(SwitchingCondition(name, indicator, str(self._origin)))
        return name

    def integrate(self, state: StateVariable) -> None:
        """Add a state, and the output that has its value."""
        self.states.append(state)
        self.section("states")
        self.publish(state.signal, ir.symbol(state.variable), state.unit, state.description)

    def sort(self) -> None:
        """Put items after those that they use; where that is so already, nothing changes."""
        giver = {name: i for i, item in enumerate(self.items) for name in given(item)}
        needs = [sorted({giver[name] for name in used(item) if name in giver}) for item in self.items]
        placed: dict[int, None] = {}
        waiting = list(reversed(range(len(self.items))))
        while waiting:
            missing = [i for i in needs[waiting[-1]] if i not in placed]
            if missing and waiting[-1] not in placed:
                waiting += reversed(missing)
            else:
                placed.setdefault(waiting.pop())
        self.items = [self.items[i] for i in placed]

    def is_constant(self, expr: Expr) -> bool:
        """Whether an expression depends on parameters only."""
        others = expr.symbols - self._constants()
        if not others:
            return True
        return others <= {entry.name for entries in (self.parameters, self.start_values) for entry in entries}

    def _constants(self) -> set[str]:
        """Names of definitions that are constant; items are only added, or sorted."""
        new = self.items[self._seen :]
        self._fixed |= {item.name for item in new if isinstance(item, Definition) and item.constant}
        self._seen = len(self.items)
        return self._fixed
