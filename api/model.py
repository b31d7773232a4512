"""The door for Python: a described mechanism, and everything that can be done with it.

What builds and compares is imported by the methods that need it: it takes a second to load.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import analysis, mechanism
from ..analysis.prepared import Prepared, prepare
from ..core.errors import DescriptionError, SolveError
from ..description import Chain
from ..description import load as read
from ..options.common import Inputs
from ..options.keywords import taking
from ..options.linear import LinearizeOptions, ModesAlongOptions, StateOptions
from ..options.model import BuildOptions, MotionOptions, RunOptions, SplitOptions
from ..runs.fmpy_runs.inputs import InputTable, inputs_of
from ..tasks.check import Summary
from .results import Run

if TYPE_CHECKING:
    from ..cutting.split import Split
    from ..fmu.backends.fmu import Fmu
    from ..linear import Modes, ModeTracks, StateSpace
    from ..runs.compare.context import RunReport
    from ..tasks.loads import LoadSummary


def load(path: Path | str, case: str | None = None, **changes: Any) -> Model:
    """A description in a TOML file, one of its cases applied, and then changes of its keys.

    Parameters:
        case     name of one of the description's `[[cases]]`
        changes  keys and their new values: a mapping changes keys of a table, other values take the place; dotted
                 keys go as in `[[cases]]`

    Raises DescriptionError with all problems of the file and the changes.

    >>> model = load("examples/four_bar_3d.toml", simulation={"stop": 0.1})
    >>> model.description.simulation.stop
    0.1
    >>> load("examples/four_bar_3d.toml", **{"links.crank.mas": 2.0})
    Traceback (most recent call last):
    ...
    gpmelica.core.errors.DescriptionError: examples/four_bar_3d.toml: changes: lead to links[0].mas (crank): \
