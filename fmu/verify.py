"""The main job: everything runs a description, and all of it is held against the reference."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from .. import reference
from .._version import __version__
from ..errors import BuildError, SolveError
from ..generator import modelica
from ..model import Model
from ..trajectory import Trajectory
from . import compiler, native, rumoca_backend, runs
from .compare import Comparison, compare
from .context import RunReport
from .csv_file import write_csv
from .files import write_atomically
from .report import write_report
from .result import write_result

TOLERANCE = 1e-6  # of each signal's range, FMU against reference
RUMOCA_TOLERANCE = 1e-5
_RUMOCA_BUDGET = 12.0  # s of wall time; rumoca interprets the model
_SOLVER_MARGIN = 0.1  # the FMU's solver is asked for this much more accuracy than the reference

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
    """

    out: Path
    case: str = ""
    command: str = ""
    tolerance: float = TOLERANCE
    rumoca: bool = True


def run(model: Model, options: Options, progress: Progress = lambda what, fraction: None) -> RunReport:
    """Modelica, FMU, reference, comparison, figures; writes them all below `options.out`.

    Raises GpmelicaError if the model cannot be built or the reference fails; a failed run of a backend is
    reported, not raised.
    """
    fmu = build(model, options.out, lambda name: progress("compiling the FMU", 0.0))
    problems = runs.validate(fmu)
    truth = reference.simulate(
        model.mechanism,
        start=model.start,
        dependent=model.dependent,
        progress=lambda fraction: progress("reference solver", fraction),
    )
    attempts = _backends(model, fmu, options, progress)
    report = _report(model, options, truth, attempts, problems)
    for trajectory in (truth, *report.runs):
        write_csv(options.out / f"{trajectory.name}.csv", trajectory)
    write_result(options.out, report)
    write_report(options.out, report, lambda title: progress("drawing the report", 0.0))
    return report


def build(model: Model, out: Path, progress: Callable[[str], None] | None = None) -> Path:
    """Write `Name.mo` and the native `Name.fmu`; returns the FMU's path."""
    text = model.modelica()
    sources = native.generate(model.program, model.chain)
    write_atomically(out / f"{model.name}.mo", text)
    fmu = out / f"{model.name}.fmu"
    native.build(sources, fmu, text, progress)
    return fmu


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
        return compare(truth, self.trajectory, units, self.tolerance)


def _attempt(name: str, tolerance: float, action: Callable[[], Trajectory]) -> _Attempt:
    try:
        return _Attempt(name, tolerance, action())
    except (SolveError, BuildError) as error:
        return _Attempt(name, tolerance, None, str(error))


def _backends(model: Model, fmu: Path, options: Options, progress: Progress) -> list[_Attempt]:
    modes: tuple[runs.Mode, ...] = ("me", "cs")
    attempts = [
        _attempt(f"fmu-native-{mode}", options.tolerance, partial(_fmu_run, model, fmu, mode, progress))
        for mode in modes
    ]
    if options.rumoca and rumoca_backend.available():
        progress("Modelica text in rumoca", 0.0)
        attempts.append(_attempt("modelica-rumoca", RUMOCA_TOLERANCE, partial(_rumoca_run, model)))
    return attempts


def _fmu_run(model: Model, fmu: Path, mode: runs.Mode, progress: Progress) -> Trajectory:
    simulation, name = model.chain.simulation, f"fmu-native-{mode}"
    return runs.simulate(
        fmu,
        mode,
        list(model.units),
        name=name,
        stop=simulation.stop,
        output_step=simulation.output_step,
        tolerance=simulation.tolerance * _SOLVER_MARGIN,
        progress=lambda fraction: progress(f"FMPy, {name}", fraction),
    )


def _rumoca_run(model: Model) -> Trajectory:
    simulation = model.chain.simulation
    # the variant without inputs: rumoca cannot be given any yet, and without a user they are zero
    text = model.modelica(start_values=model.start_values())
    return rumoca_backend.CompiledModel(text, modelica.experiment(model.name)).simulate(
        list(model.units),
        stop=simulation.stop,
        output_step=simulation.output_step,
        tolerance=max(simulation.tolerance, 1e-8),
        budget=_RUMOCA_BUDGET,
    )


def _report(
    model: Model, options: Options, truth: Trajectory, attempts: list[_Attempt], problems: list[str]
) -> RunReport:
    chain, name = model.chain, model.name
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
        targets=reference.programmed_target(model.mechanism, truth),
        compilers=_versions(),
        command=options.command,
        files={
            f"{name}.mo": "the model as Modelica text",
            f"{name}.fmu": "the model as an FMU (FMI 2.0, model exchange and co-simulation)",
            "result.json": "this verdict, for scripts",
            "reference.csv": "the reference solver's signals",
            **{f"{t.name}.csv": f"signals of {t.name}" for t in trajectories},
        },
        facts={"Reference": f"{chain.simulation.method}, relative tolerance {chain.simulation.tolerance:g}"},
        notes=tuple(f"FMPy's validation of the FMU: {problem}" for problem in problems),
    )


def _versions() -> dict[str, str]:
    versions = {"gpmelica": __version__, "Python": platform.python_version()}
    versions |= {package: version(package) for package in ("FMPy", "casadi", "numpy", "scipy")}
    versions["C compiler"] = compiler.find().version
    if rumoca_backend.available():
        versions["rumoca"] = rumoca_backend.version()
    return versions
