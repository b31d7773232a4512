"""Run of the reference solver, with which all other runs are compared.

This module imports neither reports nor FMUs, because these imports take half a second and
`Model.simulate` does not need them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .. import analysis
from ..analysis.system import System
from ..core.errors import SolveError
from ..core.progress import Progress
from ..core.recalled import recalled
from ..core.trajectory import Trajectory
from ..description.contents import contents
from ..description.tables.settings import Simulation
from ..description.types.origin import closure_load, joint_load, support_load
from ..mechanism import Mechanism
from ..reference.forces.joint_loads import COMPONENTS, all_links
from ..runs.attempts import SOLVER_MARGIN
from ..runs.fmpy_runs.inputs import InputTable, problem_with


def step_notes(simulation: Simulation, modes: Sequence[analysis.LinearisedMode]) -> tuple[str, ...]:
    """Return a note if the fixed step of RK4 is too long for the stiffest mode, else an empty tuple."""
    longest = min((mode.longest_rk4_step for mode in modes), default=np.inf)
    if simulation.method != "RK4" or simulation.step <= longest:
        return ()
    return (
        f"simulation.step = {simulation.step:g} s is too long for RK4, which is stable up to about {longest:.2g} s"
        f" by the mode of {modes[0].coordinate} ({modes[0].frequency:.3g} Hz, time constant"
        f" {modes[0].time_constant:.2g} s); take a shorter step or another method",
    )


def reference_run(model: System, inputs: InputTable | None, progress: Progress) -> Trajectory:
    """Return the reference solver's run, with the natural magnitude of each signal.

    Natural magnitudes are the scales of relative errors. The function raises the same errors as
    `reference_runs`.
    """
    return reference_runs(model, problem_with(model, inputs), progress)[0]


def reference_runs(
    model: System, problem: analysis.InitialValueProblem, progress: Progress
) -> tuple[Trajectory, Trajectory]:
    """Simulate a model with the reference solver, and return two trajectories of this run.

    The first trajectory contains the signals of the model and their natural magnitudes, by which errors
    are divided. The second trajectory also contains all joint reactions, all wrenches of loop closures
    and all support forces.

    SolveError is raised if the simulation fails. If the step is too long, the error message contains a
    remedy. SolveError is also raised if the equations and the reference solver have different signals.
    """
    tolerance = model.chain.simulation.tolerance * SOLVER_MARGIN
    settings = analysis.RunSettings(tolerance=tolerance, loads="all", wrenches=True)
    try:
        loaded = simulated(problem, settings, progress)
        run = _without_unasked_loads(model, loaded)
        natural = analysis.magnitudes(problem, run)
    except SolveError as error:
        modes = analysis.modes(model.problem)
        raise SolveError("; ".join([str(error), *step_notes(model.chain.simulation, modes)])) from None
    unpaired = sorted(model.units.keys() ^ run.signals.keys())
    if unpaired:
        raise SolveError(
            "expected the equations and the reference solver to have the same signals; only one of them has:"
            f" {', '.join(unpaired)}"
        )
    return replace(run, natural=natural), loaded


def simulated(
    problem: analysis.InitialValueProblem, settings: analysis.RunSettings, progress: Progress
) -> Trajectory:
    """Return a run of the reference solver.

    If an earlier command has stored the same run, the stored run is returned; see `core.recalled`.
    """
    parts = {
        "description": contents(problem.mechanism.chain),
        "start": problem.start,
        "inputs": problem.inputs,
        "dependent": problem.dependent,
        "settings": settings,
    }
    run = recalled("reference", lambda: parts, lambda: analysis.simulate(problem, settings, progress))
    if run.reused:
        progress("reference solver: run of an earlier command", 1.0)
    return run


def _without_unasked_loads(model: System, run: Trajectory) -> Trajectory:
    unasked = _loads(model.mechanism) - model.units.keys()
    return replace(run, signals={name: values for name, values in run.signals.items() if name not in unasked})


def _loads(mechanism: Mechanism) -> set[str]:
    """Return the names of the signals of all joint reactions, closure wrenches and support forces."""
    parts = (*COMPONENTS, "axial", "normal")
    joints = {joint_load(link, part).name for link in all_links(mechanism) for part in parts}
    closures = {closure_load(closure.name, part).name for closure in mechanism.closures for part in COMPONENTS}
    supports = {support_load(support.name, part).name for support in mechanism.supports for part in COMPONENTS}
    return joints | closures | supports
