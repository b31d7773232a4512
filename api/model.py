"""Model of a mechanism, with one method for each task, such as `simulate` and `build`.

The import of compilers and solvers takes about a second. Each method therefore imports them when it
is called.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import analysis, mechanism
from ..analysis.system import System, assemble_system
from ..core.errors import DescriptionError, SolveError
from ..core.html_table import html_lines, html_table
from ..core.recalled import reusing
from ..description import Description
from ..description import load as read
from ..description.load import from_data, tables_of
from ..language.suggest import several
from ..options.checks import FMI_VERSIONS, above_zero, one_of
from ..options.common import Inputs
from ..options.keywords import taking
from ..options.linear import LinearizeOptions, ModesAlongOptions, StateOptions
from ..options.model import BuildOptions, MotionOptions, RunOptions, SimulateOptions, SplitOptions, SspOptions
from ..runs.fmpy_runs.inputs import InputTable, inputs_of
from ..tasks.check import Summary
from .results import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.progress import Progress
    from ..core.trajectory import Trajectory
    from ..cutting.split import Split
    from ..fmu.backends.fmu import Fmu
    from ..linear import Modes, ModeTracks, StateSpace
    from ..runs.compare.context import RunReport
    from ..tasks.loads import LoadSummary

SOLVERS = ("reference", "fmu")


def load(path: Path | str, case: str | None = None, **changes: Any) -> Model:
    """Read and check the description of a mechanism, apply one of its cases, then change keys.

    Parameters
    ----------
    path
        TOML file of the description. SI units, angles in rad.
    case
        Name of one of the `[[cases]]` of the description. Default: the description without a case.
    **changes
        Keys of the description and their new values, applied after the case. A mapping changes only the
        given keys of a table; any other value replaces the old value. Dotted keys work as in
        `[[cases]]`.

    Returns
    -------
    Model
        Mechanism of the description.

    Raises
    ------
    DescriptionError
        If the file or a change is invalid; the error contains all problems.

    Examples
    --------
    >>> import gpmelica as gp
    >>> model = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.1})
    >>> model.description.simulation.stop
    0.1
    >>> try:
    ...     gp.load("examples/four_bar_3d.toml", **{"links.crank.mas": 2.0})
    ... except gp.DescriptionError as error:
    ...     print(error.problems[0].where, error.problems[0].message, sep=": ")
    changes: lead to links[0].mas (crank): unknown key; did you mean 'mass'?
    """
    return Model(read(path, case, changes), str(path), case)


@dataclass(frozen=True)
class Model:
    """Mechanism of a description, with one method for each task.

    Parameters
    ----------
    description
        Validated tables of the description, after the case and the changes were applied; immutable.
    source
        Name of the description file, for error messages.
    case
        Name of the case that was applied, or None.
    notes
        Changes and omissions of an import from another file format, one sentence each.

    Examples
    --------
    >>> import gpmelica as gp
    >>> model = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.1})
    >>> model
    <Model FourBar3D of examples/four_bar_3d.toml>
    >>> model.simulate()["crank_angle"].shape
    (11,)
    >>> round(model.modes(equilibrium=True)[0].damped_frequency, 2)
    0.66
    """

    description: Description
    source: str = "description"
    case: str | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Model {self.name} of {self.source}{f', case {self.case}' if self.case else ''}>"

    def _repr_html_(self) -> str:
        """Return a table of the mechanism's links, joints and other elements as HTML.

        The equations of motion are not derived for this table, so notebooks show it at once.
        """
        description = self.description
        parts = (
            ("links", [link.name for link in description.links]),
            ("coordinates", [c.name for c in self.coordinates]),
            ("points", list(description.points)),
            ("parameters", list(description.parameters)),
            ("cases", [case.name for case in description.cases]),
        )
        rows = [(name, float(len(members)), ", ".join(members)) for name, members in parts if members]
        told = [text for text in (description.description,) if text]
        return html_lines(repr(self).strip("<>"), *told) + html_table(("part", "number", "names"), rows)

    @property
    def name(self) -> str:
        """Name of the Modelica model and of the FMU."""
        return self.description.name

    @cached_property
    def prepared(self) -> System:
        """Equations of motion with initial state and coordinate partition, derived at the first use.

        Raises
        ------
        DescriptionError
            If no consistent initial state exists, or if the prescribed motion is impossible from the
            initial state.
        """
        return assemble_system(self.description, self.source)

    def check(self) -> Summary:
        """Summarise bodies, coordinates, constraint equations and the initial state.

        Returns
        -------
        Summary
            Tables for `print`; the method `data` returns the same facts as plain data.

        Raises
        ------
        DescriptionError
            If no consistent initial state exists.

        Examples
        --------
        >>> import gpmelica as gp
        >>> facts = gp.load("examples/four_bar_3d.toml").check().data()
        >>> facts["n"], facts["rank"], facts["dof"]
        (3, 2, 1)
        """
        return Summary(self.prepared)

    def modelica(self, *, drives: bool = False) -> str:
        """Return the Modelica source of the equations of motion.

        Parameters
        ----------
        drives
            Whether to return the package `NameDrives` instead of the model `Name`. Modelica tools need the
            model to be loaded before the package. The model `NameDrives.Drive` has flanges and signal
            connectors of the Modelica Standard Library; see docs/openmodelica.md.

        Returns
        -------
        str
            Contents of the Modelica file.

        Raises
        ------
        DescriptionError
            If no consistent initial state exists.

        Examples
        --------
        >>> import gpmelica as gp
        >>> source = gp.load("examples/four_bar_3d.toml").modelica()
        >>> "M[1,1] = S[1,:]*P[1,:];" in source
        True
        """
        return self.prepared.modelica_drives() if drives else self.prepared.modelica()

    @taking(BuildOptions)
    def build(self, options: BuildOptions) -> Fmu:
        """Write the Modelica model `Name.mo`, the script `Name.mos` and the compiled `Name.fmu`.

        Returns
        -------
        Fmu
            Path, compiler and validation of the FMU.

        Raises
        ------
        DescriptionError
            If an option is invalid.
        MissingToolError
            If no compiler is installed.
        BuildError
            If a compiler rejects the generated source.

        Examples
        --------
        >>> import gpmelica as gp
        >>> fmu = gp.load("examples/four_bar_3d.toml").build("four_bar", compiler="native")
        >>> fmu.path.name, fmu.problems
        ('FourBar3D.fmu', ())
        """
        from ..tasks.build import build, checked

        made_by = checked(options)
        return build(self.prepared, replace(options, out=self.folder(options.out)), made_by)

    @taking(SspOptions)
    def ssp(self, options: SspOptions) -> Path:
        """Write `Name.fmu` and the SSP archive `Name.ssp`, which contains this FMU and a controller.

        If no controller is given, the archive contains a placeholder for a controller.

        Returns
        -------
        Path
            Path of the archive.

        Raises
        ------
        DescriptionError
            If an option is invalid, or if plant and controller do not match.
        MissingToolError
            If no C compiler is installed.
        BuildError
            If the compiler rejects the generated source.

        Examples
        --------
        >>> import gpmelica as gp
        >>> gp.load("examples/four_bar_3d.toml").ssp("four_bar").name
        'FourBar3D.ssp'
        """
        from ..exchange.ssp.system import write_ssp
        from ..runs.fmpy_runs.opening import read_fmu
        from ..tasks.build import build_native

        one_of("fmi", options.fmi, FMI_VERSIONS)
        controller = None if options.controller is None else Path(options.controller)
        if controller is not None:
            read_fmu(controller)
        folder = self.folder(options.out)
        fmu = build_native(self.prepared, folder, options.progress, options.fmi, march=options.march)
        return write_ssp(fmu.path, folder, controller, several(options.connect))

    @taking(SplitOptions)
    def split(self, options: SplitOptions) -> Split:
        """Cut the mechanism into parts for co-simulation; write descriptions and SSP archives of the parts.

        The tutorial `docs/tutorials/two_parts.md` shows how to run the parts together.

        Returns
        -------
        Split
            Paths of the archives and descriptions; stiffness, damping and preload of the bushings
            (spring-dampers in place of joints); notes.

        Raises
        ------
        DescriptionError
            If a joint, loop closure or two-point force element cannot be cut, or if another
            connection joins the two sides of a cut.
        MissingToolError
            If there is no C compiler.
        """
        from ..cutting.split import split

        return split(self.prepared, replace(options, out=self.folder(options.out)), self.source)

    @taking(SimulateOptions)
    def simulate(self, options: SimulateOptions) -> Run:
        """Simulate the mechanism by one solver.

        The stored result of an identical earlier simulation is reused; see docs/reuse.md.

        Returns
        -------
        Run
            Signals at the output times, each of shape (N,).

        Raises
        ------
        DescriptionError
            If the inputs or options are invalid.
        SolveError
            If the integration cannot continue; the message contains the time in s.
        MissingToolError
            If the solver is `fmu` and no C compiler is installed.

        Examples
        --------
        >>> import gpmelica as gp
        >>> gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).simulate()
        <Run reference: 17 signals at 3 times to 0.02 s>
        """
        one_of("solver", options.solver, SOLVERS)
        model = self if options.stop is None else self._until(options.stop)
        given = model.inputs(options.inputs)
        with reusing(options.fresh):
            run = _solver(options.solver)(model.prepared, given, options.progress)
        return Run(run, model.prepared.units, model.prepared, given)

    def _until(self, stop: float) -> Model:
        above_zero("stop", stop)
        tables, changes = tables_of(self.description), {"simulation.stop": float(stop)}
        return replace(self, description=from_data(tables, None, self.source, changes))

    def draw(self, out: Path | str | None = None) -> list[Path]:
        """Draw the mechanism in its initial state as `drawing.png`, `drawing.svg` and `drawing.html`.

        Parameters
        ----------
        out
            Folder of the drawings. Default: `Name`, the name of the model, or `Name_CASE` if a case is
            applied.

        Returns
        -------
        list of Path
            Paths of the three files.

        Raises
        ------
        DescriptionError
            If the file of a mesh is missing or invalid.

        Examples
        --------
        >>> import gpmelica as gp
        >>> [path.name for path in gp.load("examples/four_bar_3d.toml").draw("four_bar")]
        ['drawing.png', 'drawing.svg', 'drawing.html']
        """
        from .. import scene
        from ..report.animation import write_drawing

        return write_drawing(self.folder(out), scene.still(self.prepared.problem))

    @taking(RunOptions)
    def run(self, options: RunOptions) -> RunReport:
        """Build the model, simulate it by all available solvers, compare the results, and write a report.

        The folder contains the Modelica model, the FMUs, `result.json` and `report.html`. If the
        reference solver succeeds and another solver fails, no exception is raised; the report
        contains the reason.

        Returns
        -------
        RunReport
            Verdict, comparisons and runs.

        Raises
        ------
        GpmelicaError
            If the model cannot be built, or if the reference solver fails.

        Examples
        --------
        >>> import gpmelica as gp
        >>> model = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.1})
        >>> report = model.run("four_bar", compiler="native", rumoca=False)
        >>> report.ok
        True
        >>> [comparison.name for comparison in report.comparisons]
        ['reference', 'fmu-native-me', 'fmu-native-cs', 'oracle']
        """
        from ..tasks import run

        folder = self.folder(options.out)
        compilers = run.begin(options, folder)
        return run.verify(self.prepared, options, folder, compilers, self.case or "")

    def statics(self) -> dict[str, float]:
        """Return the coordinates in static equilibrium.

        Base, beams and joints move to the equilibrium; joints in `statics.locked` keep their positions.

        Returns
        -------
        dict of str to float
            Values of all coordinates by name, rad or m.

        Raises
        ------
        DescriptionError
            If no equilibrium is found.

        Examples
        --------
        >>> import gpmelica as gp
        >>> round(gp.load("examples/four_bar_3d.toml").statics()["rocker.angle"], 4)
        1.4905
        """
        try:
            q = analysis.equilibrium(analysis.ReferenceModel(self._numbers))
        except SolveError as error:
            raise DescriptionError(self.source, str(error)) from None
        return {c.name: float(value) for c, value in zip(self.coordinates, q, strict=True)}

    def reactions(self) -> analysis.Reactions:
        """Find out which joint reactions are unique in a model of rigid bodies.

        Redundant constraints make some reactions indeterminate [1]_.

        Returns
        -------
        Reactions
            Rank of the constraint Jacobian; for each joint, whether the reactions are unique.

        Raises
        ------
        SolveError
            If the numerical rank is ambiguous.

        References
        ----------
        .. [1] Wojtyra and Frączek 2013, see docs/bibliography.md.

        Examples
        --------
        >>> import gpmelica as gp
        >>> gp.load("examples/four_bar_3d.toml").reactions().redundancy
        3
        """
        return self.prepared.reactions

    @taking(MotionOptions)
    def loads(self, options: MotionOptions) -> LoadSummary:
        """Simulate by the reference solver, and return root mean square and peak of each joint reaction.

        Returns
        -------
        LoadSummary
            Forces in N and moments in N·m, by names of joints, drives, supports, closures and knife edges.

        Raises
        ------
        DescriptionError
            If the inputs are invalid.
        SolveError
            If the integration cannot continue.

        Examples
        --------
        >>> import gpmelica as gp
        >>> found = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).loads()
        >>> sorted(found.joints["crank"])
        ['axial', 'fx', 'fy', 'fz', 'normal', 'nx', 'ny', 'nz']
        """
        from ..tasks.loads import loads as sum_up_loads

        return sum_up_loads(self.prepared, options)

    @taking(LinearizeOptions)
    def linearize(self, options: LinearizeOptions) -> StateSpace:
        """Linearise the equations of motion about one state by the exact derivatives of the native FMU.

        The states are independent coordinates and their rates, so the matrix A has no eigenvalues that come
        from the constraints. The default operating point is the initial state.

        Returns
        -------
        StateSpace
            Matrices A, B, C and D with names and units.

        Raises
        ------
        DescriptionError
            If the operating point is invalid.
        SolveError
            If the equations have no solution at the operating point.
        MissingToolError
            If no C compiler is installed.

        Examples
        --------
        >>> import gpmelica as gp
        >>> linear = gp.load("examples/four_bar_3d.toml").linearize()
        >>> linear.states
        ('coupler_angle', 'coupler_angle_dot')
        """
        from ..linear import linearize

        return linearize(self.prepared, options)

    @taking(StateOptions)
    def modes(self, options: StateOptions) -> Modes:
        """Return eigenfrequencies, damping ratios and mode shapes about one state, lowest frequency first.

        Returns
        -------
        Modes
            Sequence of `Mode`. `Modes.linear` is the linear model, and `Modes.animate` shows the motion.

        Raises
        ------
        DescriptionError
            If the operating point is invalid.
        SolveError
            If the equations have no solution at the operating point.
        MissingToolError
            If no C compiler is installed.

        Examples
        --------
        >>> import gpmelica as gp
        >>> modes = gp.load("examples/four_bar_3d.toml").modes(equilibrium=True)
        >>> len(modes), round(modes[0].damping, 2)
        (1, 0.65)
        """
        from ..linear import Modes, linearize

        return Modes(linearize(self.prepared, LinearizeOptions(**vars(options))), self.prepared, self.case or "")

    @taking(ModesAlongOptions)
    def modes_along(self, options: ModesAlongOptions) -> ModeTracks:
        """Track modes over values of a key of the description, or over times of a simulation.

        Modes at neighbouring values are matched by their shapes. Models that differ only in numbers
        share one compiled FMU.

        Returns
        -------
        ModeTracks
            Eigenvalues and shapes of each mode at each value.

        Raises
        ------
        DescriptionError
            If the key, a value or the operating point is invalid.
        SolveError
            If the equations have no solution at one of the values.
        MissingToolError
            If no C compiler is installed.

        Examples
        --------
        >>> import gpmelica as gp
        >>> model = gp.load("examples/four_bar_3d.toml")
        >>> tracks = model.modes_along("links.crank.mass", [1.0, 2.0], equilibrium=True)
        >>> tracks.frequency.shape
        (2, 1)
        """
        from ..linear import modes_along

        return modes_along(self.prepared, self.source, options)

    @property
    def coordinates(self) -> tuple[mechanism.Coordinate, ...]:
        """Generalised coordinates in their order in the state vector. Each coordinate has a name and a unit."""
        return self._numbers.coordinates

    @cached_property
    def _numbers(self) -> mechanism.Mechanism:
        return mechanism.build(self.description)

    def folder(self, out: Path | str | None) -> Path:
        """Return the folder of result files.

        Parameters
        ----------
        out
            Folder. Default: `Name`, the name of the model, or `Name_CASE` if a case is applied.

        Returns
        -------
        Path
            Folder, which need not exist.

        Examples
        --------
        >>> import gpmelica as gp
        >>> gp.load("examples/four_bar_3d.toml", case="planar").folder(None).name
        'FourBar3D_planar'
        """
        return Path(out or (f"{self.name}_{self.case}" if self.case else self.name))

    def inputs(self, given: Inputs | None) -> InputTable | None:
        """Read and check the inputs of the FMU over time.

        Parameters
        ----------
        given
            CSV file, or arrays by name with the times `time` in s; None for no inputs.

        Returns
        -------
        InputTable or None
            Inputs in the units of the FMU, interpolated linearly between the given times.

        Raises
        ------
        DescriptionError
            If the file or an array is invalid; the error contains all problems.

        Examples
        --------
        >>> import gpmelica as gp
        >>> print(gp.load("examples/four_bar_3d.toml").inputs(None))
        None
        """
        return inputs_of(self.prepared, given)


def _solver(name: str) -> Callable[[System, InputTable | None, Progress], Trajectory]:
    if name == "fmu":
        from ..tasks.fmu_simulation import fmu_simulation

        return fmu_simulation
    from ..tasks.reference_run import reference_run

    return reference_run
