"""Table of all FMU variables, from which the model description and the C tables are generated.

The value reference of a variable is its position in the table.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..core.errors import Problem
from ..description.types.bounds import ANY, Bounds
from ..language import ir
from ..language.ir import Shape
from .modelica import digest
from .program.items import Definition
from .program.program import EquationSystem, ModelParameter

Kind = Literal[
    "time",
    "state",
    "derivative",
    "output",
    "parameter",
    "calculated",
    "input",
    "real_setting",
    "integer_setting",
    "counter",
    "correction",
    "indicator",
]

_METHODS = (
    "integration method: 1: Runge-Kutta of order 4, fixed step; 2: Dormand-Prince 5(4), adaptive; 3: Rosenbrock"
    " 4(3), adaptive, for stiff models; 4: backward differentiation (BDF) of orders 1 to 5, adaptive, for stiff"
    " models; 0: automatic choice of 2 or 4, by the stiffest mode at the start and the measured cost"
)
# The built-in solver of an FMU has real parameters with these names, start values, units and descriptions.
REAL_SETTINGS = (
    ("solver_step", 1e-4, "s", "largest step size of the fixed-step method"),
    ("solver_tolerance", 1e-6, "1", "relative tolerance of the solver if the importer sets none"),
    ("solver_longest_step", 1e6, "s", "largest step size of the adaptive methods"),
    (
        "projection_tolerance",
        1e-10,
        "1",
        "value of violation_position or violation_velocity above which a projection starts",
    ),
)
INTEGER_SETTINGS = (
    ("solver_method", 0, _METHODS),
    ("solver_max_steps", 1_000_000, "largest number of internal solver steps per communication step"),
    ("projection", 1, "1: project the states onto the constraints after each step; 0: no projection"),
    (
        "solver_finds_start",
        1,
        "1: close loops and balance forces at the start if parameters were changed; 0: use given initial state",
    ),
)
COUNTERS = (
    ("solver_evaluations", "number of derivative evaluations since the start"),
    ("solver_steps", "number of accepted internal solver steps of the co-simulation since the start"),
    ("solver_rejected_steps", "number of rejected internal solver steps of the co-simulation since the start"),
    ("solver_jacobians", "number of computed Jacobian matrices since the start"),
    ("projections", "number of projections onto the constraints since the start"),
)
CORRECTIONS = (
    (
        "projection_correction",
        "sum of the norms of all corrections of coordinates by projections since the start",
    ),
    (
        "projection_correction_velocity",
        "sum of the norms of all corrections of rates by projections since the start",
    ),
)
# Names of variables that exist only in models with projection onto the constraints begin with this prefix.
_OF_PROJECTION = "projection"

# Each kind of variable has an FMI type, causality, variability and `initial` attribute (FMI 2.0, table 2.2.7).
_ATTRIBUTES: dict[Kind, tuple[str, str, str, str | None]] = {
    "time": ("Real", "independent", "continuous", None),
    "state": ("Real", "local", "continuous", "calculated"),
    "derivative": ("Real", "local", "continuous", "calculated"),
    "output": ("Real", "output", "continuous", "calculated"),
    "parameter": ("Real", "parameter", "fixed", "exact"),
    "calculated": ("Real", "calculatedParameter", "fixed", "calculated"),
    "input": ("Real", "input", "continuous", None),
    "real_setting": ("Real", "parameter", "fixed", "exact"),
    "integer_setting": ("Integer", "parameter", "fixed", "exact"),
    "counter": ("Integer", "local", "discrete", "calculated"),
    "correction": ("Real", "output", "discrete", "calculated"),
    "indicator": ("Real", "local", "continuous", "calculated"),
}


@dataclass(frozen=True)
class Variable:
    """One scalar variable of the FMU.

    Attributes
    ----------
    index
        Position among the variables of the same kind.
    start
        Start value; None for a calculated variable.
    derivative_of
        For the time derivative of a state, the position of the state in the table of variables; else
        None.
    elements
        1 for a scalar. For the first element of an array, the length of the array; for all other
        elements, 0.
    reinit
        Whether the variable is a state that an event can change.
    bounds
        Admissible range of the value.
    """

    name: str
    kind: Kind
    index: int
    unit: str | None
    description: str
    start: float | int | None = None
    nominal: float | None = None
    derivative_of: int | None = None
    elements: int = 1
    reinit: bool = False
    bounds: Bounds = ANY

    @property
    def array(self) -> str:
        """Return the name without the index of an array element.

        In FMI 3.0, an array is a single variable with this name.
        """
        return self.name if self.elements == 1 else self.name.partition("[")[0]

    @property
    def type(self) -> str:
        """Return the type of the variable, Real or Integer."""
        return _ATTRIBUTES[self.kind][0]

    @property
    def causality(self) -> str:
        return _ATTRIBUTES[self.kind][1]

    @property
    def variability(self) -> str:
        return _ATTRIBUTES[self.kind][2]

    @property
    def initial(self) -> str | None:
        return _ATTRIBUTES[self.kind][3]


def table(program: EquationSystem) -> tuple[Variable, ...]:
    """Return the table of all variables of a program; the program must have no name clashes."""
    found = [Variable("time", "time", 0, "s", "simulation time")]
    found += [
        Variable(
            s.variable,
            "state",
            i,
            s.unit,
            s.variable_description,
            nominal=s.nominal,
            reinit=any(not ir.is_zero(p.change[i]) for p in program.projections.values()),
        )
        for i, s in enumerate(program.states)
    ]
    found += [
        Variable(
            f"der({s.variable})",
            "derivative",
            i,
            _per_second(s.unit),
            f"time derivative of {s.variable}",
            derivative_of=1 + i,
        )
        for i, s in enumerate(program.states)
    ]
    found += [
        Variable(o.name, "output", i, o.unit, o.description, nominal=o.nominal)
        for i, o in enumerate(program.outputs)
    ]
    found += [Variable(e.name, "input", i, e.unit, e.description, e.start) for i, e in enumerate(program.inputs)]
    count = itertools.count()
    found += [v for parameter in program.parameters for v in _elements(parameter, count)]
    count = itertools.count()
    found += [v for definition in program.calculated for v in _calculated(definition, count)]
    found += _solver_variables(program)
    found += [
        Variable(
            r.name,
            "indicator",
            i,
            None,
            f"event indicator of {r.description}: an event occurs where its sign changes",
        )
        for i, r in enumerate(program.relations)
    ]
    return tuple(found)


def _per_second(unit: str) -> str:
    return unit.replace("/s", "/s2") if unit.endswith("/s") else f"{unit}/s"


def _elements(parameter: ModelParameter, count: Iterator[int]) -> Iterator[Variable]:
    for value, (name, elements) in zip(
        parameter.value.ravel(), _names(parameter.name, parameter.shape), strict=True
    ):
        about = parameter.unit, parameter.description, float(value)
        yield Variable(name, "parameter", next(count), *about, elements=elements, bounds=parameter.bounds)


def _calculated(definition: Definition, count: Iterator[int]) -> Iterator[Variable]:
    for name, elements in _names(definition.name, definition.shape):
        about = definition.unit, definition.description
        yield Variable(name, "calculated", next(count), *about, elements=elements)


def _names(name: str, shape: Shape) -> list[tuple[str, int]]:
    """Return pairs of name and integer, one for each element of a scalar or vector.

    The integer is 1 for a scalar. For the first element of a vector, it is the length of the vector,
    and for all other elements, it is 0. It becomes the attribute `elements` of `Variable`.
    """
    if not shape:
        return [(name, 1)]
    return [(f"{name}[{i + 1}]", shape[0] if i == 0 else 0) for i in range(shape[0])]


def _solver_variables(program: EquationSystem) -> list[Variable]:
    settings = [
        Variable(name, "real_setting", i, unit, text, start)
        for i, (name, start, unit, text) in enumerate(REAL_SETTINGS)
    ]
    integers = [
        Variable(name, "integer_setting", i, None, text, start)
        for i, (name, start, text) in enumerate(INTEGER_SETTINGS)
    ]
    counters = [Variable(name, "counter", i, None, text) for i, (name, text) in enumerate(COUNTERS)]
    corrections = [Variable(name, "correction", i, "1", text) for i, (name, text) in enumerate(CORRECTIONS)]
    found = [*settings, *integers, *counters, *corrections]
    absent = [
        *([] if program.projections else [_OF_PROJECTION]),
        *([] if program.start else ["solver_finds_start"]),
    ]
    return [v for v in found if not v.name.startswith(tuple(absent))]


def clashes(program: EquationSystem) -> list[Problem]:
    """Return an error report for each name that at least two quantities of the model would have."""
    numbers = (program.parameters, program.calculated)
    quantities = (program.outputs, program.inputs, *numbers, _solver_variables(program))
    counts = Counter(entry.name for entries in quantities for entry in entries)
    counts.update(state.variable for state in program.states)
    return [
        Problem(name, f"two quantities would be called {name!r} in the model; rename one of them")
        for name, count in counts.items()
        if count > 1
    ]


def token(program: EquationSystem, table: tuple[Variable, ...]) -> str:
    """Return the GUID of the FMU; it changes with any equation, name, unit or start value."""
    kept = [(required.message, required.bounds) for required in program.requirements]
    h = hashlib.sha256((digest(program) + repr(table) + repr(kept)).encode()).hexdigest()
    return f"{{{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:32]}}}"


def parameters(program: EquationSystem) -> dict[str, float]:
    """Return the start value of each FMU parameter, in the parameter's unit."""
    return {v.name: float(v.start or 0.0) for v in table(program) if v.kind == "parameter"}
