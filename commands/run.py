"""The main job: everything runs a description, and all of it is held against the reference."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from .. import reference
from .._version import __version__
from ..errors import BuildError, SolveError
from ..fmu.backends import rumoca as rumoca_backend
from ..fmu.backends.backend import Compilers, Fmu, build_native, build_openmodelica, write_modelica
from ..fmu.compare.compare import Comparison, compare
from ..fmu.compare.context import RunReport
from ..fmu.compare.result import write_result
from ..fmu.files.csv_file import write_csv
from ..fmu.report.report import write_report
from ..fmu.runs import simulate as runs
from ..fmu.runs.inputs import InputTable
from ..generator import modelica
from ..generator.description.tables.settings import Simulation
from ..prepared import Prepared
from ..trajectory import Trajectory
from . import reactions

TOLERANCE = 1e-6  # of each signal's range, FMU against reference
RUMOCA_TOLERANCE = 1e-5
OMC_CS_TOLERANCE = 1e-4  # CVODE restarts at every communication step
_OMC_STEP = 1e-3  # s, communication step of omc's co-simulation
_RUMOCA_BUDGET = 12.0  # s of wall time; rumoca interprets the model
_SOLVER_MARGIN = 0.1  # all solvers are asked for so much more accuracy than the description wants
_RESTART_MARGIN = 100.0  # of FMPy's CVODE's tolerance: a smaller violation is not worth its restart at order 1

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Options:
    """What to run and where to leave it.

    Parameters:
        out        folder for all files
        case       name of the case, for the report
        command    command line that repeats the run, for the report
        tolerance  admissible error of the FMU, relative to each signal's range
        rumoca     whether to run the Modelica text in rumoca, if it is installed
        compilers  what makes the FMUs
        inputs     of the FMU over time; zero without it
        fmi        version of the standard that the FMUs follow, 2.0 or 3.0
    """

    out: Path
    case: str = ""
    command: str = ""
    tolerance: float = TOLERANCE
    rumoca: bool = True
    compilers: Compilers = field(default_factory=Compilers)
    inputs: InputTable | None = None
    fmi: str = "2.0"


def run(model: Prepared, options: Options, progress: Progress = lambda what, fraction: None) -> RunReport:
    """Modelica, FMUs, reference, comparison, figures; writes them all below `options.out`.

    Raises GpmelicaError if the model cannot be built or the reference fails; a failed run of a backend is
    reported, not raised.
    """
    write_modelica(model, options.out)
    fmus = _fmus(model, options, progress)
    truth = reference_run(model, options.inputs, progress)
    report = _report(model, options, truth, _attempts(model, fmus, options, progress), fmus)
    for trajectory in (truth, *report.runs):
        write_csv(options.out / f"{trajectory.name}.csv", trajectory)
    write_result(options.out, report)
    write_report(options.out, report, lambda title: progress("drawing the report", 0.0))
    return report


def build(model: Prepared, out: Path, progress: Callable[[str], None] | None = None) -> Path:
    """Write the Modelica text and the native `Name.fmu`; returns the FMU's path."""
    write_modelica(model, out)
    return build_native(model, out, progress).path


def step_notes(simulation: Simulation, modes: Sequence[reference.Mode]) -> tuple[str, ...]:
    """What to say of a fixed step that is too long for the stiffest of the modes; nothing if it is not."""
    longest = min((mode.longest_rk4_step for mode in modes), default=np.inf)
    if simulation.method != "RK4" or simulation.step <= longest:
        return ()
    return (
        f"simulation.step = {simulation.step:g} s is too long for RK4, which is stable up to about {longest:.2g} s"
        f" by the mode of {modes[0].coordinate} ({modes[0].frequency:.3g} Hz, time constant"
        f" {modes[0].time_constant:.2g} s); take a shorter step or another method",
    )


def _modes(model: Prepared) -> tuple[reference.Mode, ...]:
    return reference.modes(model.mechanism, start=model.start)


def reference_run(model: Prepared, inputs: InputTable | None, progress: Progress) -> Trajectory:
    """The reference solver's run, with the magnitudes of its signals.

    Raises SolveError, with what to change where the step is too long.
    """
    functions = None if inputs is None else inputs.functions()
    try:
        run = reference.simulate(
            model.mechanism,
            start=model.start,
            tolerance=model.chain.simulation.tolerance * _SOLVER_MARGIN,
            inputs=functions,
            progress=lambda fraction: progress("reference solver", fraction),
        )
        return replace(run, natural=reference.magnitudes(model.mechanism, run, model.start, functions))
    except SolveError as error:
        raise SolveError("; ".join([str(error), *step_notes(model.chain.simulation, _modes(model))])) from None