unknown key; did you mean 'mass'?
    """
    return Model(read(path, case, changes), str(path), case)


@dataclass(frozen=True)
class Model:
    """A mechanism with its task, as `load` gives it.

    Parameters:
        description  what the file says, the case and changes applied; immutable
        source       the file, for messages
        case         name of the case, or None
        notes        what was changed or left out where the file had another format
    """

    description: Chain
    source: str = "description"
    case: str | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Model {self.name} of {self.source}{f', case {self.case}' if self.case else ''}>"

    @property
    def name(self) -> str:
        """Name of the Modelica model and of the FMU."""
        return self.description.name

    @cached_property
    def prepared(self) -> Prepared:
        """Start, partition and equations, derived at the first use.

        Raises DescriptionError if there is no start, or if the task cannot be done from it.
        """
        return prepare(self.description, self.source)

    def check(self) -> Summary:
        """Bodies, coordinates, constraints and partition; print it, or take its `data()`.

        >>> found = load("examples/four_bar_3d.toml").check().data()
        >>> found["n"], found["rank"], found["dof"]
        (3, 2, 1)
        """
        return Summary(self.prepared)

    def modelica(self, *, drives: bool = False) -> str:
        """The equations as Modelica text.

        drives  instead the package `NameDrives`, to be loaded after it: its `Drive` has flanges and signals of the
                Modelica Standard Library, see docs/openmodelica.md

        >>> "M[1,1] = S[1,:]*P[1,:];" in load("examples/four_bar_3d.toml").modelica()
        True
        """
        return self.prepared.modelica_drives() if drives else self.prepared.modelica()

    @taking(BuildOptions)
    def build(self, options: BuildOptions) -> Fmu:
        """Write `Name.mo`, `Name.mos` and `Name.fmu`.

        Raises MissingToolError without a compiler, BuildError if one refuses the source.
        """
        from ..tasks.build import build, checked

        made_by = checked(options)
        return build(self.prepared, replace(options, out=self.folder(options.out)), made_by)

    @taking(SplitOptions)
    def split(self, options: SplitOptions) -> Split:
        """Cut the machine into parts that masters of co-simulation run together; see docs/coupling.md.

        Returns
        -------
        Split : paths of archives and descriptions, constants of bushings, notes

        Raises
        ------
        DescriptionError : for a place that cannot be cut, or a cut that does not separate
        MissingToolError : without a C compiler
        """
        from ..cutting.split import split

        return split(self.prepared, replace(options, out=self.folder(options.out)), self.source)

    @taking(MotionOptions)
    def simulate(self, options: MotionOptions) -> Run:
        """Motion by the reference solver, as `[simulation]` of the description asks for it.

        Raises SolveError where it cannot go on.

        >>> run = load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).simulate()
        >>> run
        <Run reference: 17 signals at 3 times to 0.02 s>
        """
        from ..tasks.reference_run import reference_run

        given = self.inputs(options.inputs)
        run = reference_run(self.prepared, given, options.progress)
        return Run(run, self.prepared.units, self.prepared, given)

    def draw(self, out: Path | str | None = None) -> list[Path]:
        """Write `drawing.png`, `drawing.svg` and `drawing.html`, the machine at its start; returns their paths.

        Raises DescriptionError for a mesh that cannot be read.
        """
        from .. import scene
        from ..report.animation import write_drawing

        return write_drawing(self.folder(out), scene.still(self.prepared.problem))

    @taking(RunOptions)
    def run(self, options: RunOptions) -> RunReport:
        """Do everything: Modelica, FMUs, reference, comparison; writes `report.html` and `result.json`, too.

        Raises GpmelicaError if the model cannot be built or the reference fails; a failed run of a backend is
        in the report.
        """
        from ..runs.compare.result import withdraw_verdict
        from ..tasks import run

        withdraw_verdict(self.folder(options.out))
        compilers = run.checked(options)
        own = replace(options, out=self.folder(options.out))
        return run.run(self.prepared, own, self.case or "", compilers)

    def statics(self) -> dict[str, float]:
        """Coordinate → its value in the equilibrium of base, beams and joints that are not locked, rad or m.

        >>> round(load("examples/four_bar_3d.toml").statics()["rocker.angle"], 4)
        1.4905
        """
        try:
            q = analysis.equilibrium(analysis.ReferenceModel(self._numbers))
        except SolveError as error:
            raise DescriptionError(self.source, str(error)) from None
        return {c.name: float(value) for c, value in zip(self.coordinates, q, strict=True)}

    def reactions(self) -> analysis.Reactions:
        """Return which joint reactions of a model of rigid bodies are unique; raises SolveError.

        >>> load("examples/four_bar_3d.toml").reactions().redundancy
        3
        """
        return self.prepared.reactions

    @taking(MotionOptions)
    def loads(self, options: MotionOptions) -> LoadSummary:
        """Return root mean square and peak of the joint reactions over a run of the reference solver.

        >>> found = load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).loads()
        >>> sorted(found.joints["crank"])
        ['axial', 'fx', 'fy', 'fz', 'normal', 'nx', 'ny', 'nz']
        """
        from ..tasks.loads import loads as sum_up_loads

        return sum_up_loads(self.prepared, options)

    @taking(LinearizeOptions)
    def linearize(self, options: LinearizeOptions) -> StateSpace:
        """Linear model near one state, by the exact derivatives of the native FMU; default about the start.

        Its states are independent coordinates and their rates, so that constraints have no poles in it.

        Raises DescriptionError for a state that is none, SolveError where the equations have no solution,
        MissingToolError without a C compiler.

        >>> found = load("examples/four_bar_3d.toml").linearize()
        >>> found.states
        ('coupler_angle', 'coupler_angle_dot')
        """
        from ..linear import linearize

        return linearize(self.prepared, options)

    @taking(StateOptions)
    def modes(self, options: StateOptions) -> Modes:
        """Frequencies, damping ratios and shapes of the linear model near one state, the slowest first.

        See `linearize`, whose model has them too, as `Modes.linear` has it. `Modes.animate` shows them.
        """
        from ..linear import Modes, linearize

        return Modes(linearize(self.prepared, LinearizeOptions(**vars(options))), self.prepared, self.case or "")

    @taking(ModesAlongOptions)
    def modes_along(self, options: ModesAlongOptions) -> ModeTracks:
        """Modes at several values of a key, or at times of the run, each followed by its shape.

        Equations that are the same but for numbers are compiled once.
        Raises DescriptionError for a key, values or a state that are none, SolveError where the equations have no
        solution.
        """
        from ..linear import modes_along

        return modes_along(self.prepared, self.source, options)

    @property
    def coordinates(self) -> tuple[mechanism.Coordinate, ...]:
        """All coordinates, in the order of the states, each with name and unit."""
        return self._numbers.coordinates

    @cached_property
    def _numbers(self) -> mechanism.Mechanism:
        return mechanism.build(self.description)

    def folder(self, out: Path | str | None) -> Path:
        """Return the folder for files: the given one, or one named after the model and its case."""
        return Path(out or (f"{self.name}_{self.case}" if self.case else self.name))

    def inputs(self, given: Inputs | None) -> InputTable | None:
        """The FMU's inputs over time; raises DescriptionError with all that is wrong with them."""
        return inputs_of(self.prepared, given)
