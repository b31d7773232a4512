"""Analysis of a description before a run: mechanism, initial state, coordinate partition, equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .. import analysis, mechanism
from ..core.errors import DescriptionError, Problem, SolveError
from ..core.trajectory import Array
from ..core.uncollected import uncollected
from ..core.version import __version__
from ..description import Description
from ..description.messages import named
from ..description.types.origin import Signal
from ..generator import equations, modelica, variables
from ..generator.equations.solution import linear_solves, point_sums, tree_solves
from ..generator.equations.solution.system import Partition
from ..generator.modelica import Source
from ..generator.program.items import ConstrainedSolve
from ..generator.program.program import EquationSystem


@dataclass(frozen=True)
class System:
    """Mechanism with numerical parameters, initial state, and equations of motion.

    Parameters
    ----------
    chain : Description
        Validated description.
    problem : InitialValueProblem
        Numerical equations with their initial state, without inputs.
    solvability : Solvability
        Rank of the constraint Jacobian, redundant constraints and coordinate partition.
    program : EquationSystem
        Equations with linear solves and a fixed partition, as in the Modelica source.
    native_program : EquationSystem
        Equations for the generated C code. If the dependent coordinates are set to "auto", they are
        chosen again in every state. Accelerations are computed by recursion over the bodies if this
        method requires fewer operations.
    accelerations : str
        Method by which the FMU from generated C code computes accelerations. The text is empty if
        only one method is possible.
    """

    chain: Description
    problem: analysis.InitialValueProblem
    solvability: analysis.Solvability
    program: EquationSystem
    native_program: EquationSystem
    accelerations: str

    @property
    def name(self) -> str:
        """Name that the Modelica model and the FMU have in common."""
        return self.chain.name

    @property
    def mechanism(self) -> mechanism.Mechanism:
        """Bodies, force elements and programmed constraints with numerical parameters."""
        return self.problem.mechanism

    @property
    def start(self) -> tuple[Array, Array]:
        """Initial coordinates, rad or m, and initial rates, rad/s or m/s, shape (n,) each."""
        return self.problem.start

    def with_inputs(self, inputs: Mapping[str, analysis.Input] | None) -> analysis.InitialValueProblem:
        """Return the initial value problem in which the FMU inputs have given values.

        Parameters
        ----------
        inputs : mapping or None
            Value of each input by name: a number, or a function of time in s.
        """
        return replace(self.problem, inputs=inputs) if inputs else self.problem

    @property
    def dependent(self) -> tuple[str, ...]:
        """Names of the dependent coordinates, one per independent constraint equation."""
        return self.solvability.dependent

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the constraint equations."""
        return self.program.rows

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the redundant constraint equations; empty with `minimum_norm`, which uses all equations."""
        if self.chain.constraints.redundant == "minimum_norm":
            return ()
        return tuple(name for name in self.rows if name not in self.solvability.independent)

    @property
    def chooses(self) -> bool:
        """Whether the FMU from generated C code chooses the dependent coordinates again in every state."""
        items = (getattr(item, "system", item) for item in self.native_program.items)
        return any(isinstance(item, ConstrainedSolve) and item.ratios is None for item in items)

    @property
    def degrees_of_freedom(self) -> int:
        """Number of coordinates minus number of independent constraint equations."""
        return self.mechanism.n - self.solvability.rank

    @cached_property
    def reactions(self) -> analysis.Reactions:
        """Uniqueness of the joint reactions in the initial state.

        Raises SolveError if the rank of the constraint Jacobian is ill-conditioned.
        """
        return analysis.reactions(self.problem)

    @property
    def units(self) -> dict[str, str]:
        """Unit of each output; "" if the description gives no unit."""
        return {output.name: output.unit or "" for output in self.program.outputs}

    @property
    def signals(self) -> dict[str, Signal]:
        """Physical quantity of each output, and the origin of the output in the description, by output name."""
        return self.program.signals

    def start_values(self) -> dict[str, float]:
        """Return the initial value of each expression `start(x)`, by its variable name in the equations."""
        numbers, state = self.problem.model, self.problem.initial_state
        return {v.name: numbers.reader.reading(v.name, v.tree).number(state) for v in self.program.start_values}

    def modelica(self, start_values: Mapping[str, float] | None = None) -> str:
        """Return the Modelica source.

        The argument `start_values` replaces initial values by name; see `generator.modelica.render`.
        """
        return self.modelica_source().text if start_values is None else self._rendered(start_values).text

    def modelica_drives(self) -> str:
        """Return a Modelica package that wraps the model with connectors of the Modelica Standard Library.

        See `generator.modelica.drives`.
        """
        return modelica.render_drives(self.program, self.mechanism, __version__)

    def modelica_source(self) -> Source:
        """Return the Modelica source, with the origin of each line and variable.

        An origin is an entry of the description, or a step of the derivation.
        """
        return self._source

    @cached_property
    def _source(self) -> Source:
        return self._rendered(None)

    def _rendered(self, start_values: Mapping[str, float] | None) -> Source:
        program = point_sums.with_point_sums(self.program)
        return modelica.render(program, self.chain, __version__, start_values, self._lines_at_start())

    def _lines_at_start(self) -> dict[str, Array]:
        """Return the initial length, m, and direction of each two-point force element.

        Keys are the variable names in the equations.
        """
        frames = analysis.poses(self.mechanism, self.start[0])
        found: dict[str, Array] = {}
        for line in self.mechanism.lines:
            d = _world(line.b, frames) - _world(line.a, frames)
            length = np.asarray(np.linalg.norm(d))
            found |= {line.signals["length"].signal.name: length.round(6), line.direction: (d / length).round(6)}
        return found


def _world(place: mechanism.Place, frames: Array) -> Array:
    """Return the world position of a body-fixed point, m, from the frames of all bodies."""
    position = np.array(place.position, dtype=float)
    return (
        position
        if place.body == mechanism.GROUND
        else frames[place.body, :3, :3] @ position + frames[place.body, :3, 3]
    )


@uncollected()
def assemble_system(chain: Description, source: str = "description") -> System:
    """Build mechanism, initial state, coordinate partition and equations of a description.

    Parameters
    ----------
    chain : Description
        Validated description.
    source : str
        Name of the description in error messages.

    Raises
    ------
    DescriptionError
        If no initial state exists, if the programmed constraints cannot be fulfilled from the initial
        state, or if two variables have the same name.
    """
    numbers = mechanism.build(chain)
    too_far = analysis.far_places(numbers)
    if too_far:
        raise DescriptionError(source, too_far)
    try:
        searching = analysis.ReferenceModel(numbers)
        problem = analysis.InitialValueProblem(numbers, analysis.start_state(searching))
        problems = analysis.far_masses(numbers, problem.start[0]) or analysis.massless(searching, problem.start[0])
        problems += analysis.unreachable(problem) if not problems else []
    except SolveError as error:
        raise DescriptionError(source, str(error)) from None
    if problems:
        tables = chain.model_dump()
        raise DescriptionError(source, [named(each, tables) for each in problems])
    solvability = _solvability(problem, source)
    partition = Partition(solvability.dependent, solvability.independent, solvability.without_drive)
    follows = analysis.following(problem, searching)
    begins = tuple(problem.model.filters.begins(problem.start[0]))
    quantities = problem.model.quantities.named(problem.initial_state)
    initial = equations.InitialValues(
        problem.start, solvability.extent, None if follows.is_none else follows, begins, quantities
    )
    derived = equations.derive(chain, initial, partition)
    program = linear_solves.with_linear_solves(derived, chain.constraints.formulation)
    clashes = variables.clashes(program)
    if clashes:
        raise DescriptionError(source, clashes)
    has_degrees_of_freedom = solvability.rank < numbers.n
    settings = chain.constraints
    chooses = has_degrees_of_freedom and settings.formulation == "gpme" and settings.dependent == "auto"
    if not has_degrees_of_freedom or (settings.formulation == "lagrange" and program.rows):
        return System(chain, problem, solvability, program, program, "")
    way, own = chain.simulation.accelerations, derived if chooses else linear_solves.with_partition(derived)
    native = tree_solves.with_tree_solves(own, way)
    if native is None:
        native = derived if chooses else linear_solves.with_independent_solves(derived)
    return System(chain, problem, solvability, program, native, tree_solves.words(own, way))


def _solvability(problem: analysis.InitialValueProblem, source: str) -> analysis.Solvability:
    """Return the rank of the constraints and the coordinate partition in the initial state.

    If the equations have no solution in this state, DescriptionError is raised.
    """
    settings = problem.mechanism.chain.constraints
    named = {key: getattr(settings, key) for key in ("dependent", "redundant", "actuated")}
    lists = [key for key, value in named.items() if not isinstance(value, str)]
    try:
        found = problem.solvability
        form = problem.formulation(found.dependent)
        problem.model.evaluate(problem.model.consistent(problem.initial_state, form), form)
    except SolveError as error:
        where = f"constraints.{lists[0]}" if len(lists) == 1 else ""
        raise DescriptionError(source, [Problem(where, str(error))]) from None
    return found