def _fmus(model: Prepared, options: Options, progress: Progress) -> list[Fmu]:
    """OpenModelica's FMU where there is an omc, and the native one; the first is `Name.fmu` in the folder."""
    made, compilers = [], options.compilers
    if compilers.omc is not None:
        made.append(
            build_openmodelica(
                model, options.out, compilers, options.fmi, lambda what: progress(f"omc: {what}", 0.0)
            )
        )
    if compilers.native:
        folder = options.out / "native" if made else options.out
        made.append(build_native(model, folder, lambda name: progress("compiling the FMU", 0.0), options.fmi))
    return made


@dataclass(frozen=True)
class _Attempt:
    """A run's trajectory, or why there is none."""

    name: str
    tolerance: float
    trajectory: Trajectory | None
    failure: str = ""

    def comparison(self, truth: Trajectory, units: dict[str, str]) -> Comparison:
        if self.trajectory is None:
            return Comparison.failed(self.name, self.tolerance, self.failure)
        return compare(truth, self.trajectory, units, self.tolerance, complete=True)


def _attempt(name: str, tolerance: float, action: Callable[[], Trajectory]) -> _Attempt:
    try:
        return _Attempt(name, tolerance, action())
    except (SolveError, BuildError) as error:
        return _Attempt(name, tolerance, None, str(error))


def _attempts(model: Prepared, fmus: list[Fmu], options: Options, progress: Progress) -> list[_Attempt]:
    modes: tuple[runs.Mode, ...] = ("me", "cs")
    attempts = []
    for fmu in fmus:
        for mode in modes:
            omc_steps = fmu.backend == "openmodelica" and mode == "cs"
            tolerance = max(options.tolerance, OMC_CS_TOLERANCE) if omc_steps else options.tolerance
            name = f"fmu-{fmu.backend}-{mode}"
            attempts.append(
                _attempt(name, tolerance, partial(_fmu_run, model, fmu, mode, name, options.inputs, progress))
            )
    if _runs_rumoca(options):
        progress("Modelica text in rumoca", 0.0)
        attempts.append(_attempt("modelica-rumoca", RUMOCA_TOLERANCE, partial(_rumoca_run, model)))
    return attempts


def _runs_rumoca(options: Options) -> bool:
    return options.rumoca and rumoca_backend.available() and options.inputs is None


def _fmu_run(
    model: Prepared, fmu: Fmu, mode: runs.Mode, name: str, inputs: InputTable | None, progress: Progress
) -> Trajectory:
    simulation = model.chain.simulation
    omc = fmu.backend == "openmodelica"
    # omc's CVODE has no step control across communication steps and gives up after 1000 steps in one of them
    every = max(round(simulation.output_step / _OMC_STEP), 1) if omc and mode == "cs" else 1
    tolerance = simulation.tolerance * _SOLVER_MARGIN
    restarts = model.program.projections and mode == "me" and not omc
    trajectory = runs.simulate(
        fmu.path,
        mode,
        list(model.units),
        name=name,
        stop=simulation.stop,
        output_step=simulation.output_step / every,
        tolerance=tolerance,
        parameters={"projection_tolerance": _RESTART_MARGIN * tolerance} if restarts else None,
        inputs=inputs,
        progress=lambda fraction: progress(f"FMPy, {name}", fraction),
    )
    # at a switching time omc may report what was before it or what is after
    return _thinned(trajectory, every, _switching_times(model) if omc else [])


def _switching_times(model: Prepared) -> list[float]:
    numbers = reference.Model(model.mechanism, start=model.start)
    return [float(t) for t in numbers.stops(model.chain.simulation.stop)]


def _thinned(trajectory: Trajectory, every: int, without: list[float]) -> Trajectory:
    """Every so many samples, but none at the times `without`."""
    kept = np.zeros(len(trajectory.time), dtype=bool)
    kept[::every] = True
    for t in without:
        kept &= np.abs(trajectory.time - t) > 1e-9 * max(t, 1.0)
    signals = {name: values[kept] for name, values in trajectory.signals.items()}
    return replace(trajectory, time=trajectory.time[kept], signals=signals)


