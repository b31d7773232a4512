"""The main job: everything runs a description, and all of it is held against the reference and the oracle."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from .. import analysis, plausibility
from ..analysis.prepared import Prepared
from ..core.csv_file import write_csv
from ..core.trajectory import Progress, Trajectory, silent
from ..core.version import __version__
from ..fmu.backends.backend import Compilers, write_modelica
from ..fmu.backends.fmu import Fmu, Order
from ..report.fmu_page.contents import contents
from ..report.report import write_report
from ..runs import rumoca
from ..runs.attempts import RESTART_MARGIN, Attempt, fmu_attempts, rumoca_attempt
from ..runs.compare.compare import Comparison, compare
from ..runs.compare.context import RunReport
from ..runs.compare.findings import consistency, holding
from ..runs.compare.result import withdraw_verdict, write_result
from ..runs.fmpy_runs.inputs import InputTable
from . import agreement, reactions, second_opinion
from .reference_run import reference_runs, step_notes

TOLERANCE = 1e-6  # of each signal's scale, FMU against reference
_GROWTH = 100.0  # what a run makes of its solver's relative errors
_LOOSEST = 1e-2  # beyond that, nothing can be said to agree


@dataclass(frozen=True)
class Options:
    """What to run and where to leave it.

    Parameters:
        out        folder for all files
        case       name of the case, for the report
        command    command line that repeats the run, for the report
        tolerance  admissible error of the FMU, relative to each signal's scale; None: see `granted`
        rumoca     whether to run the Modelica text in rumoca, if it is installed
        compilers  what makes the FMUs
        inputs     of the FMU over time; zero without it
        fmi        version of the standard that the FMUs follow, 2.0 or 3.0
        march      processors that the native FMU is built for, see `Order`
    """

    out: Path
    case: str = ""
    command: str = ""
    tolerance: float | None = None
    rumoca: bool = True
    compilers: Compilers = field(default_factory=Compilers)
    inputs: InputTable | None = None
    fmi: str = "2.0"
    march: str = ""


def granted(model: Prepared, options: Options) -> float:
    """The error that runs may have: what was asked for, else 1e-6, or what the description's tolerance allows."""
    if options.tolerance is not None:
        return options.tolerance
    return max(TOLERANCE, min(_GROWTH * model.chain.simulation.tolerance, _LOOSEST))


def run(model: Prepared, options: Options, progress: Progress = silent) -> RunReport:
    """Modelica, FMUs, reference, comparison, figures; writes them all below `options.out`.

    Raises GpmelicaError if the model cannot be built or the reference fails; a failed run of a backend is
    reported, not raised.
    """
    withdraw_verdict(options.out)
    write_modelica(model, options.out)
    problem = model.with_inputs(None if options.inputs is None else options.inputs.functions())
    with second_opinion.asked(model, options.inputs, granted(model, options)) as opinion:
        # before the build: where the motion ends, there is nothing to build
        truth, loaded = reference_runs(model, problem, progress)
        for note in _partition_notes(model, problem, truth):
            progress(f"note: {note}", 1.0)
        fmus = _fmus(model, options, progress)
        attempts = _attempts(model, options, fmus, truth, progress)
        progress("oracle", 0.0)
        said = opinion()
    judged = agreement.judge(model, truth, [*attempts, *said.attempts], problem, progress)
    report = _report(model, problem, options, (truth, loaded), judged, fmus, said)
    for trajectory in (truth, *report.runs):
        write_csv(options.out / f"{trajectory.name}.csv", trajectory)
    write_result(options.out, report)
    write_report(options.out, report, lambda title: progress("drawing the report", 0.0))
    return report


def _fmus(model: Prepared, options: Options, progress: Progress) -> list[Fmu]:
    """An FMU by each backend; the first is `Name.fmu` in the folder, others are in a folder of their backend."""
    made: list[Fmu] = []
    for backend in options.compilers.backends:

        def tell(what: str, name: str = backend.name) -> None:
            progress(f"FMU by {name}: {what}", 0.0)

        folder = options.out / backend.name if made else options.out
        march = options.march if backend.cross else ""
        order = Order(model, folder, options.fmi, march=march, progress=tell, documents=contents)
        made.append(backend.build(order))
    return made


def _runs_rumoca(options: Options) -> bool:
    return options.rumoca and rumoca.available() and options.inputs is None


def _attempts(
    model: Prepared, options: Options, fmus: Sequence[Fmu], truth: Trajectory, progress: Progress
) -> Iterator[Attempt]:
    """Runs of all FMUs, and of the Modelica source in rumoca."""
    yield from fmu_attempts(model, fmus, truth, granted(model, options), options.inputs, progress)
    if _runs_rumoca(options):
        progress("Modelica text in rumoca", 0.0)
        yield rumoca_attempt(model, granted(model, options), options.compilers.timeout)


