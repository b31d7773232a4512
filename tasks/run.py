"""Verification of a description by simulations.

Runs of the FMUs and of the Modelica source are compared with the reference solver and with the
oracle. The oracle is a second independent solver.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

from .. import analysis, plausibility
from ..analysis.system import System
from ..browser import LivePart, check_compiler, live_part
from ..core.csv_file import write_csv
from ..core.errors import SolveError
from ..core.progress import renamed
from ..core.recalled import object_folder, reusing
from ..core.trajectory import Trajectory
from ..core.version import __version__
from ..core.workers import beside
from ..fmu.backends.backend import Compilers, write_modelica
from ..fmu.backends.fmu import Fmu, Order
from ..fmu.compilers.kept import kept_objects
from ..options.checks import FMI_VERSIONS, above_zero, one_of
from ..options.model import RunOptions
from ..runs import rumoca
from ..runs.attempts import RESTART_MARGIN, Attempt, fmu_attempts, rumoca_attempt
from ..runs.compare.compare import Comparison, compare
from ..runs.compare.context import RunReport
from ..runs.compare.findings import consistency, holding
from ..runs.compare.result import withdraw_verdict, write_result
from ..runs.fmpy_runs.inputs import InputTable, inputs_of, problem_with
from . import agreement, reactions, second_opinion
from .build import check_march, compilers_of, documents
from .reference_run import reference_runs, step_notes

TOLERANCE = 1e-6  # Default admissible error, relative to each signal's scale.
_GROWTH = 100.0  # A solver's error is assumed to be at most this multiple of its relative tolerance.
_LOOSEST = 1e-2  # Largest admissible error; with larger errors, agreement would mean nothing.


@dataclass(frozen=True)
class RunPlan:
    """Options of a run after checks, with default values that depend on the model.

    Attributes
    ----------
    options
        Options as the user gave them.
    case
        Name of the case, for the report.
    out
        Folder for all files.
    compilers
        Compilers of the FMUs.
    inputs
        Inputs of the FMU over time; None if all inputs are zero.
    tolerance
        Admissible error relative to each signal's scale, as returned by `granted`.
    """

    options: RunOptions
    case: str
    out: Path
    compilers: Compilers
    inputs: InputTable | None
    tolerance: float


def begin(options: RunOptions, out: Path) -> Compilers:
    """Remove the verdict of an earlier run in a folder, check the options, and return the FMU compilers.

    Raises DescriptionError if options are invalid, and MissingToolError if a compiler is missing.
    """
    withdraw_verdict(out)
    one_of("fmi", options.fmi, FMI_VERSIONS)
    if options.tolerance is not None:
        above_zero("tolerance", options.tolerance)
    compilers = compilers_of(options.compiler, options.omc, options.timeout)
    check_march(options.march, compilers, options.fmi)
    if options.live:
        check_compiler()
    return compilers


def granted(model: System, options: RunOptions) -> float:
    """Return the admissible relative error of a run.

    The value of the option `tolerance` is used if it is given. Otherwise, the result is 100 times the
    description's tolerance, but at least 1e-6 and at most 1e-2.
    """
    if options.tolerance is not None:
        return options.tolerance
    return max(TOLERANCE, min(_GROWTH * model.chain.simulation.tolerance, _LOOSEST))


def run(model: System, options: RunOptions, case: str = "") -> RunReport:
    """Write Modelica source and FMUs of a mechanism, verify them by simulations, and write a report.

    The function calls `begin` and `verify`. By default, the folder is named after the model.
    """
    out = Path(options.out or model.name)
    return verify(model, options, out, begin(options, out), case)


def verify(model: System, options: RunOptions, out: Path, compilers: Compilers, case: str = "") -> RunReport:
    """Write Modelica source and FMUs, compare their runs with the reference solver, and write the report.

    Parameters
    ----------
    model
        Mechanism with its equations and initial state.
    options
        Options of the run, checked by `begin`.
    out
        Folder for all files.
    compilers
        Compilers of the FMUs, from `begin`.
    case
        Name of the case, for the report.

    Raises
    ------
    GpmelicaError
        If the model cannot be built or the reference solver fails. A failed run of a backend is reported and not
        raised.
    """
    with reusing(options.fresh), kept_objects(object_folder()):
        return _verified(model, options, out, compilers, case)


def _verified(model: System, options: RunOptions, out: Path, compilers: Compilers, case: str) -> RunReport:
    progress = options.progress
    plan = RunPlan(options, case, out, compilers, inputs_of(model, options.inputs), granted(model, options))
    write_modelica(model, out)
    problem = problem_with(model, plan.inputs)
    with (
        second_opinion.asked(model, plan.inputs, plan.tolerance, progress) as opinion,
        beside(partial(_source_attempts, model, plan)) as source,
    ):
        # The reference run comes first: if the reference solver fails, no FMU has to be built.
        truth, loaded = reference_runs(model, problem, progress)
        for note in _partition_notes(model, problem, truth):
            progress(f"note: {note}", 1.0)
        fmus = _fmus(model, plan)
        attempts = [*fmu_attempts(model, fmus, truth, plan.tolerance, plan.inputs, progress)]
        progress("Modelica source in rumoca", 0.0)
        attempts += source()
        said = opinion()
        judged = agreement.judge(model, truth, [*attempts, *said.attempts], problem, progress)
    report = _report(model, problem, plan, (truth, loaded), judged, fmus, said)
    for trajectory in (truth, *report.runs):
        write_csv(out / f"{trajectory.name}.csv", trajectory)
    from ..report.report import write_report  # noqa: PLC0415 - matplotlib takes a second to load

    write_result(out, report)
    write_report(out, report, renamed(progress, "drawing the report"), _live(model, plan, report))
    return report


def _live(model: System, plan: RunPlan, report: RunReport) -> LivePart | None:
    if not plan.options.live:
        return None
    runs = {run.name: run for run in report.runs}
    inputs = None if plan.inputs is None else plan.inputs.trajectory
    return live_part(model, runs.get("fmu-native-cs"), inputs, plan.options.progress)


def _fmus(model: System, plan: RunPlan) -> list[Fmu]:
    """Build one FMU per backend.

    The first FMU is `Name.fmu` in the folder. Further FMUs are in folders named after their backends.
    """
    made: list[Fmu] = []
    for backend in plan.compilers.backends:
        progress = renamed(plan.options.progress, f"FMU by {backend.name}: {{}}")
        folder = plan.out / backend.name if made else plan.out
        march = plan.options.march if backend.cross else ""
        order = Order(model, folder, plan.options.fmi, march=march, progress=progress, documents=documents)
        made.append(backend.build(order))
    return made


def _runs_rumoca(plan: RunPlan) -> bool:
    return plan.options.rumoca and rumoca.available() and plan.inputs is None


def _source_attempts(model: System, plan: RunPlan, meanwhile: Callable[[], None]) -> list[Attempt]:
    if not _runs_rumoca(plan):
        return []
    return [rumoca_attempt(model, plan.tolerance, plan.compilers.timeout, meanwhile)]


def _report(
    model: System,
    problem: analysis.InitialValueProblem,
    plan: RunPlan,
    known: tuple[Trajectory, Trajectory],
    judged: list[agreement.Judged],
    fmus: list[Fmu],
    opinion: second_opinion.Opinion,
) -> RunReport:
    """Return the results of the command `run` for the report.

    The argument `known` contains the reference run twice: with the requested joint reactions, and with
    all joint reactions.
    """
    truth, loaded = known
    attempts = [run.attempt for run in judged]
    comparisons = [run.comparison for run in judged if run.comparison is not None]
    trajectories = tuple(attempt.trajectory for attempt in attempts if attempt.trajectory is not None)
    own = compare(truth, truth, model.units, plan.tolerance)
    lacking = analysis.residuals(problem, truth)
    report = RunReport(
        model=model,
        problem=problem,
        case=plan.case,
        reference=truth,
        runs=trajectories,
        comparisons=(own, *comparisons),
        tolerance=plan.tolerance,
        consistent=opinion.of_start(consistency(model, lacking)),
        holds=holding(model, lacking, (truth, *trajectories)),
        compilers=_versions(fmus),
        command=plan.options.command,
        files=_files(model, plan, fmus, trajectories),
        facts={
            "equations": model.program.formulation,
            **reactions.redundancy_of(model),
            **{f"FMU, {fmu.backend.name}": fmu.facts() for fmu in fmus},
        },
        not_unique=reactions.not_unique(model),
        loaded=loaded,
        plausible=plausibility.of_run(model, truth, _further(model, truth, comparisons), problem),
        doubts=opinion.of_events(truth, _compared(comparisons, truth)),
        unconfirmed=opinion.absent,
    )
    return replace(report, notes=(*_notes(report, plan, attempts, fmus), *opinion.notes))


def _compared(comparisons: Sequence[Comparison], truth: Trajectory) -> float:
    """Return the time, s, until which the oracle's run can be compared with the reference run."""
    begins = [c.sensitive_from for c in comparisons if c.sensitive_from is not None]
    return min([*begins, float(truth.time[-1])])


