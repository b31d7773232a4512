"""Every backend runs the model: both modes of each FMU in FMPy, and the Modelica text in rumoca."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..analysis.prepared import Prepared
from ..core.errors import BuildError, SolveError
from ..core.progress import Progress, renamed
from ..core.trajectory import Trajectory
from ..fmu.backends.fmu import Fmu
from ..generator import modelica
from ..generator.program.program import STATE
from . import rumoca_process
from .compare.scales import scales
from .compare.sensitivity import FINER
from .fmpy_runs import simulate as runs
from .fmpy_runs.apart import apart
from .fmpy_runs.inputs import InputTable

RUMOCA_TOLERANCE = 1e-5
_AT_EVENTS = 0.01  # of rumoca's tolerance
_RUMOCA_FINER = 1e-3  # the same, where its run is repeated
RUMOCA_EFFORT = 60.0  # s of processor time; rumoca interprets the model
SOLVER_MARGIN = 0.1  # all solvers are asked for so much more accuracy than the description wants
CVODE_MARGIN = 0.01  # FMPy's CVODE is asked for more: its errors grow more in a run than those of the others
_FINEST = 1e-13  # of CVODE's tolerances: beyond that it meets the rounding of doubles
RESTART_MARGIN = 1000.0  # of FMPy's CVODE's tolerance: a smaller violation is not worth its restart at order 1


@dataclass(frozen=True)
class Attempt:
    """A run's trajectory, or why there is none; and the relative error that it is granted.

    finer   the same run with a finer tolerance of its solver; None: there is none
    until   the same run up to an earlier time, s; None: there is none
    """

    name: str
    tolerance: float
    trajectory: Trajectory | None
    failure: str = ""
    finer: Callable[[], Attempt] | None = None
    until: Callable[[float], Attempt] | None = None


def fmu_attempts(
    model: Prepared,
    fmus: Sequence[Fmu],
    truth: Trajectory,
    tolerance: float,
    inputs: InputTable | None,
    progress: Progress,
) -> Iterator[Attempt]:
    """Model exchange and co-simulation of each FMU.

    truth      the reference's run, by which the magnitudes of the states are known
    tolerance  relative error that is asked for
    """
    magnitudes = scales(truth.signals, model.units, truth.natural)
    for fmu in fmus:
        name = f"fmu-{fmu.backend.name}"
        given = (magnitudes, inputs, progress)
        yield _attempt(model, f"{name}-me", tolerance, partial(fmu_run, model, fmu, "me", *given))
        granted = max(tolerance, fmu.backend.tolerance)
        if fmu.refused:
            yield Attempt(f"{name}-cs", granted, None, fmu.refused)
            continue
        yield _attempt(model, f"{name}-cs", granted, partial(fmu_run, model, fmu, "cs", *given))


def solver_tolerance(wanted: float, mode: runs.Mode) -> float:
    """Relative tolerance of the solver that runs an FMU, for what the description wants."""
    return max(wanted * (CVODE_MARGIN if mode == "me" else SOLVER_MARGIN), _FINEST)


def fmu_run(
    model: Prepared,
    fmu: Fmu,
    mode: runs.Mode,
    magnitudes: Mapping[str, float],
    inputs: InputTable | None,
    progress: Progress,
    part: float,
    stop: float,
) -> Trajectory:
    """An FMU in FMPy, as the description says, with a part of its tolerance. Raises SolveError.

    magnitudes  of signals, in their units
    stop        end of the run, s
    """
    simulation, backend, name = model.chain.simulation, fmu.backend, f"fmu-{fmu.backend.name}-{mode}"
    longest = backend.communication_step if mode == "cs" else None
    every = max(round(simulation.output_step / longest), 1) if longest else 1
    tolerance = solver_tolerance(part * simulation.tolerance, mode)
    restarts = model.program.projections and mode == "me" and backend.projects
    run = partial(
        runs.simulate,
        fmu.path,
        mode,
        list(model.units),
        name=name,
        stop=stop,
        output_step=simulation.output_step / every,
        tolerance=tolerance,
        parameters={"projection_tolerance": RESTART_MARGIN * tolerance} if restarts else None,
        nominals={f"{signal}{STATE}": size for signal, size in magnitudes.items()},
        inputs=inputs,
        log_file=fmu.log,
    )
    told = renamed(progress, f"FMPy, {name}")
    return _thinned(apart(name, run, told) if backend.foreign else run(progress=told), every)


def rumoca_attempt(model: Prepared, tolerance: float, limit: float) -> Attempt:
    """The Modelica text in rumoca, for so long at most, s; no trajectory and no failure if it took longer.

    How far it comes does not depend on what else the machine does, unless the limit ends it.
    """
    simulation = model.chain.simulation
    # the variant without inputs: rumoca cannot be given any yet, and without a user they keep their start values
    text = model.modelica(start_values=model.start_values())

    def run(part: float, stop: float) -> Trajectory | None:
        return rumoca_process.simulate(
            text,
            modelica.experiment(model.name),
            list(model.units),
            stop=stop,
            output_step=simulation.output_step,
            tolerance=part * _rumoca_tolerance(model),
            effort=RUMOCA_EFFORT,
            limit=limit,
        )

    return _attempt(model, rumoca_process.NAME, max(tolerance, RUMOCA_TOLERANCE), run, _RUMOCA_FINER)


def _rumoca_tolerance(model: Prepared) -> float:
    """Return a tolerance at which rumoca is fast, no looser than a description that asks for more."""
    wanted = model.chain.simulation.tolerance
    usual = min(max(wanted, 1e-8), 10.0 * wanted)
    # what is wrong at an impact is more so at the next one
    return _AT_EVENTS * usual if model.program.relations else usual


def _attempt(
    model: Prepared,
    name: str,
    tolerance: float,
    action: Callable[[float, float], Trajectory | None],
    finer: float = FINER,
) -> Attempt:
    """Attempt that can be repeated; the action takes a part of its usual tolerance, and the end of the run, s."""
    stop = model.chain.simulation.stop
    return replace(
        _tried(name, tolerance, action, 1.0, stop),
        finer=partial(_tried, name, tolerance, action, finer, stop),
        until=partial(_tried, name, tolerance, action, 1.0),
    )


def _tried(
    name: str,
    tolerance: float,
    action: Callable[[float, float], Trajectory | None],
    part: float,
    stop: float,
) -> Attempt:
    try:
        return Attempt(name, tolerance, action(part, stop))
    except (SolveError, BuildError) as error:
        return Attempt(name, tolerance, None, str(error))


def _thinned(trajectory: Trajectory, every: int) -> Trajectory:
    """Every so many samples."""
    signals = {name: values[::every] for name, values in trajectory.signals.items()}
    return replace(trajectory, time=trajectory.time[::every], signals=signals)
