"""Checks on which the verdict depends: the model is consistent, runs agree, and constraints are fulfilled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...analysis import Residuals, residuals
from ...analysis.system import System
from ...core.trajectory import Array, Trajectory
from ...mechanism import signal_names
from .compare import Comparison, covers, listed
from .decay import free_decay

_SLACK = 1.01  # A constraint violation may exceed its predicted value by this factor.
# A message names a constraint if its violation exceeds this fraction of the largest constraint violation.
_NAMED = 0.1
_UNIT = {0: "", 1: " per s", 2: " relative to its acceleration"}


@dataclass(frozen=True)
class Finding:
    """Result of one check of the verdict: whether the check passed, and an explanatory sentence."""

    ok: bool
    text: str


def consistency(model: System, found: Residuals) -> Finding:
    """Check that all constraints are fulfilled initially, including the redundant ones.

    Constraints that the description declares in `starts_violated` may be violated initially.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    found : Residuals
        Constraint residuals of the reference run, or of the initial state alone.
    """
    allowed, wrong = _violated(model, found)
    if wrong:
        return Finding(False, "; ".join(wrong))
    if not found.names:
        return Finding(True, "There are no constraints.")
    declared = f" Declared initial violations: {'; '.join(allowed)}." if allowed else ""
    others = "All other" if allowed else "All"
    kept = " Redundant constraints are fulfilled as well." if _redundant(model) else ""
    return Finding(True, f"{others} constraints are fulfilled at t = 0.{declared}{kept}")


def start_consistency(model: System) -> Finding:
    """Check whether the initial state fulfils the constraints, without a simulation; see `consistency`."""
    coordinates, (q, qd) = model.mechanism.coordinates, model.start
    levels = {"position": q, "velocity": qd, "acceleration": 0.0 * q}
    signals = {
        name: np.array([value])
        for level, values in levels.items()
        for name, value in zip(signal_names(coordinates, level), values, strict=True)
    }
    at_start = residuals(model.problem, Trajectory("start", np.zeros(1), signals))
    return consistency(model, at_start)


def agreement(comparisons: Sequence[Comparison], full: float, unconfirmed: str = "") -> Finding:
    """Check that every run agrees with the reference run over the time span that the run reached.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Comparisons of all runs except the reference run itself.
    full : float
        Time span of the reference, s.
    unconfirmed : str
        Reason why the oracle (second independent solver) has no run; empty if it has one.
    """
    if not comparisons:
        return Finding(True, "Only the reference solver ran, so there is nothing to compare it with.")
    failed = [comparison.name for comparison in comparisons if not comparison.ok]
    if failed:
        return Finding(
            False,
            f"{len(failed)} of {len(comparisons)} runs disagree with the reference solver: {', '.join(failed)}.",
        )
    short = [c for c in comparisons if not covers(c.horizon, full)]
    count = len(comparisons) - len(short)
    runs = "1 run" if count == 1 else f"{count} runs"
    whole = [f"{runs} over the full {full:.4g} s"] if count else []
    parts = [f"{c.name} over {c.horizon:.3g} s of {full:.4g} s" for c in short]
    begins = [c.sensitive_from for c in comparisons if c.sensitive_from is not None]
    said = f" The motion is sensitive: a comparison is meaningful up to t = {min(begins):.4g} s." if begins else ""
    if any(c.singular_from is not None for c in comparisons):
        said += _lost(comparisons)
    said += (
        f" The oracle does not confirm the agreement, because it has no run: {unconfirmed}." if unconfirmed else ""
    )
    return Finding(True, f"The runs agree with the reference solver: {'; '.join([*whole, *parts])}.{said}")


def _lost(comparisons: Sequence[Comparison]) -> str:
    """Return a sentence about the runs that are compared only up to a singular configuration."""
    names = [c.name for c in comparisons if c.singular_from is not None]
    begin = min(c.singular_from for c in comparisons if c.singular_from is not None)
    return (
        f" The constraints are linearly dependent at t = {begin:.4g} s for the first time."
        f" {', '.join(names)} lost the branch of the motion there or later and ended with a message, so the"
        " comparison ends before this time."
    )


def holding(model: System, found: Residuals, runs: Sequence[Trajectory]) -> Finding:
    """Check that all runs keep violations below `simulation.violation` once initial violations have decayed.

    Redundant constraints that the reference run violates are named.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    found : Residuals
        Constraint residuals of the reference run.
    runs : sequence of Trajectory
        Runs to check.
    """
    if not found.names:
        return Finding(True, "There are no constraints.")
    opened = [*_left_out(model, found), *(text for run in runs for text in _opened(model, found, run))]
    if opened:
        return Finding(False, "; ".join(opened))
    limit = model.chain.simulation.violation
    return Finding(True, f"All runs keep constraint violations below {limit:.3g}{_beyond(found, limit)}.")


def _beyond(found: Residuals, limit: float) -> str:
    started = np.abs(found.position[0]).max() > limit or np.abs(found.velocity[0]).max() > limit
    return ", apart from the decaying initial violation" if started else ""


def _violated(model: System, found: Residuals) -> tuple[list[str], list[str]]:
    """Return two lists of sentences about constraints that are violated initially.

    The first list contains the violations that the description allows. The second list contains all
    other violations.
    """
    simulation, known = model.chain.simulation, _known(model)
    allowed: list[str] = []
    wrong: list[str] = []
    for i, name in enumerate(found.names):
        values = (found.position[0, i], found.velocity[0, i])
        # The rates of position constraints are also checked, because a wrong rate soon leads to a wrong position.
        for value, rate in zip(values, ("", " per s"), strict=True):
            if not abs(value) <= simulation.violation:
                text = f"{name} is violated by {abs(value):.3g}{rate} at t = 0"
                (allowed if name in known else wrong).append(text)
    if wrong:
        wrong[-1] += (
            ' (fulfil it initially, set simulation.start = "description", or list the constraints that may be'
            " violated in simulation.starts_violated)"
        )
    return allowed, wrong


def _known(model: System) -> set[str]:
    simulation = model.chain.simulation
    return {
        row
        for entry in model.chain.tasks
        if simulation.start == "description" or entry.name in simulation.starts_violated
        for row in entry.rows
    }


def _left_out(model: System, found: Residuals) -> Iterator[str]:
    """Yield a sentence for each redundant constraint that the solver omits and the run violates."""
    limit, decayed = model.chain.simulation.violation, _decayed(model, found)
    for i in _redundant(model, found.names):
        lacking = {
            0: np.abs(found.position[:, i]) - _SLACK * np.abs(decayed[0][:, i]),
            1: np.abs(found.velocity[:, i]) - _SLACK * np.abs(decayed[1][:, i]),
            2: np.abs(found.acceleration[:, i]) * (len(found.time) > 1),
        }[int(found.orders[i])]
        beyond = np.flatnonzero(~(lacking <= limit))
        if len(beyond):
            first, worst = found.time[beyond[0]], _largest(lacking)
            yield (
                f"{found.names[i]}, omitted as redundant, is violated from t = {first:.4g} s on, by up to"
                f" {worst:.3g}{_UNIT[int(found.orders[i])]}"
            )


def _opened(model: System, found: Residuals, run: Trajectory) -> Iterator[str]:
    """Yield a sentence for each level at which the constraint violation of a run exceeds its limit.

    The two levels are positions and velocities; each level has its own limit.
    """
    limit = model.chain.simulation.violation
    levels = [("violation_position", 0, limit, ""), ("violation_velocity", 1, limit * _rate(model), " per s")]
    for signal, level, most, unit in levels:
        # If all constraints restrict positions, only the constraint stabilisation causes velocity violations.
        if signal not in run.signals or (level == 1 and not np.any(found.orders == 1)):
            continue
        envelope = _SLACK * np.linalg.norm(_decayed(model, found)[level], axis=1)
        beyond = run.signals[signal] - np.interp(run.time, found.time, envelope)
        late = np.flatnonzero(~(beyond <= most))
        if len(late):
            yield (
                f"{run.name}: constraints are violated from t = {run.time[late[0]]:.4g} s on, by up to"
                f" {_largest(beyond):.3g}{unit}{_which(found, level, run)}; the limit is {most:.3g}"
            )


def _which(found: Residuals, level: int, run: Trajectory) -> str:
    """Return the names of the constraints with the largest violations in the reference run.

    The argument `level` is 0 for positions and 1 for velocities.
    """
    if run.name != "reference":
        return ""
    largest = np.max(np.abs((found.position, found.velocity)[level]), axis=0)
    return f" ({listed([found.names[i] for i in np.flatnonzero(largest > _NAMED * largest.max())])})"


def _decayed(model: System, found: Residuals) -> tuple[Array, Array]:
    """Return the initial constraint violations multiplied by their predicted decay over time.

    The two results are the violations of positions and of velocities. Both have shape (N, m) for N times
    and m constraints.
    """
    chain = model.chain.constraints
    if chain.formulation == "gpme_reduced":
        left = np.exp(-chain.kappa * found.time)
        return np.outer(left, found.position[0]), np.outer(-chain.kappa * left, found.position[0])
    position, velocity = free_decay(found.time, chain.alpha, chain.beta)
    return (
        np.outer(position[0], found.position[0]) + np.outer(velocity[0], found.velocity[0]),
        np.outer(position[1], found.position[0]) + np.outer(velocity[1], found.velocity[0]),
    )


def _largest(values: Array) -> float:
    return float(np.max(values)) if np.all(np.isfinite(values)) else np.inf


def _rate(model: System) -> float:
    """Return the ratio of the admissible velocity violation to the admissible position violation, 1/s.

    The ratio is 1 s⁻¹ plus a decay rate of the constraint stabilisation. The decay rate is κ for the
    formulation `gpme_reduced`, and 2α + β for all other formulations.
    """
    chain = model.chain.constraints
    return 1.0 + (chain.kappa if chain.formulation == "gpme_reduced" else 2 * chain.alpha + chain.beta)


def _redundant(model: System, names: Sequence[str] | None = None) -> list[int]:
    return [i for i, name in enumerate(names or model.rows) if name not in model.solvability.independent]