def _further(model: System, truth: Trajectory, comparisons: Sequence[Comparison]) -> Iterator[plausibility.Remark]:
    """Yield remarks on singular configurations and sensitive motion, which only a simulation reveals."""
    yield from plausibility.singular_configurations(truth)
    yield from agreement.sensitive(model, comparisons)


def _files(
    model: System, plan: RunPlan, fmus: Sequence[Fmu], trajectories: Sequence[Trajectory]
) -> dict[str, str]:
    compiled = {str(f.path.relative_to(plan.out)): f"FMU {plan.options.fmi} by {f.backend.name}" for f in fmus}
    return {
        f"{model.name}.mo": "Modelica source of the model",
        f"{model.name}.mos": "script for omc that simulates and plots the model",
        **{path: f"{what}, both modes" for path, what in compiled.items()},
        "result.json": "verdict for scripts",
        "reference.csv": "signals of the reference solver",
        **{f"{t.name}.csv": f"signals of {t.name}" for t in trajectories},
    }


def _notes(report: RunReport, plan: RunPlan, attempts: Sequence[Attempt], fmus: Sequence[Fmu]) -> Iterator[str]:
    model = report.model
    if report.reused:
        told = ", ".join(f"{name} of {when}" for name, when in report.reused.items())
        yield f"reused runs of earlier commands: {told}; the option --fresh computes them again"
    for fmu in fmus:
        yield from (f"FMPy on the FMU by {fmu.backend.name}: {problem}" for problem in fmu.problems)
        if fmu.caveat:
            yield f"co-simulation of the FMU by {fmu.backend.name}: {fmu.caveat}"
    yield from step_notes(model.chain.simulation, report.modes)
    yield from _tolerance_notes(model, plan)
    for attempt in attempts:
        if attempt.trajectory is None and not attempt.failure:
            yield f"{attempt.name} did not finish in its time limit, so it was not compared"
    if not _runs_rumoca(plan):
        yield f"the Modelica source was not run in rumoca{_why_not(plan)}"
    yield from _partition_notes(model, report.problem, report.reference)
    yield from _projection_notes(model)
    yield from _guide_notes(report.problem, report.reference)
    yield from reactions.warnings_of(model)


