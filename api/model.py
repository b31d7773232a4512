"""The door for Python: a described mechanism, and everything that can be done with it.

What builds and compares is imported by the methods that need it: it takes a second to load.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import analysis, mechanism
from ..analysis.prepared import Prepared, prepare
from ..core.errors import DescriptionError, SolveError
from ..core.trajectory import Progress, silent
from ..description import Chain
from ..description import load as read
from ..language.suggest import several
from ..runs.fmpy_runs.inputs import InputTable, given_inputs, read_inputs
from ..tasks.check import Summary
from .results import Run

if TYPE_CHECKING:
    from ..fmu.backends.backend import Compilers
    from ..fmu.backends.fmu import Fmu
    from ..fmu.compilers.platforms import Platform
    from ..linear import Modes, ModeTracks, StateSpace
    from ..runs.compare.context import RunReport
    from ..tasks.loads import LoadSummary

FMI_VERSIONS = ("2.0", "3.0")
Inputs = Path | str | Mapping[str, ArrayLike]


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

    def build(
        self,
        out: Path | str | None = None,
        compiler: str = "auto",
        fmi: str = "2.0",
        *,
        platforms: str | Sequence[str] = (),
        march: str = "",
        omc: str | None = None,
        timeout: float = 600.0,
        progress: Progress = silent,
    ) -> Fmu:
        """Write `Name.mo`, `Name.mos` and `Name.fmu`.

        Parameters:
            out        folder; default the model's name, `_` and the case
            compiler   openmodelica, native, or auto: the former where there is an omc
            fmi        2.0 or 3.0
            platforms  systems to build for, such as linux64 and win64; default this machine
            march      processors to build for: native (this one) or x86-64-v3; default all
            omc        path of the omc to use, or docker:IMAGE
            timeout    of omc, s

        Raises MissingToolError without a compiler, BuildError if one refuses the source.
        """
        from ..tasks.build import build as build_fmu

        systems = _systems(platforms, fmi)
        own = platforms or march
        compilers = _compilers("native" if own and compiler == "auto" else compiler, omc, timeout)
        if systems and not compilers.backends[0].cross:
            wanted = f"{compilers.backends[0].name} builds for this machine alone; take the compiler native"
            raise DescriptionError("platforms", wanted)
        _check_march(march, compilers, fmi, systems)
        return build_fmu(
            self.prepared,
            self.folder(out),
            compilers,
            fmi,
            lambda what: progress(f"compiling: {what}", 0.0),
            systems,
            march,
        )

    def simulate(self, inputs: Inputs | None = None, progress: Progress = silent) -> Run:
        """Motion by the reference solver, as `[simulation]` of the description asks for it.

        Parameters:
            inputs  of the FMU over time: a CSV file, or arrays by name, `time` (s) among them; default zero

        Raises SolveError where it cannot go on.

        >>> run = load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).simulate()
        >>> run
        <Run reference: 17 signals at 3 times to 0.02 s>
        """
        from ..tasks.reference_run import reference_run

        given = self.inputs(inputs)
        run = reference_run(self.prepared, given, progress)
        return Run(run, self.prepared.units, self.prepared, given)

    def draw(self, out: Path | str | None = None) -> list[Path]:
        """Write `drawing.png`, `drawing.svg` and `drawing.html`, the machine at its start; returns their paths.

        Raises DescriptionError for a mesh that cannot be read.
        """
        from .. import scene
        from ..report.animation import write_drawing

        return write_drawing(self.folder(out), scene.still(self.prepared.problem))

    def run(
        self,
        out: Path | str | None = None,
        *,
        inputs: Inputs | None = None,
        tolerance: float | None = None,
        rumoca: bool = True,
        compiler: str = "auto",
        fmi: str = "2.0",
        march: str = "",
        omc: str | None = None,
        timeout: float = 600.0,
        command: str = "",
        progress: Progress = silent,
    ) -> RunReport:
        """Do everything: Modelica, FMUs, reference, comparison; writes `report.html` and `result.json`, too.

        Parameters:
            out        folder; default the model's name, `_` and the case
            inputs     of the FMU over time: a CSV file, or arrays by name, `time` (s) among them; default zero
            tolerance  admissible error, relative to each signal's scale; default 1e-6, or 100 times the
                       description's `simulation.tolerance` where that is more, at most 1e-2
            rumoca     whether to run the Modelica text in rumoca, too
            compiler   openmodelica, native, or auto: both where there is an omc
            fmi        2.0 or 3.0
            march      processors to build the native FMU for: native (this one) or x86-64-v3; default all
            omc        path of the omc to use, or docker:IMAGE
            timeout    of omc and of rumoca's run, s
            command    line that repeats the run, for the report

        Raises GpmelicaError if the model cannot be built or the reference fails; a failed run of a backend is
        in the report.
        """
        from ..runs.compare.result import withdraw_verdict
        from ..tasks import run

        withdraw_verdict(self.folder(out))
        one_of("fmi", fmi, FMI_VERSIONS)
        if tolerance is not None:
            above_zero("tolerance", tolerance)
        compilers = _compilers(compiler, omc, timeout)
        _check_march(march, compilers, fmi)
        options = run.Options(
            self.folder(out),
            self.case or "",
            command,
            tolerance,
            rumoca,
            compilers,
            self.inputs(inputs),
            fmi,
            march,
        )
        return run.run(self.prepared, options, progress)

    def statics(self) -> dict[str, float]:
        """Coordinate → its value in the equilibrium of base, beams and joints that are not locked, rad or m.

        >>> round(load("examples/four_bar_3d.toml").statics()["rocker.angle"], 4)
        1.4905
        """
        try:
            q = analysis.equilibrium(analysis.Model(self._numbers))
        except SolveError as error:
            raise DescriptionError(self.source, str(error)) from None
        return {c.name: float(value) for c, value in zip(self.coordinates, q, strict=True)}

    def reactions(self) -> analysis.Reactions:
        """Return which joint reactions of a model of rigid bodies are unique; raises SolveError.

        >>> load("examples/four_bar_3d.toml").reactions().redundancy
        3
        """
        return self.prepared.reactions

    def loads(self, inputs: Inputs | None = None, progress: Progress = silent) -> LoadSummary:
        """Return root mean square and peak of the joint reactions over a run of the reference solver.

        Parameters:
            inputs  of the FMU over time: a CSV file, or arrays by name, `time` (s) among them; default zero

        >>> found = load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).loads()
        >>> sorted(found.joints["crank"])
        ['axial', 'fx', 'fy', 'fz', 'normal', 'nx', 'ny', 'nz']
        """
        from ..tasks.loads import loads as sum_up_loads

        return sum_up_loads(self.prepared, partial(progress, "reference solver"), self.inputs(inputs))

    def linearize(
        self,
        *,
        time: float | None = None,
        state: Path | str | Mapping[str, Any] | None = None,
        equilibrium: bool = False,
        trim: bool = False,
        inputs: Inputs | None = None,
        outputs: str | Sequence[str] | None = None,
        full: bool = False,
        progress: Progress = silent,
    ) -> StateSpace:
        """Linear model near one state, by the exact derivatives of the native FMU; default about the start.

        Its states are independent coordinates and their rates, so that constraints have no poles in it.

        Parameters:
            time         of the run, s, whose state it is about
            state        it is about: a JSON file, or `{"t": 0.0, "q": […], "qd": […], "z": […]}`
            equilibrium  whether it is about the one that `statics` finds
            trim         whether it is about a rest that the inputs hold: joints in `statics.locked` stay where
                         they are, the others and the inputs are found
            inputs       of the FMU over time: a CSV file, or arrays by name, `time` (s) among them; default zero
            outputs      names of the ones to have; default all but the norms of violation
            full         all states of the equations instead, with the poles of what stabilises the constraints

        Raises DescriptionError for a state that is none, SolveError where the equations have no solution,
        MissingToolError without a C compiler.

        >>> found = load("examples/four_bar_3d.toml").linearize()
        >>> found.states
        ('coupler_angle', 'coupler_angle_dot')
        """
        from ..linear import Where, linearize

        path = Path(state) if isinstance(state, str) else state
        where = Where(time, path, equilibrium, trim)
        table = self.inputs(inputs)
        names = None if outputs is None else several(outputs)
        return linearize(self.prepared, where, table, outputs=names, full=full, progress=progress)

    def modes(
        self,
        *,
        time: float | None = None,
        state: Path | str | Mapping[str, Any] | None = None,
        equilibrium: bool = False,
        trim: bool = False,
        inputs: Inputs | None = None,
        progress: Progress = silent,
    ) -> Modes:
        """Frequencies, damping ratios and shapes of the linear model near one state, the slowest first.

        See `linearize`, whose model has them too, as `Modes.linear` has it. `Modes.animate` shows them.
        """
        from ..linear import Modes

        linear = self.linearize(
            time=time, state=state, equilibrium=equilibrium, trim=trim, inputs=inputs, progress=progress
        )
        return Modes(linear, self.prepared, self.case or "")

    def modes_along(
        self,
        key: str,
        values: ArrayLike,
        *,
        time: float | None = None,
        state: Path | str | Mapping[str, Any] | None = None,
        equilibrium: bool = False,
        trim: bool = False,
        inputs: Inputs | None = None,
        progress: Progress = silent,
    ) -> ModeTracks:
        """Modes at several values of a key, or at times of the run, each followed by its shape.

        Parameters:
            key     `t`, time of the run in s; a name of `[parameters]`; or a dotted key of the description
            values  that it takes one after the other, rising or falling, shape (K,)
            time, state, equilibrium, trim, inputs  at each value of a key, see `linearize`

        Equations that are the same but for numbers are compiled once.
        Raises DescriptionError for a key, values or a state that are none, SolveError where the equations have no
        solution.
        """
        from ..linear import Where, modes_along

        where = Where(time, Path(state) if isinstance(state, str) else state, equilibrium, trim)
        numbers = np.asarray(values, dtype=float).ravel().tolist()
        return modes_along(self.prepared, self.source, key, numbers, where, self.inputs(inputs), progress)

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
        names, stop = [entry.name for entry in self.prepared.program.inputs], self.description.simulation.stop
        if given is None:
            return None
        if isinstance(given, str | Path):
            return read_inputs(Path(given), names, stop)
        if not hasattr(given, "items"):  # a table of pandas has them, and is no mapping
            text = f"expected a CSV file, or arrays by name, time among them, got {type(given).__name__}"
            raise DescriptionError("inputs", text)
        return given_inputs(dict(given.items()), names, stop)


def one_of(what: str, value: str, known: Sequence[str]) -> None:
    """Raise DescriptionError if the value is none that is known."""
    if value not in known:
        raise DescriptionError(what, f"expected one of {', '.join(known)}, got {value!r}")


def above_zero(what: str, value: float) -> None:
    """Raise DescriptionError if the number is not."""
    if not 0.0 < value < math.inf:
        raise DescriptionError(what, f"expected a number above 0, got {value:g}")


def _compilers(choice: str, omc: str | None, timeout: float) -> Compilers:
    from ..fmu.backends.backend import CHOICES, choose

    one_of("compiler", choice, CHOICES)
    above_zero("timeout", timeout)
    return choose(choice, omc, timeout)


def _check_march(march: str, compilers: Compilers, fmi: str, systems: Sequence[Platform] = ()) -> None:
    from ..fmu.compilers.binaries import toolchains

    if march and not any(backend.cross for backend in compilers.backends):
        wanted = f"{compilers.backends[0].name} does not choose processors; take the compiler native"
        raise DescriptionError("march", wanted)
    if march:
        toolchains(fmi, systems, march)


def _systems(platforms: str | Sequence[str], fmi: str) -> tuple[Platform, ...]:
    from ..fmu.compilers.platforms import named

    one_of("fmi", fmi, FMI_VERSIONS)
    return named(several(platforms), fmi)
