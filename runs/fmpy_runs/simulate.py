"""Simulation of an FMU in FMPy, in model-exchange or co-simulation mode."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy.fmi1 import FMICallException

from ...core.csv_file import read_csv
from ...core.errors import DescriptionError, GpmelicaError, Problem, SolveError
from ...core.trajectory import Trajectory, output_grid, rows_at
from ...description.tables.settings import MOST_POINTS
from ...options.keywords import taking
from .apart import apart
from .chatter import captured
from .feeding import feeding, interpolates
from .fmu_run import FmuRun, Mode
from .opening import check_variables, logger, read_fmu
from .recallable import recalled_run

_MODES = {"me": "ModelExchange", "cs": "CoSimulation"}
_COUNTERS = ("solver_evaluations", "solver_steps")
# FMPy limits its solver to 500 steps per output interval, too few for stiff beams with a tight tolerance.
# Substeps let the solver take more steps but cost time, so only failed runs are repeated with substeps.
_SUBSTEPS, _MORE = 10, 10
_TOO_FEW = "mxstep steps taken"
_REAL = ("Real", "Float64")


@taking(FmuRun)
def simulate(fmu: Path, run: FmuRun) -> Trajectory:
    """Simulate an FMU and return the trajectory of its variables.

    Parameters
    ----------
    fmu : Path
        FMU file.
    run : FmuRun
        Settings of the run.

    Raises
    ------
    SolveError
        If a call of the FMU fails, or if FMPy cannot run the FMU.
    UnknownNameError
        If the FMU has no such parameter.
    """
    description = read_fmu(fmu)
    check_variables(run.parameters or {}, description)
    return recalled_run(fmu, description, run, partial(_simulated, fmu, description, run))


def _simulated(fmu: Path, description: Any, run: FmuRun) -> Trajectory:
    known = {v.name for v in description.modelVariables}
    counters = [counter for counter in _COUNTERS if counter in known]
    recorded = partial(_recorded, fmu, description, run, counters)
    begin = time.perf_counter()
    # FMUs that hold inputs constant during a step need short steps to follow the inputs.
    holds = run.inputs is not None and not interpolates(description)
    result = _with_steps(recorded, _SUBSTEPS if run.mode == "me" or holds else 1)
    wall = time.perf_counter() - begin
    return _trajectory(result, run, counters, wall)


def _recorded(fmu: Path, description: Any, run: FmuRun, counters: Sequence[str], substeps: int) -> Any:
    """Simulate an FMU in FMPy, and return FMPy's table of the recorded variables.

    Each output step is divided into the given number of substeps.
    """
    messages: list[str] = []
    log = logger(messages)
    kind = _MODES[run.mode]
    try:
        with (
            captured(run.log_file),
            _quiet_callbacks() as interrupts,
            feeding(fmu, description, kind, run.inputs, log, run.nominals) as instance,
        ):
            result = fmpy.simulate_fmu(
                str(fmu),
                fmi_type=kind,
                model_description=description,
                stop_time=run.stop,
                output_interval=run.output_step / substeps,
                relative_tolerance=run.tolerance,
                start_values=_start_values(description, run.parameters or {}),
                input=None if run.inputs is None else run.inputs.events(),
                fmu_instance=instance,
                output=[*run.names, *counters],
                logger=log,
                # In FMI 3.0, an FMU sends messages only with debug logging; the generated FMUs send only errors.
                debug_logging=True,
                step_finished=_reporter(run, interrupts),
            )
    except GpmelicaError:
        raise
    except Exception as error:  # FMPy and damaged FMUs may raise exceptions of any class.
        raise SolveError(f"{run.name}: {messages[0] if messages else f'FMPy: {error!s:.500}'}") from None
    if messages:  # FMPy's solver ignores failures in its callback functions, so the results may be wrong.
        raise SolveError(f"{run.name}: {messages[0]}")
    return result


def _with_steps(recorded: Callable[[int], Any], substeps: int) -> Any:
    """Simulate with the given number of substeps per output step.

    If FMPy's solver requires more steps, the simulation is repeated with more substeps.
    """
    try:
        return recorded(substeps)
    except SolveError as error:
        if _TOO_FEW not in str(error):
            raise
    return recorded(_MORE * substeps)


@contextmanager
def _quiet_callbacks() -> Iterator[list[BaseException]]:
    """Suppress messages about errors in FMPy's callbacks within a `with` block.

    The run itself reports such an error at the end of the simulation. Python ignores a Ctrl-C during a
    callback, so that the run would fail or give a wrong result. After Ctrl-C, the yielded list contains
    the KeyboardInterrupt. At the end of the block, the KeyboardInterrupt is raised again.
    """
    previous, interrupts = sys.unraisablehook, list[BaseException]()

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            interrupts.append(unraisable.exc_value)
        elif not isinstance(unraisable.exc_value, FMICallException):
            previous(unraisable)

    sys.unraisablehook = hook
    try:
        yield interrupts
    finally:
        sys.unraisablehook = previous
        if interrupts:
            raise interrupts[0]


def _start_values(description: Any, values: Mapping[str, float]) -> dict[str, Any]:
    """Return start values for an FMU of FMI 3.0, in which an array is one variable.

    Elements such as `column_com[1]` are combined into arrays.
    """
    arrays = {v.name: v for v in description.modelVariables if v.dimensions}
    found: dict[str, Any] = {}
    for name, value in values.items():
        array, _, index = name.rstrip("]").partition("[")
        if array in arrays:
            found.setdefault(array, [float(x) for x in arrays[array].start.split()])[int(index) - 1] = value
        else:
            found[name] = value
    return found


def _reporter(run: FmuRun, interrupts: Sequence[BaseException]) -> Callable[[float, Any], bool]:
    def report(time_reached: float, recorder: Any) -> bool:
        run.progress(run.name, time_reached / run.stop)
        return not interrupts

    return report


def _trajectory(result: Any, run: FmuRun, counters: Sequence[str], wall: float) -> Trajectory:
    """Return the recorded variables at the output times; raise SolveError if the run ended early."""
    grid = output_grid(run.stop, run.output_step)
    recorded = np.asarray(result["time"])
    rows = rows_at(grid, recorded, 1e-9 * max(grid[-1], 1.0))
    if np.abs(recorded[rows] - grid).max() > 1e-9 * max(grid[-1], 1.0):
        raise SolveError(f"{run.name}: the run stopped at t = {recorded[-1]:.9g} s instead of {grid[-1]:.9g} s")
    counts = {counter: float(result[counter][-1]) for counter in counters}
    return Trajectory(
        name=run.name,
        time=grid,
        signals={signal: np.array(result[signal][rows], dtype=float) for signal in run.names},
        wall_s=wall,
        steps=int(counts.get("solver_steps", 0)),
        extra=counts,
    )


def read_or_simulate(path: Path) -> tuple[Trajectory, dict[str, str]]:
    """Read a result file, or simulate an FMU over its default experiment.

    Co-simulation is used if the FMU supports it, otherwise model exchange.

    Returns
    -------
    trajectory : Trajectory
        Signals of the file or outputs of the FMU.
    units : dict
        Units of the FMU's outputs; empty for a result file.
    """
    if path.suffix.lower() != ".fmu":
        return replace(read_csv(path), name=str(path)), {}
    description = read_fmu(path)
    experiment = description.defaultExperiment
    outputs = [v for v in description.modelVariables if v.causality == "output" and v.type in _REAL]
    stop, step = (
        _setting(path, experiment, key, default) for key, default in (("stopTime", 1.0), ("stepSize", 0.01))
    )
    if stop / step > MOST_POINTS:
        text = f"is {stop:g} s, with steps of {step:g} s; expected at most {MOST_POINTS} steps"
        raise DescriptionError(str(path), [Problem("DefaultExperiment.stopTime", text)])
    mode: Mode = "cs" if description.coSimulation is not None else "me"
    names, tolerance = [v.name for v in outputs], _setting(path, experiment, "tolerance", 1e-6)
    run = FmuRun(mode, names, name=str(path), stop=stop, output_step=step, tolerance=tolerance)
    action = partial(simulate, path, **vars(run))
    trajectory = recalled_run(path, description, run, lambda: apart(str(path), action))
    return trajectory, {v.name: v.unit for v in outputs if v.unit}


def _setting(path: Path, experiment: Any, name: str, default: float) -> float:
    """Return a setting of the FMU's default experiment, or the default value if the setting is missing.

    Raises DescriptionError for a value that is not positive.
    """
    text = getattr(experiment, name, None) or default
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 < number < math.inf:
        problem = Problem(f"DefaultExperiment.{name}", f"expected a number greater than 0, got {text!r}")
        raise DescriptionError(str(path), [problem])
    return number
