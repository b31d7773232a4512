"""A description made ready to run: mechanism, start state, partition, equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import reference
from ._version import __version__
from .errors import DescriptionError, Problem, SolveError
from .generator import constraints, equations, interface, mechanism, modelica
from .generator.description import Chain
from .generator.program import Program

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """A mechanism of numbers, where it starts, and its equations.

    start      q and q̇ at t = 0, shape (n,) each, rad or m and per second
    dependent  names of the dependent coordinates, one per constraint row
    """

    chain: Chain
    mechanism: mechanism.Mechanism
    start: tuple[Array, Array]
    dependent: tuple[str, ...]
    program: Program

    @property
    def name(self) -> str:
        """Of the Modelica model and the FMU."""
        return self.chain.name

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the constraint rows."""
        return constraints.row_names(self.mechanism)

    @property
    def degrees_of_freedom(self) -> int:
        """Coordinates minus constraint rows."""
        return self.mechanism.n - len(self.rows)

    @property
    def units(self) -> dict[str, str]:
        """Unit of each state and output."""
        states = {state.name: state.unit for state in self.program.states}
        return states | {output.name: output.unit for output in self.program.outputs}

    def start_values(self) -> dict[str, float]:
        """What each `start(x)` of the description stands for, by its name in the program."""
        numbers = reference.Model(self.mechanism)
        state = numbers.state(0.0, *self.start)
        return {v.name: numbers.reader.reading(v.name, v.tree).number(state) for v in self.program.start_values}

    def modelica(self, start_values: Mapping[str, float] | None = None) -> str:
        """Modelica source; see `generator.modelica.render`."""
        return modelica.render(self.program, self.chain, __version__, start_values)


def prepare(chain: Chain, source: str = "description") -> Model:
    """Statics, partition and equations of a description.

    Raises DescriptionError if there is no start state, if the task cannot be done from it, or if names clash.
    """
    numbers = mechanism.build(chain)
    try:
        start = reference.start_state(numbers)
        problems = reference.unreachable(numbers, start[0])
    except SolveError as error:
        raise DescriptionError(source, [Problem("", str(error))]) from None
    if problems:
        raise DescriptionError(source, problems)
    dependent = _dependent(numbers, start, source)
    program = equations.derive(chain, start, dependent)
    clashes = interface.clashes(program)
    if clashes:
        raise DescriptionError(source, clashes)
    return Model(chain, numbers, start, dependent, program)


def _dependent(numbers: mechanism.Mechanism, start: tuple[Array, Array], source: str) -> tuple[str, ...]:
    try:
        return reference.evaluate(numbers, 0.0, *start, start=start).dependent
    except SolveError as error:
        raise DescriptionError(source, [Problem("constraints.dependent", str(error))]) from None