def _rumoca_run(model: Prepared) -> Trajectory:
    simulation = model.chain.simulation
    # the variant without inputs: rumoca cannot be given any yet, and without a user they are zero
    text = model.modelica(start_values=model.start_values())
    return rumoca_backend.CompiledModel(text, modelica.experiment(model.name)).simulate(
        list(model.units),
        stop=simulation.stop,
        output_step=simulation.output_step,
        # as tight as rumoca is fast, but no looser than a description that asks for more than usual
        tolerance=min(max(simulation.tolerance, 1e-8), 10.0 * simulation.tolerance),
        budget=_RUMOCA_BUDGET,
    )


def _report(
    model: Prepared, options: Options, truth: Trajectory, attempts: list[_Attempt], fmus: list[Fmu]
) -> RunReport:
    name, modes = model.name, _modes(model)
    own = compare(truth, truth, model.units, options.tolerance)
    comparisons = [own, *(attempt.comparison(truth, model.units) for attempt in attempts)]
    trajectories = [attempt.trajectory for attempt in attempts if attempt.trajectory is not None]
    determinant = (truth.extra["min_det"], truth.extra["min_det_time"]) if model.rows else None
    return RunReport(
        mechanism=model.mechanism,
        case=options.case,
        reference=truth,
        runs=tuple(trajectories),
        comparisons=tuple(comparisons),
        units=model.units,
        tolerance=options.tolerance,
        constraints=model.rows,
        dependent=model.dependent,
        dof=model.degrees_of_freedom,
        smallest_determinant=determinant,
        poses=partial(reference.poses, model.mechanism),
        friction=partial(reference.friction_efforts, model.mechanism),
        modes=modes,
        targets=reference.programmed_target(model.mechanism, truth),
        compilers=_versions(fmus),
        command=options.command,
        files={
            f"{name}.mo": "the model as Modelica text",
            f"{name}.mos": "script for omc that simulates and plots it",
            **{
                str(fmu.path.relative_to(options.out)): f"FMU {options.fmi} by {fmu.backend}, both modes"
                for fmu in fmus
            },
            "result.json": "this verdict, for scripts",
            "reference.csv": "the reference solver's signals",
            **{f"{t.name}.csv": f"signals of {t.name}" for t in trajectories},
        },
        facts={
            "equations": model.program.formulation,
            **reactions.redundancy_of(model),
            **{f"FMU, {fmu.backend}": fmu.facts() for fmu in fmus},
        },
        notes=(
            *(f"FMPy on the FMU by {fmu.backend}: {problem}" for fmu in fmus for problem in fmu.problems),
            *step_notes(model.chain.simulation, modes),
            *_input_notes(options),
            *_projection_notes(model),
            *reactions.warnings_of(model),
        ),
        doubts=reactions.doubts(model),
    )


def _projection_notes(model: Prepared) -> tuple[str, ...]:
    """Who projects: without Baumgarte's terms the others' violations grow with their errors."""
    if not model.program.projections:
        return ()
    keys = model.chain.constraints
    held = f"Baumgarte's terms, alpha = {keys.alpha:g}, beta = {keys.beta:g}"
    if keys.formulation == "gpme_reduced":
        held = f"position feedback, kappa = {keys.kappa:g}"
    return (
        "projection = true: the native FMU projects after each step of a solver (in model exchange where a"
        f" violation exceeds {_RESTART_MARGIN:g} times CVODE's tolerance, which starts anew then); the reference,"
        f" the Modelica text and an FMU by OpenModelica only start on the constraints and then have {held}",
    )


def _input_notes(options: Options) -> tuple[str, ...]:
    if options.inputs is None or not options.rumoca or not rumoca_backend.available():
        return ()
    return ("the Modelica text was not run in rumoca, which takes no inputs over time yet",)


def _versions(fmus: list[Fmu]) -> dict[str, str]:
    versions = {"gpmelica": __version__, "Python": platform.python_version()}
    versions |= {package: version(package) for package in ("FMPy", "casadi", "numpy", "scipy")}
    versions |= {"C compiler" if fmu.backend == "native" else "omc": fmu.compiler for fmu in fmus}
    if rumoca_backend.available():
        versions["rumoca"] = rumoca_backend.version()
    return versions
