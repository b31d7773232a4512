"""Runs of a model by all backends.

Each FMU runs in FMPy by model exchange and by co-simulation. The Modelica source runs in rumoca.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..analysis.system import System
from ..core.errors import BuildError, SolveError
from ..core.progress import Progress, renamed
from ..core.recalled import Slot
from ..core.trajectory import Trajectory
from ..fmu.backends.fmu import Fmu
from ..generator import modelica
from ..generator.program.program import STATE
from . import rumoca_process
from .compare.scales import scales
from .compare.sensitivity import FINER
from .fmpy_runs import simulate as runs
from .fmpy_runs.apart import apart
from .fmpy_runs.fmu_run import Mode
from .fmpy_runs.inputs import InputTable

RUMOCA_TOLERANCE = 1e-5  # The admissible relative error of a run with rumoca is at least this value.
_AT_EVENTS = 0.01  # For models with events, the tolerance of rumoca is multiplied by this factor.
_RUMOCA_FINER = 1e-3  # For a repeated run, the tolerance of rumoca is multiplied by this factor.
# A run with rumoca may use this processor time, s; rumoca is slow because it interprets the model.
RUMOCA_EFFORT = 60.0
SOLVER_MARGIN = 0.1  # The tolerance of each solver is this fraction of the description's tolerance.
# CVODE's tolerance is this fraction of the description's tolerance, because CVODE's global errors are large.
CVODE_MARGIN = 0.01
# The tolerance of an FMU's solver is at least this value, which is slightly larger than rounding errors.
_FINEST = 1e-13
# CVODE restarts from a projected state if constraint violations exceed this multiple of CVODE's tolerance.
RESTART_MARGIN = 1000.0


@dataclass(frozen=True)
class Attempt:
    """Result of an attempted run: its trajectory, or the reason of its failure.

    Parameters
    ----------
    name : str
        Name of the run.
    tolerance : float
        Admissible relative error of the run.
    trajectory : Trajectory or None
        Simulation result; None if the run failed.
    failure : str
        Error message; empty if the run did not fail.
    finer : callable or None
        Function that repeats the run with a tighter solver tolerance; None if impossible.
    until : callable or None
        Function that repeats the run up to an earlier time, s; None if impossible.
    """

    name: str
    tolerance: float
    trajectory: Trajectory | None
    failure: str = ""
    finer: Callable[[], Attempt] | None = None
    until: Callable[[float], Attempt] | None = None


def fmu_attempts(
    model: System,
    fmus: Sequence[Fmu],
    truth: Trajectory,
    tolerance: float,
    inputs: InputTable | None,
    progress: Progress,
) -> Iterator[Attempt]:
    """Run each FMU by model exchange and by co-simulation, and yield the attempts.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    fmus : sequence of Fmu
        Compiled FMUs.
    truth : Trajectory
        Run of the reference solver, from which the scales of the states follow.
    tolerance : float
        Admissible relative error.
    inputs : InputTable or None
        Inputs over time.
    progress : callable
        Callback with the current activity and the completed fraction.
    """
    magnitudes = scales(truth.signals, model.units, truth.natural)
    for fmu in fmus:
        name = f"fmu-{fmu.backend.name}"
        given = (magnitudes, inputs, progress)
        yield _attempt(model, f"{name}-me", tolerance, partial(fmu_run, model, fmu, "me", *given))
        admissible = max(tolerance, fmu.backend.tolerance)
        if fmu.refused:
            yield Attempt(f"{name}-cs", admissible, None, fmu.refused)
            continue
        yield _attempt(model, f"{name}-cs", admissible, partial(fmu_run, model, fmu, "cs", *given))


def solver_tolerance(wanted: float, mode: Mode) -> float:
    """Return the relative tolerance of an FMU's solver.

    The value is the tolerance of the description, multiplied by a safety factor.
    """
    return max(wanted * (CVODE_MARGIN if mode == "me" else SOLVER_MARGIN), _FINEST)


def fmu_run(
    model: System,
    fmu: Fmu,
    mode: Mode,
    magnitudes: Mapping[str, float],
    inputs: InputTable | None,
    progress: Progress,
    part: float,
    stop: float,
) -> Trajectory:
    """Run an FMU in FMPy with the settings of the description.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    fmu : Fmu
        Compiled FMU.
    mode : str
        `me` for model exchange, `cs` for co-simulation.
    magnitudes : mapping
        Scales of the signals, in their units.
    inputs : InputTable or None
        Inputs over time.
    progress : callable
        Callback with the current activity and the completed fraction.
    part : float
        Factor by which the description's tolerance is multiplied.
    stop : float
        End time, s.

    Raises
    ------
    SolveError
        If the run fails.
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


def rumoca_attempt(
    model: System, tolerance: float, limit: float, meanwhile: Callable[[], object] = lambda: None
) -> Attempt:
    """Run the Modelica source in rumoca, within limits of processor time and wall-clock time.

    Unlike wall-clock time, processor time does not depend on other processes. If a limit is reached
    before rumoca has a result, the returned attempt has neither a trajectory nor an error message.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    tolerance : float
        Admissible relative error.
    limit : float
        Maximum wall-clock time, s.
    meanwhile : callable
        Function that is called ten times per second; an exception cancels the run.
    """
    simulation = model.chain.simulation
    # Rumoca does not support inputs, so constant initial values replace the inputs in the Modelica source.
    text = model.modelica(start_values=model.start_values())

    def run(part: float, stop: float) -> Trajectory | None:
        job = rumoca_process.SimulationJob(
            text=text,
            model=modelica.experiment(model.name),
            names=list(model.units),
            stop=stop,
            output_step=simulation.output_step,
            tolerance=part * _rumoca_tolerance(model),
            effort=RUMOCA_EFFORT,
            limit=limit,
        )
        slot = Slot("rumoca", lambda: job)
        found = slot.read() or rumoca_process.simulate(job, meanwhile)
        # If a run has a note, a time limit ended the run early.
        if found is not None and not found.note:
            slot.keep(found)
        return found

    return _attempt(model, rumoca_process.NAME, max(tolerance, RUMOCA_TOLERANCE), run, _RUMOCA_FINER)


def _rumoca_tolerance(model: System) -> float:
    """Return the relative tolerance for rumoca.

    The value is the tolerance of the description. For speed, a value below 1e-8 is increased by a
    factor of at most ten, but not above 1e-8. For models with events, this tolerance is then divided by
    100.
    """
    wanted = model.chain.simulation.tolerance
    usual = min(max(wanted, 1e-8), 10.0 * wanted)
    # Impacts amplify errors from event to event, so models with events need a tighter tolerance.
    return _AT_EVENTS * usual if model.program.relations else usual


def _attempt(
    model: System,
    name: str,
    tolerance: float,
    action: Callable[[float, float], Trajectory | None],
    finer: float = FINER,
) -> Attempt:
    """Run a simulation and return an attempt that can be repeated.

    The argument `action` is the function that runs the simulation. Its first argument is a factor by
    which the usual tolerance is multiplied. Its second argument is the end time, s.
    """
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
    signals = {name: values[::every] for name, values in trajectory.signals.items()}
    return replace(trajectory, time=trajectory.time[::every], signals=signals)