def _report(
    model: Prepared,
    problem: analysis.InitialValueProblem,
    options: Options,
    known: tuple[Trajectory, Trajectory],
    judged: list[agreement.Judged],
    fmus: list[Fmu],
    opinion: second_opinion.Opinion,
) -> RunReport:
    """known: the reference's run, and with the loads of all joints."""
    truth, loaded = known
    attempts = [run.attempt for run in judged]
    comparisons = [run.comparison for run in judged if run.comparison is not None]
    trajectories = tuple(attempt.trajectory for attempt in attempts if attempt.trajectory is not None)
    own = compare(truth, truth, model.units, granted(model, options))
    lacking = analysis.residuals(problem, truth)
    report = RunReport(
        model=model,
        problem=problem,
        case=options.case,
        reference=truth,
        runs=trajectories,
        comparisons=(own, *comparisons),
        tolerance=granted(model, options),
        consistent=opinion.of_start(consistency(model, lacking)),
        holds=holding(model, lacking, (truth, *trajectories)),
        compilers=_versions(fmus),
        command=options.command,
        files=_files(model, options, fmus, trajectories),
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
    return replace(report, notes=(*_notes(report, options, attempts, fmus), *opinion.notes))


def _compared(comparisons: Sequence[Comparison], truth: Trajectory) -> float:
    """Return the time, s, up to which the oracle's run can be compared with the reference's."""
    begins = [c.sensitive_from for c in comparisons if c.sensitive_from is not None]
    return min([*begins, float(truth.time[-1])])


def _further(
    model: Prepared, truth: Trajectory, comparisons: Sequence[Comparison]
) -> Iterator[plausibility.Remark]:
    """Remarks on what only runs show."""
    yield from plausibility.singular_configurations(truth)
    yield from agreement.sensitive(model, comparisons)


def _files(
    model: Prepared, options: Options, fmus: Sequence[Fmu], trajectories: Sequence[Trajectory]
) -> dict[str, str]:
    """File name → what it holds."""
    compiled = {str(f.path.relative_to(options.out)): f"FMU {options.fmi} by {f.backend.name}" for f in fmus}
    return {
        f"{model.name}.mo": "the model as Modelica text",
        f"{model.name}.mos": "script for omc that simulates and plots it",
        **{path: f"{what}, both modes" for path, what in compiled.items()},
        "result.json": "this verdict, for scripts",
        "reference.csv": "the reference solver's signals",
        **{f"{t.name}.csv": f"signals of {t.name}" for t in trajectories},
    }


def _notes(report: RunReport, options: Options, attempts: Sequence[Attempt], fmus: Sequence[Fmu]) -> Iterator[str]:
    """What a reader must know beyond the three findings."""
    model = report.model
    for fmu in fmus:
        yield from (f"FMPy on the FMU by {fmu.backend.name}: {problem}" for problem in fmu.problems)
        if fmu.caveat:
            yield f"the co-simulation of the FMU by {fmu.backend.name} {fmu.caveat}"
    yield from step_notes(model.chain.simulation, report.modes)
    yield from _tolerance_notes(model, options)
    for attempt in attempts:
        if attempt.trajectory is None and not attempt.failure:
            yield f"{attempt.name} came to nothing in its limit of time, so it was not compared"
    if not _runs_rumoca(options):
        yield f"the Modelica text was not run in rumoca{_why_not(options)}"
    yield from _partition_notes(model, report.problem, report.reference)
    yield from _projection_notes(model)
    yield from reactions.warnings_of(model)


def _why_not(options: Options) -> str:
    if not options.rumoca:
        return ", as asked for"
    return ", which is not installed" if not rumoca.available() else ", which takes no inputs over time yet"


def _tolerance_notes(model: Prepared, options: Options) -> Iterator[str]:
    """Where runs are not held to what they usually are."""
    given, allowed = model.chain.simulation.tolerance, granted(model, options)
    if options.tolerance is None and allowed > TOLERANCE:
        yield (
            f"simulation.tolerance is {given:g}, so errors up to {allowed:g} are granted;"
            f" {TOLERANCE / _GROWTH:g} or less would hold the runs to {TOLERANCE:g}"
        )


def _partition_notes(model: Prepared, problem: analysis.InitialValueProblem, truth: Trajectory) -> Iterator[str]:
    """Where dependent coordinates that are chosen once and for all cannot be solved for, though others can."""
    if not model.chooses:
        return
    names = model.dependent
    times = analysis.singular_times(problem, truth, names)
    if times:
        when = ", ".join(f"{t:.3g}" for t in times[:3])
        yield (
            f"the Modelica text keeps the dependent coordinates of the start, {', '.join(names)}; the constraints"
            f" cannot be solved for them at t = {when} s, where its accelerations lose digits, or a run of it"
            ' stops: name others in constraints.dependent, or take constraints.formulation = "lagrange"; the'
            " native FMU chooses anew"
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
        f" violation exceeds {RESTART_MARGIN:g} times CVODE's tolerance, which starts anew then); the reference,"
        f" the Modelica text and an FMU by OpenModelica have {held}; a start that violates the constraints is not"
        " moved, and projection begins when the violation has decayed",
    )


def _versions(fmus: list[Fmu]) -> dict[str, str]:
    versions = {"gpmelica": __version__, "Python": platform.python_version()}
    versions |= {package: version(package) for package in ("FMPy", "casadi", "numpy", "scipy")}
    versions |= {fmu.backend.compiler: fmu.compiler for fmu in fmus}
    if rumoca.available():
        versions["rumoca"] = rumoca.version()
    return versions