def _why_not(plan: RunPlan) -> str:
    if not plan.options.rumoca:
        return ", as requested"
    return ", which is not installed" if not rumoca.available() else ", which takes no inputs over time yet"


def _tolerance_notes(model: System, plan: RunPlan) -> Iterator[str]:
    """Yield a note if `simulation.tolerance` is so large that it increases the admissible error."""
    given, allowed = model.chain.simulation.tolerance, plan.tolerance
    if plan.options.tolerance is None and allowed > TOLERANCE:
        yield (
            f"simulation.tolerance is {given:g}, so relative errors up to {allowed:g} are admissible;"
            f" set it to {TOLERANCE / _GROWTH:g} or less for an admissible error of {TOLERANCE:g}"
        )


def _partition_notes(model: System, problem: analysis.InitialValueProblem, truth: Trajectory) -> Iterator[str]:
    """Yield a note on times at which the initial choice of dependent coordinates becomes singular.

    Only the Modelica source is affected, because it keeps the initial choice. The native FMU changes
    the choice during the run.
    """
    if not model.chooses:
        return
    names = model.dependent
    times = analysis.singular_times(problem, truth, names)
    if times:
        when = ", ".join(f"{t:.3g}" for t in times[:3])
        yield (
            f"the Modelica source keeps the dependent coordinates of the initial state, {', '.join(names)}; the"
            f" constraints cannot be solved for these coordinates at t = {when} s, where its"
            " accelerations lose digits, or its run stops. Name other coordinates in constraints.dependent, or set"
            ' constraints.formulation = "lagrange". The native FMU chooses its dependent coordinates again'
            " and is not affected"
        )


def _guide_notes(problem: analysis.InitialValueProblem, truth: Trajectory) -> Iterator[str]:
    """Yield a note if programmed constraints need forces that the drives of the joints cannot exert."""
    try:
        forces = analysis.guide_forces(problem, truth)
    except SolveError:  # A remark already reports the singular configuration.
        return
    if forces:
        units = {c.name: c.effort_unit for c in problem.mechanism.coordinates}
        name, peak = next(iter(forces.items()))
        others = f", and forces on {len(forces) - 1} other coordinates" if len(forces) > 1 else ""
        yield (
            f"programmed constraints act like ideal guides that stand on the ground: besides the drives of the"
            f" joints, they exert up to {peak:.3g} {units[name]} on {name}{others}, where no drive can act. To"
            " model drives in joints alone, prescribe the joints by [[motions]]"
        )


def _projection_notes(model: System) -> tuple[str, ...]:
    """Return a note on the methods that keep the constraint violations of the runs small.

    The native FMU projects the state onto the constraints. All other runs use the constraint
    stabilisation only. Without projections, the result is empty.
    """
    if not model.program.projections:
        return ()
    keys = model.chain.constraints
    held = f"Baumgarte's terms, alpha = {keys.alpha:g}, beta = {keys.beta:g}"
    if keys.formulation == "gpme_reduced":
        held = f"position feedback, kappa = {keys.kappa:g}"
    return (
        "projection = true: the native FMU projects onto the constraints after each step of a solver (in"
        f" model exchange if a violation exceeds {RESTART_MARGIN:g} times CVODE's tolerance; CVODE then restarts)."
        f" The reference solver, the Modelica source and an FMU by OpenModelica have {held}. An initial state that"
        " violates the constraints is not projected; projection begins when the violation has decayed",
    )


def _versions(fmus: list[Fmu]) -> dict[str, str]:
    versions = {"gpmelica": __version__, "Python": platform.python_version()}
    versions |= {package: version(package) for package in ("FMPy", "casadi", "numpy", "scipy")}
    versions |= {fmu.backend.compiler: fmu.compiler for fmu in fmus}
    if rumoca.available():
        versions["rumoca"] = rumoca.version()
    return versions
